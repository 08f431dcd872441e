"""Writes the goldens of resize with backend opencv_ipp: transforms/testdata/resize_opencv_ipp/{cases.json,golden.npz} and
transforms/testdata/resize/opencv_ipp.json.

Run with Python 3.11, NumPy 2.4.6 and opencv-python-headless 5.0.0.93 (with IPP 2026.0.0) on a CPU with AVX2. Takes no
arguments; running it again gives the same bytes. With OPENCV_IPP set to sse42 or avx512 it writes nothing and counts the
values that differ from those of AVX2.
"""

import json
import os
import random
import zlib

other = os.environ.get("OPENCV_IPP", "avx2") != "avx2"
os.environ.setdefault("OPENCV_IPP", "avx2")

import cv2
import numpy as np

from golden import ROOT, Golden, chw, image

cv2.setNumThreads(1)
assert cv2.ipp.useIPP() and cv2.ipp.getIppVersion().startswith("ippIP AVX2 (l9) 2026.0.0") != other, cv2.ipp.getIppVersion()

REFERENCE = "OpenCV 5.0.0.93 cv2.resize with IPP 2026.0.0, AVX2"
# The ratios 3 to 2 and 5 to 4 have many sums near a half, whose rounding shows the order of the additions.
RATIOS = [(2, 3), (3, 2), (4, 5), (5, 4), (2, 5)]


def cubic(x, h, w):
    return cv2.resize(x, (w, h), interpolation=cv2.INTER_CUBIC).reshape(h, w, -1)


def noise(k, h, w, c):
    v = (np.arange(k, k + h * w * c, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(56)
    v = v.astype(np.uint8)
    if k % 7 == 0:
        v = v // 128 * 255
    return v.reshape(h, w, c)


def sizes():
    r = random.Random(36)
    for k in range(600):
        c = (1, 3, 4, 3)[k % 4] if k % 29 else r.choice((2, 5))
        h, w = (r.randint(4, 130) for _ in range(2))
        if k % 23 == 0:
            h, w = r.randint(1, 4), r.randint(1, 9)
        if k % 3 == 0:
            a, b = r.choice(RATIOS)
            h, w = -(-h // a) * a, -(-w // a) * a
            oh, ow = h // a * b, w // a * b
        else:
            oh, ow = (r.randint(1, 160) for _ in range(2))
        yield k, h, w, oh, ow, c


def main():
    rows = [(*s[1:], zlib.crc32(cubic(noise(s[0], s[1], s[2], s[5]), s[3], s[4]).tobytes())) for s in sizes()]
    path = ROOT / "resize" / "opencv_ipp.json"
    if other:
        want = json.loads(path.read_text())["Rows"]
        print(sum(list(a) != b for a, b in zip(rows, want)), "of", len(want), "images differ from those of AVX2")
        return
    path.write_text('{"Rows": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}\n")
    g = Golden("resize", REFERENCE, "resize_opencv_ipp")
    params = dict(edge=0, max_edge=0, multiple=0, keep_aspect=False, fit="exact", size_rule="truncate", interpolation="bicubic",
                  backend="opencv_ipp", no_antialias=False)
    for (h, w), (oh, ow) in (((13, 17), (9, 25)), ((12, 9), (8, 6)), ((7, 100), (7, 31)), ((7, 9), (1, 1)), ((5, 3), (11, 8)), ((4, 4), (9, 7))):
        for c in (1, 2, 3, 4):
            x = image(h, w, c)
            g.case(f"{h}x{w}_{oh}x{ow}_{c}", dict(params, height=oh, width=ow), x, cubic(x, oh, ow))
        planes = np.concatenate([cubic(np.ascontiguousarray(x[:, :, i]), oh, ow) for i in range(4)], -1)
        g.case(f"{h}x{w}_{oh}x{ow}_planar", dict(params, height=oh, width=ow), chw(x), chw(planes), "CHW")
    g.write()


main()
