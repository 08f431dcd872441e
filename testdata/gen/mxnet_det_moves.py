"""Makes compat/mxnet/testdata/det_moves.json: what MXNet's ImageDetIter gives with augmenters that move boxes.

Needs mxnet 1.9.1 and numpy 1.23.5 (Python 3.11 or earlier). Takes no arguments; running it again gives the same bytes.

Each of "det" has the parameters as Python prints them, the batches of each epoch as in image_iters.json, and "draws": for each
image what the augmenters drew, the window (left, top, width, height, min_eject_coverage) or null, whether it was mirrored, and
the canvas (left, top, width, height) or null. Images without an object of a class are left out, as the iterator does.
"det_labels" is what becomes of the objects of the image "file", which is augmented N times: for each class how often it is
left, quantiles of its edges, and the share of edges up to them.
"""

import json
import os
import random
import tempfile

import mxnet as mx
import numpy as np
from mxnet.image import detection

import mxnet_image_iters as iters

OUT = os.path.join(iters.ROOT, "compat", "mxnet", "testdata", "det_moves.json")
N = 3000
FILE = "jpeg_size_2x2_17x33.jpg"


class Log:
    """What the augmenters of an ImageDetIter draw."""

    def __init__(self):
        self.draws = []
        self.wrap(detection.DetRandomCropAug, "_random_crop_proposal", lambda args, r: r and self.set(0, [int(v) for v in r[:4]] + [args[0].min_eject_coverage]))
        self.wrap(detection.DetHorizontalFlipAug, "_flip_label", lambda *_: self.set(1, True))
        self.wrap(detection.DetRandomPadAug, "_random_pad_proposal", lambda _, r: r and self.set(2, [int(v) for v in r[:4]]))
        real = mx.image.ImageDetIter.augmentation_transform

        def transform(it, data, label):
            self.draws.append([None, False, None])
            positive = (label[:, 0] >= 0).any()
            out = real(it, data, label)
            if not positive:
                self.draws.pop()
            return out

        mx.image.ImageDetIter.augmentation_transform = transform

    def wrap(self, cls, name, then):
        real = getattr(cls, name)

        def wrapped(*args):
            r = real(*args)
            then(args, r)
            return r

        setattr(cls, name, wrapped)

    def set(self, i, v):
        self.draws[-1][i] = v


def text(params):
    """The parameters for JSON: lists as Python prints them."""
    return {k: str(v) if isinstance(v, (list, tuple)) and k != "data_shape" else list(v) if k == "data_shape" else v for k, v in params.items()}


def det_cases(log):
    def case(name, source="rec", epochs=2, width=5, seed=1, **params):
        params = {"batch_size": 4, "data_shape": (3, 24, 32), "inter_method": 1, "last_batch_handle": "roll_over", **params}
        random.seed(seed)
        log.draws.clear()
        with tempfile.TemporaryDirectory() as folder:
            it = mx.image.ImageDetIter(**iters.arguments(folder, source, iters.PHOTOS, -width), **params)
            out = iters.batches(it, epochs)
        return {"name": name, "source": source, "width": width, "params": text(params), "draws": list(log.draws), "out": out}

    yield case("mirror", rand_mirror=True)
    yield case("crop", rand_crop=1)
    yield case("crop, wide objects", rand_crop=1, width=6, source="lst")
    yield case("crop, some", rand_crop=0.5, min_object_covered=0.5, min_eject_coverage=0.6, area_range=(0.2, 0.9))
    yield case("crop, small", rand_crop=1, min_object_covered=0, min_eject_coverage=0, area_range=(0.05, 0.2), aspect_ratio_range=(0.5, 2.0))
    yield case("crop, kinds", rand_crop=1, min_object_covered=[0.1, 0.3, 0.9], area_range=[(0.1, 1.0), (0.3, 0.9), (0.5, 2.0)], min_eject_coverage=[0.2, 0.5, 0.9], max_attempts=[10, 20, 30])
    yield case("crop, fixed", rand_crop=1, area_range=0.5, aspect_ratio_range=1.0)
    for v in ((1, 2, 3), (127.0, 127.0, 127.0), (0.5, 1.5, 2.5)):
        yield case(f"pad {v}", rand_pad=1, pad_val=v)
    yield case("pad, some", rand_pad=0.6, area_range=(0.5, 4.0), aspect_ratio_range=(0.9, 1.1), width=6)
    for m in (0, 2, 3, 4, 9):
        yield case(f"all, inter_method {m}", rand_crop=0.7, rand_pad=0.6, rand_mirror=True, inter_method=m, seed=m)
    yield case("resize, all", rand_crop=0.7, rand_pad=0.6, rand_mirror=True, inter_method=9, resize=41, epochs=3, mean=True, std=True)
    yield case("all, one at a time", rand_crop=0.9, rand_pad=0.5, rand_mirror=True, batch_size=1, source="idx", width=6)
    yield case("all, discard", rand_crop=0.9, rand_pad=0.5, rand_mirror=True, last_batch_handle="discard")


LABEL = [2, 5, 0, 0.1, 0.2, 0.5, 0.6, 1, 0.4, 0.5, 0.9, 0.95, -1, 0.7, 0.1, 0.8, 0.2]
LABELS = [
    {"rand_crop": 1}, {"rand_mirror": True}, {"rand_pad": 0.7},
    {"rand_crop": 0.6, "rand_mirror": True, "rand_pad": 0.5, "min_object_covered": [0.1, 0.7], "min_eject_coverage": [0.1, 0.8], "area_range": (0.2, 2.5)},
    {"rand_crop": 0.9, "min_object_covered": [0.1, 0.5, 0.9], "area_range": [(0.05, 0.5), (0.3, 1.0), (0.5, 3.0)], "aspect_ratio_range": [(0.3, 1.0), (1.0, 1.0), (1.0, 3.0)]},
]


def summary(labels):
    """For each class how often it is left, and the quantiles of its edges with the share of edges up to them."""
    out = []
    for c in (-1, 0, 1):
        rows = labels[labels[:, 0] == c][:, 1:5].astype(np.float64)
        at = np.array([np.unique(np.quantile(v, np.arange(1, 10) / 10, method="lower")) + 1e-6 for v in rows.T], dtype=object)
        out.append({"count": len(rows), "at": [[round(x, 6) for x in a] for a in at], "up_to": [[round(float((v <= round(x, 6)).mean()), 4) for x in a] for v, a in zip(rows.T, at)]})
    return out


def det_labels():
    image = mx.image.imread(os.path.join(iters.IMAGES, FILE))
    for n, params in enumerate(LABELS):
        random.seed(n)
        label = np.array(LABEL[2:], np.float32).reshape(-1, 5)
        it = mx.image.ImageDetIter.__new__(mx.image.ImageDetIter)
        it.auglist = [a for a in mx.image.CreateDetAugmenter((3, 8, 8), **params) if not isinstance(a, detection.DetBorrowAug)]
        rows, left_out = [], 0
        for _ in range(N):
            _, l = it.augmentation_transform(image, label.copy())
            try:
                it._check_valid_label(l)
                rows.append(l)
            except RuntimeError:
                left_out += 1
        yield {"file": FILE, "n": N, "left_out": left_out, "label": LABEL, "params": text(params), "classes": summary(np.concatenate(rows))}


def write(parts):
    with open(OUT, "w") as f:
        body = ",\n".join(f" {json.dumps(k)}: [\n" + ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in v) + "\n ]" for k, v in parts.items())
        f.write("{\n" + body + "\n}\n")


if __name__ == "__main__":
    assert mx.__version__ == "1.9.1", mx.__version__
    log = Log()
    write({"det": list(det_cases(log)), "det_labels": list(det_labels())})
