"""Writes the goldens of Move: what torchvision's transforms of tv_tensors make of masks, boxes and points beside an image.

Run with Python 3.11, NumPy 2.4.6, torch 2.15.0 and torchvision 0.29.2, on x86-64 with fused multiply-add. Every run gives the same bytes.
"""

import os
from contextlib import nullcontext

os.environ["MKL_CBWR"] = "COMPATIBLE"

import numpy as np
import torch
from torchvision import tv_tensors as tv
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

from coords import FORMATS, MODES, ROTATED, Nearest, rotated
from golden import Golden

torch.set_num_threads(1)

SIZE = (37, 50)
BACKENDS = {"backend": "torch", "interpolation": "bilinear"}


def columns(h, w, formats, modes):
    """Columns of an image: name, role, format, clamping and the tv_tensor."""
    rng = np.random.default_rng([h, w])
    if ROTATED.keys() >= set(formats):
        image = tv.Image(torch.zeros((3, h, w), dtype=torch.uint8))
        for f in formats:
            # Sets of an image of 100 x 150, scaled.
            for x in [x for i, x in enumerate(rotated(f)) if i in (1, 7)]:
                n = 4 if x.shape[1] == 5 else 8
                x[:, :n] *= np.float32(w / 150)
                for mode in modes:
                    yield "boxes", f, mode, image, tv.BoundingBoxes(torch.from_numpy(x.copy()), format=ROTATED[f], canvas_size=(h, w), clamping_mode=MODES[mode])
        return
    image = tv.Image(torch.from_numpy(rng.integers(0, 256, (3, h, w), np.uint8)))
    mask = tv.Mask(torch.from_numpy(rng.integers(0, 5, (2, h, w), np.uint8)))
    yield "mask", "xy", "soft", image, mask
    edges = np.array([[0, 0, w, h], [5, 5, 5, 5], [1, 2, w - 3, h - 4], [-9, -9, w + 9, h + 9]], np.float32)
    p = rng.random((12, 2, 2)) * [w * 1.4, h * 1.4] - [w * 0.2, h * 0.2]
    some = np.concatenate([p.min(1), p.max(1)], 1).astype(np.float32)
    xyxy = torch.from_numpy(np.concatenate([edges, some]))
    for f in formats:
        boxes = F.convert_bounding_box_format(xyxy, tv.BoundingBoxFormat.XYXY, FORMATS[f])
        for mode in modes:
            yield "boxes", f, mode, image, tv.BoundingBoxes(boxes.clone(), format=FORMATS[f], canvas_size=(h, w), clamping_mode=MODES[mode])
    yield "keypoints", "xy", "soft", image, tv.KeyPoints(xyxy[:, 2:].clone(), canvas_size=(h, w))


def main():
    g = Golden("moves", "torchvision 0.29.2 transforms.v2 of tv_tensors", folder="moves")

    def case(op, params, f, size=SIZE, formats=("xyxy", "cxcywh"), modes=("soft", "none")):
        for role, fmt, mode, image, x in columns(*size, formats, modes):
            with Nearest() if fmt in ROTATED else nullcontext():
                moved, y = f(image, x)
            if role == "boxes" and mode != "none" and tuple(y.canvas_size) != tuple(moved.shape[1:]):
                continue  # torchvision clamps to another size than the image has: rotate with expand, by up to 1 pixel
            p = {"op": op, "params": params, "height": size[0], "width": size[1], "to_height": moved.shape[1], "to_width": moved.shape[2], "role": role, "format": fmt, "clamping": mode}
            layout = "CHW" if role == "mask" else "none"
            g.columns_case(f"{op}_{len(g.cases)}_{role}_{fmt}_{mode}", p, [(x.numpy(), layout)], [(y.numpy(), layout)])

    both = lambda f, *a, **k: lambda image, x: (f(image, *a, **k), f(x, *a, **k))
    case("horizontal_flip", {}, v2.RandomHorizontalFlip(p=1))
    case("vertical_flip", {}, v2.RandomVerticalFlip(p=1))
    for t, l, h, w in [(3, 5, 20, 30), (-4, -6, 60, 70), (0, 0, 37, 50), (30, 45, 9, 9), (2, 0, 37, 50)]:
        case("crop", {"top": t, "left": l, "height": h, "width": w}, both(F.crop, t, l, h, w))
    for h, w in [(20, 31), (37, 50), (64, 20), (55, 77)]:
        case("center_crop", {"height": h, "width": w, "crop_rounding": "half_even", "fill": [0]}, v2.CenterCrop((h, w)))
    for l, t, r, b in [(1, 2, 3, 4), (0, 0, 0, 0), (0, 9, 0, 0)]:
        case("pad", {"top": t, "bottom": b, "left": l, "right": r, "mode": "constant", "fill": [0]}, v2.Pad([l, t, r, b]))
    resize = {"fit": "exact", "height": 0, "width": 0, "edge": 0, "max_edge": 0, "multiple": 0, "keep_aspect": False, "size_rule": "truncate", "no_antialias": False} | BACKENDS
    for h, w in [(20, 31), (37, 50), (64, 20), (55, 77), (37, 51)]:
        case("resize", resize | {"height": h, "width": w}, v2.Resize((h, w)))
        case("resize", resize | {"height": h, "width": w, "interpolation": "nearest_exact"}, v2.Resize((h, w), v2.InterpolationMode.NEAREST_EXACT), formats=["ltwh"])
    for e in (20, 80):
        case("resize", resize | {"fit": "shortest", "edge": e}, v2.Resize(e))
    for t, l, h, w, oh, ow in [(3, 5, 20, 30, 16, 16), (0, 0, 37, 50, 64, 64), (7, 9, 12, 40, 12, 40)]:
        case("resized_crop", {"top": t, "left": l, "height": h, "width": w, "out_height": oh, "out_width": ow, "no_antialias": False} | BACKENDS, both(F.resized_crop, t, l, h, w, [oh, ow]))
    for angle, expand, center in [(15, False, None), (-77.7, True, None), (90, True, None), (90, False, None), (180, False, None), (30, False, [3, 4.5]), (123.4, True, None), (45, True, None), (0, True, None), (450, False, None)]:
        p = {"angle": angle, "expand": expand, "center": center or [], "fill": []} | BACKENDS
        case("rotate", p, both(F.rotate, angle, v2.InterpolationMode.NEAREST, expand, center))
    for angle, move, scale, shear, center in [(30, [5, -7], 1.2, [10, 20], None), (0, [0, 0], 1, [0, 0], None), (-90, [0.25, 3], 0.5, [0, 0], [3.5, 8]), (123.4, [0, 0], 3, [-40, 15], None)]:
        p = {"angle": angle, "translate_x": move[0], "translate_y": move[1], "scale": scale, "shear_x": shear[0], "shear_y": shear[1], "center": center or [], "fill": []} | BACKENDS
        case("affine", p, both(F.affine, angle, move, scale, shear, v2.InterpolationMode.NEAREST, None, center))
    h, w = SIZE
    start = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]
    flat = lambda points: [float(v) for q in points for v in q]
    for end in [[[3, 4], [45, 2], [44, 30], [5, 33]], [[-5, 2], [60, -3], [40, 36], [2, 20]]]:
        case("perspective", {"start": flat(start), "end": flat(end), "coefficients": [], "fill": []} | BACKENDS, both(F.perspective, start, end, v2.InterpolationMode.NEAREST))
    c = [0.9, 0.1, 3, -0.2, 1.1, -7, 0.001, 0.0005]
    case("perspective", {"start": [0] * 8, "end": [0] * 8, "coefficients": c, "fill": []} | BACKENDS, both(F.perspective, None, None, v2.InterpolationMode.NEAREST, coefficients=c))
    turned = {"formats": ROTATED, "modes": MODES}
    case("horizontal_flip", {}, v2.RandomHorizontalFlip(p=1), **turned)
    case("vertical_flip", {}, v2.RandomVerticalFlip(p=1), **turned)
    for t, l, h, w in [(3, 5, 20, 30), (-4, -6, 60, 70), (0, 0, 37, 50)]:
        case("crop", {"top": t, "left": l, "height": h, "width": w}, both(F.crop, t, l, h, w), **turned)
    case("center_crop", {"height": 20, "width": 31, "crop_rounding": "half_even", "fill": [0]}, v2.CenterCrop((20, 31)), **turned)
    case("pad", {"top": 2, "bottom": 4, "left": 1, "right": 3, "mode": "constant", "fill": [0]}, v2.Pad([1, 2, 3, 4]), **turned)
    for h, w in [(20, 31), (37, 50), (64, 20)]:
        case("resize", resize | {"height": h, "width": w}, v2.Resize((h, w)), **turned)
    case("resized_crop", {"top": 3, "left": 5, "height": 20, "width": 30, "out_height": 16, "out_width": 17, "no_antialias": False} | BACKENDS, both(F.resized_crop, 3, 5, 20, 30, [16, 17]), **turned)
    case("rotate", {"angle": 15, "expand": False, "center": [], "fill": []} | BACKENDS, both(F.rotate, 15, v2.InterpolationMode.NEAREST, False, None), **turned)
    p = {"angle": 30, "translate_x": 5, "translate_y": -7, "scale": 1.2, "shear_x": 10, "shear_y": 20, "center": [], "fill": []} | BACKENDS
    case("affine", p, both(F.affine, 30, [5, -7], 1.2, [10, 20], v2.InterpolationMode.NEAREST, None, None), **turned)
    case("perspective", {"start": [0] * 8, "end": [0] * 8, "coefficients": c, "fill": []} | BACKENDS, both(F.perspective, None, None, v2.InterpolationMode.NEAREST, coefficients=c), **turned)
    g.write()


if __name__ == "__main__":
    main()
