"""Torchvision, Pillow, OpenCV and MindSpore for ops.py, which sends the calls of opcases.py: EXTRA is a JSON object of the library
and its calls. One thread."""
import io
import json
import math
import sys

import common

with open(sys.argv[3]) as f:
    EXTRA = json.load(f)
LIBRARY = EXTRA["library"]

# The names of the calls, beside those of the libraries.
GAMMA = [min(255, int((i / 255) ** 1.5 * 255.999)) for i in range(256)]
SOLARIZE = [i if i < 128 else 255 - i for i in range(256)]


def corners(w, h, side):
    """The first column and row of the crops of five_crop."""
    right, bottom = w - side, h - side
    return [(0, 0), (right, 0), (0, bottom), (right, bottom), (round(right / 2), round(bottom / 2))]


def forward(angle, scale, shear):
    """The 2 x 2 matrix of rotation, scale and shear along x, as torchvision defines it."""
    a, t = math.radians(angle), math.tan(math.radians(shear))
    c, s = math.cos(a), math.sin(a)
    return [[scale * c, scale * (-c * t - s)], [scale * s, scale * (c - s * t)]]


if LIBRARY == "torchvision":
    import torch
    import torchvision
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms import InterpolationMode as Mode
    from torchvision.transforms.v2 import functional as F

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    version = torchvision.__version__
    moved = {}

    def displacement(x):
        """A field of small moves, the same as that of bench/ours."""
        h, w = x.shape[-2:]
        if (h, w) not in moved:
            y, x = torch.arange(h).view(h, 1), torch.arange(w).view(1, w)
            moved[h, w] = torch.stack([((7 * x + 13 * y) % 31 - 15) / 1024, ((11 * x + 5 * y) % 29 - 14) / 1024], -1)[None]
        return moved[h, w]

    def read(b):
        return decode_jpeg(torch.frombuffer(bytearray(b), dtype=torch.uint8), mode=ImageReadMode.RGB).contiguous()

    def scaled(x):
        return x.float().div(255)

    def array(x):
        return x.numpy()

elif LIBRARY == "pillow":
    import numpy as np
    import PIL
    from PIL import Image, ImageEnhance, ImageFilter, ImageOps

    version = PIL.__version__
    GAMMA = GAMMA * 3

    def centre(x, side):
        left, top = round((x.width - side) / 2), round((x.height - side) / 2)
        return left, top, left + side, top + side

    def five_crop(x, side):
        return [x.crop((a, b, a + side, b + side)) for a, b in corners(x.width, x.height, side)]

    def ten_crop(x, side):
        return five_crop(x, side) + five_crop(x.transpose(Image.Transpose.FLIP_LEFT_RIGHT), side)

    def inverse(x, angle, scale, shear):
        (a, b), (c, d) = forward(angle, scale, shear)
        a, b, c, d = d / scale**2, -b / scale**2, -c / scale**2, a / scale**2
        cx, cy = x.width / 2, x.height / 2
        return a, b, cx - a * cx - b * cy, c, d, cy - c * cx - d * cy

    def coefficients(start, end):
        rows, right = [], []
        for (u, v), (x, y) in zip(end, start):
            rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
            right += [x, y]
        return np.linalg.solve(np.float64(rows), np.float64(right)).astype(np.float32).tolist()

    def hue(x, n):
        h, s, v = x.convert("HSV").split()
        return Image.merge("HSV", (h.point([(i + n) % 256 for i in range(256)]), s, v)).convert("RGB")

    def jpeg(x, quality):
        out = io.BytesIO()
        x.save(out, "JPEG", quality=quality)
        y = Image.open(out)
        y.load()
        return y

    def read(b):
        x = Image.open(io.BytesIO(b))
        x.load()
        x.info.clear()
        return x.convert("RGB")

    array = np.asarray

elif LIBRARY in ("opencv", "opencv4"):
    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    version = cv2.__version__
    GAMMA, SOLARIZE = np.uint8(GAMMA), np.uint8(SOLARIZE)

    def centre(x, side):
        top, left = round((x.shape[0] - side) / 2), round((x.shape[1] - side) / 2)
        return x[top : top + side, left : left + side]

    def five_crop(x, side):
        return [x[b : b + side, a : a + side] for a, b in corners(x.shape[1], x.shape[0], side)]

    def ten_crop(x, side):
        return five_crop(x, side) + five_crop(cv2.flip(x, 1), side)

    def middle(x):
        return (x.shape[1] - 1) / 2, (x.shape[0] - 1) / 2

    def rotation(x, angle):
        return cv2.getRotationMatrix2D(middle(x), angle, 1)

    def affine(x, angle, scale, shear):
        m, c = np.float64(forward(angle, scale, shear)), np.float64(middle(x))
        return np.column_stack([m, c - m @ c])

    def homography(start, end):
        return cv2.getPerspectiveTransform(np.float32(start), np.float32(end))

    def contrast(x, f):
        mean = int(cv2.mean(cv2.cvtColor(x, cv2.COLOR_RGB2GRAY))[0] + 0.5)
        return cv2.addWeighted(np.full_like(x, mean), float(1 - np.float32(f)), x, float(np.float32(f)), 0)

    def saturation(x, f):
        gray = cv2.cvtColor(cv2.cvtColor(x, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
        return cv2.addWeighted(gray, float(1 - np.float32(f)), x, float(np.float32(f)), 0)

    def hue(x, n):
        hsv = cv2.cvtColor(x, cv2.COLOR_RGB2HSV_FULL)
        hsv[..., 0] += np.uint8(n)
        return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)

    def sharpness(x, f):
        smooth = cv2.filter2D(x, -1, np.float32([[1, 1, 1], [1, 5, 1], [1, 1, 1]]) / 13)
        inner = x.copy()
        inner[1:-1, 1:-1] = smooth[1:-1, 1:-1]
        return cv2.addWeighted(x, float(np.float32(f)), inner, float(1 - np.float32(f)), 0)

    def jpeg(x, quality):
        b = cv2.imencode(".jpg", cv2.cvtColor(x, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        return cv2.cvtColor(cv2.imdecode(b, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)

    def read(b):
        return cv2.cvtColor(cv2.imdecode(np.frombuffer(b, np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION), cv2.COLOR_BGR2RGB)

    def scaled(x):
        return x.astype(np.float32) / 255

    array = np.asarray

elif LIBRARY == "mindspore":
    import mindspore
    import mindspore.dataset as ds
    import mindspore.dataset.vision as V
    import numpy as np
    from mindspore.dataset.vision import Inter

    ds.config.set_num_parallel_workers(1)
    version = mindspore.__version__
    vision_encode = V.encode_jpeg
    decoder = V.Decode()

    def read(b):
        x = decoder(np.frombuffer(b, np.uint8))
        return x if x.ndim == 3 else np.repeat(x[..., None], 3, 2)

    def scaled(x):
        return x.astype(np.float32) / np.float32(255)

    array = np.asarray


def rows(x):
    """The values of an image row by row, its channels last."""
    x = array(x)
    if x.ndim == 4 and x.shape[1] in (1, 3):  # several images
        return x.transpose(0, 2, 3, 1)
    return x.transpose(1, 2, 0) if x.ndim == 3 and x.shape[0] in (1, 3) else x


class Ops:
    """The calls, one of which is chosen."""

    def __init__(self, images, extra):
        self.decoded = {"image": [read(b) for b in images]}
        self.calls = extra["calls"]
        self.f = self.images = None

    def choose(self, k):
        call = self.calls[k]
        kind = call["input"]
        if kind not in self.decoded:
            self.decoded[kind] = [scaled(x) for x in self.decoded["image"]]
        f, self.images = eval(call["call"], globals()), self.decoded[kind]
        f(self.images[0])
        self.f = f

    def run(self, n):
        f = self.f
        if f:
            for x in self.images:
                f(x)

    def outputs(self, n):
        f = self.f
        return (rows(f(x)) for x in self.images)


common.main(version, {"ops": Ops})
