"""Writes the goldens of GaussianBlur.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, opencv-python-headless 5.0.0.93, torch 2.15.0 and torchvision 0.29.2,
on x86-64 with AVX-512: torch adds the weights of some kernels in another order without it. Every run gives the same bytes.
"""

import cv2
import numpy as np
import torch
from PIL import Image, ImageFilter
from torchvision.transforms.v2 import functional as v2

from golden import Golden, chw, image

cv2.setNumThreads(1)
torch.set_num_threads(1)
assert torch.backends.cpu.get_cpu_capability() == "AVX512"
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def steps(h, w):
    """An image of edges: a step in each direction, and single pixels."""
    a = np.zeros((h, w, 1), np.uint8)
    a[h // 3 :] += 100
    a[:, w // 2 :] += 155
    a[h // 2, ::4] = 255
    return a


IMAGES = {
    "dot": image(1, 1, 3), "row": image(1, 13, 1), "column": image(9, 1, 3), "odd": image(7, 11, 3), "noise": image(16, 21, 4),
    "gray": image(16, 23, 1), "two": image(5, 6, 2), "steps": steps(18, 21),
}


def large():
    """A gray image of more than 20480 pixels with few values."""
    return (image(130, 170, 1) // 100 * 13).astype(np.uint8)


def pillow(a, sx, sy):
    c = a.shape[2]
    im = Image.frombytes(MODES[c], (a.shape[1], a.shape[0]), a.tobytes())
    return np.frombuffer(im.filter(ImageFilter.GaussianBlur((sx, sy))).tobytes(), np.uint8).reshape(a.shape)


def opencv(a, kh, kw, sy, sx):
    """The same with IPP and without it."""
    out = []
    for ipp in (True, False):
        cv2.ipp.setUseIPP(ipp)
        out.append(cv2.GaussianBlur(a, (kw, kh), sx, sigmaY=sy, borderType=cv2.BORDER_REFLECT_101).reshape(a.shape))
    assert np.array_equal(*out)
    return out[0]


def torchvision(a, kh, kw, sy, sx):
    return v2.gaussian_blur(torch.from_numpy(chw(a)), [kw, kh], [sx, sy]).numpy().transpose(1, 2, 0)


REFERENCES = {"pillow": lambda a, kh, kw, sy, sx: pillow(a, sx, sy), "opencv": opencv, "torch": torchvision}


def case(g, name, backend, a, kh, kw, sy, sx, planes):
    q = {"kernel_height": kh, "kernel_width": kw, "sigma_y": sy, "sigma_x": sx, "backend": backend}
    want = REFERENCES[backend](a, kh, kw, sy, sx)
    if planes:
        g.case(f"{backend}_{name}_chw", q, chw(a), chw(want), "CHW")
    else:
        g.case(f"{backend}_{name}", q, a, want)


PILLOW = [(2.0, 2.0), (0.0, 0.0), (0.5, 0.5), (1.0, 0.1), (0.0, 1.3), (7.7, 0.0), (3.0, 40.0), (10000.0, 1e-30), (1.4142135, 0.8660254037844386)]
OPENCV = [(5, 5, 1.1, 1.1), (3, 3, 0.0, 0.0), (5, 7, 0.0, 0.0), (9, 11, 0.0, 0.0), (0, 0, 0.0, 1.5), (0, 0, 3.3, 0.7), (1, 9, 0.0, 2.0), (31, 1, 4.0, 0.0),
          (41, 101, 30.0, 60.0), (3, 5, 1e-200, 1e-3), (7, 7, 10000.0, 10000.0), (601, 701, 100.0, 200.0)]
TORCH = [(5, 5, 1.1, 1.1), (3, 3, 0.8, 0.8), (1, 1, 2.0, 2.0), (3, 1, 0.001, 10000.0), (1, 7, 0.3, 1.3), (11, 9, 2.0, 0.2), (9, 23, 5.0, 3.7),
         (29, 33, 7.0, 6.0), (3, 21, 0.6, 4.0)]


def blur():
    g = Golden("gaussian_blur", "Pillow 13.0.0 ImageFilter.GaussianBlur; OpenCV 5.0.0 GaussianBlur; torchvision 0.29.2 v2 gaussian_blur with torch 2.15.0")
    for i, (sy, sx) in enumerate(PILLOW):
        for j, (name, a) in enumerate(IMAGES.items()):
            case(g, f"{i}_{name}", "pillow", a, 0, 0, sy, sx, (i + j) % 3 == 0)
    for i, q in enumerate(OPENCV):
        for j, (name, a) in enumerate(IMAGES.items()):
            case(g, f"{i}_{name}", "opencv", a, *q, (i + j) % 3 == 0)
    floats = {name + "_float": (a / np.float32(255)).astype(np.float32) for name, a in IMAGES.items() if name in ("dot", "odd", "gray")}
    floats["huge"] = image(8, 9, 3, "float32") * np.float32(1e30)
    for i, q in enumerate(TORCH):
        for j, (name, a) in enumerate({**IMAGES, **floats, "dark": IMAGES["gray"] // 128, "large": large()}.items()):
            if q[0] // 2 < a.shape[0] and q[1] // 2 < a.shape[1] and (name != "large" or i == 1):
                case(g, f"{i}_{name}", "torch", a, *q, (i + j) % 3 == 0)
    rng = np.random.default_rng(3)
    for i in range(14):
        sy, sx = (float(v) for v in np.exp(rng.uniform(-2, 3, 2)))
        kh, kw = (int(v) for v in 2 * rng.integers(0, 16, 2) + 1)
        a = IMAGES["gray"] if i % 2 else IMAGES["odd"]
        case(g, f"random_{i}", "pillow", a, 0, 0, sy, sx, False)
        case(g, f"random_{i}", "opencv", a, kh, kw, sy, sx, False)
        a = IMAGES["steps"] if i % 2 else IMAGES["noise"]
        case(g, f"random_{i}", "torch", a, kh, kw, sy, sx, i % 4 > 1)
    g.write()


if __name__ == "__main__":
    blur()
