"""Writes the goldens of Erase, EraseNoise, GaussianNoise and the colour adjustments.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, opencv-python-headless
5.0.0.93, torch 2.15.0, torchvision 0.29.2 and mpmath 1.3.0, on x86-64 with AVX2.
Every run gives the same bytes. The cases of the backend opencv are MindSpore's rules on
OpenCV's functions; one_hot_mindspore.py checks them against MindSpore itself.
"""

import cv2
import mpmath
import numpy as np
import torch
from PIL import Image
from torchvision.transforms.v2 import functional as v2

from golden import Golden, chw, image

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)
torch.set_num_threads(1)

FACTORS = [0.0, 1.0, 0.5, 2.0, 0.3, 0.8999999761581421, 1.1, 1.4, 3.7, 1e-7]


def t(a):
    return torch.from_numpy(np.ascontiguousarray(a))


def pil(a):
    return Image.fromarray(a if a.shape[2] > 1 else a[:, :, 0])


def arr(im):
    a = np.asarray(im)
    return a if a.ndim == 3 else a[:, :, None]


def tensor(f, a, *args):
    return f(t(chw(a)), *args).numpy().transpose(1, 2, 0)


def one(f):
    return float(np.float32(f))


def opencv_mean(a):
    return int(cv2.mean(cv2.cvtColor(a, cv2.COLOR_RGB2GRAY))[0] + 0.5)


OPENCV = {
    "adjust_brightness": lambda a, f: cv2.convertScaleAbs(a, alpha=one(f)),
    "adjust_contrast": lambda a, f: cv2.addWeighted(np.full_like(a, opencv_mean(a)), one(1 - np.float32(f)), a, one(f), 0),
    "adjust_saturation": lambda a, f: cv2.addWeighted(np.repeat(cv2.cvtColor(a, cv2.COLOR_RGB2GRAY)[:, :, None], 3, 2), one(1 - np.float32(f)), a, one(f), 0),
}


def opencv_hue(a, f):
    h = cv2.cvtColor(a, cv2.COLOR_RGB2HSV_FULL)
    h[:, :, 0] = (h[:, :, 0].astype(int) + int(f * 255)) % 256
    return cv2.cvtColor(h, cv2.COLOR_HSV2RGB_FULL)


OPENCV["adjust_hue"] = opencv_hue


def case(g, name, op, a, f):
    """The three backends on one image and factor; every second one also in CHW."""
    f = float(f)
    fun = getattr(v2, op)
    want = {"pillow": arr(fun(pil(a), f)), "torch": tensor(fun, a, f)}
    if a.shape[2] == 3:
        want["opencv"] = OPENCV[op](a, f)
    for backend, w in want.items():
        q = {"factor": f, "backend": backend}
        if len(g.cases) % 2:
            g.case(f"{backend}_{name}_chw", q, chw(a), chw(w), "CHW")
        else:
            g.case(f"{backend}_{name}", q, a, w)


def ties(rng, n):
    """Factors that bring some value next to a half between two whole numbers, or next to one."""
    out = []
    while len(out) < n:
        g, x = (float(v) for v in rng.integers(0, 256, 2))
        if g != x:
            f = (float(rng.integers(0, 511)) / 2 - g) / (x - g)
            if 0 <= f <= 4:
                out.append(f)
    return out


def adjustments():
    reference = ("pillow, torch: torchvision 0.29.2 v2 functional of a Pillow 13.0.0 image and of a tensor (x86-64 with AVX2); "
                 "opencv: OpenCV 5.0.0 as MindSpore 2.10.0 calls it")
    rng = np.random.default_rng(11)
    pairs = np.stack(np.meshgrid(np.arange(0, 256, 7), np.arange(0, 256, 5)), -1).astype(np.uint8)
    # Every pair of a value and, nearly, a gray value: two channels carry the gray.
    pairs = np.concatenate([pairs, pairs[:, :, :1]], 2)
    photo, small, dot = image(23, 37, 3), image(5, 3, 3), image(1, 1, 3)
    near = (100 + image(20, 31, 3) // 64).astype(np.uint8)  # nearly gray
    gray, gray1 = np.repeat(image(9, 33, 1), 3, 2), image(9, 33, 1)
    # Gray images whose mean is a half in exact arithmetic, and not in OpenCV's (98 pixels), and one that is in both.
    half = np.full((1, 98, 3), 7, np.uint8)
    half[:, :49] = 8
    even = np.full((2, 4, 3), 7, np.uint8)
    even[0] = 8
    for op in OPENCV:
        g = Golden(op, reference)
        factors = FACTORS if op != "adjust_hue" else [0.0, 0.5, -0.5, 0.1, -0.1, 0.25, -0.33, 1e-9, 0.4999999, -0.003]
        for i, f in enumerate(factors):
            case(g, f"photo_{i}", op, photo, f)
            case(g, f"gray1_{i}", op, gray1, f)
            case(g, f"near_{i}", op, near, f)
        for i, f in enumerate(factors[4:7]):
            for name, a in (("small", small), ("dot", dot), ("gray", gray), ("half", half), ("even", even)):
                case(g, f"{name}_{i}", op, a, f)
        if op == "adjust_hue":
            case(g, "wide", op, rng.integers(0, 256, (40, 129, 3), dtype=np.uint8), 0.21)
            edge = np.array([[r, gr, b] for r in (0, 1, 127, 254, 255) for gr in (0, 1, 127, 254, 255) for b in (0, 1, 127, 254, 255)], np.uint8)
            for i, f in enumerate(factors):
                case(g, f"corners_{i}", op, edge.reshape(5, 25, 3), f)
        else:
            for i, f in enumerate(ties(rng, 10)):
                case(g, f"ties_{i}", op, pairs, f)
            case(g, "large", op, rng.integers(0, 256, (90, 120, 3), dtype=np.uint8), 1.3)
        g.write()

    # Colours at which the gray of torchvision's v2 is another than that of its older function.
    c = np.arange(1 << 24, dtype=np.uint32)
    cube = torch.from_numpy(np.stack([c >> 16, c >> 8 & 255, c & 255]).astype(np.uint8)[:, None])
    assert torch.equal(v2.rgb_to_grayscale(cube).int(), v2.adjust_saturation(cube, 0.0)[:1].int())


def erase():
    g = Golden("erase", "torchvision 0.29.2 v2 erase")
    for h, w in ((23, 37), (5, 3), (1, 1)):
        for dt in ("uint8", "float32"):
            a = image(h, w, 3, dt)
            for i, (top, left, eh, ew) in enumerate(((0, 0, 1, 1), (0, 0, h, w), (h // 2, w // 3, h - h // 2, w - w // 3), (h - 1, 0, 1, w))):
                for value in ([0], [7], [1, 200, 30]) + (([0.485, -0.1, 1e-9],) if dt == "float32" else ()):
                    v = torch.tensor(value, dtype=torch.float32)[:, None, None]
                    want = v2.erase(t(chw(a)), top, left, eh, ew, v).numpy()
                    q = {"top": top, "left": left, "height": eh, "width": ew, "value": value}
                    n = f"{dt}_{w}x{h}_{i}_{len(value)}_{value[0]}"
                    g.case(n + "_chw", q, chw(a), want, "CHW")
                    if w < 30:
                        g.case(n, q, a, want.transpose(1, 2, 0))
    g.write()


def philox(key, counter):
    """Philox 4x32-10 of Salmon and others (2011)."""
    k, c = list(key), list(counter)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


assert philox([0, 0], [0] * 4) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]  # of its authors' known answers


def normal(key, ordinal):
    """Box and Muller's transformation of the first two 53-bit numbers, in 60 digits, as a float32."""
    c = philox([key & 0xFFFFFFFF, key >> 32], [0, 0, ordinal, 0])
    u, v = (mpmath.mpf((hi << 32 | lo) >> 11) / 2**53 for lo, hi in ((c[0], c[1]), (c[2], c[3])))
    return np.float32(mpmath.sqrt(-2 * mpmath.log(1 - u)) * mpmath.cos(2 * mpmath.pi * v))


def erase_noise():
    mpmath.mp.dps = 60
    g = Golden("erase_noise", "Philox 4x32-10 and the transformation of Box and Muller, with mpmath 1.3.0")
    for h, w, c in ((9, 12, 3), (1, 1, 1), (4, 3, 2), (2, 5, 4)):
        a = image(h, w, c, "float32")
        for i, (top, left, eh, ew) in enumerate(((0, 0, h, w), (h // 2, w // 3, h - h // 2, 1))):
            for key in (0, 0x0123456789ABCDEF, 2**64 - 1):
                want = a.copy()
                noise = np.array([normal(key, n) for n in range(c * eh * ew)], np.float32).reshape(c, eh, ew)
                want[top : top + eh, left : left + ew] = noise.transpose(1, 2, 0)
                q = {"top": top, "left": left, "height": eh, "width": ew, "key": key}
                g.case(f"{w}x{h}_{i}_{key}", q, a, want)
                g.case(f"{w}x{h}_{i}_{key}_chw", q, chw(a), chw(want), "CHW")
    g.write()


def gaussian_noise():
    mpmath.mp.dps = 60
    g = Golden("gaussian_noise", "torchvision 0.29.2 v2 gaussian_noise, with the normal numbers of erase_noise")
    images = [image(7, 9, 3), image(1, 1, 3), image(5, 3, 1), image(4, 3, 4), (image(7, 9, 3, "float32") / 300).astype(np.float32), image(3, 2, 2, "float32")]
    params = [(0.0, 0.1, True, 0), (0.0, 0.0, True, 1), (0.3, 0.02, True, 2**64 - 1), (-0.2, 0.5, False, 0x0123456789ABCDEF), (50.0, 8.0, False, 5),
              (-50.0, 8.0, True, 6), (1 / 3, 1 / 7, False, 7), (-1e-9, 1e-3, True, 8)]
    randn = torch.randn_like
    for i, (mean, sigma, clip, key) in enumerate(params):
        for j, a in enumerate(images):
            noise = t(np.array([normal(key, n) for n in range(a.size)], np.float32).reshape(chw(a).shape))
            torch.randn_like = lambda x, **_: noise
            want = v2.gaussian_noise(t(chw(a)), mean, sigma, clip).numpy()
            q = {"mean": mean, "sigma": sigma, "clip": clip, "key": key}
            if (i + j) % 2:
                g.case(f"{i}_{j}_chw", q, chw(a), want, "CHW")
            else:
                g.case(f"{i}_{j}", q, a, want.transpose(1, 2, 0))
    torch.randn_like = randn
    g.write()


if __name__ == "__main__":
    adjustments()
    erase()
    erase_noise()
    gaussian_noise()
