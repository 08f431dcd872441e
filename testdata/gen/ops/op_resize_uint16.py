"""Writes the goldens of resize for uint16 images: transforms/testdata/resize_uint16.

Run with Python 3.11, NumPy 2.4.6 and opencv-python-headless 5.0.0.93, without IPP. Every run gives the same bytes.
"""

import cv2
import numpy as np

from golden import Golden, chw

cv2.ipp.setUseIPP(False)
cv2.setNumThreads(1)
OPENCV = dict(nearest=cv2.INTER_NEAREST, nearest_exact=cv2.INTER_NEAREST_EXACT, bilinear=cv2.INTER_LINEAR, area=cv2.INTER_AREA)


def resize_uint16():
    g = Golden("resize", "OpenCV 5.0.0.93 without IPP", folder="resize_uint16")
    for name, flag in OPENCV.items():
        for c in (1, 2, 3, 4, 5, 8):
            if name == "area" and c > 4:  # OpenCV has at most four
                continue
            for h, w, oh, ow in ((12, 14, 7, 9), (12, 14, 6, 7), (13, 14, 6, 7), (7, 6, 15, 13), (16, 16, 4, 4), (5, 5, 16, 2)):
                a = np.random.RandomState(h * w + c).randint(0, 65536, (h, w, c)).astype(np.uint16)
                if c == 2:
                    a = (np.mgrid[:h, :w].transpose(1, 2, 0) * 1900 + 7).clip(0, 65535).astype(np.uint16)
                params = dict(fit="exact", height=oh, width=ow, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate",
                              interpolation=name, backend="opencv", no_antialias=False)
                if c == 5:  # planes
                    want = np.stack([cv2.resize(np.ascontiguousarray(a[..., k]), (ow, oh), interpolation=flag) for k in range(c)])
                    g.case(f"{name}_{c}_{h}x{w}_{oh}x{ow}_chw", params, chw(a), want, "CHW")
                else:
                    g.case(f"{name}_{c}_{h}x{w}_{oh}x{ow}", params, a, cv2.resize(a, (ow, oh), interpolation=flag).reshape(oh, ow, c))
    g.write()


if __name__ == "__main__":
    resize_uint16()
