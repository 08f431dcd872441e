"""MindSpore's vision ops in C++, one by one; Pillow's images for the tasks of Pillow."""

import common
import mindspore
import mindspore.dataset.vision as V
import numpy as np
from common import want
from mindspore.dataset.vision import Border, Inter
from PIL import Image

FILTERS = {"nearest": Inter.NEAREST, "bilinear": Inter.LINEAR, "bicubic": Inter.CUBIC, "area": Inter.AREA}


def read(path):
    data = np.fromfile(path, np.uint8)
    b = data.tobytes()
    want(b[:2] in (b"\xff\xd8", b"BM") or b[1:4] == b"PNG" or b[:2] in (b"II", b"MM"), "Decode reads JPEG, PNG, BMP and TIFF")
    return V.Decode()(data)


def decode(task, files):
    with open(files[0], "rb") as f:
        data = f.read()
    want(task["library"] == "pillow" or b"Exif" not in data and b"eXIf" not in data, "Decode does not apply the orientation")
    return read(files[0])


def resize(task, files):
    """On arrays LINEAR, AREA and NEAREST are like OpenCV's; on Pillow's images Resize is Pillow's; Inter.PILCUBIC is Pillow's bicubic in C++."""
    size, name = (task["height"], task["width"]), task["filter"]
    if task["library"] == "pillow":
        if name == "bicubic":
            return V.Resize(size, Inter.PILCUBIC)(read(files[0]))
        pil = {"nearest": Inter.NEAREST, "bilinear": Inter.LINEAR, "lanczos": getattr(Inter, "ANTIALIAS", None)}
        want(pil.get(name) is not None, f"no {name}")
        return np.asarray(V.Resize(size, pil[name])(Image.open(files[0]).convert("RGB")))
    want(task["library"] == "opencv" and name in FILTERS, f"no {name} of this library")
    return V.Resize(size, FILTERS[name])(read(files[0]))


def center_crop(task, files):
    want(task["library"] == "torchvision", "transformers' rule")
    return V.CenterCrop((task["height"], task["width"]))(read(files[0]))


def crop(task, files):
    a, t, l, h, w = read(files[0]), task["top"], task["left"], task["height"], task["width"]
    want(t >= 0 <= l and t + h <= a.shape[0] and l + w <= a.shape[1], "the crop exceeds the image")
    return V.Crop((t, l), (h, w))(a)


def pad(task, files):
    modes = {"constant": Border.CONSTANT, "edge": Border.EDGE, "reflect": Border.REFLECT, "symmetric": Border.SYMMETRIC}
    return V.Pad((task["left"], task["top"], task["right"], task["bottom"]), task["fill"], modes[task["mode"]])(read(files[0]))


def normalise(task, files):
    want(task["rule"] in ("to_tensor", "to_dtype"), "transformers' rule")
    return V.Normalize(task["mean"], task["std"], is_hwc=False)(V.ToTensor()(read(files[0])))


common.serve("MindSpore", mindspore.__version__, "vision.Decode, Resize, CenterCrop, Crop, Pad, ToTensor, Normalize",
             {"decode": decode, "resize": resize, "center_crop": center_crop, "crop": crop, "pad": pad, "normalise": normalise})
