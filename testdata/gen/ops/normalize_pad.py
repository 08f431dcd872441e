"""Writes the goldens of NormalizePad.

Run with Python 3.11, NumPy 2.4.6 and mindspore 2.10.0. Every run gives the same
bytes. The references are MindSpore's CHW results; its HWC form (is_hwc=True)
packs three-channel pixels into the four-channel buffer, which the assertion
below pins, so HWC cases hold the CHW result transposed.
"""

import numpy as np
from mindspore.dataset import vision

from golden import Golden, chw, image

MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def main():
    g = Golden("normalize_pad", "MindSpore 2.10.0 vision.NormalizePad(is_hwc=False)")
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, 2)
    for dtype in ("float32", "float16"):
        for mean, std in ((MEAN, STD), ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), ([121.0, 115.0, 100.0], [70.0, 68.0, 71.0])):
            for name, x in (("levels", levels), ("photo", image(23, 37, 3)), ("float", image(5, 3, 3, "float32")), ("one", image(1, 1, 3))):
                want = vision.NormalizePad(mean, std, dtype, is_hwc=False)(chw(x))
                plain = (x.astype(np.float32) - np.float32(mean)) / np.float32(std)
                packed = vision.NormalizePad(mean, std, dtype, is_hwc=True)(x)
                assert (packed.ravel()[: plain.size] == plain.astype(dtype).ravel()).all() and not packed.ravel()[plain.size :].any()
                q = {"mean": mean, "std": std, "dtype": dtype}
                tag = f"{name}_{dtype}_{mean[0]}"
                g.case(tag + "_chw", q, chw(x), want, "CHW")
                g.case(tag, q, x, want.transpose(1, 2, 0))
    x = image(8, 8, 3)
    want = vision.NormalizePad([7.5] * 3, [3.0] * 3, "float32", is_hwc=False)(chw(x))
    g.case("one_value", {"mean": [7.5], "std": [3], "dtype": "float32"}, x, want.transpose(1, 2, 0))
    want = vision.NormalizePad([7.5] * 3, [3.0] * 3, "float16", is_hwc=False)(chw(x))
    g.case("one_value_half", {"mean": [7.5], "std": [3], "dtype": "float16"}, x, want.transpose(1, 2, 0))
    g.write()


if __name__ == "__main__":
    main()
