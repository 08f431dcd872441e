"""Writes the goldens of the ops of MiniCPM-V 4.6 and MiniCPM-OCR, which cut an image into slices.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0 and transformers 5.23.0 (with torch 2.15.0 and
torchvision 0.29.2, which it imports). Every run gives the same bytes.

resize_to_slices/sizes.json has for some parameters rows of the input's height and width, the whole
image's, the canvas's (0 if there is none), and the rows and columns of slices. logs.json lists all
ratios of columns/rows with at most 34 slices, and all ratios of an image between two of them whose
logarithms are equally far away, with the bits of their logarithms by Python, which are glibc's.
"""

import json
import math
import random
import struct
from fractions import Fraction

import numpy as np
import torch
from PIL import Image
from transformers.models.minicpmv4_6.image_processing_minicpmv4_6 import MiniCPMV4_6ImageProcessor

from golden import ROOT, Golden, chw, image

PILLOW = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}
MAX = 34


def cut(p, h, w):
    """The reference's grid, or None, and the sizes of the whole image and the canvas. MiniCPM-OCR has the same methods."""
    r = MiniCPMV4_6ImageProcessor()
    mode = {2: "4x", 4: "16x"}[p["merge"]]
    grid = r.get_sliced_grid((h, w), p["max_slices"], p["scale"])
    whole = r.find_best_resize((h, w), p["scale"], p["patch"], mode, allow_upscale=grid is None and not p["keep_small"])
    canvas = grid and r.get_refine_size((h, w), grid, p["scale"], p["patch"], mode, allow_upscale=True)
    return grid, whole, canvas


def params(patch, scale, slices, merge=4, **kw):
    return dict(patch=patch, merge=merge, scale=scale, max_slices=slices, keep_small=False) | kw


def sizes():
    r = random.Random(11)
    out = []
    for p in (params(14, 448, 9), params(14, 448, 34), params(14, 448, 1), params(14, 448, 2), params(16, 400, 9, 2), params(1, 50, 20), params(7, 30, 5, 2), params(30, 10, 34, 2),
              params(14, 448, 9, 2, keep_small=True), params(7, 90, 1, keep_small=True)):
        sizes = [(1, 1), (1, 2), (1, 5000), (7000, 1), (1, 65536), (65536, 3), (448, 448), (449, 448), (448, 449), (896, 448), (897, 448), (2, 30000)]
        for _ in range(60):
            n = r.randint(1, 1500)
            sizes.append((n, n))
            sizes.append((int(math.exp(r.uniform(0, 9))), int(math.exp(r.uniform(0, 9)))))
        for a, b in TIES:  # equally far from two grids
            k = max(1, int(math.exp(r.uniform(3, 8))) // max(a, b))
            sizes.append((a * k, b * k))
        rows = []
        for h, w in sizes:
            grid, whole, canvas = cut(p, h, w)
            rows.append([h, w, *whole, *(canvas or (0, 0)), *(grid or (0, 0))])
        out.append({"params": p | dict(canvas=False, interpolation="bicubic", backend="pillow"), "sizes": rows})
    (ROOT / "resize_to_slices").mkdir(exist_ok=True)
    (ROOT / "resize_to_slices" / "sizes.json").write_text("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]\n")


def root(f):
    a, b = math.isqrt(f.numerator), math.isqrt(f.denominator)
    return Fraction(a, b) if a * a == f.numerator and b * b == f.denominator else None


GRIDS = {n: [Fraction(n // r, r) for r in range(1, n + 1) if n % r == 0] for n in range(1, MAX + 1)}
MIDDLES = {root(a * b) for n in GRIDS for m in range(n, min(n + 2, MAX) + 1) for a in GRIDS[n] for b in GRIDS[m] if a != b} - {None}
TIES = sorted((m.denominator, m.numerator) for m in MIDDLES)


def logs():
    l = sorted(MIDDLES.union(*GRIDS.values()))
    rows = [[q.numerator, q.denominator, struct.pack(">d", math.log(q.numerator / q.denominator)).hex()] for q in l]
    (ROOT / "resize_to_slices" / "logs.json").write_text("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in rows) + "\n]\n")


def resize_to_slices():
    g = Golden("resize_to_slices", "transformers 5.23.0 MiniCPMV4_6ImageProcessor with Pillow 13.0.0")
    for n, interpolation in enumerate(PILLOW):
        for i, (h, w) in enumerate(((23, 37), (5, 3), (1, 1), (1, 30), (16, 12), (40, 9))):
            p = params(keep_small=i % 2 > 0, *((3, 12, 9, 2), (2, 9, 5, 4), (5, 10, 1, 4), (1, 7, 34, 2))[(n + i) % 4])
            grid, whole, canvas = cut(p, h, w)
            slices = [] if grid is None else [[canvas[0] // grid[0] // p["patch"], canvas[1] // grid[1] // p["patch"]]] * (grid[0] * grid[1])
            more = [np.array(grid or [0, 0], np.int64), np.array([[whole[0] // p["patch"], whole[1] // p["patch"]], *slices], np.int32)]
            a = image(h, w, 1 if (n + i) % 5 == 3 else 3)
            for c in (False, True):
                oh, ow = (canvas or (p["patch"],) * 2) if c else whole
                im = Image.fromarray(a if a.shape[2] > 1 else a[..., 0]).resize((ow, oh), PILLOW[interpolation])
                want = np.asarray(im).reshape(oh, ow, a.shape[2])
                fields = p | dict(canvas=c, interpolation=interpolation, backend="pillow")
                if (n + i) % 3:
                    g.case(f"{interpolation} {h}x{w} {c}", fields, a, want, more=more)
                else:
                    g.case(f"{interpolation} CHW {h}x{w} {c}", fields, chw(a), chw(want), "CHW", more=more)
    g.write()


def patch_strip():
    r = MiniCPMV4_6ImageProcessor()
    g = Golden("patch_strip", "transformers 5.23.0 MiniCPMV4_6ImageProcessor.reshape_by_patch")
    for dtype in ("float32", "uint8", "int32", "float16"):
        for patch, (wh, ww), (rows, columns), (h, w) in (
            (1, (1, 1), (0, 0), (1, 1)), (2, (2, 3), (1, 2), (2, 2)), (3, (4, 1), (2, 1), (1, 3)), (5, (1, 2), (0, 0), (2, 2)),
            (2, (3, 3), (3, 2), (1, 1)), (4, (1, 1), (1, 3), (2, 1)), (7, (1, 2), (2, 2), (1, 2)), (1, (5, 4), (4, 3), (2, 3)),
            (6, (1, 1), (2, 1), (1, 1)), (9, (1, 1), (0, 0), (1, 1)),
        ):
            c = 1 if patch == 4 else 3
            a = chw(image(wh * patch, ww * patch, c, dtype))
            b = chw(image(max(rows, 1) * h * patch, max(columns, 1) * w * patch + 1 - min(rows, 1), c, dtype))
            cut = [b[:, y * h * patch : (y + 1) * h * patch, x * w * patch : (x + 1) * w * patch] for y in range(rows) for x in range(columns)]
            strips = [r.reshape_by_patch(torch.from_numpy(np.ascontiguousarray(t).astype(np.float64)), patch).numpy().astype(dtype) for t in (a, *cut)]
            sizes = np.array([[wh, ww]] + [[h, w]] * len(cut), np.int32)
            g.columns_case(f"{dtype} {patch} {wh}x{ww} {rows}x{columns}", dict(patch=patch), [(a, "CHW"), (b, "CHW"), sizes], [np.concatenate(strips, -1)[None]])
    g.write()


sizes()
logs()
resize_to_slices()
patch_strip()
