"""Pillow, of whatever version or build the environment has, such as Pillow-SIMD."""

import os

import common
import numpy as np
import PIL
from common import want
from PIL import Image, ImageOps

FILTERS = {"nearest": 0, "box": 4, "bilinear": 2, "hamming": 5, "bicubic": 3, "lanczos": 1}
Image.MAX_IMAGE_PIXELS = None


def rgb(path):
    return Image.open(path).convert("RGB")


def decode(task, files):
    """OpenCV applies the orientation; ImageOps has a function for it."""
    if task["library"] == "pillow":
        return np.asarray(rgb(files[0]))
    return np.asarray(ImageOps.exif_transpose(Image.open(files[0])).convert("RGB"))


def resize(task, files):
    want(task["library"] == "pillow", "another library's resize")
    return np.asarray(rgb(files[0]).resize((task["width"], task["height"]), FILTERS[task["filter"]]))


def crop(task, files):
    t, l = task["top"], task["left"]
    return np.asarray(rgb(files[0]).crop((l, t, l + task["width"], t + task["height"])))


common.serve(os.environ.get("NAME", "Pillow"), PIL.__version__, 'Image.open(f).convert("RGB"), resize, crop', {"decode": decode, "resize": resize, "crop": crop})
