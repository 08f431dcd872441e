"""torchvision: decode_image, and v2's functions and transforms on uint8 tensors; with "on": "pil" on Pillow's images."""

import common
import numpy as np
import torch
import torchvision
from common import want
from PIL import Image
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import InterpolationMode, v2
from torchvision.transforms.v2 import functional as F

torch.set_num_threads(1)


def hwc(t):
    return t.permute(1, 2, 0).numpy()


def read(path, orientation=False):
    with open(path, "rb") as f:
        head = f.read(12)
    want(head[:2] == b"\xff\xd8" or head[1:4] == b"PNG" or head[:3] == b"GIF" or head[8:] == b"WEBP", "torchvision reads JPEG, PNG, GIF and WebP")
    t = decode_image(path, mode=ImageReadMode.RGB, apply_exif_orientation=orientation)
    return t if t.ndim == 3 else t[0]  # the first frame of an animation


def decode(task, files):
    return hwc(read(files[0], task["library"] == "opencv"))


def resize(task, files):
    want(task["library"] == "torchvision", "another library's resize")
    mode = {"nearest": InterpolationMode.NEAREST, "nearest_exact": InterpolationMode.NEAREST_EXACT, "bilinear": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC}
    return hwc(F.resize(read(files[0]), [task["height"], task["width"]], mode[task["filter"]], antialias=task["antialias"]))


def center_crop(task, files):
    want(task["library"] == "torchvision", "another library's rule")
    return hwc(F.center_crop(read(files[0]), [task["height"], task["width"]]))


def crop(task, files):
    return hwc(F.crop(read(files[0]), task["top"], task["left"], task["height"], task["width"]))


def pad(task, files):
    return hwc(F.pad(read(files[0]), [task[k] for k in ("left", "top", "right", "bottom")], fill=[task["fill"]], padding_mode=task["mode"]))


def normalise(task, files):
    x = read(files[0])
    want(task["rule"] in ("to_tensor", "to_dtype"), "transformers' rule")
    x = x.float().div(255) if task["rule"] == "to_tensor" else F.to_dtype(x, torch.float32, scale=True)
    return F.normalize(x, task["mean"], task["std"]).numpy()


def transforms(task, files):
    kinds = {"interpolation": InterpolationMode, "dtype": lambda n: getattr(torch, n)}
    steps = [getattr(v2, d["type"])(**{k: kinds.get(k, lambda x: x)(x) for k, x in d.items() if k != "type"}) for d in task["transforms"]]
    if task["on"] == "pil":
        return v2.Compose([*steps[:-2], v2.ToImage(), *steps[-2:]])(Image.open(files[0]).convert("RGB")).numpy()
    return v2.Compose(steps)(read(files[0])).numpy()


common.serve("torchvision", f"{torchvision.__version__}, torch {torch.__version__}", "decode_image, transforms.v2 on tensors, one thread",
             {"decode": decode, "resize": resize, "center_crop": center_crop, "crop": crop, "pad": pad, "normalise": normalise, "transforms": transforms})
