"""Writes what mx.image's augmenters for detection draw: the windows of DetRandomCropAug and the canvases of DetRandomPadAug,
each in a DetRandomSelectAug, as distributions; and the goldens of ProjectBoxes, which moves their labels. Run with mxnet 1.9.1 and numpy 1.23.5. Every run gives the same bytes.
"""

import random

import mxnet as mx
import numpy as np
from mxnet.image import detection

from golden import Draws, Golden

N = 4000
REFERENCE = "MXNet 1.9.1 mx.image"
BOXES = [[20, 30, 220, 230], [300.5, 100.25, 380, 330], [0, 0, 12, 9], [400, 10, 500, 60]]
SMALL = [[5, 6, 30, 31], [40, 2, 46, 8]]
EIGHTHS = [[8, 8, 40, 16], [0, 0, 16, 16], [48, 20, 64, 32]]  # half of them often is in a window


class Empty:
    """An image of which the augmenters ask only the shape."""

    def __init__(self, h, w):
        self.shape = (h, w, 3)


def relative(size, boxes):
    h, w = size
    return np.array([[x0 / w, y0 / h, x1 / w, y1 / h] for x0, y0, x1, y1 in boxes], np.float32)


def drawn(aug, size, boxes):
    h, w = size
    label = np.insert(relative(size, boxes), 0, 0, 1)
    log, out = [], []
    detection.fixed_crop = lambda src, x, y, w, h, _: log.append(("object_crop", {"top": y, "left": x, "height": h, "width": w})) or src
    detection.copyMakeBorder = lambda src, top, bottom, left, right, *_, **__: log.append(
        ("pad", {"top": top, "bottom": bottom, "left": left, "right": right})) or src
    random.seed(1)
    for _ in range(N):
        log.clear()
        aug(Empty(h, w), label)
        out.append(list(log))
    return out


def crops():
    d = Draws("random_object_crop", REFERENCE)
    for size, boxes, p, covered, kept, ratio, area, trials in (
        ((375, 500), BOXES, 1.0, [0.1], 0.3, (0.75, 1.33), (0.05, 1.0), 50), ((375, 500), BOXES, 0.6, [0.0, 0.5, 0.9], 0.1, (0.5, 3.0), (0.01, 0.4), 10),
        ((33, 47), SMALL, 1.0, [0.3], 0.0, (1.0, 1.0), (0.2, 0.9), 5),
    ):
        q = {"probability": p, "format": "xyxy", "min_covered": covered, "min_kept": [kept], "ratio": [ratio], "area": [area], "trials": [trials]}
        aug = detection.CreateMultiRandCropAugmenter(covered, ratio, area, kept, trials, 1 - p)
        d.case(f"{size[1]}x{size[0]}_{trials}", q, size, drawn(aug, size, boxes), boxes=boxes)
    for size, boxes, p, covered, kept, ratio, area, trials in (
        ((375, 500), BOXES, 1.0, [0.1], 0.3, (0.75, 1.33), (0.05, 3.0), 50), ((33, 47), SMALL, 0.8, [0.3, 0.9], 0.5, (0.5, 2.0), (0.3, 1.2), 5),
        ((32, 64), EIGHTHS, 1.0, [0.5], 0.5, (2.0, 2.0), (0.25, 0.25), 3),
    ):
        q = {"probability": p, "format": "relative", "min_covered": covered, "min_kept": [kept], "ratio": [ratio], "area": [area], "trials": [trials]}
        aug = detection.CreateMultiRandCropAugmenter(covered, ratio, area, kept, trials, 1 - p)
        d.case(f"relative_{size[1]}x{size[0]}_{trials}", q, size, drawn(aug, size, boxes), boxes=[[float(str(v)) for v in b] for b in relative(size, boxes)])
    size = (48, 64)
    kinds = {"min_covered": [0.1, 0.5, 0.8], "min_kept": [0.3, 0.0, 0.9], "ratio": [(0.5, 1.0), (1.0, 2.0), (0.9, 1.1)], "area": [(0.1, 1.0), (0.3, 0.5), (0.5, 3.0)], "trials": [1, 20, 3]}
    aug = detection.CreateMultiRandCropAugmenter(*(kinds[k] for k in ("min_covered", "ratio", "area", "min_kept", "trials")), skip_prob=0.2)
    q = {"probability": 0.8, "format": "relative"} | kinds
    d.case("relative_kinds", q, size, drawn(aug, size, SMALL), boxes=[[float(str(v)) for v in b] for b in relative(size, SMALL)])
    d.write()


def canvases():
    d = Draws("random_canvas", REFERENCE)
    for size, p, ratio, area, trials in (
        ((375, 500), 1.0, (0.75, 1.33), (1.0, 3.0), 50), ((33, 47), 0.5, (0.5, 3.0), (1.5, 2.0), 3), ((10, 90), 1.0, (0.75, 1.33), (1.0, 4.0), 50),
    ):
        q = {"probability": p, "ratio": list(ratio), "area": list(area), "trials": trials, "fill": [128]}
        aug = detection.DetRandomSelectAug([detection.DetRandomPadAug(ratio, area, trials, 128)], 1 - p)
        d.case(f"{size[1]}x{size[0]}", q, size, drawn(aug, size, SMALL))
    d.write()


def projections():
    """What the augmenters make of labels: a mirror, paddings, windows. An object that they drop is zeros."""
    g = Golden("project_boxes", REFERENCE)
    rng = np.random.default_rng(31)
    labels = np.concatenate([rng.random((40, 5)), [[i, 0.25, 0.5, 0.75, 1] for i in range(3)], [[9, 0, 0, 1, 1], [9, 0.5, 0.5, 0.5, 0.75]]]).astype(np.float32)
    labels[:40, 1:5].reshape(-1, 2, 2).sort(1)
    plain = {"scale_x": 1, "scale_y": 1, "offset_x": 0, "offset_y": 0, "size_x": 1, "size_y": 1, "clamp": False, "keep": "all", "coverage": 0}

    def case(name, q, want):
        columns = lambda a: np.concatenate([a[:, 1:], a[:, :1]], 1)
        g.case(name, plain | q, columns(labels), columns(want), "none")

    want = labels.copy()
    detection.DetHorizontalFlipAug(1)._flip_label(want)
    case("mirror", {"scale_x": -1, "offset_x": 1}, want)
    for w, h, x, y, pw, ph in ((500, 375, 20, 3, 601, 400), (64, 48, 0, 0, 67, 99), (17, 33, 40, 41, 90, 91), (7, 3, 2, 2, 11, 7)):
        want = detection.DetRandomPadAug()._update_labels(labels, (x, y, pw, ph), h, w)
        case(f"pad_{w}x{h}", {"scale_x": w, "scale_y": h, "offset_x": x, "offset_y": y, "size_x": pw, "size_y": ph}, want)
    share = lambda n, of: float(str(np.float32(n / of)))
    for w, h, x, y, cw, ch in ((500, 375, 20, 30, 301, 100), (64, 48, 16, 24, 32, 24), (17, 33, 0, 0, 17, 33), (7, 3, 3, 1, 2, 2), (333, 999, 100, 77, 99, 901)):
        for coverage in (0, 0.3, 0.5, 0.9):
            aug = detection.DetRandomCropAug(min_eject_coverage=coverage)
            want = labels.copy()
            want[:, 1:5] = 0
            for i in range(len(labels)):
                with np.errstate(invalid="ignore"):
                    moved = aug._update_labels(labels[i : i + 1], (x, y, cw, ch), h, w)
                if moved is not None:
                    want[i] = moved[0]
            q = {"offset_x": -share(x, w), "offset_y": -share(y, h), "size_x": share(cw, w), "size_y": share(ch, h), "clamp": True, "keep": "covered", "coverage": coverage}
            case(f"crop_{w}x{h}_{coverage}", q, want)
    g.write()


if __name__ == "__main__":
    assert mx.__version__ == "1.9.1", mx.__version__
    crops()
    canvases()
    projections()
