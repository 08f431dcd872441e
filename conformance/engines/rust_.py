"""zune-jpeg and fast_image_resize, by the program of the folder rust, which CONFORMANCE_RUST names. Pillow reads PNG files."""

import os
import pathlib
import subprocess
import tempfile

import common
import numpy as np
from common import want
from PIL import Image

PROGRAM = os.environ.get("CONFORMANCE_RUST", "")
FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")


def call(*args):
    r = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip()[:200])
    return r.stdout


def decode(task, files):
    data = pathlib.Path(files[0]).read_bytes()
    want(data[:2] == b"\xff\xd8", "zune-jpeg reads JPEG")
    want(task["library"] == "pillow" or b"Exif" not in data, "zune-jpeg does not apply the orientation")
    with tempfile.TemporaryDirectory() as tmp:
        w, h = map(int, call("decode", files[0], tmp + "/out").split())
        return np.fromfile(tmp + "/out", np.uint8).reshape(h, w, 3)


def resize(task, files):
    """Convolution is meant as Pillow's, and so as torchvision's with antialiasing; Interpolation as that without."""
    name = task["filter"]
    want(name in FILTERS and (task["library"] == "pillow" or task["library"] == "torchvision" and (task["antialias"] or name == "bilinear")), f"no {name} of this library")
    if not task["antialias"] and name == "bilinear":
        name = "interpolation bilinear"
    a = np.asarray(Image.open(files[0]).convert("RGB"))
    with tempfile.TemporaryDirectory() as tmp:
        a.tofile(tmp + "/in")
        call("resize", name, a.shape[1], a.shape[0], task["width"], task["height"], tmp + "/in", tmp + "/out")
        return np.fromfile(tmp + "/out", np.uint8).reshape(task["height"], task["width"], 3)


common.serve("zune-jpeg, fast_image_resize", "0.5.15, 6.1.0", "JpegDecoder to RGB; ResizeAlg::Convolution, CatmullRom for bicubic", {"decode": decode, "resize": resize})
