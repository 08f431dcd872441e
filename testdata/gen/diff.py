"""Makes cmd/internal/cli/testdata/diff: what skewed preprocessing makes of images of testdata/images.

Every tensor is that of torchvision's ImageClassification preset (crop_size 16, resize_size 20) but for what its
name says. Needs Pillow 13.0.0, numpy 2.4.6, opencv-python-headless 5.0.0.93 and torch 2.15.0. Takes no arguments;
running it again gives the same bytes.
"""

import pathlib

import cv2
import numpy as np
import torch
from PIL import Image, ImageOps

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)
torch.set_num_threads(2)

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "cmd" / "internal" / "cli" / "testdata" / "diff"
IMAGES = ROOT / "testdata" / "images"
CROP, EDGE = 16, 20
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)
PHOTO, LARGE, EXIF, SMALL = "jpeg_base_420.jpg", "jpeg_large.jpg", "jpeg_exif_mm_6.jpg", "webp_lossy_q100.webp"


def pillow(name):
    return Image.open(IMAGES / name).convert("RGB")


def size(w, h, edge=EDGE, rounding=int):
    """Width and height with the shorter edge at edge."""
    short, long = min(w, h), max(w, h)
    long = rounding(edge * long / short)
    return (edge, long) if w <= h else (long, edge)


def crop(a, rounding=round):
    """The middle of an array (h, w, …)."""
    h, w = a.shape[:2]
    y, x = rounding((h - CROP) / 2.0), rounding((w - CROP) / 2.0)
    return a[y : y + CROP, x : x + CROP]


def shortest(im, filter=Image.BILINEAR, edge=EDGE, rounding=int):
    return np.asarray(im.resize(size(*im.size, edge, rounding), filter))


def cv_shortest(a, interpolation):
    return cv2.resize(a, size(a.shape[1], a.shape[0]), interpolation=interpolation)


def rescaled(a):
    return a.astype(np.float32) / np.float32(255)


def normalised(a, mean=MEAN, std=STD):
    return (a - mean) / std


def chw(a):
    return np.ascontiguousarray(a.transpose(2, 0, 1))


def usual(a):
    return chw(normalised(rescaled(a)))


def opencv(name):
    return cv2.imread(str(IMAGES / name), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)


def floats_first(name):
    """Divided by 255, scaled as float32 by torch without antialiasing, cut and normalised."""
    im = pillow(name)
    w, h = size(*im.size)
    t = torch.from_numpy(chw(rescaled(np.asarray(im))))[None]
    t = torch.nn.functional.interpolate(t, size=(h, w), mode="bilinear", antialias=False, align_corners=False)[0]
    return chw(normalised(crop(t.numpy().transpose(1, 2, 0))))


def letterbox(name):
    im = pillow(name)
    r = CROP / max(im.size)
    w, h = round(im.size[0] * r), round(im.size[1] * r)
    a = cv2.resize(np.asarray(im), (w, h), interpolation=cv2.INTER_LINEAR)
    dw, dh = (CROP - w) / 2, (CROP - h) / 2
    top, bottom, left, right = round(dh - 0.1), round(dh + 0.1), round(dw - 0.1), round(dw + 0.1)
    return cv2.copyMakeBorder(a, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(114, 114, 114))


def main():
    good = crop(shortest(pillow(PHOTO)))
    fused = (good.astype(np.float32) - MEAN * np.float32(255)) / (STD * np.float32(255))
    cases = {
        "same": (PHOTO, usual(good)),
        "nhwc": (PHOTO, normalised(rescaled(good))[None]),
        "opencv": (PHOTO, usual(crop(cv_shortest(opencv(PHOTO)[:, :, ::-1], cv2.INTER_LINEAR)))),
        "opencv_area": (PHOTO, usual(crop(cv_shortest(opencv(PHOTO)[:, :, ::-1], cv2.INTER_AREA)))),
        "opencv_bgr": (PHOTO, usual(crop(cv_shortest(opencv(PHOTO), cv2.INTER_LINEAR)))),
        "bgr": (PHOTO, usual(good[:, :, ::-1])),
        "bgr_throughout": (PHOTO, chw(normalised(rescaled(good))[:, :, ::-1])),
        "no_antialias": (PHOTO, floats_first(PHOTO)),
        "bicubic": (PHOTO, usual(crop(shortest(pillow(PHOTO), Image.BICUBIC)))),
        "squash": (PHOTO, usual(np.asarray(pillow(PHOTO).resize((CROP, CROP), Image.BILINEAR)))),
        "squash_not_rescaled": (PHOTO, chw(np.asarray(pillow(PHOTO).resize((CROP, CROP), Image.BILINEAR)).astype(np.float32))),
        "letterbox": (PHOTO, usual(letterbox(PHOTO))),
        "margin": (PHOTO, usual(crop(shortest(pillow(PHOTO), edge=CROP * 8 // 7)))),
        "crop_floor": (LARGE, usual(crop(shortest(pillow(LARGE)), lambda v: int(v // 1)))),
        "exif": (EXIF, usual(crop(shortest(ImageOps.exif_transpose(Image.open(IMAGES / EXIF)).convert("RGB"))))),
        "size_rule": (SMALL, usual(crop(shortest(pillow(SMALL), rounding=round)))),
        "not_normalised": (PHOTO, chw(rescaled(good))),
        "not_rescaled": (PHOTO, chw(normalised(good.astype(np.float32)))),
        "rescaled_twice": (PHOTO, chw(normalised((rescaled(good).astype(np.float64) * (1 / 255)).astype(np.float32)))),
        "half": (PHOTO, chw(normalised(rescaled(good), np.float32(0.5), np.float32(0.5)))),
        "fused": (PHOTO, chw(fused)),
        "float64": (PHOTO, chw((good / 255 - MEAN.astype(np.float64)) / STD.astype(np.float64))),
        "uint8": (PHOTO, good.copy()),
        "mirrored": (PHOTO, usual(good[:, ::-1])),
        "reshaped": (PHOTO, normalised(rescaled(good)).reshape(3, CROP, CROP)),
        "three_things": (PHOTO, usual(np.asarray(pillow(PHOTO).resize((CROP, CROP), Image.BICUBIC))[:, :, ::-1])),
        "four_things": (PHOTO, cv2.resize(opencv(PHOTO), (CROP, CROP), interpolation=cv2.INTER_LINEAR).astype(np.float32)[None]),
        "another_image": (PHOTO, usual(crop(shortest(pillow(SMALL))))),
    }
    OUT.mkdir(parents=True, exist_ok=True)
    for f in OUT.glob("*.npy"):
        f.unlink()
    for name, (image, a) in cases.items():
        np.save(OUT / f"{name}.{image}.npy", np.ascontiguousarray(a))


main()
