"""Runs the ecosystems' own code on the files that infer-prep imports.

As a module: reference(config) returns a function from an image's path to the
reference's output, {name: array}; configs() lists testdata/configs. As a script:

    importers.py [--out DIR] IMAGE...

prints a line with tab-separated fields for every config and image,

    <ecosystem>/<config>  <image>  <output>  <shape>  <sha256 of the bytes>
    <ecosystem>/<config>  <image>  error     <what the reference says>

and with --out also writes the arrays, as DIR/<ecosystem>/<config>/<image>.<output>.npy.

The ecosystem is the name of the config's folder. The script needs the packages
pinned in requirements.txt and requirements-no-deps.txt.
"""

import ast
import hashlib
import inspect
import io
import json
import os
import pathlib
import sys
import tempfile
import warnings

for _v in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_v, "1")
os.environ["HF_HUB_OFFLINE"] = "1"
for _v in ("YOLO_CONFIG_DIR", "MPLCONFIGDIR"):
    os.environ.setdefault(_v, tempfile.gettempdir())
os.environ.setdefault("YOLO_VERBOSE", "false")

import numpy as np
from PIL import Image

CONFIGS = pathlib.Path(__file__).resolve().parent.parent / "testdata" / "configs"


def rgb(path):
    """Returns the image that every reference gets; a colour key stays in its info.

    The image is read from bytes, as in infer-prep. Given a path, Pillow 13 maps
    uncompressed L and P TIFF into memory, with the wrong stride if they are to
    be rotated.
    """
    return Image.open(io.BytesIO(pathlib.Path(path).read_bytes())).convert("RGB")


# The outputs without a batch axis of classes that list the tiles of all images.
TILES = {
    "Aria": ("pixel_values", "pixel_mask", "num_crops"), "GotOcr2": ("pixel_values",), "Cohere2Vision": ("pixel_values",), "Ovis2": ("pixel_values",),
    "Gemma3": ("pixel_values",), "Llama4": ("pixel_values",),
}


def hf(config, backend=None):
    """The default backend is torchvision's."""
    import torch
    from transformers import AutoImageProcessor
    from transformers.utils import logging

    logging.set_verbosity_error()
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as d:
        timm = "pretrained_cfg" in config  # the class TimmWrapper, which reads the model's own file
        (pathlib.Path(d) / ("config.json" if timm else "preprocessor_config.json")).write_text(json.dumps(config))
        p = AutoImageProcessor.from_pretrained(d, backend=backend)
    # Classes with code of their own have no backends.
    if getattr(p, "backend", backend or "torchvision") != (backend or "torchvision"):
        raise ValueError(f"{type(p).__name__} has the backend {p.backend}")
    # The outputs have a batch axis, which infer-prep's have not. Where the patches of all
    # images form one sequence, the first axis is the sequence's.
    whole = {"pixel_values"} if {"image_grid_thw", "image_grid_hw"} & set(p.model_input_names) else set()
    # So do the tiles of all images.
    name = type(p).__name__.split("ImageProcessor")[0]
    if name in TILES:
        whole = set(TILES[name])
    if name == "Inkling":
        whole = {"pixel_values"}
    if name == "Lfm2Vl":
        whole = {"pixel_values", "pixel_attention_mask", "spatial_shapes"}
    if name == "Molmo2":
        whole = {"pixel_values", "image_token_pooling"}
    if name in ("MiniCPMV4_6", "MiniCPMOcr"):
        whole = {"pixel_values", "target_sizes"}
    if name == "Eomt" and config.get("do_split_image"):
        whole = {"pixel_values", "patch_offsets"}

    def run(path, second=None):
        """second is the other image of a pair, the trimap of VitMatte, or VitPose's box."""
        if isinstance(second, list):
            out = p(rgb(path), boxes=[[second]], return_tensors="np")
        elif "trimaps" in inspect.signature(p.preprocess).parameters:
            out = p(images=rgb(path), trimaps=Image.open(second).convert("L"), return_tensors="np")
        else:
            out = p([rgb(path), rgb(second)] if second else rgb(path), return_tensors="pt" if name in ("Llama4", "TimmWrapper") else "np")
        if name == "Llama4":
            out = {k: array(v) for k, v in out.items()}
        if name == "Phi4Multimodal":  # for the text, not for the model
            out.pop("num_img_tokens")
        if name == "Mllama":  # the second axis counts the images of a sample
            out = {k: np.asarray(v)[0] for k, v in out.items()}
        if isinstance(out, np.ndarray):  # Idefics
            out = {"pixel_values": out}
        # Lists of strings, such as OneFormer's task_inputs, are not of the image.
        out = {k: np.asarray(v) for k, v in out.items()}
        if name in ("DeepseekOcr2", "UnlimitedOcr"):  # a key that small images lack is an output without rows
            side = p.tile_size
            local = {"pixel_values_local": out.get("pixel_values_local", np.zeros((0, 3, side, side), out["pixel_values"].dtype))}
            each = {k: out[k][0] for k in ("num_local_patches", "patches_grid") if k in out}
            return {"pixel_values": out["pixel_values"][0], **(local if p.crop_to_patches else {}), **each}
        if name == "Step3p7":
            side, rows = p.patch_size, "patch_newline_masks"
            local = {"pixel_values_local": out.get("pixel_values_local", np.zeros((0, 3, side, side), out["pixel_values"].dtype))}
            return {"pixel_values": out["pixel_values"][0], "num_local_patches": out["num_local_patches"][0], rows: out.get(rows, np.zeros((1, 0), bool))[0]} | local
        if name == "Fuyu":  # a list of images for each prompt
            return {k: a[0] if k == "image_sizes" else a[0, 0] for k, a in out.items()}
        names = [k for k in out if out[k].dtype.kind not in "OSU" and out[k].size]
        return {k: out[k] if k in whole else out[k][0] for k in sorted(names, key=lambda k: k != "pixel_values")}

    return run


def array(t):
    """NumPy has no bfloat16 of its own; its bits get a dtype that names it."""
    import torch

    if t.dtype != torch.bfloat16:
        return t.numpy()
    return t.view(torch.int16).numpy().view(np.dtype("uint16", metadata={"name": "bfloat16"}))


def read(path):
    """Returns the tensors of a safetensors file, which is the format that has bfloat16: {name: array}."""
    from safetensors.torch import load_file

    return {k: array(t) for k, t in load_file(path).items()}


def dtype_of(a):
    """Returns the name of an array's dtype."""
    return (a.dtype.metadata or {}).get("name", str(a.dtype))


def hf_pil(config):
    return hf(config, "pil")


def timm(config):
    import torch
    from timm.data import create_transform, resolve_data_config
    from timm.data.loader import PrefetchLoader
    from timm.models._hub import _parse_model_cfg

    # Arguments of create_transform, beside the cfg's fields.
    config = json.loads(json.dumps(config))
    fields = config.get("pretrained_cfg", config)
    extra = {k: fields.pop(k) for k in ("use_prefetcher", "normalize") if k in fields}
    # The loader's own parsing, which requires an architecture.
    cfg, _, _ = _parse_model_cfg({"architecture": ""} | config, {})
    data = resolve_data_config(pretrained_cfg=cfg, model=None)
    t = create_transform(**data, is_training=False, **extra)
    if not extra.get("use_prefetcher"):
        return lambda path: {"image": t(rgb(path)).numpy()}

    def run(path):
        batch = torch.as_tensor(t(rgb(path)))[None]
        (x, _), = PrefetchLoader([(batch, torch.zeros(1))], mean=data["mean"], std=data["std"], device=torch.device("cpu"))
        return {"image": x[0].numpy()}

    return run


def torchvision(config):
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms._presets import ImageClassification

    c = dict(config["torchvision"])
    if "interpolation" in c:
        c["interpolation"] = InterpolationMode(c["interpolation"])
    t = ImageClassification(**c)
    return lambda path: {"image": t(rgb(path)).numpy()}


LETTERBOX = ("stride", "auto", "scale_fill", "scaleup", "center", "padding_value", "interpolation")


def ultralytics_predictor(metadata):
    """Returns what Ultralytics' own code makes of an exported ONNX model's metadata: the predictor, ready for preprocess."""
    from types import SimpleNamespace

    import torch
    from ultralytics import RTDETR, YOLO
    from ultralytics.nn.backends.base import BaseBackend
    from ultralytics.utils.checks import check_imgsz

    class Backend(BaseBackend):
        format = "onnx"

        def load_model(self, weight):
            self.apply_metadata(weight)

        def forward(self, im):
            raise NotImplementedError

    model = Backend(dict(metadata), torch.device("cpu"))
    kind = RTDETR if "RTDETR" in metadata.get("head", "") else YOLO  # as in YOLO.__init__
    cls = kind.task_map.fget(kind.__new__(kind))[metadata["task"]]["predictor"]
    p = cls.__new__(cls)
    p.model, p.device = model, torch.device("cpu")
    p.args = SimpleNamespace(rect=True, imgsz=640)  # those of Model.predict
    if hasattr(model, "imgsz") and not model.dynamic:  # as in setup_source
        p.args.imgsz = model.imgsz
    p.imgsz = check_imgsz(p.args.imgsz, stride=model.stride, min_dim=2)
    return p


def ultralytics(config, read=None):
    """read returns the BGR image that LetterBox gets; by default the predictor's own loader does."""
    import cv2
    import torch
    from ultralytics.data.augment import LetterBox
    from ultralytics.data.loaders import LoadImagesAndVideos
    from ultralytics.engine import predictor

    cv2.setNumThreads(1)
    cv2.ipp.setUseIPP(False)  # its rounding depends on the CPU
    c = config.get("ultralytics", config)
    boxes = []

    class Noted(LetterBox):
        def get_params(self, labels):
            boxes.append(super().get_params(labels))
            return boxes[-1]

    if "task" in c and not any(k in c for k in LETTERBOX[1:]):
        ready = ultralytics_predictor(c)

        def run_box(ims):
            predictor.LetterBox = Noted
            return ready.preprocess(ims)
    else:
        c = {k: _literal(v) for k, v in c.items()}
        size = c["imgsz"]
        box = Noted(size if isinstance(size, int) else tuple(size), **{k: c[k] for k in LETTERBOX if k in c})

        def run_box(ims):  # like the predictor: channels first, RGB, float32, divided in place
            x = torch.from_numpy(box(image=ims[0])).unsqueeze(0).permute(0, 3, 1, 2).contiguous().flip(1)
            return x.float().div_(255)

    def run(path):
        try:
            ims = [read(path)] if read else next(iter(LoadImagesAndVideos(str(path))))[1]
        except Exception as e:
            raise ValueError("not an image") from e
        x = run_box(ims)
        p = boxes.pop()
        return {
            "images": x[0].numpy(),
            "scale": np.array(p["ratio"][::-1], np.float32),
            "pad": np.array([p[k] for k in ("top", "bottom", "left", "right")], np.int32),
        }

    return run


def _literal(v):
    try:
        return ast.literal_eval(v) if isinstance(v, str) else v
    except (SyntaxError, ValueError):
        return v


ECOSYSTEMS = {
    "hf": (hf, "transformers"), "timm": (timm, "timm"),
    "torchvision": (torchvision, "torchvision"), "ultralytics": (ultralytics, "ultralytics"),
}


def reference_of(ecosystem, config):
    """Returns the reference for a parsed config, with side outputs after the output."""
    return ECOSYSTEMS[ecosystem][0](config)


def reference(path):
    """Returns the reference for a config file: a function from an image's path to {output: array}."""
    path = pathlib.Path(path)
    return reference_of(path.parent.name, json.loads(path.read_text()))


def who(path):
    """Returns the reference's name and version."""
    from importlib.metadata import version

    name = ECOSYSTEMS[pathlib.Path(path).parent.name][1]
    return f"{name} {version(name)}"


def configs():
    """Lists the config files of these ecosystems, sorted; importers_more.py has the others."""
    return sorted(p for p in CONFIGS.glob("*/*.json") if p.parent.name in ECOSYSTEMS)


def digest(array):
    """Returns the SHA-256 of the array's bytes, little endian, in C order."""
    a = np.ascontiguousarray(array)
    return hashlib.sha256(a.astype(a.dtype.newbyteorder("<"), copy=False).tobytes()).hexdigest()


def main(args):
    out = None
    if args[:1] == ["--out"] and len(args) > 1:
        out, args = pathlib.Path(args[1]), args[2:]
    if not args:
        sys.exit(__doc__)
    for config in configs():
        name = f"{config.parent.name}/{config.stem}"
        run = reference(config)
        for image in args:
            try:
                got = run(image)
            except Exception as e:
                print(name, image, "error", str(e).splitlines()[0] if str(e) else type(e).__name__, sep="\t")
                continue
            for output, a in got.items():
                print(name, image, output, "x".join(map(str, a.shape)), digest(a), sep="\t")
                if out:
                    f = out / name / f"{pathlib.Path(image).name}.{output}.npy"
                    f.parent.mkdir(parents=True, exist_ok=True)
                    np.save(f, np.ascontiguousarray(a))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
