"""OpenCV as its wheel from PyPI is, with Intel's IPP: imread, resize, dnn."""

import json
import pathlib
import sys

import common
import cv2
import numpy as np
from common import want

cv2.setNumThreads(1)
FILTERS = {"nearest": cv2.INTER_NEAREST, "nearest_exact": cv2.INTER_NEAREST_EXACT, "bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC,
           "area": cv2.INTER_AREA, "lanczos": cv2.INTER_LANCZOS4}
BORDERS = {"constant": cv2.BORDER_CONSTANT, "edge": cv2.BORDER_REPLICATE, "reflect": cv2.BORDER_REFLECT_101, "symmetric": cv2.BORDER_REFLECT}


def read(path, flag=cv2.IMREAD_COLOR):
    a = cv2.imread(path, flag)
    want(a is not None, "OpenCV does not read the file")
    return a[..., ::-1]


def decode(task, files):
    return read(files[0], cv2.IMREAD_COLOR if task["library"] == "opencv" else cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)


def resize(task, files):
    want(task["library"] == "opencv", "OpenCV does not antialias by these filters")
    return cv2.resize(np.ascontiguousarray(read(files[0])), (task["width"], task["height"]), interpolation=FILTERS[task["filter"]])


def pad(task, files):
    a = np.ascontiguousarray(read(files[0]))
    return cv2.copyMakeBorder(a, task["top"], task["bottom"], task["left"], task["right"], BORDERS[task["mode"]], value=[task["fill"]] * 3)


def opencv(task, files):
    """The parameters of blobFromImage or Image2BlobParams, as parity/importers_more.py passes them."""
    sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent.parent / "parity"))
    import importers_more

    return importers_more.opencv(json.loads(json.dumps(task["config"])))(files[0])


common.serve("OpenCV", cv2.__version__, "imread, resize, copyMakeBorder, blobFromImage; the wheel's defaults, with IPP", {"decode": decode, "resize": resize, "pad": pad, "opencv": opencv})
