"""Writes the goldens of JPEG and the draws of RandomJPEG.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, opencv-python-headless 5.0.0.93, torch 2.15.0 and torchvision 0.29.2.
Every run gives the same bytes. The script fails if the references differ from each other.
"""

import io

import cv2
import numpy as np
import torch
from PIL import Image
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional

from draws import recorded
from golden import Draws, Golden, chw, image

torch.set_num_threads(1)

FACTORS = {"420": 0x221111, "422": 0x211111, "444": 0x111111, "440": 0x121111, "411": 0x411111}
SUBSAMPLING = {"420": 2, "422": 1, "444": 0}


def smooth(h, w, c):
    """Slopes with a few jumps, and a little noise."""
    y, x, k = np.mgrid[0:h, 0:w, 0:c]
    return (3 * x + 5 * y * (k + 1) + image(h, w, c) % 7).astype(np.uint8)


IMAGES = [("noise", image(17, 33, 3)), ("smooth", smooth(35, 30, 3)), ("gray", smooth(21, 19, 1)), ("gray_noise", image(9, 17, 1)), ("dot", image(1, 1, 3)),
          ("gray_dot", image(1, 1, 1)), ("row", image(1, 35, 3)), ("column", image(18, 1, 3)), ("few", (image(16, 16, 3) // 128 * 255).astype(np.uint8)),
          ("blocks", smooth(8, 24, 3))]
PARAMS = [(q, "420") for q in (1, 10, 30, 50, 75, 95, 100)] + [(2, "422"), (75, "422"), (75, "444"), (100, "444"), (75, "440"), (24, "411")]


def pillow(a, quality, chroma):
    f = io.BytesIO()
    Image.fromarray(a if a.shape[2] == 3 else a[:, :, 0]).save(f, "JPEG", quality=quality, subsampling=SUBSAMPLING[chroma])
    return np.asarray(Image.open(f)).reshape(a.shape)


def opencv(a, quality, chroma):
    flags = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, FACTORS[chroma]]
    ok, b = cv2.imencode(".jpg", np.ascontiguousarray(a[..., ::-1]), flags)
    assert ok
    return cv2.imdecode(b, cv2.IMREAD_UNCHANGED).reshape(a.shape)[..., ::-1]


def torchvision(a, quality):
    return functional.jpeg(torch.from_numpy(chw(a)), quality).numpy().transpose(1, 2, 0)


def goldens():
    g = Golden("jpeg", "OpenCV 5.0.0 imencode and imdecode, equal to Pillow 13.0.0 save and open for 420, 422 and 444, and to torchvision 0.29.2 v2 jpeg for 420")
    for quality, chroma in PARAMS:
        for name, a in IMAGES:
            want = opencv(a, quality, chroma)
            assert chroma not in SUBSAMPLING or np.array_equal(want, pillow(a, quality, chroma))
            assert chroma != "420" or np.array_equal(want, torchvision(a, quality))
            g.case(f"{name}_{quality}_{chroma}", {"quality": quality, "chroma": chroma}, a, want)
    g.write()


def draws():
    d = Draws("random_jpeg", "torchvision 0.29.2 v2 JPEG")
    for least, most in ((50, 100), (1, 3), (75, 75)):
        d.case(f"{least}_{most}", {"min_quality": least, "max_quality": most, "chroma": "420"}, (5, 7),
               recorded(v2.JPEG((least, most)), (5, 7), lambda p: [("jpeg", {"quality": p["quality"]})]))
    d.write()


if __name__ == "__main__":
    goldens()
    draws()
