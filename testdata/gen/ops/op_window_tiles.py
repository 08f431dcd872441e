"""Writes the goldens of the ops of Step-3.7, which cuts an image into windows.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0 and transformers 5.23.0 (with torch 2.15.0 and
torchvision 0.29.2, which it imports). Every run gives the same bytes.

window_tiles/sizes.json has for some parameters rows of the input's height and width, the whole
image's, those of the image before it is cut, and the rows and columns of windows; zeros if the
reference refuses the image.
"""

import json
import math
import random

import numpy as np
import torch
from PIL import Image
from transformers.image_transforms import divide_to_patches
from transformers.models.step3p7.image_processing_step3p7 import Step3p7ImageProcessor

from golden import ROOT, Golden, image

PILLOW = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


def plan(p, h, w):
    r = Step3p7ImageProcessor()
    r.max_image_size = p["max_side"]
    return r._plan_patches(w, h, p["size"], p["window"])


def params(size, window, most):
    return dict(size=size, window=window, max_side=most)


def sizes():
    r = random.Random(5)
    out = []
    for p in (params(728, 504, 3024), params(100, 40, 300), params(30, 100, 200), params(64, 64, 64), params(500, 31, 90), params(10, 7, 5000)):
        rows, sizes = [], [(1, 1), (1, 5), (31, 124), (31, 125), (32, 128), (32, 129), (129, 32), (1, 5000), (7000, 33), (40, 60), (40, 61), (500, 505), (605, 604), (604, 605)]
        for _ in range(200):
            if r.random() < 0.5:
                sizes.append((int(math.exp(r.uniform(0, 9))), int(math.exp(r.uniform(0, 9)))))
            else:
                sizes.append((r.randint(1, 4 * p["size"]), r.randint(1, 4 * p["size"])))
        for h, w in sizes:
            try:
                (gw, gh), (cw, ch), _, nx, ny, _ = plan(p, h, w)
                if nx * ny > 4096:
                    continue
                rows.append([h, w, gh, gw, ch, cw, ny, nx])
            except ZeroDivisionError:
                rows.append([h, w] + [0] * 6)
        out.append({"params": p | dict(whole=False, interpolation="bilinear", backend="pillow"), "sizes": rows})
    (ROOT / "window_tiles").mkdir(exist_ok=True)
    (ROOT / "window_tiles" / "sizes.json").write_text("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]\n")


def window_tiles():
    def resized(a, w, h, how):
        im = Image.fromarray(a if a.shape[2] > 1 else a[..., 0]).resize((w, h), PILLOW[how])
        return np.asarray(im).reshape(h, w, a.shape[2])

    g = Golden("window_tiles", "transformers 5.23.0 Step3p7ImageProcessor with Pillow 13.0.0")
    for n, how in enumerate(PILLOW):
        for i, (h, w) in enumerate(((23, 37), (15, 9), (1, 1), (2, 30), (40, 35), (33, 150))):
            p = params(*((20, 12, 50), (40, 8, 30), (60, 20, 100))[(n + i) % 3])
            a = image(h, w, 1 if (n + i) % 5 == 3 else 3)
            (gw, gh), (cw, ch), side, nx, ny, square = plan(p, h, w)
            x = a
            if square:
                x = np.zeros((max(h, w), max(h, w), a.shape[2]), a.dtype)
                x[:h, :w] = a
            newlines = np.array([c == nx - 1 and y < ny - 1 for y in range(ny) for c in range(nx)], bool)
            size = p["window"]
            if side:
                tiles = divide_to_patches(torch.from_numpy(resized(x, cw, ch, how).transpose(2, 0, 1).copy()), side)
                want = np.concatenate([resized(t.numpy().transpose(1, 2, 0).copy(), size, size, how) for t in tiles])
            else:
                want = np.zeros((size, size, a.shape[2]), a.dtype)
            for whole in (False, True):
                g.case(f"{how} {h}x{w} {whole}", p | dict(whole=whole, interpolation=how, backend="pillow"), a, resized(x, gw, gh, how) if whole else want, more=[newlines])
    g.write()


def match_rows():
    g = Golden("match_rows", "NumPy 2.4.6 slicing")
    for dtype in ("uint8", "float32", "int64"):
        for shape, n in (((4, 6), 2), ((4, 6), 4), ((1,), 1), ((1, 3), 0), ((5, 2, 3), 3), ((7, 1, 1, 2), 6)):
            a, b = np.ascontiguousarray(image(1, int(np.prod(shape)), 1, dtype).reshape(shape)), image(1, n + 1, 1, "bool")[0, :n, 0]
            g.case(f"{dtype} {shape} {n}", {}, a, a[: len(b)], "none", "none", second=b)
    g.write()


sizes()
window_tiles()
match_rows()
