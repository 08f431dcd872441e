"""Writes MindSpore's goldens of the ops of posterize_solarize.py.

Run with Python 3.11, MindSpore 2.10.0, NumPy 2.4.6 and Pillow 13.0.0, on x86-64 with AVX2.
Every run gives the same bytes.
"""

import mindspore.dataset.vision as vision
import numpy as np

from golden import Golden, image

REFERENCE = "MindSpore 2.10.0 vision"
RAMP = np.arange(256, dtype=np.uint8).reshape(8, 32, 1)
# Those of posterize_solarize.py.
IMAGES = [("photo", image(23, 37, 3)), ("few", (image(11, 9, 3) // 50 * 40 + 20).astype(np.uint8)), ("gray", image(9, 33, 1)),
          ("dark", (image(13, 17, 3) // 5).astype(np.uint8)), ("dot", image(1, 1, 3)), ("ramp", RAMP)]


def case(g, name, params, a, transform):
    want = transform(a)
    assert want.dtype == a.dtype and want.shape == a.shape
    g.case(name, params, a, want)


def tables():
    g = Golden("posterize", REFERENCE + ".Posterize", "posterize_mindspore")
    for bits in range(9):
        for name, a in IMAGES:
            case(g, f"{name}_{bits}", {"bits": bits}, a, vision.Posterize(bits))
    g.write()

    g = Golden("solarize", REFERENCE + ".Solarize", "solarize_mindspore")
    for t in ((0, 255), (50, 200), (100, 101), (0, 1), (127.5, 254), (254, 255), 30, 128, (99, 99)):
        lo, hi = t if isinstance(t, tuple) else (t, t)
        for name, a in IMAGES:
            case(g, f"{name}_{t}", {"threshold": [lo, hi if lo < hi else 255]}, a, vision.Solarize(t))
    g.write()


if __name__ == "__main__":
    tables()
