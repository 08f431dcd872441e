"""infer-prep by its command line, one process a case: INFER_PREP names the program, default bin/infer-prep.

INFER_PREP_SAMPLING names the program of the folder sampling, for the tasks of that kind.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

from common import Skip, serve

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("INFER_PREP", str(ROOT / "bin" / "infer-prep"))
SAMPLING = os.environ.get("INFER_PREP_SAMPLING", "")
# Graphs name every parameter.
DECODE = {"color": "rgb", "alpha": "drop", "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}
RESIZE = {"fit": "exact", "edge": 0, "max_edge": 0, "multiple": 0, "keep_aspect": False, "size_rule": "truncate"}
BACKENDS = {"pillow": "pillow", "opencv": "opencv", "torchvision": "torch_uint8"}


def call(*args, **kw):
    r = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, **kw)
    if r.returncode:
        said = r.stderr.strip().splitlines()
        line = next((l for l in said if "unsupported" in l or "not supported" in l), "")
        if line:
            raise Skip(line)
        raise RuntimeError(" | ".join(said)[:300] or f"exit status {r.returncode}")
    return r.stdout


def arrays(flags, files, video=False):
    """Runs a graph on the first file, or on the video of all."""
    with tempfile.TemporaryDirectory() as tmp:
        source = files[0]
        if video:
            source = pathlib.Path(tmp) / "clip"
            source.mkdir()
            for i, f in enumerate(files):
                shutil.copy(f, source / f"{i}{pathlib.Path(f).suffix}")
        if video:  # which has files of one output each, named clip.OUTPUT.npy
            call("run", *flags, "--video", "--outputs", "all", "--quiet", "-o", pathlib.Path(tmp) / "out", source)
            return {f.name.split(".")[-2]: np.load(f) for f in (pathlib.Path(tmp) / "out").rglob("*.npy")}
        call("run", *flags, "--outputs", "all", "--format", "safetensors", "--quiet", "-o", pathlib.Path(tmp) / "out", source)
        (file,) = (pathlib.Path(tmp) / "out").rglob("*.safetensors")
        return tensors(file)


TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "BF16": "u2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U8": "u1", "U16": "u2", "U32": "u4", "U64": "u8", "BOOL": "?"}


def tensors(file):
    """The tensors of a safetensors file; bfloat16 as its bits."""
    data = pathlib.Path(file).read_bytes()
    n = int.from_bytes(data[:8], "little")
    out = {}
    for name, t in json.loads(data[8:8 + n]).items():
        if name != "__metadata__":
            a, b = t["data_offsets"]
            out[name] = np.frombuffer(data[8 + n + a:8 + n + b], "<" + TYPES[t["dtype"]]).reshape(t["shape"])
    return out


def graph(files, *steps):
    g = {
        "infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [{"op": o, "version": 1, "in": ["image"], "out": ["image"], "params": p} for o, p in steps], "outputs": ["image"],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(g, f)
        f.flush()
        return arrays(["--graph", f.name], files)["image"]


def decode(task, files):
    if task["library"] == "opencv":
        return graph(files, ("decode", DECODE | {"gray16": "high", "orientation": "apply", "damage": "imdecode", "refuse": ["cmyk"]}))
    return graph(files, ("decode", DECODE))


def resize(task, files):
    antialias = task["antialias"] or task["library"] != "torchvision"
    return graph(files, ("decode", DECODE), ("resize", RESIZE | {"height": task["height"], "width": task["width"], "interpolation": task["filter"],
                                                        "backend": BACKENDS[task["library"]], "no_antialias": not antialias and task["filter"] in ("bilinear", "bicubic")}))


def center_crop(task, files):
    rounding = {"torchvision": "half_even", "transformers": "floor"}[task["library"]]
    return graph(files, ("decode", DECODE), ("center_crop", {"height": task["height"], "width": task["width"], "crop_rounding": rounding, "fill": [0]}))


def crop(task, files):
    return graph(files, ("decode", DECODE), ("crop", {k: task[k] for k in ("top", "left", "height", "width")}))


def pad(task, files):
    return graph(files, ("decode", DECODE), ("pad", {k: task[k] for k in ("top", "left", "bottom", "right", "mode")} | {"fill": [task["fill"]]}))


def normalise(task, files):
    end = [("normalize", {"mean": task["mean"], "std": task["std"]}), ("hwc2chw", {})]
    if task["rule"] == "transformers_fused":
        return described({"task": "x"}, ["--hf"], {
            "image_processor_type": "CLIPImageProcessor", "do_resize": False, "do_center_crop": False, "image_mean": task["mean"], "image_std": task["std"]}, files)["pixel_values"]
    rule = {"to_tensor": {"scale": 255, "offset": 0, "rule": "divide"}, "to_dtype": {"scale": 1 / 255, "offset": 0, "rule": "multiply"}, "transformers": {"scale": 1 / 255, "offset": 0, "rule": "hf"}}[task["rule"]]
    return graph(files, ("decode", DECODE), ("rescale", rule), *end)


def described(task, flags, config, files, **kw):
    """Runs the graph of a configuration."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        f.write(config if isinstance(config, str) else json.dumps(config))
        f.flush()
        return arrays([flags[0], f.name, *flags[1:]], files, **kw)


def transforms(task, files):
    """The description as the source of torchvision's transforms."""
    def value(k, v):
        return {"dtype": f"torch.{v}", "interpolation": f"InterpolationMode.{str(v).upper().replace('-', '_')}"}.get(k, repr(v))

    lines = [f"v2.{d['type']}(" + ", ".join(f"{k}={value(k, v)}" for k, v in d.items() if k != "type") + ")," for d in task["transforms"]]
    if task["on"] == "pil":
        lines.insert(-2, "v2.ToImage(),")
    return described(task, ["--torchvision", "--backend", task["on"]], "v2.Compose([\n" + "\n".join(lines) + "\n])\n", files)


def config(kind):
    return lambda task, files: described(task, ["--" + kind], task["config"], files)


def processor(task, files):
    return described(task, ["--hf", "--backend", task["backend"]], task["config"], files)


def video(task, files):
    flags = ["--fps", task["fps"], "--duration", task["duration"]] if task["fps"] else []
    return described(task, ["--hf", *flags], {"video_processor_type": task["processor"]} | task["settings"], files, video=True)


def sizes(task, files):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(task["config"], f)
        f.flush()
        lines = call("sizes", "--hf", f.name, "--backend", task["backend"], *(f"{h}x{w}" for h, w in task["sizes"])).splitlines()
    return np.array([json.loads(l)["outputs"]["pixel_values"]["shape"] for l in lines], np.int64)


def tokens(task, files):
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp) / "model"
        folder.mkdir()
        (folder / "processor_config.json").write_text(json.dumps(task["processor"]))
        (folder / "tokenizer_config.json").write_text(json.dumps(task["tokenizer"]))
        flags = []
        for key in ("call", "tokens"):
            if task.get(key):
                (folder / f"{key}.json").write_text(json.dumps(task[key]))
                flags += ["--" + key, folder / f"{key}.json"]
        lines = call("sizes", "--hf", folder, *flags, *(f"{h}x{w}" for h, w in task["sizes"])).splitlines()
    return np.array([json.loads(l)["num_image_tokens"] for l in lines], np.int64)


def sampling(task, _):
    if not SAMPLING:
        raise Skip("INFER_PREP_SAMPLING is not set")
    r = subprocess.run([SAMPLING], input=json.dumps(task), capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip()[:300])
    return np.array(json.loads(r.stdout), np.int64)


version = call("version").split("\n")[0].removeprefix("infer-prep").strip()
serve("infer-prep", version, "the command line, one process a case", {
    "decode": decode, "resize": resize, "center_crop": center_crop, "crop": crop, "pad": pad, "normalise": normalise, "transforms": transforms, "timm": config("timm"),
    "ultralytics": config("ultralytics"), "opencv": config("opencv"), "processor": processor, "sizes": sizes, "tokens": tokens, "sampling": sampling, "video": video})
