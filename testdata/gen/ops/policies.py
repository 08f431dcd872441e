"""Writes transforms/testdata/policies.json: what torchvision's AutoAugment, RandAugment, TrivialAugmentWide and AugMix chose for recorded random
numbers, and digests of the pixels; the goldens of mix_chains; and the distributions of what they choose, as draws.py does.

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

from golden import ROOT, Draws, Golden

torch.set_num_threads(1)
REFERENCE = "torchvision 0.29.2"


def picture(h, w, c):
    """The image of TestPolicies."""
    y, x, k = np.mgrid[:h, :w, :c]
    return (((x * 5 + y * 3 + k * 40) ^ (x * y >> 2)) % 200 + 20).astype(np.uint8)


class Recorded:
    """The random numbers and the choices of a call."""

    def __init__(self, transform):
        self.transform, self.numbers, self.chosen, self.first, self.last = transform, [], [], [], None
        apply = transform._apply_image_or_video_transform
        if isinstance(transform, v2.AugMix):
            sample = transform._sample_dirichlet
            transform._sample_dirichlet = lambda p: self._noted(sample(p))

        def noted(image, what, magnitude, **k):
            self.chosen.append([what, magnitude])
            self.first.append(image is not self.last)
            self.last = apply(image, what, magnitude, **k)
            return self.last

        transform._apply_image_or_video_transform = noted

    def __call__(self, x):
        self.numbers.clear()
        self.chosen.clear()
        self.first.clear()
        randint, rand = torch.randint, torch.rand
        torch.randint = lambda *a, **k: self._noted(randint(*a, **k), k.get("low", 0) if "high" in k else 0)
        torch.rand = lambda *a: self._noted(rand(*a))
        try:
            return self.transform(x)
        finally:
            torch.randint, torch.rand = randint, rand

    def _noted(self, v, least=0):
        self.numbers += [n - least for n in v.flatten().tolist()]
        return v


def transforms(interpolation, fill):
    how = {"interpolation": interpolation, "fill": fill}
    for name, policy in (("imagenet", "IMAGENET"), ("cifar10", "CIFAR10"), ("svhn", "SVHN")):
        yield "auto_augment", {"policy": name}, v2.AutoAugment(v2.AutoAugmentPolicy[policy], **how)
    yield "rand_augment", {"num_ops": 2, "magnitude": 9, "bins": 31}, v2.RandAugment(**how)
    yield "rand_augment", {"num_ops": 3, "magnitude": 7, "bins": 10}, v2.RandAugment(3, 7, 10, **how)
    yield "trivial_augment_wide", {"bins": 31}, v2.TrivialAugmentWide(**how)
    yield "trivial_augment_wide", {"bins": 17}, v2.TrivialAugmentWide(17, **how)
    for severity, width, depth, alpha, every in ((3, 3, 0, 1.0, True), (10, 1, 4, 0.3, False), (7, 5, 0, 3.0, True)):
        yield ("aug_mix", {"severity": severity, "mixture_width": width, "chain_depth": depth, "alpha": alpha, "all_ops": every},
               v2.AugMix(severity, width, depth or -1, alpha, every, **how))


def mixture(r, width, interpolation, fill):
    """The parameters of mix_chains for a call of AugMix: each list has as many ops as there are between the changes of its image."""
    own, weights = r.numbers[:2], np.array(r.numbers[2:2 + width], np.float32) * np.float32(r.numbers[1])
    affine = {"angle": 0, "translate_x": 0, "translate_y": 0, "scale": 1, "shear_x": 0, "shear_y": 0, "center": []}
    moved = {"interpolation": interpolation, "backend": "torch", "fill": fill}
    lists = []
    for (what, m), first in zip(r.chosen, r.first):
        if first:
            lists.append([])
        (name, p), = converted(what, m)
        if name == "affine":
            p = affine | p | moved | ({"center": [0, 0]} if what.startswith("Shear") else {})
        elif name == "rotate":
            p = p | {"expand": False, "center": []} | moved
        elif name == "solarize":
            t = float(np.float32(255 * m))
            p = {"threshold": [t, max(t, 255)]}
        elif name == "auto_contrast":
            p = {"cutoff_low": 0, "cutoff_high": 0, "ignore": [], "backend": "torch"}
        elif name not in ("posterize", "invert"):
            p = p | {"backend": "torch"}
        lists[-1].append({"op": name, "version": 1, "params": p})
    return {"own": own[0], "weights": [float(w) for w in weights], "chains": lists}


def replays():
    cases = []
    mixed = Golden("mix_chains", f"{REFERENCE} v2.AugMix")
    for backend in ("pillow", "torch"):
        for interpolation, fill in (("nearest", None), ("bilinear", [10, 200, 90])):
            for op, params, t in transforms(InterpolationMode(interpolation), fill):
                if op == "aug_mix" and backend == "pillow":
                    continue  # it computes with tensors
                torch.manual_seed(len(cases))
                r = Recorded(t)
                for i in range(25 if op == "auto_augment" else 15):
                    h, w = ((37, 50), (64, 48), (9, 31), (1, 1), (20, 3), (5, 8))[i % (6 if op == "aug_mix" else 3)]
                    a = picture(h, w, 3)
                    if backend == "pillow":
                        out = np.asarray(r(Image.fromarray(a)))
                    else:
                        out = r(torch.from_numpy(a.transpose(2, 0, 1).copy())).numpy().transpose(1, 2, 0)
                    q = params | {"interpolation": interpolation, "fill": fill or []} | ({} if op == "aug_mix" else {"backend": backend})
                    if op == "aug_mix" and i < 6:
                        mixed.case(f"{len(mixed.cases)}", mixture(r, params["mixture_width"], interpolation, fill or []), a, out)
                    cases.append({"op": op, "params": q, "height": h, "width": w, "numbers": list(r.numbers), "chosen": list(r.chosen),
                                  "sha256": hashlib.sha256(np.ascontiguousarray(out).tobytes()).hexdigest()[:16]})
    mixed.write()
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
    # The ops of a mixture are not compared: TestPolicies does.
    d = Draws("aug_mix", REFERENCE)
    for i, alpha in enumerate((1.0, 0.3)):
        torch.manual_seed(1)
        t, drawn, at = v2.AugMix(alpha=alpha, mixture_width=2), [], []
        sample = t._sample_dirichlet
        t._sample_dirichlet = lambda p: at.append(sample(p)) or at[-1]
        t._apply_image_or_video_transform = lambda image, *_, **__: image
        for _ in range(4000):
            at.clear()
            t(torch.zeros(3, 8, 9, dtype=torch.uint8))
            own, w = at[0].flatten().tolist(), at[1].flatten().tolist()
            drawn.append([("mix_chains", {"own": own[0], "weights.0": w[0] * own[1], "weights.1": w[1] * own[1]})])
        q = {"severity": 3, "mixture_width": 2, "chain_depth": 0, "alpha": alpha, "all_ops": True, "interpolation": "nearest", "fill": []}
        d.case(f"{i}", q, (8, 9), drawn)
    d.write()


if __name__ == "__main__":
    replays()
    distributions()
