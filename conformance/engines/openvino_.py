"""OpenVINO's PrePostProcessor before a model that does nothing: resize, crop, pad, mean and scale. Pillow reads the files."""

import common
import numpy as np
import openvino as ov
from common import want
from openvino.preprocess import PaddingMode, PrePostProcessor, ResizeAlgorithm
from PIL import Image

core = ov.Core()
core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
# RESIZE_*_PILLOW are documented as Pillow's; the others are those of OpenCV and of torch without antialiasing.
PILLOW = {"bilinear": ResizeAlgorithm.RESIZE_BILINEAR_PILLOW, "bicubic": ResizeAlgorithm.RESIZE_BICUBIC_PILLOW}
PLAIN = {"bilinear": ResizeAlgorithm.RESIZE_LINEAR, "bicubic": ResizeAlgorithm.RESIZE_CUBIC, "nearest": ResizeAlgorithm.RESIZE_NEAREST}
PADS = {"constant": PaddingMode.CONSTANT, "reflect": PaddingMode.REFLECT, "symmetric": PaddingMode.SYMMETRIC}
MEAN, STD = "mean", "std"


def run(a, shape, steps, dtype=ov.Type.u8, layout="NHWC"):
    """The result of the steps on one image, whose model takes the shape."""
    x = ov.opset15.parameter(shape, dtype, name="x")
    model = ov.Model([ov.opset15.result(x)], [x])
    p = PrePostProcessor(model)
    p.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC")).set_shape([1, *a.shape])
    p.input().model().set_layout(ov.Layout(layout))
    steps(p.input().preprocess())
    return core.compile_model(p.build(), "CPU")({0: np.ascontiguousarray(a[None])})[0][0]


def read(path):
    return np.asarray(Image.open(path).convert("RGB"))


def algorithm(task):
    name = task["filter"]
    if task["library"] == "pillow":
        want(name in PILLOW or name == "nearest", f"no {name} as Pillow's")
        return PILLOW.get(name, ResizeAlgorithm.RESIZE_NEAREST)
    name = {"nearest_exact": "nearest", "nearest": ""}.get(name, name)  # RESIZE_NEAREST takes the pixel at the centre
    want(name in PLAIN and (task["library"] == "opencv" or not task["antialias"]), f"no {task['filter']} of this library")
    return PLAIN[name]


def resize(task, files):
    h, w, how = task["height"], task["width"], algorithm(task)
    return run(read(files[0]), [1, h, w, 3], lambda s: s.resize(how, h, w))


def crop(task, files):
    a, t, l, h, w = read(files[0]), task["top"], task["left"], task["height"], task["width"]
    want(t >= 0 <= l and t + h <= a.shape[0] and l + w <= a.shape[1], "the crop exceeds the image")
    return run(a, [1, h, w, 3], lambda s: s.crop([0, t, l, 0], [1, t + h, l + w, 3]))


def pad(task, files):
    want(task["mode"] in PADS, f"no {task['mode']}")
    a = read(files[0])
    begin, end = [0, task["top"], task["left"], 0], [0, task["bottom"], task["right"], 0]
    shape = [1, *(n + b + e for n, b, e in zip(a.shape, begin[1:], end[1:]))]
    steps = lambda s: s.convert_element_type(ov.Type.f32).pad(begin, end, float(task["fill"]), PADS[task["mode"]])  # it pads floats alone
    return run(a, shape, steps, ov.Type.f32).astype(np.uint8)


def normalise(task, files):
    """As in OpenVINO's tutorials: the mean and the deviation times 255."""
    a = read(files[0])
    mean, std = ([255 * x for x in task[k]] for k in (MEAN, STD))
    return run(a, [1, 3, *a.shape[:2]], lambda s: s.convert_element_type(ov.Type.f32).mean(mean).scale(std), ov.Type.f32, "NCHW")


common.serve("OpenVINO PrePostProcessor", ov.__version__.split("-")[0], "RESIZE_BILINEAR_PILLOW and RESIZE_BICUBIC_PILLOW for Pillow, RESIZE_LINEAR, _CUBIC, _NEAREST else; CPU, f32",
             {"resize": resize, "crop": crop, "pad": pad, "normalise": normalise})
