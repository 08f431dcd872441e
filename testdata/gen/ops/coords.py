"""Writes the goldens of the ops on boxes and points whose reference is torchvision's kernels for bounding boxes and keypoints.

Run with Python 3.11, NumPy 2.4.6, torch 2.15.0 and torchvision 0.29.2, on x86-64. Every run gives the same bytes.
MKL's matrix products fuse on Intel's CPUs only; here they never do.
"""

import os

os.environ["MKL_CBWR"] = "COMPATIBLE"

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torchvision.transforms.v2 import functional as v2
from torchvision.transforms.v2 import RandomIoUCrop
from torchvision.tv_tensors import BoundingBoxes, BoundingBoxFormat, Image

from geometry import noise_field
from golden import Golden

torch.set_num_threads(1)

FORMATS = {"xyxy": BoundingBoxFormat.XYXY, "cxcywh": BoundingBoxFormat.CXCYWH, "ltwh": BoundingBoxFormat.XYWH}
VALUES = {"xy": 2, "xyxy": 4, "cxcywh": 4, "ltwh": 4}
MODES = {"soft": "soft", "hard": "hard", "none": None}
TV = "torchvision 0.29.2"

ROTATED = {"ltwhr": BoundingBoxFormat.XYWHR, "cxcywhr": BoundingBoxFormat.CXCYWHR, "xyxyxyxy": BoundingBoxFormat.XYXYXYXY}


class Nearest(TorchFunctionMode):
    """Rounds functions of float32 to the nearest number: those of MKL and of SLEEF depend on the processor and the length of the tensor."""

    NAMES = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "atan2": np.arctan2}

    def __torch_function__(self, f, types, args=(), kwargs=None):
        g = self.NAMES.get(getattr(f, "__name__", ""))
        if g is None:
            return f(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction(), np.errstate(all="ignore"):
            return torch.from_numpy(np.asarray(g(*(a.numpy().astype(np.float64) for a in args))).astype(np.float32))


def rotated(f):
    """None; boxes inside and outside an image of about 100 x 150; whole numbers and right angles; degenerate; huge; tiny; without an angle."""
    rng = np.random.default_rng(200)
    some = np.concatenate([rng.random((16, 2)) * [190, 140] - 20, rng.random((16, 2)) * 90 + 2, rng.random((16, 1)) * 720 - 360], 1).astype(np.float32)
    whole = np.round(some)
    whole[:, 4] = [0, 90, -90, 180, 45, -45, 30, 270, 360, -180, 135, 60, 0, 90, 7, 1]
    odd = np.zeros((9, 5), np.float32)
    odd[1:6] = [[150, 100, 0, 0, 0], [10, 10, 20, 0, 30], [10, 10, 0, 20, 30], [10, 10, -5, -6, 20], [-50, -50, 20, 10, 15]]
    odd[6] = -0.0
    odd[7, 0], odd[8, 4] = np.nan, np.inf
    huge = some[:5].copy()
    huge[:, :4] *= np.float32(1e18)
    tiny = (some[:5] * np.float32(1e-42)).astype(np.float32)
    flat = some[:8].copy()
    flat[:, 4] = 0
    sets = [np.zeros((0, 5), np.float32), some, whole, odd, huge, tiny, flat]
    if f != "xyxyxyxy":
        return sets
    with Nearest():
        sets = [v2.convert_bounding_box_format(torch.from_numpy(x), ROTATED["cxcywhr"], ROTATED[f]).numpy() for x in sets]
    quads = (rng.random((10, 8)) * 220 - 40).astype(np.float32)
    return sets + [np.concatenate([quads, np.round(quads)])]


def rotated_of(f, kernel, g, name, params, sets=None):
    """Cases of all inputs of rotated boxes, with further values in one of them."""
    for i, x in enumerate(rotated(f)):
        if sets and i not in sets:
            continue
        with Nearest():
            y = kernel(torch.from_numpy(x.copy())).numpy()
        if i == 1:
            more = np.arange(len(x), dtype=np.float32)[:, None]
            x, y = np.concatenate([x, more], 1), np.concatenate([y, more], 1)
        g.columns_case(f"{name}/{i}", params, [x], [y])


def inputs(values, seed=0):
    """None; inside and outside an image of about 100 x 150; degenerate and reversed; huge; tiny; whole numbers."""
    rng = np.random.default_rng(100 + values + seed)
    some = (rng.random((20, values)) * 300 - 80).astype(np.float32)
    whole = np.round(some)
    same = np.repeat(some[:5, :1], values, 1)
    huge = (some[:5] * np.float32(1e30)).astype(np.float32)
    tiny = (some[:5] * np.float32(1e-42)).astype(np.float32)
    zero = np.zeros((1, values), np.float32)
    edge = np.tile(np.array([150, 100], np.float32), values // 2 + 1)[None, :values]
    return [np.zeros((0, values), np.float32), some, whole, np.concatenate([same, zero, -zero, edge]), huge, tiny]


def boxes_of(f, kernel, g, name, params, positive=False):
    """Cases of all inputs: kernel gives the result of a tensor. positive makes 0 of -0."""
    for i, x in enumerate(inputs(VALUES[f])):
        x = x + np.float32(0) if positive else x
        y = kernel(torch.from_numpy(x.copy()))
        g.columns_case(f"{name}/{i}", params, [x], [y.numpy()])
    # Further values, and further axes.
    x = inputs(VALUES[f])[1]
    y = kernel(torch.from_numpy(x.copy())).numpy()
    more = np.arange(len(x), dtype=np.float32)[:, None]
    g.columns_case(f"{name}/more", params, [np.concatenate([x, more], 1).reshape(4, 5, -1)], [np.concatenate([y, more], 1).reshape(4, 5, -1)])


def crop_coords():
    g = Golden("crop_coords", f"{TV} crop_bounding_boxes, pad_bounding_boxes, crop_keypoints")
    every = {"keep": "all", "coverage": 0}
    windows = [(0, 0, 100, 150), (10, 20, 60, 70), (-30, -40, 200, 250), (99, 149, 1, 1)]
    for i, (t, l, h, w) in enumerate(windows):
        for f, tv in FORMATS.items():
            for mode in ("soft", "none") if i else ("soft", "hard"):
                p = {"format": f, "top": t, "left": l, "height": h, "width": w, "clamping": mode} | every
                boxes_of(f, lambda b: v2._geometry.crop_bounding_boxes(b, tv, t, l, h, w, MODES[mode])[0], g, f"{f}_{mode}_{i}", p)
        p = {"format": "xy", "top": t, "left": l, "height": h, "width": w, "clamping": "soft"} | every
        boxes_of("xy", lambda b: v2._geometry.crop_keypoints(b, t, l, h, w)[0], g, f"xy_{i}", p)
    # A pad by 0 makes 0 of -0, where a crop at 0 keeps -0.
    for i, (l, t, r, b) in enumerate([(3, 5, 7, 11), (0, 50, 0, 1)]):
        p = {"top": -t, "left": -l, "height": 100 + t + b, "width": 150 + l + r, "clamping": "soft"} | every
        for f, tv in FORMATS.items():
            boxes_of(f, lambda x: v2._geometry.pad_bounding_boxes(x, tv, (100, 150), [l, t, r, b])[0], g, f"pad_{f}_{i}", {"format": f} | p, True)
        boxes_of("xy", lambda x: v2._geometry.pad_keypoints(x, (100, 150), [l, t, r, b])[0], g, f"pad_xy_{i}", {"format": "xy"} | p, True)
    for i, (t, l, h, w) in enumerate([(10, 20, 60, 70), (-30, -40, 200, 250), (0, 0, 100, 150)]):
        for f, fmt in ROTATED.items():
            for mode in MODES:
                p = {"format": f, "top": t, "left": l, "height": h, "width": w, "clamping": mode} | every
                if f != "xyxyxyxy":
                    rotated_of(f, lambda b: v2._geometry.crop_bounding_boxes(b, fmt, t, l, h, w, MODES[mode])[0], g, f"{f}_{mode}_{i}", p)
                elif t < 0:
                    rotated_of(f, lambda b: v2._geometry.pad_bounding_boxes(b, fmt, (h + t - 30, w + l - 40), [-l, -t, 40, 30], clamping_mode=MODES[mode])[0], g, f"{f}_{mode}_{i}", p)
    # Windows and boxes of RandomIoUCrop. Boxes of huge values make no window.
    t = RandomIoUCrop(0.2, 1.0, 0.3, 4.0, [0.0])
    for f, tv in FORMATS.items():
        for i in (1, 2, 3):
            for mode in ("soft", "none"):
                x = torch.from_numpy(inputs(4)[i])
                b = BoundingBoxes(torch.cat([x, x[:4] / 4]), format=tv, canvas_size=(100, 150), clamping_mode=MODES[mode])
                torch.manual_seed(i)
                q = t.make_params([Image(torch.zeros(3, 100, 150, dtype=torch.uint8)), b])
                p = {"format": f, **{k: q[k] for k in ("top", "left", "height", "width")}, "clamping": mode, "keep": "center", "coverage": 0}
                g.columns_case(f"center_{f}_{i}_{mode}", p, [b.numpy()], [t.transform(b, q).numpy()])
    g.write()


def convert_boxes():
    """Those of float32 boxes without an angle are from postprocess.py. Cases "raw" have torch's and MKL's own functions, on the processor at hand."""
    g = Golden("convert_boxes", f"{TV} convert_bounding_box_format", folder="convert_boxes_rotated")
    for a, old in ROTATED.items():
        for b, new in ROTATED.items():
            if a == b:
                continue
            p = {"from": a, "to": b, "chained": True}
            for i, x in enumerate(rotated(a)):
                with Nearest():
                    y = v2.convert_bounding_box_format(torch.from_numpy(x.copy()), old, new).numpy()
                more = np.arange(len(x) * 2, dtype=np.float32).reshape(-1, 2)
                g.columns_case(f"{a}_{b}/{i}", p, [np.concatenate([x, more], 1)], [np.concatenate([y, more], 1)])
                if i in (1, 2, 6):
                    raw = v2.convert_bounding_box_format(torch.from_numpy(x.copy()), old, new).numpy()
                    g.columns_case(f"{a}_{b}_raw/{i}", p, [x], [raw])
                    g.cases[-1] |= {"tolerance": 1e-4, "reason": "torch's and MKL's functions are not rounded to the nearest number"}
    whole = np.random.default_rng(300).integers(-300, 300, (24, 4))
    wide = whole[:6] * 2**22 + 1
    for a, old in FORMATS.items():
        for b, new in FORMATS.items():
            for dtype in (np.int32, np.int64):
                for i, x in enumerate([whole, wide, np.zeros((0, 4)), whole[:6] * 2**50] if a != b else []):
                    if i < 3 or dtype == np.int64:
                        x = x.astype(dtype)
                        y = v2.convert_bounding_box_format(torch.from_numpy(x.copy()), old, new).numpy()
                        more = np.arange(len(x) * 2, dtype=dtype).reshape(-1, 2)
                        g.columns_case(f"{a}_{b}_{dtype.__name__}/{i}", {"from": a, "to": b, "chained": True}, [np.concatenate([x, more], 1)], [np.concatenate([y, more], 1)])
    g.write()


def clamp_coords():
    g = Golden("clamp_coords", f"{TV} clamp_bounding_boxes, clamp_keypoints")
    for i, (h, w) in enumerate([(100, 150), (1, 1), (33, 7)]):
        for f, tv in FORMATS.items():
            for mode in MODES if i == 0 else ["soft"]:
                p = {"format": f, "height": h, "width": w, "clamping": mode}
                boxes_of(f, lambda b: v2.clamp_bounding_boxes(b, tv, (h, w), MODES[mode]), g, f"{f}_{mode}_{i}", p)
        for f, fmt in ROTATED.items():
            for mode in MODES if i == 0 else ["soft", "hard"]:
                rotated_of(f, lambda b: v2.clamp_bounding_boxes(b, fmt, (h, w), MODES[mode]), g, f"{f}_{mode}_{i}", {"format": f, "height": h, "width": w, "clamping": mode})
        boxes_of("xy", lambda b: v2.clamp_keypoints(b, (h, w)), g, f"xy_{i}", {"format": "xy", "height": h, "width": w, "clamping": "soft"})
    g.write()


def flip_coords():
    g = Golden("flip_coords", f"{TV} horizontal_flip_bounding_boxes, vertical_flip_bounding_boxes, horizontal_flip_keypoints, vertical_flip_keypoints")
    for i, (h, w) in enumerate([(100, 150), (1, 1), (33, 7)]):
        for vertical in (False, True):
            for f, tv in FORMATS.items():
                flip = v2.vertical_flip_bounding_boxes if vertical else v2.horizontal_flip_bounding_boxes
                p = {"format": f, "vertical": vertical, "size": h if vertical else w}
                boxes_of(f, lambda b: flip(b, tv, (h, w)), g, f"{f}_{vertical}_{i}", p)
            for f, tv in ROTATED.items():
                flip = v2.vertical_flip_bounding_boxes if vertical else v2.horizontal_flip_bounding_boxes
                rotated_of(f, lambda b: flip(b, tv, (h, w)), g, f"{f}_{vertical}_{i}", {"format": f, "vertical": vertical, "size": h if vertical else w}, sets=(1,) if i else None)
            flip = v2.vertical_flip_keypoints if vertical else v2.horizontal_flip_keypoints
            p = {"format": "xy", "vertical": vertical, "size": h if vertical else w}
            boxes_of("xy", lambda b: flip(b, (h, w)), g, f"xy_{vertical}_{i}", p)
    g.write()


def resize_coords():
    g = Golden("resize_coords", f"{TV} resize_bounding_boxes, resize_keypoints")
    for i, (h, w, th, tw) in enumerate([(100, 150, 224, 224), (100, 150, 33, 7), (1, 1, 640, 480), (480, 640, 479, 640), (100, 150, 100, 150), (4000, 3000, 1, 1)]):
        for f, tv in FORMATS.items():
            p = {"format": f, "from_height": h, "from_width": w, "to_height": th, "to_width": tw}
            boxes_of(f, lambda b: v2._geometry.resize_bounding_boxes(b, (h, w), [th, tw], format=tv)[0], g, f"{f}_{i}", p)
        for f, tv in ROTATED.items():
            if (h, w) != (th, tw):
                p = {"format": f, "from_height": h, "from_width": w, "to_height": th, "to_width": tw}
                rotated_of(f, lambda b: v2._geometry.resize_bounding_boxes(b, (h, w), [th, tw], format=tv, clamping_mode=None)[0], g, f"{f}_{i}", p, sets=(1, 7) if i else None)
        p = {"format": "xy", "from_height": h, "from_width": w, "to_height": th, "to_width": tw}
        boxes_of("xy", lambda b: v2._geometry.resize_keypoints(b, [th, tw], (h, w))[0], g, f"xy_{i}", p)
    g.write()


def affine_coords():
    g = Golden("affine_coords", f"{TV} affine_bounding_boxes, affine_keypoints, rotate_bounding_boxes, rotate_keypoints")
    G = v2._geometry
    size = (100, 150)
    for i, (angle, move, scale, shear, center) in enumerate([
        (30, [5, -7], 1.2, [10, 20], None), (0, [0, 0], 1, [0, 0], None), (-90, [0.25, 3], 0.5, [0, 0], [3.5, 8]), (123.4, [0, 0], 3, [-40, 15], None),
    ]):
        a, t, sh, c = G._affine_parse_args(angle, move, scale, shear, v2.InterpolationMode.NEAREST, center)
        matrix = G._get_inverse_affine_matrix(c or [size[1] * 0.5, size[0] * 0.5], a, t, scale, sh, inverted=False)
        p = {"matrix": matrix, "shift_x": 0, "shift_y": 0, "height": size[0], "width": size[1]}
        for f, tv in FORMATS.items():
            for mode in ("soft", "none"):
                boxes_of(f, lambda b: v2.affine_bounding_boxes(b, tv, size, angle, move, scale, shear, center, MODES[mode]), g, f"{f}_{mode}_{i}", {"format": f, "clamping": mode} | p)
        for f, tv in ROTATED.items():
            for mode in MODES:
                rotated_of(f, lambda b: v2.affine_bounding_boxes(b, tv, size, angle, move, scale, shear, center, MODES[mode]), g, f"{f}_{mode}_{i}", {"format": f, "clamping": mode} | p, sets=(1, 3, 7))
        boxes_of("xy", lambda b: v2.affine_keypoints(b, size, angle, move, scale, shear, center)[0], g, f"xy_{i}", {"format": "xy", "clamping": "soft"} | p)
    for i, (angle, center) in enumerate([(15, None), (-77.7, None), (90, None), (45, [0, 0])]):
        matrix = G._get_inverse_affine_matrix(center or [size[1] * 0.5, size[0] * 0.5], -angle, [0, 0], 1.0, [0, 0], inverted=False)
        m = torch.tensor(matrix).reshape(2, 3).T
        h, w = map(float, size)
        tr = torch.amin(torch.tensor([[0, 0, 1], [0, h, 1], [w, h, 1], [w, 0, 1]]) @ m, 0)
        _, (th, tw) = G.rotate_keypoints(torch.zeros(1, 2), size, angle, True, center)
        p = {"matrix": matrix, "shift_x": tr[0].item(), "shift_y": tr[1].item(), "height": th, "width": tw, "clamping": "soft"}
        for f, tv in FORMATS.items():
            boxes_of(f, lambda b: v2.rotate_bounding_boxes(b, tv, size, angle, True, center)[0], g, f"rotate_{f}_{i}", {"format": f} | p)
        for f, tv in ROTATED.items():
            rotated_of(f, lambda b: v2.rotate_bounding_boxes(b, tv, size, angle, True, center)[0], g, f"rotate_{f}_{i}", {"format": f} | p, sets=(1, 2, 7))
        boxes_of("xy", lambda b: v2.rotate_keypoints(b, size, angle, True, center)[0], g, f"rotate_xy_{i}", {"format": "xy"} | p)
    g.write()


def perspective_coords():
    g = Golden("perspective_coords", f"{TV} perspective_bounding_boxes, perspective_keypoints")
    size = (100, 150)
    for i, c in enumerate([
        [1, 0, 0, 0, 1, 0, 0, 0], [0.9, 0.1, 3, -0.2, 1.1, -7, 0.001, 0.0005], [1.5, 0.4, -30, 0.3, 0.7, 12, -0.002, 0.001], [0.5, 0, 0, 0, 0.25, 10, 0, 0],
        [1.2, -0.3, 20, 0.25, 1.3, -4, 0.0001, -0.003],
    ]):
        denom = c[0] * c[4] - c[1] * c[3]
        n, d = v2._geometry._compute_perspective_thetas(c, torch.float64, torch.device("cpu"), denom)
        p = {"coefficients": n.flatten().tolist() + d[0, :2].tolist(), "height": size[0], "width": size[1]}
        for f, tv in FORMATS.items():
            for mode in ("soft", "none") if i == 1 else ("soft",):
                boxes_of(f, lambda b: v2.perspective_bounding_boxes(b, tv, size, None, None, c, MODES[mode]), g, f"{f}_{mode}_{i}", {"format": f, "clamping": mode} | p)
        for f, tv in ROTATED.items():
            for mode in ("soft", "none") if i == 1 else ("hard",):
                rotated_of(f, lambda b: v2.perspective_bounding_boxes(b, tv, size, None, None, c, MODES[mode]), g, f"{f}_{mode}_{i}", {"format": f, "clamping": mode} | p, sets=(1, 2, 7))
        boxes_of("xy", lambda b: v2.perspective_keypoints(b, size, None, None, c), g, f"xy_{i}", {"format": "xy", "clamping": "soft"} | p)
    g.write()


def valid_boxes():
    g = Golden("valid_boxes", f"{TV} sanitize_bounding_boxes")
    special = np.array([[0, 0, 150, 100], [0, 0, 150.001, 100], [-0.0, 0, 1, 1], [5, 5, 6, 6], [5, 5, 5.999, 7], [5, 5, 6, 5], [7, 7, 3, 3], [-1, 0, 5, 5], [np.nan, 0, 5, 5], [0, 0, np.inf, 5], [149, 99, 150, 100]], np.float32)
    for i, (h, w, size, area) in enumerate([(100, 150, 1, 1), (100, 150, 0, 0), (100, 150, 3.3, 20.7), (37, 20, 1, 1), (1, 1, 0.1, 0.01), (1 << 24, 1 << 24, 5, 1000), (100, 150, -1, -5), (100, 150, 1, 10000)]):
        for f, fmt in FORMATS.items():
            p = {"format": f, "height": h, "width": w, "min_size": size, "min_area": area}
            for k, x in enumerate(inputs(4) + [special, np.concatenate([x for x in inputs(4, 1)]) + np.float32(60)]):
                want = v2.sanitize_bounding_boxes(torch.from_numpy(x.copy()), fmt, (h, w), size, area)[1]
                g.columns_case(f"{f}_{i}/{k}", p, [x], [want.numpy()])
        for f, fmt in ROTATED.items():
            p = {"format": f, "height": h, "width": w, "min_size": size, "min_area": area}
            for k, x in enumerate(rotated(f)):
                with Nearest():
                    want = v2.sanitize_bounding_boxes(torch.from_numpy(x.copy()), fmt, (h, w), size, area)[1]
                g.columns_case(f"{f}_{i}/{k}", p, [x], [want.numpy()])
    x = inputs(4)[1]
    want = v2.sanitize_bounding_boxes(torch.from_numpy(x), "xyxy", (100, 150))[1].numpy()
    p = {"format": "xyxy", "height": 100, "width": 150, "min_size": 1, "min_area": 1}
    g.columns_case("more", p, [np.concatenate([x, x], 1)], [want])
    g.write()


def valid_keypoints():
    g = Golden("valid_keypoints", f"{TV} sanitize_keypoints")
    special = np.array([[0, 0], [-0.0, -0.0], [150, 99], [149.99, 99.99], [3, 100], [np.nan, 3], [3, np.nan], [-1e-30, 5]], np.float32)
    for i, (h, w) in enumerate([(100, 150), (1, 1), (33, 7), (1 << 24, 1 << 24), (150, 100), (1, 300), (300, 1), (7, 7)]):
        p = {"height": h, "width": w}
        some = inputs(2)[1]
        grouped = [some.reshape(4, 5, 2), np.abs(some).reshape(5, 2, 2, 2), np.zeros((3, 0, 2), np.float32), np.zeros((0, 4, 2), np.float32)]
        for k, x in enumerate(inputs(2) + [special] + grouped):
            want = v2.sanitize_keypoints(torch.from_numpy(x.copy()), (h, w))[1]
            g.columns_case(f"{i}/{k}", p, [x], [want.numpy()])
        g.columns_case(f"{i}/more", p, [np.concatenate([special, special], 1)], [v2.sanitize_keypoints(torch.from_numpy(special), (h, w))[1].numpy()])
    g.write()


def select_rows():
    g = Golden("select_rows", "torch 2.15.0 rows[mask]")
    rng = np.random.default_rng(7)
    for n in (0, 1, 7):
        masks = [np.zeros(n, bool), np.ones(n, bool), rng.random(n) < 0.5]
        rows = [(rng.random((n, 4)).astype(np.float32), "none"), (np.arange(n), "none"), (rng.integers(0, 255, (n, 5, 6), np.uint8), "none"), (rng.random((n, 3, 2)) < 0.5, "none"), (rng.random((n, 0)), "none")]
        if n:
            rows.append((rng.integers(0, 255, (n, 5, 6), np.uint8), "CHW"))
        for i, (x, layout) in enumerate(rows):
            for k, m in enumerate(masks):
                want = torch.from_numpy(x)[torch.from_numpy(m)].numpy()
                g.columns_case(f"{n}_{i}/{k}", {}, [(x, layout), m], [(want, layout)])
    g.write()


def elastic_noise_coords():
    g = Golden("elastic_noise_coords", f"{TV} elastic_bounding_boxes, elastic_keypoints, with a displacement of Philox 4x32-10")
    for i, (h, w, alpha, sigma, key) in enumerate([
        (100, 150, (50, 50), (5, 5), 77), (100, 150, (200, -300), (3.5, 2), 2**64 - 1), (33, 7, (20, 30), (0, 0), 0), (1, 1, (50, 50), (0, 0), 5),
    ]):
        field = noise_field(h, w, alpha, sigma, key)
        p = {"alpha_x": float(alpha[0]), "alpha_y": float(alpha[1]), "sigma_x": float(sigma[0]), "sigma_y": float(sigma[1]), "key": key, "height": h, "width": w}
        for f, tv in FORMATS.items():
            for mode in ("soft", "none") if i == 1 else ("soft",):
                boxes_of(f, lambda b: v2._geometry.elastic_bounding_boxes(b, tv, (h, w), field, MODES[mode]), g, f"{f}_{mode}_{i}", {"format": f, "clamping": mode} | p)
        for f, tv in ROTATED.items():
            rotated_of(f, lambda b: v2._geometry.elastic_bounding_boxes(b, tv, (h, w), field, "soft"), g, f"{f}_soft_{i}", {"format": f, "clamping": "soft"} | p, sets=(1, 2, 6, 7))
        boxes_of("xy", lambda b: v2._geometry.elastic_keypoints(b, (h, w), field), g, f"xy_{i}", {"format": "xy", "clamping": "soft"} | p)
    g.write()


if __name__ == "__main__":
    for f in (convert_boxes, crop_coords, clamp_coords, flip_coords, resize_coords, affine_coords, perspective_coords, valid_boxes, valid_keypoints, select_rows, elastic_noise_coords):
        f()
