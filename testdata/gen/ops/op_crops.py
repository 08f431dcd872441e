"""Writes the goldens of the ops of Molmo 2, which cuts an image into crops that overlap, and of transpose.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0 and transformers 5.23.0 (with torch 2.15.0 and
torchvision 0.29.2, which it imports). Every run gives the same bytes.

resize_to_crops/sizes.json has for some parameters rows of the input's height and width, the
canvas's, and the rows and columns of crops.
"""

import json
import math
import random

import numpy as np
import torch
from transformers.models.molmo2.image_processing_molmo2 import (
    Molmo2ImageProcessor,
    arange_for_pooling,
    compute_crop_geometry,
    resize_and_normalize_image,
)

from golden import ROOT, Golden, chw, image

torch.set_num_threads(1)
RESAMPLE = {"nearest_exact": 0, "bilinear": 2, "bicubic": 3}


def geometry(p, h, w):
    """With patches of one pixel a margin is that of the left alone."""
    return compute_crop_geometry(h, w, p["max_crops"], [p["margin"], 0], p["crop"], 1)


def sizes():
    r = random.Random(3)
    out = []
    for crop, margin, most in ((378, 112, 8), (378, 112, 24), (20, 0, 6), (30, 29, 9), (64, 16, 1), (50, 20, 100)):
        p = dict(crop=crop, margin=margin, max_crops=most)
        sizes = [(1, 1), (1, 5000), (4000, 2), (margin, margin + 1) if margin else (1, 3), (margin + 1, 900), (700, margin or 1), (crop, crop), (crop - 1, crop + 1)]
        for _ in range(120):
            n = r.randint(1, 6 * crop)
            sizes.append((n, n))
            sizes.append((int(math.exp(r.uniform(0, 9))), int(math.exp(r.uniform(0, 9)))))
            sizes.append(((crop - margin) * r.randint(1, 9) + margin, (crop - margin) * r.randint(1, 9) + margin))
        rows = []
        for h, w in sizes:
            th, tw, ch, cw = geometry(p, h, w)
            rows.append([h, w, ch, cw, th, tw])
        out.append({"params": p | dict(interpolation="bilinear", backend="torch", no_antialias=True), "sizes": rows})
    (ROOT / "resize_to_crops").mkdir(exist_ok=True)
    (ROOT / "resize_to_crops" / "sizes.json").write_text("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]\n")


def resize_to_crops():
    g = Golden("resize_to_crops", "transformers 5.23.0 Molmo2ImageProcessor, resize_and_normalize_image")
    for n, how in enumerate(RESAMPLE):
        for i, (h, w) in enumerate(((23, 37), (15, 9), (1, 1), (2, 30), (40, 35), (12, 12))):
            p = dict(zip(("crop", "margin", "max_crops"), ((10, 3, 8), (7, 0, 4), (9, 8, 6), (12, 4, 20), (30, 2, 3), (5, 1, 1), (6, 2, 9))[(n * 2 + i) % 7]))
            a = image(h, w, 3)
            rows, columns, ch, cw = geometry(p, h, w)
            want = resize_and_normalize_image(Molmo2ImageProcessor(), torch.from_numpy(chw(a))[None], [ch, cw], RESAMPLE[how], False, 1, False, None, None)[0].numpy()
            fields = p | dict(interpolation=how, backend="torch", no_antialias=True)
            more = [np.array([rows, columns], np.int64)]
            g.case(f"{how} CHW {h}x{w}", fields, chw(a), want, "CHW", more=more)
            if how != "bilinear":
                g.case(f"{how} {h}x{w}", fields, a, np.ascontiguousarray(want.transpose(1, 2, 0)), more=more)
    g.write()


def crop_pooling():
    g = Golden("crop_pooling", "transformers 5.23.0 Molmo2ImageProcessor")
    for crop, patch, left, right, ph, pw in ((12, 2, 1, 2, 2, 2), (9, 3, 0, 0, 2, 3), (20, 4, 2, 0, 3, 1), (7, 1, 0, 3, 1, 1), (30, 5, 1, 1, 4, 5), (14, 2, 3, 3, 2, 2), (10, 2, 2, 2, 7, 9), (4, 4, 0, 0, 2, 2)):
        side = crop // patch
        step = side - left - right
        for rows, columns in ((1, 1), (1, 3), (2, 2), (4, 1), (3, 5)):
            h, w = (rows * step + left + right) * patch, (columns * step + left + right) * patch
            if step == 1:  # as the reference counts
                rows, columns = h // patch - left - right, w // patch - left - right
            p = Molmo2ImageProcessor(size=dict(height=crop, width=crop), patch_size=patch, overlap_margins=[left, right], pooling_size=[ph, pw], max_crops=rows * columns)
            canvas = torch.zeros((1, 3, h, w))
            # The grid is fixed by the canvas, which is an image that fits exactly.
            grid, _, pooling = p._image_batch_to_patches_and_grids(
                canvas, max_crops=rows * columns, overlap_margins=[left, right], crop_size=crop, resample=2, do_rescale=False, rescale_factor=1, do_normalize=False,
                image_mean=None, image_std=None, image_patch_size=patch, image_pooling_w=pw, image_pooling_h=ph)
            fields = dict(crop=crop, patch=patch, left=left, right=right, pool_height=ph, pool_width=pw)
            assert grid[0, 2] == math.ceil(h // patch / ph) and grid[0, 3] == math.ceil(w // patch / pw), (fields, rows, columns)
            g.case(f"{crop} {patch} {left} {right} {ph} {pw} {rows}x{columns}", fields, np.zeros((h, w, 1), np.uint8), pooling[0].numpy(), "HWC", "none", more=[grid[0].numpy()])
    g.write()


def transpose():
    g = Golden("transpose", "NumPy 2.4.6 transpose")
    for dtype in ("uint8", "float32", "int64", "float16"):
        for shape, axes in (((4, 6), (1, 0)), ((4, 6), (0, 1)), ((2, 3, 4), (2, 0, 1)), ((3, 4, 2), (1, 0, 2)), ((2, 3, 4, 5), (0, 2, 1, 3)), ((3, 2, 4, 2, 3), (0, 1, 3, 2, 4)), ((), ()), ((0, 3), (1, 0)), ((1, 5, 1), (2, 1, 0)), ((2, 1, 3), (2, 1, 0))):
            a = image(1, int(np.prod(shape)), 1, dtype).reshape(shape)
            g.case(f"{dtype} {shape} {axes}", dict(axes=axes), a, np.array(a.transpose(axes), order="C"), "none", "none")
    g.write()


sizes()
resize_to_crops()
crop_pooling()
transpose()
