"""kornia_rs: io's readers, imgproc.resize with antialias, crop, normalize_mean_std."""

import pathlib

import common
import kornia_rs
import numpy as np
from common import want
from kornia_rs import imgproc, io


def array(x):
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def read(path):
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b"\xff\xd8":
        a = array(io.read_image_jpegturbo(path))
    elif data[1:4] == b"PNG":
        want(data[24] == 8 and data[25] == 2, "kornia_rs does not convert this kind of PNG to RGB")
        a = array(io.read_image_png_u8(path, "rgb"))
    else:
        want(False, "kornia_rs reads JPEG, PNG and TIFF")
    return a


def decode(task, files):
    data = pathlib.Path(files[0]).read_bytes()
    want(task["library"] == "pillow" or b"Exif" not in data and b"eXIf" not in data, "kornia_rs does not apply the orientation")
    return read(files[0])


def resize(task, files):
    """Of bytes, bicubic and lanczos antialias if asked to; bilinear never does, and nearest takes the pixel at the centre."""
    name, antialias = task["filter"], task["antialias"]
    if name == "nearest" and task["library"] == "pillow" or name == "nearest_exact" and task["library"] == "torchvision":
        name, antialias = "nearest", False
    elif name == "bilinear":
        want(task["library"] == "opencv" or not antialias, "bilinear does not antialias")
    else:
        want(name in ("bicubic", "lanczos") and antialias, f"no {name} of this library")
    return array(imgproc.resize(read(files[0]), (task["height"], task["width"]), name, antialias=antialias))


def crop(task, files):
    a = read(files[0])
    want(task["top"] >= 0 <= task["left"] and task["top"] + task["height"] <= a.shape[0] and task["left"] + task["width"] <= a.shape[1], "the crop exceeds the image")
    return array(imgproc.crop(a, task["left"], task["top"], task["width"], task["height"]))


def normalise(task, files):
    """In 0.2.0 it does not divide by 255 first, whatever its stub says."""
    want(task["rule"] in ("to_tensor", "to_dtype"), "transformers' rule")
    return array(imgproc.normalize_mean_std(read(files[0]), [255 * x for x in task["mean"]], [255 * x for x in task["std"]])).transpose(2, 0, 1)


common.serve("kornia-rs", kornia_rs.__version__, "io.read_image_*, imgproc.resize(antialias=…), crop, normalize_mean_std", {"decode": decode, "resize": resize, "crop": crop, "normalise": normalise})
