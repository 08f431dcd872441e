"""Writes the goldens of OneHot, and checks against MindSpore the cases of the
colour adjustments' backend opencv, which augment.py makes with OpenCV.

Run with Python 3.11, NumPy 2.4.6 and mindspore 2.10.0, on x86-64 with AVX2. Every run gives the same bytes.
"""

import json

import numpy as np
from mindspore.dataset import transforms, vision

from golden import ROOT, Golden

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
            src, want = (arrays[c[k][0]["array"]] for k in ("in", "out"))
            if c["in"][0]["layout"] == "CHW":
                src, want = src.transpose(1, 2, 0), want.transpose(1, 2, 0)
            got = make(c["params"]["factor"])(np.ascontiguousarray(src))
            assert (got == want).all(), (op, c["name"])
            n += 1
        print(op, n, "cases equal")
        assert n > 20


def one_hot():
    g = Golden("one_hot", "MindSpore 2.10.0 transforms.OneHot")
    for dt in ("uint8", "int8", "uint16", "int16", "int32", "int64"):
        for classes, rate in ((10, 0.0), (10, 0.1), (7, 0.3), (2, 0.0), (3, 1.0), (100, 0.05)):
            for name, label in (("scalar", 0), ("last", classes - 1), ("one", [classes // 2]), ("two", [classes - 1, 0])):
                x = np.array(label, dt)
                want = transforms.OneHot(classes, rate)(x)
                if name == "two" and rate:
                    # With smoothing, rows but the last may lack the on-value; each label alone is right.
                    want = np.stack([transforms.OneHot(classes, rate)(v) for v in x])
                g.case(f"{dt}_{classes}_{rate}_{name}", {"classes": classes, "smoothing": rate}, x, want, "none")
    g.write()


if __name__ == "__main__":
    adjustments()
    one_hot()
