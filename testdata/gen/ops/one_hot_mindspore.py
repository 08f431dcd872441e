"""Writes the goldens of OneHot and the draws of RandomSelectSubpolicy and CutOut, and checks against MindSpore the cases
of the backend opencv of the colour adjustments and of GaussianBlur, which erase_adjust.py and gaussian_blur.py make with OpenCV.

Run with Python 3.11, NumPy 2.4.6 and mindspore 2.10.0, on x86-64 with AVX2. Every run gives the same bytes.
"""

import json

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms, vision

from golden import ROOT, Draws, Golden, equal

OPS = {
    "adjust_brightness": vision.AdjustBrightness,
    "adjust_contrast": vision.AdjustContrast,
    "adjust_saturation": vision.AdjustSaturation,
    "adjust_hue": vision.AdjustHue,
}


def adjustments():
    for op, make in OPS.items():
        cases = json.loads((ROOT / op / "cases.json").read_text())["cases"]
        arrays = np.load(ROOT / op / "golden.npz")
        n = 0
        for c in cases:
            if c["params"]["backend"] != "opencv":
                continue
            src = arrays[c["in"][0]["array"]]
            chw = c["in"][0]["layout"] == "CHW"
            got = make(c["params"]["factor"])(np.ascontiguousarray(src.transpose(1, 2, 0) if chw else src))
            assert equal(c["out"][0], arrays, got.transpose(2, 0, 1) if chw else got), (op, c["name"])
            n += 1
        print(op, n, "cases equal")
        assert n > 20


def blurs():
    """MindSpore's sigmas are float32, and it derives those that are 0 from the kernel size."""
    cases = json.loads((ROOT / "gaussian_blur" / "cases.json").read_text())["cases"]
    arrays = np.load(ROOT / "gaussian_blur" / "golden.npz")
    n = 0
    for c in cases:
        q = c["params"]
        if q["backend"] != "opencv" or 0 in (q["kernel_height"], q["kernel_width"], np.float32(q["sigma_y"]), np.float32(q["sigma_x"])):
            continue
        src = arrays[c["in"][0]["array"]]
        chw = c["in"][0]["layout"] == "CHW"
        if chw:
            src = src.transpose(1, 2, 0)
        if src.shape[2] not in (1, 3):
            continue
        got = vision.GaussianBlur((q["kernel_width"], q["kernel_height"]), (q["sigma_x"], q["sigma_y"]))(np.ascontiguousarray(src))
        assert equal(c["out"][0], arrays, got.transpose(2, 0, 1) if chw else got), c["name"]
        n += 1
    print("gaussian_blur", n, "cases equal")
    assert n > 20


def cut_out():
    d = Draws("cut_out", "MindSpore 2.10.0 vision.CutOut")
    ds.config.set_seed(1)
    ds.config.set_num_parallel_workers(1)
    n = 8000
    for (h, w), length in (((8, 10), 3), ((5, 5), 5), ((1, 1), 1), ((20, 30), 16)):
        x = np.full((h, w, 1), 255, np.uint8)
        rows = ds.NumpySlicesDataset({"image": np.repeat(x[None], n, 0)}, shuffle=False).map(vision.CutOut(length), "image")
        drawn = []
        for r in rows.create_dict_iterator(num_epochs=1, output_numpy=True):
            y = np.flatnonzero((r["image"] == 0).any((1, 2)))
            x = np.flatnonzero((r["image"] == 0).any((0, 2)))
            drawn.append([("erase", {"top": y[0], "left": x[0], "height": len(y), "width": len(x)})] if len(y) else [])
        d.case(f"{w}x{h}_{length}", {"length": length, "patches": 1}, (h, w), drawn)
    d.write()


def one_hot():
    g = Golden("one_hot", "MindSpore 2.10.0 transforms.OneHot")
    for dt in ("uint8", "int8", "uint16", "int16", "int32", "int64"):
        for classes, rate in ((10, 0.0), (10, 0.1), (7, 0.3), (2, 0.0), (3, 1.0), (100, 0.05), (33, 0.0), (12, 0.5)):
            for name, label in (("scalar", 0), ("last", classes - 1), ("one", [classes // 2]), ("two", [classes - 1, 0])):
                x = np.array(label, dt)
                want = transforms.OneHot(classes, rate)(x)
                if name == "two" and rate:
                    # With smoothing, rows but the last may lack the on-value; each label alone is right.
                    want = np.stack([transforms.OneHot(classes, rate)(v) for v in x])
                g.case(f"{dt}_{classes}_{rate}_{name}", {"classes": classes, "smoothing": rate}, x, want, "none")
    g.write()


def subpolicies():
    ops = {"horizontal_flip": vision.HorizontalFlip(), "vertical_flip": vision.VerticalFlip(), "invert": vision.Invert()}
    policies = [[("horizontal_flip", 0.3), ("vertical_flip", 0.8)], [("vertical_flip", 0.5)], [("invert", 0.6), ("horizontal_flip", 0.1)]]
    x = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    # What every list of ops that can be drawn makes of the image.
    lists = [["horizontal_flip", "vertical_flip"], ["horizontal_flip"], ["vertical_flip"], ["invert"], ["invert", "horizontal_flip"], []]
    made = {}
    for names in lists:
        y = x
        for n in names:
            y = ops[n](y)
        made[y.tobytes()] = [(n, {}) for n in names]
    assert len(made) == len(lists)
    ds.config.set_seed(1)
    ds.config.set_num_parallel_workers(1)
    random = vision.RandomSelectSubpolicy([[(ops[n], p) for n, p in policy] for policy in policies])
    n = 6000
    rows = ds.NumpySlicesDataset({"image": np.repeat(x[None], n, 0)}, shuffle=False).map(random, "image")
    drawn = [made[r["image"].tobytes()] for r in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert len(drawn) == n
    params = {"policies": [[{"op": k, "version": 1, "params": {}} for k, _ in p] for p in policies], "probabilities": [[q for _, q in p] for p in policies]}
    d = Draws("random_select_subpolicy", "MindSpore 2.10.0 vision.RandomSelectSubpolicy")
    d.case("three", params, x.shape[:2], drawn)
    d.write()


def uniform_augments():
    ops = {"horizontal_flip": vision.HorizontalFlip(), "vertical_flip": vision.VerticalFlip(), "invert": vision.Invert()}
    x = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    made = {}
    for mask in range(8):
        names = [n for i, n in enumerate(ops) if mask >> i & 1]
        y = x
        for n in names:
            y = ops[n](y)
        made[y.tobytes()] = [(n, {}) for n in names]
    assert len(made) == 8
    d = Draws("uniform_augment", "MindSpore 2.10.0 vision.UniformAugment")
    for count in (1, 2, 3):
        ds.config.set_seed(1)
        ds.config.set_num_parallel_workers(1)
        n = 6000
        rows = ds.NumpySlicesDataset({"image": np.repeat(x[None], n, 0)}, shuffle=False).map(vision.UniformAugment(list(ops.values()), count), "image")
        drawn = [made[r["image"].tobytes()] for r in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
        assert len(drawn) == n
        d.case(f"{count}", {"ops": [{"op": k, "version": 1, "params": {}} for k in ops], "num_ops": count}, x.shape[:2], drawn)
    d.write()


if __name__ == "__main__":
    subpolicies()
    uniform_augments()
    adjustments()
    blurs()
    cut_out()
    one_hot()
