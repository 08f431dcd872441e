"""Writes the goldens of Posterize and Solarize.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, torch 2.15.0 and torchvision 0.29.2, on x86-64 with AVX2.
Every run gives the same bytes. posterize_solarize_mindspore.py writes those of MindSpore.
"""

import numpy as np
import torch
from PIL import Image, ImageOps
from torchvision.transforms.v2 import functional as v2

from golden import Golden, chw, image

torch.set_num_threads(1)

RAMP = np.arange(256, dtype=np.uint8).reshape(8, 32, 1)
# Noise, colours of few values, gray, nearly black, one pixel, all values.
IMAGES = [("photo", image(23, 37, 3)), ("few", (image(11, 9, 3) // 50 * 40 + 20).astype(np.uint8)), ("gray", image(9, 33, 1)),
          ("dark", (image(13, 17, 3) // 5).astype(np.uint8)), ("dot", image(1, 1, 3)), ("ramp", RAMP)]
FLOATS = [("photo", (image(7, 9, 3, "float32") / 200 + np.float32(0.5)).astype(np.float32)), ("gray", (image(3, 5, 1) / np.float32(255)).astype(np.float32)),
          ("edges", np.array([0, 1, -0.0, 0.5, np.nextafter(np.float32(0.5), np.float32(0)), 1.5, -0.25, 3e38, np.inf, -np.inf, 1e-40, 0.99999994], np.float32).reshape(2, 6, 1))]


def pil(f, a, *args):
    """What a function of Pillow's gives for an image of one or three channels."""
    out = np.asarray(f(Image.fromarray(a if a.shape[2] > 1 else a[:, :, 0]), *args))
    return out.reshape(a.shape)


def tensor(f, a, *args):
    """What torchvision gives for a tensor."""
    return np.ascontiguousarray(f(torch.from_numpy(chw(a)), *args).numpy().transpose(1, 2, 0))


def case(g, name, params, a, want):
    """Every second case is CHW."""
    if len(g.cases) % 2:
        g.case(name + "_chw", params, chw(a), chw(want), "CHW")
    else:
        g.case(name, params, a, want)


def tables():
    g = Golden("posterize", "torchvision 0.29.2 v2 posterize of a tensor, equal to Pillow 13.0.0 ImageOps.posterize from 1 bit on")
    for bits in range(9):
        for name, a in IMAGES:
            want = tensor(v2.posterize, a, bits)
            assert bits == 0 or np.array_equal(want, pil(ImageOps.posterize, a, bits))
            case(g, f"{name}_{bits}", {"bits": bits}, a, want)
        for name, a in FLOATS:
            case(g, f"float_{name}_{bits}", {"bits": bits}, a, tensor(v2.posterize, a, bits))
    g.write()

    g = Golden("solarize", "torchvision 0.29.2 v2 solarize of a tensor, equal to Pillow 13.0.0 ImageOps.solarize")
    for t in (0, 1, 127, 128, 128.5, 200.25, 254, 255, 256):
        for name, a in IMAGES:
            want = pil(ImageOps.solarize, a, t)
            assert t > 255 or np.array_equal(want, tensor(v2.solarize, a, t))
            case(g, f"{name}_{t}", {"threshold": [t, max(t, 255)]}, a, want)
    for t in (0, 0.25, 0.3, 0.5, 0.7, 1):
        for name, a in FLOATS:
            a = np.minimum(a, 1) if t else np.clip(a, -1e6, 1e6)
            case(g, f"float_{name}_{t}", {"threshold": [t, 1e6]}, a, tensor(v2.solarize, a, t))
    g.write()


if __name__ == "__main__":
    tables()
