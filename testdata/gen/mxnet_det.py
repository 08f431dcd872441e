"""Writes what mx.image's augmenters for detection draw: the windows of DetRandomCropAug and the canvases of DetRandomPadAug,
each in a DetRandomSelectAug, as distributions. Run with mxnet 1.9.1 and numpy 1.23.5. Every run gives the same bytes.
"""

import random

import mxnet as mx
import numpy as np
from mxnet.image import detection

from golden import Draws

N = 4000
REFERENCE = "MXNet 1.9.1 mx.image"
BOXES = [[20, 30, 220, 230], [300.5, 100.25, 380, 330], [0, 0, 12, 9], [400, 10, 500, 60]]
SMALL = [[5, 6, 30, 31], [40, 2, 46, 8]]


class Empty:
    """An image of which the augmenters ask only the shape."""

    def __init__(self, h, w):
        self.shape = (h, w, 3)


def drawn(aug, size, boxes):
    h, w = size
    label = np.array([[0, x0 / w, y0 / h, x1 / w, y1 / h] for x0, y0, x1, y1 in boxes], np.float32)
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
        q = {"probability": p, "format": "xyxy", "min_covered": covered, "min_kept": kept, "ratio": list(ratio), "area": list(area), "trials": trials}
        aug = detection.CreateMultiRandCropAugmenter(covered, ratio, area, kept, trials, 1 - p)
        d.case(f"{size[1]}x{size[0]}_{trials}", q, size, drawn(aug, size, boxes), boxes=boxes)
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


if __name__ == "__main__":
    assert mx.__version__ == "1.9.1", mx.__version__
    crops()
    canvases()
