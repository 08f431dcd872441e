"""Writes the goldens of AutoContrast, Equalize, AdjustSharpness, AdjustGamma, ChannelPermutation and LinearTransformation.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, opencv-python-headless 5.0.0.93, torch 2.15.0 and torchvision 0.29.2,
on x86-64 with AVX2. Every run gives the same bytes. tone_mindspore.py writes those of MindSpore.
"""

import cv2
import numpy as np
import torch
from PIL import ImageEnhance, ImageOps
from torchvision.transforms.v2 import LinearTransformation
from torchvision.transforms.v2 import functional as v2

from posterize_solarize import IMAGES, case, pil, tensor
from golden import Golden, chw, image

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)
torch.set_num_threads(1)

RNG = np.random.default_rng(5)
# Values about a middle, in a wide and in a narrow range.
WIDE = RNG.normal(120, 50, (40, 51, 3)).clip(0, 255).astype(np.uint8)
NARROW = RNG.normal(90, 6, (31, 30, 3)).clip(0, 255).astype(np.uint8)
LEVELS = IMAGES + [("wide", WIDE), ("narrow", NARROW), ("flat", np.full((5, 7, 3), 77, np.uint8))]
UNIT = [(n, (a / np.float32(255)).astype(np.float32)) for n, a in LEVELS if n in ("photo", "gray", "dot", "narrow", "flat", "wide")]
CUTOFFS = [(0, 0), (1, 1), (2.5, 2.5), (10, 10), (33.3, 12), (0, 40), (60, 60), (100, 0), (0.29, 57.3)]
IGNORE = [[], [0], [255, 3], [77], list(range(0, 256, 3))]


def auto_contrast():
    g = Golden("auto_contrast", "Pillow 13.0.0 ImageOps.autocontrast, torchvision 0.29.2 v2 autocontrast of a tensor")
    for i, (lo, hi) in enumerate(CUTOFFS):
        for j, ignore in enumerate(IGNORE):
            for name, a in LEVELS[(i + j) % 2 :: 2]:
                params = {"cutoff_low": lo, "cutoff_high": hi, "ignore": ignore, "backend": "pillow"}
                case(g, f"{name}_{i}_{j}", params, a, pil(lambda x: ImageOps.autocontrast(x, (lo, hi), ignore or None), a))
    params = {"cutoff_low": 0, "cutoff_high": 0, "ignore": [], "backend": "torch"}
    wider = [("span", np.array([-0.25, 0.5, 1.75, 0, 1, 0.1], np.float32).reshape(2, 3, 1)), ("equal", np.full((2, 2, 3), 1.5, np.float32))]
    for name, a in LEVELS:
        case(g, "torch_" + name, params, a, tensor(v2.autocontrast, a))
    for name, a in UNIT + wider:
        case(g, "float_" + name, params, a, tensor(v2.autocontrast, a))
    g.write()


def channels(f, a):
    return np.stack([f(np.ascontiguousarray(a[:, :, i])) for i in range(a.shape[2])], 2)


def equalize():
    g = Golden("equalize", "Pillow 13.0.0 ImageOps.equalize, torchvision 0.29.2 v2 equalize of a tensor, OpenCV 5.0.0 equalizeHist of each channel")
    more = [(f"normal_{i}", RNG.normal(RNG.uniform(0, 255), RNG.uniform(1, 90), (int(RNG.integers(9, 40)), 47, 1 + i % 2 * 2)).clip(0, 255).astype(np.uint8))
            for i in range(12)]
    tiny = [(f"tiny_{n}", image(1, n, 1)) for n in (2, 3, 255, 256, 257, 511)]
    for name, a in LEVELS + more + tiny:
        case(g, "pillow_" + name, {"backend": "pillow"}, a, pil(ImageOps.equalize, a))
        case(g, "torch_" + name, {"backend": "torch"}, a, tensor(v2.equalize, a))
        case(g, "opencv_" + name, {"backend": "opencv"}, a, channels(cv2.equalizeHist, a))
    for name, a in UNIT:
        case(g, "float_" + name, {"backend": "torch"}, a, tensor(v2.equalize, a))
    g.write()


FACTORS = [0.0, 1.0, 0.5, 2.0, 0.3, 1.9, 1.1, 3.7, 10.0, 1e-7]


def adjust_sharpness():
    g = Golden("adjust_sharpness", "Pillow 13.0.0 ImageEnhance.Sharpness, torchvision 0.29.2 v2 adjust_sharpness of a tensor (x86-64 with AVX2)")
    small = [("three", image(3, 3, 3)), ("row", image(1, 9, 3)), ("two", image(9, 2, 1)), ("four", image(3, 4, 1))]
    for i, f in enumerate(FACTORS):
        for j, (name, a) in enumerate(LEVELS + small):
            if i > 2 and (i + j) % 2 == 0:
                continue
            case(g, f"pillow_{name}_{i}", {"factor": f, "backend": "pillow"}, a, pil(lambda x: ImageEnhance.Sharpness(x).enhance(f), a))
            case(g, f"torch_{name}_{i}", {"factor": f, "backend": "torch"}, a, tensor(v2.adjust_sharpness, a, f))
        for name, a in [(n, (a / np.float32(255)).astype(np.float32)) for n, a in small[:1] + small[2:] + LEVELS[2:3] + LEVELS[7:8] * (i % 2)]:
            case(g, f"float_{name}_{i}", {"factor": f, "backend": "torch"}, a, tensor(v2.adjust_sharpness, a, f))
    # torch passes gray images to another function from 20481 pixels on.
    for w in (142, 145):
        a = (np.arange(145 * w) % 251 / np.float32(250)).astype(np.float32).reshape(145, w, 1)
        case(g, f"float_{w}", {"factor": 2.3, "backend": "torch"}, a, tensor(v2.adjust_sharpness, a, 2.3))
    g.write()


GAMMAS = [0.0, 0.3, 0.4545, 0.5, 1.0, 1.7, 2.0, 2.2, 3.0, 3.7, 10.0, 1e-3, 400.0, 0.3543041528788471]


def adjust_gamma():
    g = Golden("adjust_gamma", "torchvision 0.29.2 v2 adjust_gamma of a Pillow 13.0.0 image and of a tensor")
    images = [(n, a) for n, a in IMAGES if n in ("photo", "gray", "dot")] + [("all", np.arange(256, dtype=np.uint8).reshape(16, 16, 1))]
    floats = [("unit", (image(8, 12, 3) / np.float32(255)).astype(np.float32)), ("wide", np.abs(image(8, 4, 1, "float32")) / np.float32(50))]
    for gamma in GAMMAS:
        for gain in (1.0, 0.5, 1.7, 0.0, 300.0, 1 / 255.999):
            for name, a in images if gain == 1 else images[-1:]:
                params = {"gamma": gamma, "gain": gain}
                case(g, f"pillow_{name}_{gamma}_{gain}", dict(params, backend="pillow"), a, pil(v2.adjust_gamma, a, gamma, gain))
                case(g, f"torch_{name}_{gamma}_{gain}", dict(params, backend="torch"), a, tensor(v2.adjust_gamma, a, gamma, gain))
            if gain in (1, 1.7):
                # Of the last values, less than 32, torch's C library computes the powers.
                for name, a in floats:
                    want = tensor(v2.adjust_gamma, a, gamma, gain)
                    case(g, f"float_{name}_{gamma}_{gain}", dict(params, backend="torch"), a, want)
                    if gamma == 0.5:
                        g.cases[-1] |= {"tolerance": 4e-7, "reason": "torch's square root is MKL's, which is not correctly rounded"}
    g.write()


def channel_permutation():
    g = Golden("channel_permutation", "torchvision 0.29.2 v2 permute_channels")
    for order in ([0], [1, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 2, 0], [3, 1, 0, 2], [4, 3, 0, 1, 2]):
        for dt in ("uint8", "float32", "int16", "bool"):
            for h, w in ((7, 9), (1, 1), (3, 2)):
                a = image(h, w, len(order), dt)
                case(g, f"{dt}_{w}x{h}_{order}", {"permutation": order}, a, tensor(v2.permute_channels, a, order))
    g.write()


def linear_transformation():
    g = Golden("linear_transformation", "torchvision 0.29.2 v2 LinearTransformation (AMD EPYC)")
    rng = np.random.default_rng(8)
    for h, w, c in ((1, 1, 1), (1, 1, 3), (2, 2, 3), (3, 3, 3), (4, 5, 1), (2, 3, 4)):
        n = h * w * c
        for i in range(2 if n < 20 else 1):
            mean = [float(v) for v in rng.integers(0, 2560, n) / 10]
            matrix = [float(f"{v:.2f}") for v in rng.normal(0, 1, n * n)]
            params = {"matrix": matrix, "mean": mean, "backend": "torch"}
            for j, a in enumerate((image(h, w, c), image(h, w, c, "float32"))):
                t = LinearTransformation(torch.tensor(matrix, dtype=torch.float32).reshape(n, n), torch.tensor(mean, dtype=torch.float32))
                want = tensor(t, a)
                if (i + j) % 2:
                    g.case(f"{w}x{h}x{c}_{i}_{j}_chw", params, chw(a), chw(want), "CHW")
                else:
                    g.case(f"{w}x{h}x{c}_{i}_{j}", params, a, want)
    g.write()
    # Larger ones add in the same order.
    for n in (75, 147, 300, 768, 1029, 3072):
        x, m = rng.normal(0, 50, n).astype(np.float32), rng.normal(0, 1, (n, n)).astype(np.float32)
        want = np.zeros(n, np.float32)
        for v, row in zip(x, m):
            want += v * row
        got = LinearTransformation(torch.from_numpy(m), torch.zeros(n))(torch.from_numpy(x).reshape(3, -1, 1))
        assert np.array_equal(got.numpy().ravel(), want), n


if __name__ == "__main__":
    linear_transformation()
    channel_permutation()
    auto_contrast()
    equalize()
    adjust_sharpness()
    adjust_gamma()
