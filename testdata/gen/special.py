"""Writes the goldens of luma, concat_channels and crop_margin.

Run with Python 3.11, NumPy 2.4.6, torch 2.15.0, torchvision 0.29.2 and transformers 5.23.0, on x86-64 with AVX2. Every
run gives the same bytes. Takes no arguments.
"""

import numpy as np
import torch
import torchvision.transforms.functional as v1
from transformers import NougatImageProcessor
from transformers.models.nougat.image_processing_pil_nougat import NougatImageProcessorPil
from transformers.models.superpoint.image_processing_pil_superpoint import convert_to_grayscale as pil_gray
from transformers.models.superpoint.image_processing_superpoint import convert_to_grayscale as torch_gray

from golden import Golden, chw, image

torch.set_num_threads(1)
DTYPES = ["uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]
SIZES = [(23, 37), (8, 8), (3, 5), (1, 1), (7, 2)]


def hwc(a):
    return np.ascontiguousarray(a.transpose(1, 2, 0))


def luma():
    g = Golden("luma", "transformers 5.23.0 convert_to_grayscale of SuperPoint: PIL (float32), torchvision 0.29.2 v2 (fused); functional.rgb_to_grayscale (uint8)")
    for dt in ("uint8", "float32"):
        for h, w in SIZES:
            x = chw(image(h, w, 3, dt))
            want = v1.rgb_to_grayscale(torch.from_numpy(x), 3).numpy() if dt == "uint8" else pil_gray(x)
            fused = torch_gray(torch.from_numpy(x)[None])[0].numpy()
            g.case(f"{dt}_{w}x{h}", {"fused": False}, x, want, "CHW")
            g.case(f"{dt}_{w}x{h}_fused", {"fused": True}, hwc(x), hwc(fused))
        x = np.repeat(image(5, 6, 1, dt), 3, 2)
        assert (torch_gray(torch.from_numpy(chw(x))[None])[0].numpy() == chw(x)).all() and (pil_gray(chw(x)) == chw(x)).all()
        for fused in (False, True):
            g.case(f"{dt}_gray_{fused}", {"fused": fused}, x, x)
        x[4, 5, 2] += 1  # gray but for the last value
        g.case(f"{dt}_nearly_gray", {"fused": True}, x, hwc(torch_gray(torch.from_numpy(chw(x))[None])[0].numpy()))
    # Colours at which the two rules differ.
    a = np.arange(1 << 24, dtype=np.uint32)
    cube = torch.from_numpy(np.stack([a >> 16, a >> 8 & 255, a & 255]).astype(np.uint8)[:, None])
    plain, fused = v1.rgb_to_grayscale(cube, 3).numpy(), torch_gray(cube[None])[0].numpy()
    hard = np.nonzero((plain != fused).any((0, 1)))[0]
    x = np.ascontiguousarray(cube.numpy()[:, :, hard])
    assert 10 < len(hard) < 100
    g.case("hard", {"fused": False}, x, plain[:, :, hard], "CHW")
    g.case("hard_fused", {"fused": True}, x, fused[:, :, hard], "CHW")
    g.write()


def concat_channels():
    g = Golden("concat_channels", "NumPy 2.4.6 concatenate, torch 2.15.0 cat")
    for dt in DTYPES:
        for h, w in SIZES[2:]:
            x, z = image(h, w, 3, dt), image(h, w, 1, dt)
            g.case(f"{dt}_{w}x{h}", {}, x, np.concatenate([x, z], 2), second=z)
            g.case(f"{dt}_{w}x{h}_chw", {}, chw(x), np.concatenate([chw(x), chw(z)]), "CHW", second=chw(z))
    a, b = image(4, 5, 3, "float32"), image(4, 5, 2, "float32")
    assert (torch.cat([torch.from_numpy(a), torch.from_numpy(b)], 2).numpy() == np.concatenate([a, b], 2)).all()
    g.write()


def page(h, w, r):
    """A light page with a margin and dark strokes."""
    x = r.integers(225, 256, (h, w, 3), np.uint8, endpoint=False)
    top, left = r.integers(0, h), r.integers(0, w)
    box = x[top : r.integers(top, h) + 1, left : r.integers(left, w) + 1]
    box[r.random(box.shape[:2]) < 0.2] = r.integers(0, 230, 3)
    return x


def crop_margin():
    g = Golden("crop_margin", "transformers 5.23.0 crop_margin of NougatImageProcessorPil (pillow) and NougatImageProcessor (torch)")
    p, t = NougatImageProcessorPil(), NougatImageProcessor()
    r = np.random.default_rng(7)
    images = [page(h, w, r) for h, w in [(30, 41), (17, 9), (1, 20), (20, 1), (1, 1), (64, 50)] for _ in range(3)]
    images += [image(9, 11, 3), np.full((5, 6, 3), 77, np.uint8)]
    # One column for every gray value: where the threshold lies.
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, 2)
    images += [ramp[:, 3:], ramp[:, 100:180], ramp[:, 250:], ramp[:, ::-1].copy(), ramp[:, 17:19]]
    for i, x in enumerate(images):
        for threshold in (200, 100, 1, 255) if i % 4 == 0 else (200,):
            q = lambda b: {"threshold": threshold, "backend": b}
            g.case(f"pil_{i}_{threshold}", q("pillow"), x, hwc(p.crop_margin(chw(x), threshold)))
            g.case(f"torch_{i}_{threshold}", q("torch"), chw(x), t.crop_margin(torch.from_numpy(chw(x)), threshold).numpy(), "CHW")
    g.write()


if __name__ == "__main__":
    for f in (luma, concat_channels, crop_margin):
        f()
