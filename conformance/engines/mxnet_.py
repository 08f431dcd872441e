"""MXNet 1.9.1's mx.image: imdecode, imresize, copyMakeBorder, color_normalize, which link OpenCV 3.4."""

import common
import numpy as np

np.bool = bool  # which MXNet 1.9.1 wants of NumPy
import mxnet as mx
from common import want
from mxnet import image


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    want(data[:2] in (b"\xff\xd8", b"BM") or data[1:4] == b"PNG", "the wheel's imdecode reads JPEG, PNG and BMP")
    want(b"eXIf" not in data, "OpenCV 3.4 does not know the orientation of PNG")
    return image.imdecode(data, flag=1, to_rgb=True)


def decode(task, files):
    with open(files[0], "rb") as f:
        data = f.read()
    want(task["library"] == "opencv" or b"Exif" not in data and b"eXIf" not in data, "imdecode always applies the orientation")
    return read(files[0]).asnumpy()


def resize(task, files):
    name = task["filter"]
    interp = {"nearest": 0, "bilinear": 1, "bicubic": 2, "area": 3, "lanczos": 4}.get(name)
    want(task["library"] == "opencv" and interp is not None, f"no {name} of this library")
    return image.imresize(read(files[0]), task["width"], task["height"], interp=interp).asnumpy()


def crop(task, files):
    x, t, l, h, w = read(files[0]), task["top"], task["left"], task["height"], task["width"]
    want(t >= 0 <= l and t + h <= x.shape[0] and l + w <= x.shape[1], "the crop exceeds the image")
    return image.fixed_crop(x, l, t, w, h).asnumpy()


def pad(task, files):
    kind = {"constant": 0, "edge": 1, "symmetric": 2, "reflect": 4}[task["mode"]]
    return image.copyMakeBorder(read(files[0]), task["top"], task["bottom"], task["left"], task["right"], kind, values=(task["fill"],) * 3).asnumpy()


def normalise(task, files):
    want(task["rule"] == "to_tensor", "another rule")
    t = mx.gluon.data.vision.transforms
    return t.Normalize(task["mean"], task["std"])(t.ToTensor()(read(files[0]))).asnumpy()


common.serve("MXNet", mx.__version__, "mx.image.imdecode, imresize, fixed_crop, copyMakeBorder; gluon ToTensor, Normalize",
             {"decode": decode, "resize": resize, "crop": crop, "pad": pad, "normalise": normalise})
