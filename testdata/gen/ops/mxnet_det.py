"""Writes what mx.image's augmenters for detection draw: the windows of DetRandomCropAug and the canvases of DetRandomPadAug,
each in a DetRandomSelectAug, as distributions; what ImageDetRecordIter draws; and the goldens of RelativeWindow, which is its
windows and canvases, and of ProjectBoxes, which moves the labels of all of them. Run with mxnet 1.9.1 and numpy 1.23.5. Every run gives the same bytes.
"""

import os
import random
import tempfile

import mxnet as mx
import numpy as np
from mxnet.image import detection

import mxnet_det_record as record
from golden import Draws, Golden, image
from mxnet_aug import png
from mxnet_random import F, Generator

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

    def case(name, q, want, part=None):
        columns = lambda a: np.concatenate([a[:, 1:], a[:, :1]], 1)
        g.case(name, plain | q, columns(labels if part is None else part), columns(want), "none")

    for n, part in enumerate((labels, labels[:1], labels[40:], labels[1:8], labels[::3])):
        want = part.copy()
        detection.DetHorizontalFlipAug(1)._flip_label(want)
        case(f"mirror_{n}" if n else "mirror", {"scale_x": -1, "offset_x": 1}, want, part)
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
    labels = labels[:43]  # ImageDetRecordIter takes no objects without an area
    for name, q, kept, drawn in iterated(image(23, 37, 3), labels):
        _, pad, box = drawn
        want = labels.copy()
        want[:, 1:5] = 0
        for o in kept:
            i = np.flatnonzero(labels[:, 0] == o[0])
            want[i] = o
        keep = ("overlap" if q["crop_emit_mode"] == "overlap" else "center") if box else "all"
        window = box or (*pad, pad[2])
        x, y, w, h = (float(str(v)) for v in window[:4])
        coverage = q["emit_overlap_thresh"] if keep == "overlap" else 0
        case("iterator_" + name, {"offset_x": -x, "offset_y": -y, "size_x": w, "size_y": h, "clamp": True, "keep": keep, "coverage": coverage}, want)
    g.write()


RECORD = (
    {"rand_pad_prob": 1, "max_pad_scale": 3}, {"rand_pad_prob": 1, "max_pad_scale": 1.2, "fill_value": 9},
    {"rand_crop_prob": 1, "min_crop_scales": (0.3,), "min_crop_aspect_ratios": (0.3,), "max_crop_aspect_ratios": (3,)},
    {"rand_crop_prob": 1, "min_crop_scales": (0.7,), "crop_emit_mode": "overlap", "emit_overlap_thresh": 0.5},
    {"rand_crop_prob": 1, "min_crop_scales": (0.1,), "max_crop_scales": (0.5,), "crop_emit_mode": "overlap", "emit_overlap_thresh": 0},
)


def iterated(a, labels, n=3):
    """What ImageDetRecordIter makes of an image and its objects: a name, the parameters, the objects, what it drew; and the image."""
    h, w, channels = a.shape
    for k, params in enumerate(RECORD):
        params = {"crop_emit_mode": "center", "emit_overlap_thresh": 0.3} | params
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "a.rec")
            f = mx.recordio.MXRecordIO(path, "w")
            for i in range(n):
                f.write(mx.recordio.pack(mx.recordio.IRHeader(0, [2, 5, *labels.ravel().tolist()], i, 0), png(a)))
            f.close()
            it = mx.io.ImageDetRecordIter(path_imgrec=path, preprocess_threads=1, verbose=False, batch_size=1, resize_mode="shrink", data_shape=(channels, 200, 200), **params)
            r = Generator(233)
            for i, b in enumerate(it):
                objects = [[F(v) for v in o] for o in labels]
                drawn, want = record.draw(r, params, h, w, objects)
                label = b.label[0].asnumpy()[0]
                kept = label[6 : 4 + int(label[3])].reshape(-1, 5)
                assert kept.tobytes() == np.array(want, np.float32).tobytes()
                if drawn[1] or drawn[2]:
                    iterated.image = b.data[0].asnumpy()[0][:, : int(label[1]), : int(label[2])].transpose(1, 2, 0).astype(np.uint8)
                    yield f"{k}_{i}", params, kept, drawn


def windows():
    """The images that ImageDetRecordIter cuts out and pads."""
    g = Golden("relative_window", "MXNet 1.9.1 ImageDetRecordIter")
    labels = np.array([[0, 0.1, 0.2, 0.7, 0.8]], np.float32)
    for a in (image(23, 37, 3), image(40, 9, 1), image(16, 16, 4), image(12, 60, 3), image(31, 22, 1), image(9, 10, 4)):
        for name, params, _, (_, pad, box) in iterated(a, labels):
            x, y, w, h = (float(str(v)) for v in (box or (*pad, pad[2]))[:4])
            v = params.get("fill_value", 127)
            fill = [0] if box else [v, v, v, 0] if a.shape[2] == 4 else [v]
            keep = "all" if pad else params["crop_emit_mode"]
            q = {"top": y, "left": x, "height": h, "width": w, "fill": fill, "keep": keep, "coverage": params["emit_overlap_thresh"] if keep == "overlap" else 0}
            g.case(f"{a.shape[1]}x{a.shape[0]}_{name}", q, a, iterated.image)
    g.write()


def window(x, y, w, h, *_):
    return ("relative_window", {"top": y, "left": x, "height": h, "width": w})


def record_draws():
    n = 6000
    d = Draws("random_relative_pad", "MXNet 1.9.1 ImageDetRecordIter")
    for p, most in ((1, 3), (0.6, 1.3)):
        r = Generator(7)
        drawn = [record.draw(r, {"rand_pad_prob": p, "max_pad_scale": most}, 48, 64, [])[0][1] for _ in range(n)]
        d.case(f"{most}", {"probability": p, "max_scale": most, "fill": [127]}, (48, 64), [[window(*b, b[2])] if b else [] for b in drawn])
    d.write()
    d = Draws("random_relative_crop", "MXNet 1.9.1 ImageDetRecordIter")
    free, one, lists = [(0, 1)], [(1, 1)], {"scale": "scales", "ratio": "aspect_ratios", "overlap": "overlaps", "sample_coverage": "sample_coverages", "object_coverage": "object_coverages"}
    plain = {"probability": 1, "scale": [(0.2, 1)], "ratio": one, "overlap": free, "sample_coverage": free, "object_coverage": free, "trials": [25], "keep": "center", "coverage": 0}
    for k, (size, boxes, q) in enumerate((
        ((375, 500), BOXES, {}), ((33, 47), SMALL, {"scale": [(0.3, 0.6)], "ratio": [(0.5, 2)], "keep": "overlap", "coverage": 0.3}),
        ((375, 500), BOXES, {"probability": 0.8, "overlap": [(0.1, 1)], "trials": [3]}),
        ((48, 64), SMALL, {"scale": [(0.1, 0.9)], "ratio": [(0.25, 4)], "sample_coverage": [(0.2, 0.9)], "object_coverage": [(0.5, 1)]}),
        ((48, 64), SMALL, {"scale": [(0.2, 0.4), (0.5, 0.7), (0.9, 1)], "object_coverage": [(0.9, 1), (0.2, 0.5), (0, 1)], "trials": [2, 5, 1], "ratio": [(0.5, 2)]}),
    )):
        q = plain | q
        r = Generator(11 + k)
        params = {"rand_crop_prob": q["probability"], "num_crop_sampler": max(len(q[n]) for n in [*lists, "trials"]), "max_crop_trials": q["trials"],
                  "crop_emit_mode": q["keep"], "emit_overlap_thresh": q["coverage"]}
        for name, theirs in lists.items():
            params["min_crop_" + theirs], params["max_crop_" + theirs] = zip(*q[name])
        label = [[F(0), *b] for b in relative(size, boxes)]
        drawn = [record.draw(r, params, *size, label)[0][2] for _ in range(n)]
        d.case(f"{k}", q, size, [[window(*b)] if b else [] for b in drawn], boxes=[[float(str(v)) for v in b] for b in relative(size, boxes)])
    d.write()


if __name__ == "__main__":
    assert mx.__version__ == "1.9.1", mx.__version__
    crops()
    canvases()
    projections()
    windows()
    record_draws()
