"""Writes testdata/onnx: graphs exported to ONNX, and what ONNX Runtime makes of them.

Run with Python 3.11 and parity/requirements-onnx.txt (onnxruntime 1.31.1, onnx
1.23.2), and a Go toolchain: the models are written by this checkout's
infer-prep. Every run gives the same bytes.

goldens.json has, for each case, the graph, how it was exported, the SHA-256 of the
model, and for images of each size the outputs of ONNX Runtime's CPU provider, with
its optimisations: the SHA-256, and for form fast the bytes too. The Go test exports
the same graphs, expects the same models, and compares the outputs with its own.

tiny.onnx is a small model, merged.onnx the same with preprocessing in front of it,
embedded.onnx with a graph in its metadata; others are models that cannot be merged with.
"""

import base64
import hashlib
import json
import pathlib
import subprocess
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "testdata" / "onnx"
assert ort.__version__ == "1.31.1" and onnx.__version__ == "1.23.2"


def picture(*shape):
    """Noise, with blocks of nothing but 0 and 255, so that filters overshoot. The Go test has the same."""
    i = np.arange(int(np.prod(shape)), dtype=np.uint64)
    z = (i * 2654435761) & 0xFFFFFFFF
    z ^= z >> 15
    z = (z * 2246822519) & 0xFFFFFFFF
    z ^= z >> 13
    return np.where((i // 24) % 3 == 0, (z & 1) * 255, z & 255).astype(np.uint8).reshape(shape)


def graph(*steps):
    g = {
        "infer_prep_graph": 1,
        "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [],
        "outputs": ["image"],
    }
    for op, params in (DECODE, *steps):
        out = {"letterbox": ["image", "scale", "pad"], "pad_with_mask": ["image", "mask"], "image_size": ["size"]}.get(op, ["image"])
        g["steps"].append({"op": op, "version": 1, "in": ["image"], "out": out, "params": params})
        if out != ["image"]:
            g["side_outputs"] = [c for c in out if c != "image"]
    return g


DECODE = ("decode", dict(color="rgb", alpha="drop", gray16="clip", refuse=[], orientation="ignore", damage="pillow", scale="full"))


def resize(interpolation="bilinear", backend="pillow", **kw):
    p = dict(fit="exact", height=0, width=0, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate",
             interpolation=interpolation, backend=backend, no_antialias=False)
    return ("resize", p | kw)


def crop(height, width, rounding="half_even", fill=(0,)):
    return ("center_crop", dict(height=height, width=width, crop_rounding=rounding, fill=list(fill)))


def letterbox(height, width, **kw):
    p = dict(height=height, width=width, auto=False, scale_fill=False, no_scale_up=False, top_left=False, stride=32, fill=[114],
             interpolation="bilinear", backend="opencv")
    return ("letterbox", p | kw)


def pad(mode, *fill, top=3, bottom=4, left=5, right=6):
    return ("pad", dict(top=top, bottom=bottom, left=left, right=right, mode=mode, fill=list(fill) or [0]))


def pad_to(height, width, position="center", mode="constant", fill=(0,)):
    return ("pad_to_size", dict(height=height, width=width, position=position, mode=mode, fill=list(fill)))


def pad_with_mask(height, width, position="top_left", mode="constant", fill=(0,), dtype="int64"):
    return ("pad_with_mask", dict(height=height, width=width, position=position, mode=mode, fill=list(fill), mask_dtype=dtype))


def pad_to_multiple(n, position="center", mode="constant", fill=(0,)):
    return ("pad_to_multiple", dict(multiple=n, position=position, mode=mode, fill=list(fill)))


def rescale(scale=1 / 255, rule="hf", offset=0):
    return ("rescale", dict(scale=scale, offset=offset, rule=rule))


def to_type(dtype, rule="truncate"):
    return ("to_type", dict(dtype=dtype, rule=rule))


def quantize(scale, zero, dtype):
    return ("quantize", dict(scale=scale, zero_point=zero, dtype=dtype))


IMAGENET = ("normalize", dict(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]))
TENSOR = ("to_tensor", {})
CHW = ("hwc2chw", {})
HWC = ("chw2hwc", {})

SMALL = [(45, 60)]
SIZES = [(45, 60), (60, 45), (90, 40), (17, 23), (33, 32)]


def cases():
    """(name, form, graph, sizes, more flags)"""
    for f in ("bilinear", "bicubic", "lanczos", "box", "hamming"):
        g = graph(resize(f, height=24, width=31))
        yield f"exact_{f}", "exact", g, SIZES, []
        yield f"taps_{f}", "exact", g, SIZES, ["--host-taps"]
        if f in ("bilinear", "bicubic"):
            yield f"fast_{f}", "fast", g, SIZES, []
            yield f"fast_{f}_stated", "fast", g, SIZES[:3], None
    for backend in ("opencv", "torch"):
        for f in ("bilinear", "bicubic"):
            yield f"fast_{f}_{backend}", "fast", graph(resize(f, backend, height=24, width=31)), SIZES, []
            if backend == "torch":
                yield f"fast_{f}_torch_plain", "fast", graph(resize(f, backend, height=24, width=31, no_antialias=True)), SIZES, []
    for f in ("nearest", "nearest_exact"):
        for backend in ("pillow", "opencv", "torch"):
            yield f"exact_{f}_{backend}", "exact", graph(resize(f, backend, height=24, width=31)), SMALL, []
    yield "exact_opencv", "exact", graph(resize("bilinear", "opencv", height=24, width=31)), SIZES, []
    yield "exact_opencv_half", "exact", graph(resize("bilinear", "opencv", height=20, width=30)), [(40, 60)], []
    yield "exact_float", "exact", graph(TENSOR, resize("bicubic", height=24, width=31)), SIZES[:3], []
    yield "exact_chw", "exact", graph(CHW, resize("lanczos", height=24, width=31)), SMALL, []
    resized = ("resized_crop", dict(top=3, left=5, height=31, width=17, out_height=12, out_width=20, interpolation="bicubic",
                                    backend="pillow", no_antialias=False))
    for form, flags in (("exact", []), ("exact", ["--host-taps"]), ("fast", [])):
        yield f"{form}{len(flags)}_resized_crop", form, graph(resized), [(45, 60), (34, 22)], flags

    imagenet = graph(resize(fit="shortest", edge=32), crop(28, 28), TENSOR, IMAGENET)
    hf = graph(resize("bicubic", fit="shortest", edge=32), crop(28, 28, "floor"), rescale(), ("normalize", dict(mean=[0.5], std=[0.5])), CHW)
    for name, g in (("imagenet", imagenet), ("hf", hf)):
        yield f"exact_{name}", "exact", g, SMALL, []
        yield f"taps_{name}", "exact", g, SIZES, ["--host-taps"]
        yield f"fast_{name}", "fast", g, SIZES[:2], []
        yield f"tail_{name}", "tail", g, [(28, 28)], ["--batch"]
    larger = [(45, 60), (60, 45), (20, 61), (61, 20), (33, 33)]
    for rounding in ("half_even", "floor"):
        for n in (28, 40, 33):  # cut and padded, even and odd
            yield f"fast_crop_{rounding}_{n}", "fast", graph(resize(height=33, width=35), crop(n, n, rounding, (9, 8, 7))), SMALL, []
            yield f"crop_{rounding}_{n}", "fast", graph(crop(n, n, rounding, (9, 8, 7))), larger, []

    rules = ("truncate", "half_even", "half_up", "cap_unrounded")
    for rule in rules:
        for most in (0, 40):
            yield f"size_shortest_{rule}_{most}", "fast", graph(resize(fit="shortest", edge=27, max_edge=most, size_rule=rule)), SIZES, []
    for most in (0, 40):
        g = graph(resize(fit="shortest", edge=27, max_edge=most, multiple=8, size_rule="cap_unrounded_down"))
        yield f"size_shortest_yolos_{most}", "fast", g, [*SIZES, (27, 40), (40, 27)], []
    for rule in rules[:3]:
        yield f"size_longest_{rule}", "fast", graph(resize(fit="longest", edge=31, size_rule=rule)), SIZES, []
        for fit in ("inside", "cover"):
            yield f"size_{fit}_{rule}", "fast", graph(resize(fit=fit, height=26, width=39, size_rule=rule)), SIZES, []
        for keep in (False, True):
            g = graph(resize(fit="multiple", height=26, width=39, multiple=7, keep_aspect=keep, size_rule=rule))
            yield f"size_multiple_{rule}_{keep}", "fast", g, SIZES, []
    for name, kw in (("plain", {}), ("auto", dict(auto=True, stride=8)), ("fill", dict(scale_fill=True)), ("no_up", dict(no_scale_up=True)),
                     ("corner", dict(top_left=True, fill=[1, 2, 3]))):
        yield f"exact_letterbox_{name}", "exact", graph(letterbox(40, 48, **kw), TENSOR), SIZES[1:4], []
        yield f"fast_letterbox_{name}", "fast", graph(letterbox(20, 24, **kw)), SIZES, []

    def tail(name, *steps, sizes=((16, 16),)):
        return f"tail_{name}", "tail", graph(*steps), list(sizes), []

    yield tail("levels", rescale(), IMAGENET)
    yield tail("levels_batch", TENSOR, IMAGENET)
    for i, (s, rule, offset) in enumerate([(1 / 127.5, "hf", -1), (0.00392156862745098, "multiply", 0), (0.1, "hf", 0), (255, "divide", -0.5),
                                           (1 / 3, "hf", 0.25), (0.017, "multiply", -2)]):
        yield tail(f"rescale_{i}", rescale(s, rule, offset))
    yield tail("rescale_float", TENSOR, rescale(0.3, "hf"), rescale(0.7, "multiply", 1), rescale(3, "divide"))
    for d in ("int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16"):
        yield tail(f"to_{d}", to_type(d))
    for d in ("uint8", "int8", "int16", "uint16", "int32", "float16", "bfloat16", "float64"):
        for rule in ("truncate", "saturate"):
            yield tail(f"float_to_{d}_{rule}", rescale(3.7, "multiply", -300.5), to_type(d, rule))
    yield tail("quantize_uint8", TENSOR, IMAGENET, quantize([0.02], [114], "uint8"))
    yield tail("quantize_int8", TENSOR, IMAGENET, quantize([0.02, 0.021, 0.019], [-14, 0, 3], "int8"), HWC)
    yield tail("quantize_int16", rescale(), quantize([0.00002, 0.0003, 0.00001], [-14, 0, 3], "int16"))
    yield tail("quantize_uint16", rescale(), quantize([1 / 65535], [7], "uint16"))
    yield tail("normalize_pad", ("normalize_pad", dict(mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375], dtype="float32")))
    yield tail("normalize_pad_half", CHW, ("normalize_pad", dict(mean=[127.5], std=[60.0], dtype="float16")))
    yield tail("invert", ("invert", {}), CHW)
    yield tail("brightness", ("adjust_brightness", dict(factor=1.3, backend="pillow")))
    for backend in ("pillow", "opencv"):
        yield tail(f"gray_{backend}", ("grayscale", dict(channels=1, backend=backend)), ("grayscale", dict(channels=3, backend=backend)))
        yield tail(f"gray3_{backend}", CHW, ("grayscale", dict(channels=3, backend=backend)))
    yield tail("bgr", ("convert_color", {"from": "rgb", "to": "bgr", "backend": "opencv"}), TENSOR)
    yield tail("flips", ("horizontal_flip", {}), CHW, ("vertical_flip", {}), TENSOR_OF_CHW)
    odd = [(9, 14), (7, 3)]
    yield tail("pad", pad("constant", 114), sizes=odd)
    yield tail("pad_colours", pad("constant", 1, 2, 3), CHW, sizes=odd)
    yield tail("pad_edge", pad("edge"), sizes=odd)
    yield tail("pad_float", TENSOR, pad("constant", 0.5, -1, 3), sizes=odd)
    for position in ("center", "top_left", "bottom_right"):
        yield tail(f"pad_to_{position}", rescale(), CHW, pad_to(19, 22, position, fill=(0.25,)), sizes=odd)
        yield tail(f"mask_{position}", rescale(), CHW, pad_with_mask(19, 22, position, fill=(0.25,)), sizes=odd)
        yield tail(f"multiple_{position}", TENSOR, pad_to_multiple(5, position, fill=(0.5,)), sizes=[*odd, (10, 15)])
        yield f"exact_mask_{position}", "exact", graph(pad_with_mask(19, 0, position, "edge", dtype="bool")), odd, []
    yield tail("mask_ones", TENSOR, pad_with_mask(0, 0), sizes=odd)
    yield tail("mask_width", TENSOR, pad_with_mask(0, 20, dtype="float32"), sizes=odd)
    for d in ("int64", "int32", "float32"):
        yield tail(f"image_size_{d}", ("image_size", dict(dtype=d)), TENSOR, sizes=odd)
        yield f"exact_image_size_{d}", "exact", graph(("image_size", dict(dtype=d)), TENSOR), odd, []
    for mode in ("reflect", "symmetric", "edge"):
        yield f"exact_multiple_{mode}", "exact", graph(pad_to_multiple(16, mode=mode)), odd, []
        yield f"exact_pad_{mode}", "exact", graph(pad(mode, top=30, left=11)), odd, []
        yield f"exact_pad_to_{mode}", "exact", graph(pad_to(19, 22, mode=mode)), odd, []


TENSOR_OF_CHW = rescale(255, "divide")

# The values of TensorProto.DataType that NumPy has no type for are cast in front of the output.
KINDS = {"tensor(bfloat16)": "bfloat16"}


def session(model):
    o = ort.SessionOptions()
    o.intra_op_num_threads = 1
    o.log_severity_level = 3
    return ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])


def run(model, inputs):
    m = onnx.load_from_string(model)
    half = [o.name for o in m.graph.output if o.type.tensor_type.elem_type == TensorProto.BFLOAT16]
    for o in m.graph.output:  # which Python cannot take; every bfloat16 is a float32
        if o.name in half:
            m.graph.node.append(helper.make_node("Cast", [o.name], [o.name + "_f32"], to=TensorProto.FLOAT))
            o.type.tensor_type.elem_type = TensorProto.FLOAT
            o.name += "_f32"
    s = session(m.SerializeToString() if half else model)
    names = [o.name for o in s.get_outputs()]
    out = dict(zip(names, s.run(None, inputs)))
    for n in half:
        out = {(k[:-4] if k == n + "_f32" else k): (v.astype(ml_dtypes.bfloat16) if k == n + "_f32" else v) for k, v in out.items()}
    return out


def sha(b):
    return hashlib.sha256(b).hexdigest()


def tiny(opset=18, function=False, ir=8):
    """A classifier of 3x28x28 that is small: a convolution with a stride, a mean, a product."""
    w = (picture(4, 3, 5, 5).astype(np.float32) - 128) / 1000
    v = (picture(4, 3).astype(np.float32) - 128) / 100
    nodes = [
        helper.make_node("Conv", ["pixels", "image"], ["features"], strides=[3, 3]),
        helper.make_node("GlobalAveragePool", ["features"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "v"], ["logits"]),
    ]
    functions = []
    opsets = [helper.make_opsetid("", opset)]
    if function:
        functions = [helper.make_function("local", "Twice", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])], [helper.make_opsetid("", 17)])]
        opsets.append(helper.make_opsetid("local", 1))
    # An initializer is called image, which the graph's own input would be called too.
    g = helper.make_graph(
        nodes, "tiny", [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["batch", 3, 28, 28])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])],
        [numpy_helper.from_array(w, "image"), numpy_helper.from_array(v, "v")])
    m = helper.make_model(g, opset_imports=opsets, functions=functions, producer_name="tiny", ir_version=ir)
    helper.set_model_props(m, {"author": "nobody", "größe": "28×28"})
    return m.SerializeToString(deterministic=True)


def main():
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        tool = tmp / "infer-prep"
        subprocess.run(["go", "build", "-o", str(tool), "./cmd/infer-prep"], cwd=ROOT, check=True)

        def infer_prep(*args):
            return subprocess.run([str(tool), *map(str, args)], check=True, stdout=subprocess.PIPE, text=True).stdout

        done = []
        for name, form, g, sizes, flags in cases():
            (tmp / "g.json").write_text(json.dumps(g))
            stated = flags is None or form == "exact" and "--host-taps" not in flags
            case = {"name": name, "form": form, "host_taps": "--host-taps" in (flags or []), "batch": "--batch" in (flags or []), "graph": g, "runs": []}
            for i, (h, w) in enumerate(sizes):
                if i == 0 or stated or case["host_taps"]:
                    more = list(flags or [])
                    if stated:
                        more += ["--input-size", f"{h}x{w}"]
                    if case["host_taps"]:
                        more += ["--taps-for", f"{h}x{w}"]
                    info = json.loads(infer_prep("graph", "export-onnx", "--graph", tmp / "g.json", "--form", form, "-o", tmp / "m.onnx", "--json", *more))
                    model = (tmp / "m.onnx").read_bytes()
                    onnx.checker.check_model(onnx.load_from_string(model), full_check=True)
                [port] = info["inputs"]
                shape = [n if n > 0 else s for n, s in zip(port["shape"], (h, w, 3))]
                assert port["layout"] == "HWC" and port["dtype"] == "uint8" and shape == [h, w, 3], (name, port)
                inputs = {port["name"]: picture(h, w, 3)}
                if case["host_taps"]:
                    inputs |= dict(np.load(tmp / f"m.onnx.{h}x{w}.npz"))
                outputs = []
                for n, a in run(model, inputs).items():
                    o = {"name": n, "dtype": str(a.dtype), "shape": list(a.shape), "sha256": sha(a.tobytes())}
                    if info["steps_within_1"] and n == "image" and not name.startswith("size_"):
                        o["data"] = base64.b64encode(a.tobytes()).decode()
                    outputs.append(o)
                case["runs"].append({"height": h, "width": w, "stated": stated, "model": sha(model), "outputs": outputs})
            done.append(case)

        hf = [c for c in done if c["name"] == "taps_hf"][0]["graph"]
        (tmp / "hf.json").write_text(json.dumps(hf))
        for name, b in (("tiny", tiny()), ("opset11", tiny(11, ir=6)), ("function", tiny(function=True))):
            (OUT / f"{name}.onnx").write_bytes(b)
        merged = []
        for form, flags in (("exact", ["--input-size", "45x60"]), ("fast", []), ("tail", [])):
            path = OUT / f"merged_{form}.onnx"
            infer_prep("graph", "export-onnx", "--graph", tmp / "hf.json", "--form", form, "--merge", OUT / "tiny.onnx", "-o", path, *flags)
            b = path.read_bytes()
            onnx.checker.check_model(onnx.load_from_string(b), full_check=True)
            s = session(b)
            [i] = s.get_inputs()
            shape = (28, 28, 3) if form == "tail" else (45, 60, 3)
            logits = s.run(None, {i.name: picture(*shape)})[0]
            # The same in two sessions.
            infer_prep("graph", "export-onnx", "--graph", tmp / "hf.json", "--form", form, "--batch", "-o", tmp / "m.onnx", *flags)
            first = session((tmp / "m.onnx").read_bytes())
            apart = session(tiny()).run(None, {"pixels": first.run(None, {first.get_inputs()[0].name: picture(*shape)})[0]})[0]
            assert logits.tobytes() == apart.tobytes(), form
            merged.append({"form": form, "input": i.name, "logits": [float(v) for v in logits.ravel()]})

        infer_prep("bundle", "embed-onnx", OUT / "tiny.onnx", "--graph", tmp / "hf.json", "-o", OUT / "embedded.onnx")
        s = session((OUT / "embedded.onnx").read_bytes())
        meta = s.get_modelmeta().custom_metadata_map
        assert meta["author"] == "nobody" and meta["größe"] == "28×28" and json.loads(meta["infer_prep.graph"])["steps"][1]["op"] == "resize", meta
        x = {"pixels": (picture(1, 3, 28, 28) / np.float32(255)).astype(np.float32)}
        assert s.run(None, x)[0].tobytes() == session(tiny()).run(None, x)[0].tobytes()

        what = {"reference": f"onnxruntime {ort.__version__}, CPUExecutionProvider", "cases": done, "merge_graph": hf, "merged": merged}
        (OUT / "goldens.json").write_text(json.dumps(what, separators=(",", ":"), sort_keys=True).replace('{"batch"', '\n{"batch"') + "\n")


if __name__ == "__main__":
    main()
