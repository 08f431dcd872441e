"""ONNX Runtime: its extensions' pre_post_processing for files and pipelines, and its operator Resize for single steps."""

import common
import numpy as np
import onnx
import onnxruntime
import onnxruntime_extensions
from common import want
from onnx import TensorProto, helper
from onnxruntime_extensions.tools import pre_post_processing as pp
from PIL import Image


onnxruntime.set_default_logger_severity(4)


def session(model):
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.log_severity_level = 4
    o.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    return onnxruntime.InferenceSession(model, o, providers=["CPUExecutionProvider"])


def pipeline(path, steps, kind, shape):
    """The result of pre_post_processing's steps on a file: they stand in front of a model that does nothing."""
    with open(path, "rb") as f:
        data = f.read()
    want(data[:2] == b"\xff\xd8" or data[1:4] == b"PNG", "ConvertImageToBGR reads JPEG and PNG")
    p = pp.PrePostProcessor([pp.create_named_value("image", TensorProto.UINT8, ["bytes"])], 18)
    p.add_pre_processing([pp.ConvertImageToBGR(), *steps])
    value = helper.make_tensor_value_info
    model = helper.make_model(
        helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "nothing", [value("x", kind, shape)], [value("y", kind, shape)]),
        opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    s = session(p.run(model).SerializeToString())
    return s.run(None, {s.get_inputs()[0].name: np.frombuffer(data, np.uint8)})[0]


def decode(task, files):
    with open(files[0], "rb") as f:
        data = f.read()
    want(task["library"] == "pillow" or b"Exif" not in data and b"eXIf" not in data, "ConvertImageToBGR does not apply the orientation")
    a = pipeline(files[0], [pp.Identity()], TensorProto.UINT8, ["h", "w", "c"])
    want(a.shape[2] == 3, "ConvertImageToBGR leaves gray images gray")
    return a[..., ::-1]


def rgb():
    return pp.ReverseAxis(axis=2, dim_value=3, name="RGB")


def node(a, op, inputs, kind=TensorProto.UINT8, **attributes):
    """One operator on an image, uint8 HWC as NCHW."""
    constants = [helper.make_tensor(n, t, [len(v)], v) for n, t, v in inputs if n]
    x = helper.make_tensor_value_info("x", kind, [1, 3, *a.shape[:2]])
    g = helper.make_graph([helper.make_node(op, ["x", *(n for n, _, _ in inputs)], ["y"], **attributes)], "g", [x], [helper.make_tensor_value_info("y", kind, None)], constants)
    s = session(helper.make_model(g, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString())
    x = np.ascontiguousarray(a.transpose(2, 0, 1)[None])
    return s.run(None, {"x": x.astype(np.float32) if kind == TensorProto.FLOAT else x})[0][0].transpose(1, 2, 0)


def resize(task, files):
    """ONNX's Resize. On bytes antialias=1 with exclude_outside=1 is Pillow's and torchvision's; without it is OpenCV's and torch's half_pixel."""
    name, library = task["filter"], task["library"]
    sizes = [("", 0, ()), ("", 0, ()), ("sizes", TensorProto.INT64, [1, 3, task["height"], task["width"]])]
    a = np.asarray(Image.open(files[0]).convert("RGB"))
    if name in ("nearest", "nearest_exact"):
        centre = library == "pillow" or name == "nearest_exact"
        more = {"coordinate_transformation_mode": "half_pixel" if centre else "asymmetric", "nearest_mode": "round_prefer_ceil" if centre else "floor"}
        return node(a, "Resize", sizes, mode="nearest", **more)
    want(name in ("bilinear", "bicubic"), f"no {name}")
    more = {"mode": {"bilinear": "linear", "bicubic": "cubic"}[name]}
    if task["antialias"]:
        more |= {"antialias": 1, "exclude_outside": 1} | ({"cubic_coeff_a": -0.5} if name == "bicubic" else {})
    elif name == "bicubic":  # of bytes there is none
        x = node(a, "Resize", sizes, TensorProto.FLOAT, cubic_coeff_a=-0.75, **more)
        return np.clip(np.rint(x), 0, 255).astype(np.uint8)
    return node(a, "Resize", sizes, **more)


def normalise(task, files):
    want(task["rule"] in ("to_tensor", "to_dtype"), "transformers' rule")
    steps = [rgb(), pp.ChannelsLastToChannelsFirst(), pp.ImageBytesToFloat(), pp.Normalize(list(zip(task["mean"], task["std"])), layout="CHW")]
    return pipeline(files[0], steps, TensorProto.FLOAT, [3, "h", "w"])


def transforms(task, files):
    """Resize of the short edge and CenterCrop, as their docs do for torchvision's models."""
    t = task["transforms"]
    want([d["type"] for d in t] == ["Resize", "CenterCrop", "ToDtype", "Normalize"] and isinstance(t[0]["size"], int) and isinstance(t[1]["size"], int), "no such steps")
    want(t[0]["interpolation"] == "bilinear" and "max_size" not in t[0], "Resize is bilinear, without a largest edge")
    side = t[1]["size"]
    steps = [rgb(), pp.Resize(t[0]["size"]), pp.CenterCrop(side, side), pp.ChannelsLastToChannelsFirst(), pp.ImageBytesToFloat(), pp.Normalize(list(zip(t[3]["mean"], t[3]["std"])), layout="CHW")]
    return pipeline(files[0], steps, TensorProto.FLOAT, [3, side, side])


common.serve("ONNX Runtime", f"{onnxruntime.__version__}, extensions {onnxruntime_extensions.__version__}", "extensions' pre_post_processing; operator Resize of uint8 with antialias and exclude_outside",
             {"decode": decode, "resize": resize, "normalise": normalise, "transforms": transforms})
