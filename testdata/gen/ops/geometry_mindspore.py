"""Writes goldens of Rotate, Affine and Perspective with the backend opencv4, and those of SlicePatches.

Run with Python 3.11, NumPy 2.4.6 and mindspore 2.10.0, on x86-64 with glibc 2.36. Every run gives the same bytes.
"""

import numpy as np
from mindspore.dataset import vision
from mindspore.dataset.vision import Inter, SliceMode

from golden import Golden, chw, image

METHODS = {"nearest": Inter.NEAREST, "bilinear": Inter.BILINEAR, "bicubic": Inter.BICUBIC, "area": Inter.AREA}
IMAGES = [image(1, 1, 3), image(1, 9, 1), image(11, 7, 3), image(8, 8, 3), image(23, 31, 3), image(9, 14, 1)]
f32 = np.float32


def add(g, name, params, a, want):
    """Every third case is CHW."""
    want = want.reshape(want.shape[:2] + a.shape[2:])
    if len(g.cases) % 3 == 2:
        g.case(name + "_chw", params, chw(a), chw(want), "CHW")
    else:
        g.case(name, params, a, want)


def rotate():
    g = Golden("rotate", "mindspore 2.10.0 Rotate", "rotate_mindspore")
    sets = [(30, False, None, 0), (-45, True, None, (9, 200, 77)), (90, True, None, 0), (180, False, (2, 3), 5), (12.34567, True, (0, 0), 255),
            (-727.5, True, (3.25, -1.5), (1, 2, 3)), (-38.20647, False, None, 7), (0, True, None, 0)]
    for i, a in enumerate(IMAGES):
        for j, (angle, expand, center, fill) in enumerate(sets):
            method = list(METHODS)[(i + j) % 4]
            # MindSpore's own modulo, and its order of the fill.
            q = {"angle": float(f32(angle % 360)), "interpolation": method, "backend": "opencv4", "expand": expand,
                 "center": [float(c) for c in center or ()], "fill": [fill] if isinstance(fill, int) else list(fill)[::-1][: a.shape[2]]}
            want = vision.Rotate(angle, METHODS[method], expand, center, fill)(a)
            add(g, f"{i}_{j}", q, a, want)
    g.write()


def affine():
    g = Golden("affine", "mindspore 2.10.0 Affine", "affine_mindspore")
    rng = np.random.default_rng(4)
    sets = [(30, (0, 0), 1, (0, 0)), (0, (0.25, -0.5), 1, (0, 0)), (-12.5, (0, 0), 1.7, (0, 0)), (0, (0, 0), 1, (20, 0)), (0, (0, 0), 0.6, (-35.5, 12)),
            (90, (0, 0), 1, (0, 0)), (-160, (0.1, 0.2), 1, (5, 70)), (0.001, (0, 0), 3, (170, -100))]
    sets += [(rng.uniform(-180, 180), rng.uniform(-0.3, 0.3, 2), np.exp(rng.uniform(-0.7, 0.7)), rng.uniform(-180, 180, 2)) for _ in range(8)]
    for i, a in enumerate(IMAGES):
        h, w = a.shape[:2]
        for j, (angle, move, scale, shear) in enumerate(sets):
            method = list(METHODS)[(i + j) % 4]
            v = [f32(x) for x in (angle, *move, scale, *shear)]
            fill = [0, 77, (1, 2, 3)][j % 3]
            q = {"angle": float(v[0]), "translate_x": float(v[1] * f32(w)), "translate_y": float(v[2] * f32(h)), "scale": float(v[3]),
                 "shear_x": float(v[4]), "shear_y": float(v[5]), "interpolation": method, "backend": "opencv4", "center": [],
                 "fill": [fill] if isinstance(fill, int) else list(fill)[: a.shape[2]]}
            want = vision.Affine(float(angle), [float(x) for x in move], float(scale), [float(x) for x in shear], METHODS[method], fill)(a)
            add(g, f"{i}_{j}", q, a, want)
    g.write()


def perspective():
    g = Golden("perspective", "mindspore 2.10.0 Perspective", "perspective_mindspore")
    for i, a in enumerate(IMAGES):
        h, w = max(a.shape[0], 3), max(a.shape[1], 3)
        box = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]
        sets = [(box, [[1, 2], [w - 2, 0], [w - 1, h - 2], [0, h - 1]]), (box, [[w // 3, h // 3], [w, 0], [w - 1, h + 4], [-3, h]]),
                ([[2, 1], [w + 2, -1], [w, h + 3], [1, h - 1]], box), (box, box), (box, [[1, 1], [w, 1], [w, h], [1, h]])]
        for j, (start, end) in enumerate(sets):
            for method in METHODS if j < 2 else list(METHODS)[1:2]:
                q = {"start": [float(v) for p in start for v in p], "end": [float(v) for p in end for v in p], "coefficients": [],
                     "interpolation": method, "backend": "opencv4", "fill": []}
                add(g, f"{i}_{j}_{method}", q, a, vision.Perspective(start, end, METHODS[method])(a))
    g.write()


def patches():
    g = Golden("slice_patches", "mindspore 2.10.0 SlicePatches")
    for i, a in enumerate(IMAGES[:4] + [image(10, 13, 3)]):
        h, w = a.shape[:2]
        for rows, columns in sorted({(1, 1), (min(2, h), min(2, w)), (min(3, h), min(2, w)), (h, w), (h - h // 3, w), (min(4, h), min(7, w))}):
            for drop in (False, True):
                fill = i * 50
                q = {"rows": rows, "columns": columns, "drop": drop, "fill": [fill]}
                got = vision.SlicePatches(rows, columns, SliceMode.DROP if drop else SliceMode.PAD, fill)(a)
                want = np.stack([np.asarray(p) for p in (got if isinstance(got, (list, tuple)) else [got])])
                want = want.reshape(want.shape[:3] + a.shape[2:])
                name = f"{i}_{rows}x{columns}_{drop}"
                g.case(name, q, a, want, "HWC", "none")
                g.case(name + "_chw", q, chw(a), np.ascontiguousarray(want.transpose(0, 3, 1, 2)), "CHW", "none")
    g.write()


if __name__ == "__main__":
    rotate()
    affine()
    perspective()
    patches()
