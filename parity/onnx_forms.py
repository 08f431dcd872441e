"""Compares exported ONNX models under ONNX Runtime with infer-prep's own tensors.

usage: onnx_forms.py INFER_PREP

A case is a graph and a form of `infer-prep graph export-onnx`. `infer-prep run`
and ONNX Runtime's CPU provider, with all of its optimisations, run it on
generated images of 24 sizes. The script prints one line per case:

    <form>  <graph>  exact n of m, differing p %, worst difference d

Form exact appears twice: with one model per size, and with one model for all
sizes whose taps are inputs. A float32 tensor is exact if its bits are equal. The
exit status is 1 if exact or tail differ anywhere, or if fast differs by more
than 1 in uint8, or in float32 by more than the effect of 1. The last lines are
the configurations of testdata/configs, with all outputs, on one image.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime as ort
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent

SIZES = [
    (224, 224), (256, 256), (300, 400), (400, 300), (333, 500), (500, 333), (480, 640), (427, 640), (640, 427), (512, 513),
    (600, 1000), (1000, 600), (720, 1280), (1080, 810), (225, 226), (231, 1024), (768, 229), (128, 96), (97, 131), (64, 200),
    (17, 23), (223, 640), (449, 447), (1600, 250),
]


def picture(height, width):
    """Returns smooth colours with noise and hard edges, so that filters overshoot; the same on every call."""
    rng = np.random.default_rng(height * 10007 + width)
    y, x = np.mgrid[0:height, 0:width]
    a = np.stack([x * 255 / width, y * 255 / height, (x + y) % 256], -1) + rng.normal(0, 25, (height, width, 3))
    a[(x // 13 + y // 11) % 7 == 0] = 255
    a[(x // 5 + y // 17) % 9 == 0] = 0
    return np.clip(a, 0, 255).astype(np.uint8)


def graph(*steps):
    return {
        "infer_prep_graph": 1,
        "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [{"op": o, "version": 1, "in": ["image"], "out": ["image"], "params": p} for o, p in steps],
        "outputs": ["image"],
    }


DECODE = ("decode", dict(color="rgb", alpha="drop", gray16="clip", refuse=[], orientation="ignore", damage="pillow", scale="full"))


def resize(interpolation, backend="pillow", **kw):
    p = dict(fit="exact", height=0, width=0, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate",
             interpolation=interpolation, backend=backend, no_antialias=False)
    return ("resize", p | kw)


def gain(g):
    """Returns the largest effect of a step of 1/255 on the graph's output."""
    f = 1.001
    for s in g["steps"]:
        p = s["params"]
        if s["op"] == "to_tensor":
            f /= 255
        elif s["op"] == "rescale":
            f = abs(f / p["scale"] if p["rule"] == "divide" else f * p["scale"])
        elif s["op"] == "normalize":
            f /= min(map(abs, p["std"]))
    return f


def run(*args):
    r = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{' '.join(map(str, args))}: {r.stderr}")
    return r.stdout


class Session:
    def __init__(self, path):
        o = ort.SessionOptions()
        o.intra_op_num_threads = 1
        o.log_severity_level = 3
        self.s = ort.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])

    def __call__(self, inputs):
        return dict(zip([o.name for o in self.s.get_outputs()], self.s.run(None, inputs)))


def main(tool):
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        images = tmp / "images"
        images.mkdir()
        pixels = {}
        for h, w in SIZES:
            pixels[h, w] = picture(h, w)
            Image.fromarray(pixels[h, w]).save(images / f"{h}x{w}.png")

        def tensors(flags, name):
            out = tmp / name
            run(tool, "run", *flags, "-o", out, images)
            found = {}
            for h, w in SIZES:
                found[h, w] = np.load(out / f"{h}x{w}.png.npy")
            return found

        graphs = {}

        def written(name, g):
            path = tmp / (name.replace(" ", "-") + ".json")
            path.write_text(json.dumps(g))
            return ["--graph", path]

        for f in ("bilinear", "bicubic", "lanczos", "box", "hamming"):
            graphs[f"{f} to 224x224"] = written(f, graph(DECODE, resize(f, height=224, width=224)))
        for f in ("bilinear", "bicubic", "lanczos"):
            graphs[f"{f}, shortest 256"] = written(f + "s", graph(DECODE, resize(f, fit="shortest", edge=256)))
        graphs["bilinear to 224x224, opencv"] = written("cv", graph(DECODE, resize("bilinear", "opencv", height=224, width=224)))
        graphs["bicubic to 224x224, opencv"] = written("cvc", graph(DECODE, resize("bicubic", "opencv", height=224, width=224)))
        for f in ("bilinear", "bicubic"):
            graphs[f"{f} to 224x224, torch"] = written("t" + f, graph(DECODE, resize(f, "torch", height=224, width=224)))
            graphs[f"{f} to 224x224, torch, no antialias"] = written("u" + f, graph(DECODE, resize(f, "torch", height=224, width=224, no_antialias=True)))
        for p in ("imagenet", "clip", "yolo"):
            graphs["preset " + p] = ["--preset", p]

        failed = False

        def report(form, name, results, bound):
            nonlocal failed
            exact = sum(a.tobytes() == b.tobytes() and a.shape == b.shape for a, b in results)
            worst, off, n = 0.0, 0, 0
            for a, b in results:
                if a.shape != b.shape or a.dtype != b.dtype:
                    worst = float("inf")
                    continue
                d = np.abs(a.astype(np.float64) - b.astype(np.float64))
                worst, off, n = max(worst, d.max()), off + np.count_nonzero(d), n + d.size
            wrong = worst > bound or bound == 0 and exact < len(results)
            failed |= wrong
            print(f"{form:12} {name:36} exact {exact} of {len(results)}, differing {100 * off / max(n, 1):.3f} %, worst difference {worst:.4g}"
                  + ("  WRONG" if wrong else ""), flush=True)

        def lowered(form, name, flags, *more):
            """Returns the exported model's description and path, or None if the form cannot express the graph."""
            path = tmp / "model.onnx"
            r = subprocess.run([tool, "graph", "export-onnx", *map(str, flags), "--form", form, "-o", str(path), "--json", *more],
                               capture_output=True, text=True)
            if r.returncode:
                label = form + ", taps" if "--host-taps" in more else form
                print(f"{label:12} {name:36} refused: {r.stderr.splitlines()[0].split(f'in form {form}: ')[-1]}", flush=True)
                return None, None
            return json.loads(r.stdout), path

        for name, flags in graphs.items():
            want = tensors(flags, "run-" + name.replace(" ", "-"))
            first = want[SIZES[0]]
            bound = 1.0 if first.dtype == np.uint8 else gain(json.loads(run(tool, "graph", "import", *flags)))

            results = []
            for h, w in SIZES:
                info, path = lowered("exact", name, flags, "--input-size", f"{h}x{w}")
                if info is None:
                    results = []  # an image that already has the size needs no resize
                    break
                got = Session(path)({info["inputs"][0]["name"]: pixels[h, w]})
                results.append((want[h, w], got[info["outputs"][0]["name"]]))
            if results:
                report("exact", name, results, 0)

            results = []
            for h, w in SIZES:
                info, path = lowered("exact", name, flags, "--host-taps", "--taps-for", f"{h}x{w}")
                if info is None:
                    results = []
                    break
                inputs = dict(np.load(f"{path}.{h}x{w}.npz"))
                inputs[info["inputs"][0]["name"]] = pixels[h, w]
                results.append((want[h, w], Session(path)(inputs)[info["outputs"][0]["name"]]))
            if results:
                report("exact, taps", name, results, 0)

            info, path = lowered("fast", name, flags)
            if info is not None:
                s = Session(path)
                results = [(want[k], s({info["inputs"][0]["name"]: pixels[k]})[info["outputs"][0]["name"]]) for k in SIZES]
                report("fast", name, results, bound)

            info, path = (None, None) if first.dtype == np.uint8 else lowered("tail", name, flags)
            if info is not None:
                g = json.loads(run(tool, "graph", "import", *flags))
                g["steps"], g["outputs"] = g["steps"][: info["first_step"]], info["host_outputs"][:1]
                g.pop("side_outputs", None)
                host = tensors(written("host", g), "host-" + name.replace(" ", "-"))
                s = Session(path)
                results = [(want[k], s({info["inputs"][0]["name"]: host[k]})[info["outputs"][0]["name"]]) for k in SIZES]
                report("tail", name, results, 0)

        # Every configuration of testdata/configs, with all outputs, on one image.
        h, w = 300, 410
        one = tmp / "one"
        one.mkdir()
        Image.fromarray(picture(h, w)).save(one / "p.png")

        def named(flags, columns, name):
            out = tmp / name
            run(tool, "run", *flags, "--outputs", "all", "-o", out, one)
            return {c: np.load(out / ("p.png.npy" if len(columns) == 1 else f"p.png.{c}.npy")) for c in columns}

        ways = {"exact": ("exact", ["--input-size", f"{h}x{w}"]), "exact, taps": ("exact", ["--host-taps", "--taps-for", f"{h}x{w}"]),
                "fast": ("fast", []), "tail": ("tail", [])}
        results, refused, seen = {way: [] for way in ways}, {way: 0 for way in ways}, set()
        for i, path in enumerate(sorted((ROOT / "testdata" / "configs").glob("*/*"))):
            flags = ["--" + path.parent.name, path]
            r = subprocess.run([tool, "graph", "import", *map(str, flags)], capture_output=True, text=True)
            if r.returncode:
                print(f"{path.parent.name}/{path.name} is no graph: {r.stderr.splitlines()[0]}")
                continue
            g = json.loads(r.stdout)
            if json.dumps(g["steps"]) in seen:
                continue
            seen.add(json.dumps(g["steps"]))
            want = named(flags, g["outputs"] + g.get("side_outputs", []), f"config{i}")
            for way, (form, more) in ways.items():
                model = tmp / "model.onnx"
                r = subprocess.run([tool, "graph", "export-onnx", *map(str, flags), "--form", form, "-o", str(model), "--json", *more],
                                   capture_output=True, text=True)
                if r.returncode:
                    refused[way] += 1
                    continue
                info = json.loads(r.stdout)
                inputs = {p["name"]: picture(h, w) for p in info["inputs"]}
                if way == "tail":
                    host = dict(g, steps=g["steps"][: info["first_step"]], outputs=info["host_outputs"], side_outputs=[])
                    host = named(written("host", host), info["host_outputs"], f"config-host{i}")
                    inputs = {p["name"]: host[p["column"]] for p in info["inputs"]}
                elif way == "exact, taps":
                    inputs |= dict(np.load(f"{model}.{h}x{w}.npz"))
                scale = gain(g) if way == "fast" else 1  # so that one of 255 is 1
                for name, got in Session(model)(inputs).items():
                    a, b = want[name], got
                    results[way].append((a / scale, b / scale) if way == "fast" and a.dtype == np.float32 else (a, b))
        for way in ways:
            report(way, f"{len(seen)} configurations, {refused[way]} refused", results[way], 1 if way == "fast" else 0)
        return failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
