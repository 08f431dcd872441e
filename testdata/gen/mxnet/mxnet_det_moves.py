"""Makes compat/mxnet/testdata/det_moves.json: what MXNet's ImageDetIter and ImageDetRecordIter give with augmenters that move boxes.

Needs mxnet 1.9.1 and numpy 1.23.5 (Python 3.11 or earlier). Takes no arguments; running it again gives the same bytes.

Each of "det" has the parameters as Python prints them, the batches of each epoch as in image_iters.json, and "draws": for each
image what the augmenters drew, the window (left, top, width, height, min_eject_coverage) or null, whether it was mirrored, and
the canvas (left, top, width, height) or null. Images without an object of a class are left out, as the iterator does.
"det_labels" is what becomes of the objects of the image "file", which is augmented N times: for each class how often it is
left, quantiles of its edges, and the share of edges up to them. "record" and "record_labels" are those of ImageDetRecordIter:
"draws" has the colours (hue, saturation, lightness, contrast) or null, whether the image was mirrored, the canvas (left, top,
scale) or null, and the window (left, top, width, height) or null, as fractions.
"""

import json
import os
import random
import tempfile

import mxnet as mx
import numpy as np
from mxnet.image import detection

import mxnet_det_record as record
import mxnet_image_iters as iters
from mxnet_random import F, Generator

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
    for v in ((1, 2, 3), (127.0, 127.0, 127.0), (0.5, 1.5, 2.5), 9, (300, -3)):
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


def objects_of(label):
    rows = np.array(label[int(label[0]):], np.float32).reshape(-1, int(label[1]))
    return [list(o) for o in rows if o[3] > o[1] and o[4] > o[2]]


def decimal(v):
    """A float32 as a short decimal."""
    return float(str(v))


LIMITS = ("max_random_hue", "max_random_saturation", "max_random_illumination", "max_random_contrast")


def colors(r, p):
    """The colours that are drawn before everything else, as in mxnet_image_iters.py."""
    if not any(k in p for k in LIMITS):
        return None
    drawn = [r.uniform(-1, 1) * F(p.get(k, 0)) for k in LIMITS]
    drawn = [int(v) for v in drawn[:3]] + [float(drawn[3])]
    return [v if r.unit() < F(p.get(k.replace("max_", "") + "_prob", 0)) else 0 for k, v in zip(LIMITS, drawn)]


def record_cases():
    def case(name, files=None, width=5, **params):
        files = files or iters.PHOTOS
        params = {"batch_size": 5, "data_shape": (3, 24, 32), "preprocess_threads": 1, **params}
        with tempfile.TemporaryDirectory() as folder:
            iters.pack(folder, files, -width)
            it = mx.io.ImageDetRecordIter(path_imgrec=os.path.join(folder, "x.rec"), verbose=False, **params)
            out = [{"pad": int(b.pad), "labels": b.label[0].asnumpy().ravel().tolist(), "images": [iters.digest(x) for x in b.data[0].asnumpy()]} for b in it]
        r, draws = Generator(233), []
        for i, f in enumerate(files):
            h, w = mx.image.imread(os.path.join(iters.IMAGES, f)).shape[:2]
            n = params.get("resize", -1)
            if n > 0:
                h, w = (n * h // w, n) if h > w else (n, n * w // h)
            c = colors(r, params)
            (mirror, pad, box), _ = record.draw(r, params, h, w, objects_of(iters.boxes(i, width)))
            draws.append([c, mirror, pad and [decimal(v) for v in pad], box and [decimal(v) for v in box[:4]]])
        del params["preprocess_threads"]
        return {"name": name, "files": files, "width": width, "params": text(params), "draws": draws, "out": [out]}

    crop = {"rand_crop_prob": 0.9, "min_crop_scales": (0.3,), "min_crop_aspect_ratios": (0.5,), "max_crop_aspect_ratios": (2,)}
    every = crop | {"rand_mirror_prob": 0.5, "rand_pad_prob": 0.6, "max_pad_scale": 2.5}
    yield case("mirror", rand_mirror_prob=1)
    yield case("mirror, wide objects", rand_mirror_prob=0.5, width=6)
    yield case("pad", rand_pad_prob=1, max_pad_scale=4)
    yield case("pad, little", rand_pad_prob=1, max_pad_scale=1.1, fill_value=3)
    yield case("no pad", rand_pad_prob=1, max_pad_scale=1.04)
    yield case("crop", **crop)
    yield case("crop, almost all", rand_crop_prob=1, min_crop_scales=(0.999999,))
    yield case("crop, overlap", **crop, crop_emit_mode="overlap", emit_overlap_thresh=0.5, width=6)
    yield case("crop, none", **crop, min_crop_overlaps=(0.99,))
    yield case("crop, samplers", rand_crop_prob=1, num_crop_sampler=5, min_crop_scales=(0.3,), max_crop_trials=(3, 5, 7, 9, 11), min_crop_overlaps=(0.1, 0.3, 0.5, 0.7, 0),
               max_crop_overlaps=(1, 1, 1, 0.9, 0.2), min_crop_sample_coverages=(0, 0.1, 0.2, 0.3, 0.01), min_crop_object_coverages=(0.5,))
    for m in (0, 1, 2, 3, 4, 9):
        yield case(f"all, inter_method {m}", **every, inter_method=m)
    for mode in ("shrink", "fit"):
        yield case(f"all, {mode}", **every, resize_mode=mode, data_shape=(3, 40, 50), label_pad_value=-7.5, label_pad_width=40)
    yield case("all, resize", **every, resize=41, inter_method=9, width=6, mean_r=123.68, mean_g=116.28, mean_b=103.53, std_r=58.395, std_g=57.12, std_b=57.375)
    yield case("all, colours", **every, max_random_hue=18, random_hue_prob=0.5, max_random_illumination=40, random_illumination_prob=0.5, max_random_contrast=0.5, random_contrast_prob=0.7)
    contrast = {"max_random_contrast": 0.6, "random_contrast_prob": 0.8}
    yield case("contrast, gray", **contrast, data_shape=(1, 24, 32))
    yield case("contrast, alpha", ["png_rgba8.png", "png_rgba8_interlaced.png"], **contrast, rand_mirror_prob=1, data_shape=(4, 20, 32), batch_size=2)
    yield case("all, gray", **every, data_shape=(1, 24, 32))
    yield case("all, alpha", ["png_rgba8.png", "png_rgba8_interlaced.png"], **every, data_shape=(4, 20, 32), batch_size=2)


RECORD_LABELS = [
    {"rand_crop_prob": 0.9, "min_crop_scales": (0.2,)}, {"rand_mirror_prob": 0.4, "rand_pad_prob": 0.7, "max_pad_scale": 3},
    {"rand_crop_prob": 0.8, "num_crop_sampler": 3, "min_crop_scales": (0.2, 0.4, 0.6), "max_crop_scales": (0.5, 1, 1), "min_crop_aspect_ratios": (0.5,), "max_crop_aspect_ratios": (2,),
     "min_crop_overlaps": (0.1, 0.3, 0), "max_crop_trials": (5,), "min_crop_object_coverages": (0, 0, 0.8), "rand_mirror_prob": 0.5, "rand_pad_prob": 0.5, "max_pad_scale": 2,
     "crop_emit_mode": "overlap", "emit_overlap_thresh": 0.4},
]


def record_labels():
    """They are the iterator's own: of a file with the same image N times."""
    with open(os.path.join(iters.IMAGES, FILE), "rb") as f:
        content = f.read()
    for params in RECORD_LABELS:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.rec")
            w = mx.recordio.MXRecordIO(path, "w")
            for i in range(N):
                w.write(mx.recordio.pack(mx.recordio.IRHeader(0, LABEL, i, 0), content))
            w.close()
            it = mx.io.ImageDetRecordIter(path_imgrec=path, verbose=False, preprocess_threads=1, batch_size=50, data_shape=(3, 8, 8), **params)
            labels = np.concatenate([b.label[0].asnumpy() for b in it])
        rows = [row[6 : 4 + int(row[3])].reshape(-1, 5) for row in labels]
        yield {"file": FILE, "n": N, "left_out": 0, "label": LABEL, "params": text(params), "classes": summary(np.concatenate(rows))}


def write(parts):
    with open(OUT, "w") as f:
        body = ",\n".join(f" {json.dumps(k)}: [\n" + ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in v) + "\n ]" for k, v in parts.items())
        f.write("{\n" + body + "\n}\n")


if __name__ == "__main__":
    assert mx.__version__ == "1.9.1", mx.__version__
    log = Log()
    write({"det": list(det_cases(log)), "det_labels": list(det_labels()), "record": list(record_cases()), "record_labels": list(record_labels())})
