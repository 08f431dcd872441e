"""Writes transforms/testdata/policies.json: what torchvision's AutoAugment, RandAugment and TrivialAugmentWide chose for recorded random
numbers, and digests of the pixels; and the distributions of what they choose, as draws.py does.

Run with Python 3.11, Pillow 13.0.0, torch 2.15.0 and torchvision 0.29.2, on x86-64 with fused multiply-add. Every run gives the same bytes.
"""

import os

os.environ["MKL_CBWR"] = "COMPATIBLE"

import hashlib
import json
import math

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import v2
from torchvision.transforms.v2 import InterpolationMode, _auto_augment

from golden import ROOT, Draws

torch.set_num_threads(1)
REFERENCE = "torchvision 0.29.2"


def picture(h, w, c):
    """The image of TestPolicies."""
    y, x, k = np.mgrid[:h, :w, :c]
    return (((x * 5 + y * 3 + k * 40) ^ (x * y >> 2)) % 200 + 20).astype(np.uint8)


class Recorded:
    """The random numbers and the choices of a call."""

    def __init__(self, transform):
        self.transform, self.numbers, self.chosen = transform, [], []
        apply = transform._apply_image_or_video_transform
        transform._apply_image_or_video_transform = lambda image, what, magnitude, **k: self.chosen.append([what, magnitude]) or apply(image, what, magnitude, **k)

    def __call__(self, x):
        self.numbers.clear()
        self.chosen.clear()
        randint, rand = torch.randint, torch.rand
        torch.randint = lambda *a: self._noted(randint(*a))
        torch.rand = lambda *a: self._noted(rand(*a))
        try:
            return self.transform(x)
        finally:
            torch.randint, torch.rand = randint, rand

    def _noted(self, v):
        self.numbers.append(v.item())
        return v


def transforms(interpolation, fill):
    how = {"interpolation": interpolation, "fill": fill}
    for name, policy in (("imagenet", "IMAGENET"), ("cifar10", "CIFAR10"), ("svhn", "SVHN")):
        yield "auto_augment", {"policy": name}, v2.AutoAugment(v2.AutoAugmentPolicy[policy], **how)
    yield "rand_augment", {"num_ops": 2, "magnitude": 9, "bins": 31}, v2.RandAugment(**how)
    yield "rand_augment", {"num_ops": 3, "magnitude": 7, "bins": 10}, v2.RandAugment(3, 7, 10, **how)
    yield "trivial_augment_wide", {"bins": 31}, v2.TrivialAugmentWide(**how)
    yield "trivial_augment_wide", {"bins": 17}, v2.TrivialAugmentWide(17, **how)


def replays():
    cases = []
    for backend in ("pillow", "torch"):
        for interpolation, fill in (("nearest", None), ("bilinear", [10, 200, 90])):
            for op, params, t in transforms(InterpolationMode(interpolation), fill):
                torch.manual_seed(len(cases))
                r = Recorded(t)
                for i in range(25 if op == "auto_augment" else 15):
                    h, w = ((37, 50), (64, 48), (9, 31))[i % 3]
                    a = picture(h, w, 3)
                    if backend == "pillow":
                        out = np.asarray(r(Image.fromarray(a)))
                    else:
                        out = r(torch.from_numpy(a.transpose(2, 0, 1).copy())).numpy().transpose(1, 2, 0)
                    q = params | {"interpolation": interpolation, "backend": backend, "fill": fill or []}
                    cases.append({"op": op, "params": q, "height": h, "width": w, "numbers": list(r.numbers), "chosen": list(r.chosen),
                                  "sha256": hashlib.sha256(np.ascontiguousarray(out).tobytes()).hexdigest()[:16]})
    lines = ",\n".join(json.dumps(c) for c in cases)
    (ROOT / "policies.json").write_text(f"[\n{lines}\n]\n")


def converted(what, m):
    """The op here for a choice."""
    shear = math.degrees(math.atan(m)) if what.startswith("Shear") else 0
    return {
        "Identity": [], "ShearX": [("affine", {"shear_x": shear})], "ShearY": [("affine", {"shear_y": shear})], "TranslateX": [("affine", {"translate_x": int(m)})],
        "TranslateY": [("affine", {"translate_y": int(m)})], "Rotate": [("rotate", {"angle": m})], "Brightness": [("adjust_brightness", {"factor": 1 + m})],
        "Color": [("adjust_saturation", {"factor": 1 + m})], "Contrast": [("adjust_contrast", {"factor": 1 + m})],
        "Sharpness": [("adjust_sharpness", {"factor": 1 + m})], "Posterize": [("posterize", {"bits": int(m)})],
        "Solarize": [("solarize", {"threshold.min": 255 * m})], "AutoContrast": [("auto_contrast", {})], "Equalize": [("equalize", {})], "Invert": [("invert", {})],
    }[what]


def distributions():
    how = {"interpolation": "nearest", "backend": "pillow", "fill": []}
    affine = {"shear_x": 0, "shear_y": 0, "translate_x": 0, "translate_y": 0}
    for op, list_ in (
        ("auto_augment", [({"policy": "imagenet"}, v2.AutoAugment())]),
        ("rand_augment", [({"num_ops": 1, "magnitude": 9, "bins": 31}, v2.RandAugment(1))]),
        ("trivial_augment_wide", [({"bins": 31}, v2.TrivialAugmentWide()), ({"bins": 5}, v2.TrivialAugmentWide(5))]),
    ):
        d = Draws(op, REFERENCE)
        for i, (params, t) in enumerate(list_):
            torch.manual_seed(1)
            chosen, drawn = [], []
            t._apply_image_or_video_transform = lambda image, what, m, **_: chosen.append((what, m)) or image
            x = torch.zeros(3, 37, 50, dtype=torch.uint8)
            for _ in range(6000):
                chosen.clear()
                t(x)
                drawn.append([(n, affine | p if n == "affine" else p) for c in chosen for n, p in converted(*c)])
            d.case(f"{i}", params | how, (37, 50), drawn)
        d.write()


if __name__ == "__main__":
    replays()
    distributions()
