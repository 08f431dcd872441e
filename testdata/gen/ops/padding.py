"""Writes the goldens of pad_to_square, center_crop_fraction, pad_to_next_multiple, pad_sqrt, expand_dims, clamp and
resize_align_corners.

Run with Python 3.11, NumPy 2.4.6, torch 2.15.0, torchvision 0.29.2 and transformers 5.23.0. Every run gives the same
bytes. Takes no arguments.
"""

import numpy as np
import torch
from transformers import LlavaImageProcessor, PerceiverImageProcessor, Swin2SRImageProcessor, ZoeDepthImageProcessor
from transformers.image_utils import SizeDict
from transformers.models.llava.image_processing_pil_llava import LlavaImageProcessorPil
from transformers.models.perceiver.image_processing_pil_perceiver import PerceiverImageProcessorPil
from transformers.models.swin2sr.image_processing_pil_swin2sr import Swin2SRImageProcessorPil
from transformers.models.zoedepth.image_processing_pil_zoedepth import ZoeDepthImageProcessorPil

from golden import Golden, chw, image

torch.set_num_threads(2)  # one thread takes another kernel

DTYPES = ["int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]
MODES = ["constant", "edge", "reflect", "symmetric"]
SIZES = [(3, 5), (8, 8), (1, 1), (7, 2), (13, 14), (2, 9)]


def before(position, n):
    return {"center": n // 2, "top_left": 0, "bottom_right": n}[position]


def pad_to_square():
    g = Golden("pad_to_square", "transformers 5.23.0 LlavaImageProcessorPil.pad_to_square; other positions and modes: NumPy 2.4.6 pad")
    p, t = LlavaImageProcessorPil(), LlavaImageProcessor()
    q = lambda fill=(0,), **kw: {"position": "center", "mode": "constant", "fill": list(fill)} | kw
    for h, w in SIZES:
        for fill in ((0, 0, 0), (122, 116, 104)):
            a = chw(image(h, w, 3))
            want = p.pad_to_square(a, fill)
            assert np.array_equal(want, t.pad_to_square(torch.from_numpy(a)[None], fill)[0].numpy())
            g.case(f"llava_{w}x{h}_{fill[0]}", q(fill), a, want, "CHW")
    x = image(5, 8, 2)
    for position in ("center", "top_left", "bottom_right"):
        for mode in MODES:
            widths = [(before(position, 3), 3 - before(position, 3)), (0, 0), (0, 0)]
            g.case(f"{mode}_{position}", q(position=position, mode=mode), x, np.pad(x, widths, mode=mode))
    for dt in DTYPES:
        y = image(4, 3, 1, dt)
        g.case(dt, q([1], position="top_left"), y, np.pad(y, ((0, 0), (0, 1), (0, 0)), constant_values=np.array(1).astype(dt)))
    g.write()


def center_crop_fraction():
    g = Golden("center_crop_fraction", "transformers 5.23.0 center_crop of PerceiverImageProcessorPil (floor) and PerceiverImageProcessor (truncate)")
    p, t = PerceiverImageProcessorPil(), PerceiverImageProcessor()
    for h, w in SIZES + [(23, 37), (40, 31)]:
        for size, crop in (((224, 224), (256, 256)), ((30, 50), (40, 60)), ((3, 5), (3, 4)), ((7, 1), (5, 1))):
            fractions = [a / b for a, b in zip(size, crop)]
            if int(fractions[0] * min(h, w)) < 1 or int(fractions[1] * min(h, w)) < 1:
                continue
            s, c = (SizeDict(height=a, width=b) for a, b in (size, crop))
            q = lambda rounding: {"height": fractions[0], "width": fractions[1], "crop_rounding": rounding, "fill": [0]}
            a = chw(image(h, w, 3))
            g.case(f"pil_{w}x{h}_{size}", q("floor"), a, p.center_crop(a, s, c), "CHW")
            g.case(f"tv_{w}x{h}_{size}", q("truncate"), a, t.center_crop(torch.from_numpy(a), s, c).numpy(), "CHW")
    for dt in DTYPES:
        y = chw(image(4, 6, 1, dt))
        q = {"height": 0.5, "width": 1.25, "crop_rounding": "floor", "fill": [0]}
        g.case(dt, q, y, p.center_crop(y, SizeDict(height=2, width=5), SizeDict(height=4, width=4)), "CHW")
    g.write()


def pad_to_next_multiple():
    g = Golden("pad_to_next_multiple", "transformers 5.23.0 pad of Swin2SRImageProcessorPil and Swin2SRImageProcessor (once); other positions and modes: NumPy 2.4.6 pad")
    p, t = Swin2SRImageProcessorPil(), Swin2SRImageProcessor()
    q = lambda n, **kw: {"multiple": n, "position": "top_left", "mode": "symmetric", "fill": [0], "once": False} | kw
    for h, w in SIZES + [(16, 9)]:
        for n in (1, 2, 5, 8):
            for dt in ("uint8", "float32"):
                a = chw(image(h, w, 3, dt))
                g.case(f"pil_{w}x{h}_{n}_{dt}", q(n), a, p.pad(a, None, n), "CHW")
                if max(n - h % n, n - w % n) <= min(h, w):
                    g.case(f"tv_{w}x{h}_{n}_{dt}", q(n, once=True), a, t.pad(torch.from_numpy(a), None, n).numpy(), "CHW")
    x = image(6, 8, 2)
    for position in ("center", "top_left", "bottom_right"):
        for mode in MODES:
            widths = [(before(position, d), d - before(position, d)) for d in (2, 8)] + [(0, 0)]
            g.case(f"{mode}_{position}", q(8, position=position, mode=mode), x, np.pad(x, widths, mode=mode))
    for dt in DTYPES:
        y = image(3, 4, 1, dt)
        g.case(dt, q(4), y, np.pad(y, ((0, 1), (0, 4), (0, 0)), mode="symmetric"))
    g.write()


def pad_sqrt():
    g = Golden("pad_sqrt", "transformers 5.23.0 pad_image of ZoeDepthImageProcessorPil and _pad_images of ZoeDepthImageProcessor (once); other modes and factors: NumPy 2.4.6 pad")
    p, t = ZoeDepthImageProcessorPil(), ZoeDepthImageProcessor()
    q = lambda factor=3, **kw: {"factor": factor, "mode": "reflect", "fill": [0], "once": False} | kw
    for h, w in SIZES + [(50, 8), (18, 33), (5, 6)]:
        for dt in ("uint8", "float32"):
            a = chw(image(h, w, 3, dt))
            g.case(f"pil_{w}x{h}_{dt}", q(), a, p.pad_image(a), "CHW")
            if min(h, w) >= 5:
                g.case(f"tv_{w}x{h}_{dt}", q(once=True), a, t._pad_images(torch.from_numpy(a)).numpy(), "CHW")
    x = image(6, 8, 2)
    for mode in MODES:
        for factor in (0, 1.25, 2):
            widths = [(int(np.sqrt(d / 2) * factor),) * 2 for d in (6, 8)] + [(0, 0)]
            g.case(f"{mode}_{factor}", q(factor, mode=mode), x, np.pad(x, widths, mode=mode))
    for dt in DTYPES:
        y = image(8, 2, 1, dt)
        g.case(dt, q(1), y, np.pad(y, ((2, 2), (1, 1), (0, 0)), mode="reflect"))
    g.write()


def expand_dims():
    g = Golden("expand_dims", "NumPy 2.4.6 expand_dims")
    for dt in ["uint8"] + DTYPES:
        a = image(3, 5, 2, dt)
        for axis in range(4):
            g.case(f"{dt}_{axis}", {"axis": axis}, a, np.expand_dims(a, axis), out_layout="none")
    g.write()


def clamp():
    g = Golden("clamp", "torch 2.15.0 clamp")
    for h, w in SIZES:
        for low, high in ((0, 1), (0, 255 * (1 / 255)), (-30.5, 12.1), (7, 7), (-1, 1), (0, 0), (-1000, 0.1), (1e-3, 1e3)):
            a = image(h, w, 3, "float32")
            g.case(f"{w}x{h}_{low}_{high}", {"min": low, "max": high}, a, torch.from_numpy(a).clamp(low, high).numpy())
    a = np.full((1, 33, 1), -0.0, np.float32)
    g.case("minus_zero", {"min": 0, "max": 1}, a, torch.from_numpy(a).clamp(0, 1.0).numpy())
    g.write()


def resize_align_corners():
    g = Golden("resize_align_corners", "torch 2.15.0 interpolate(align_corners=True), transformers 5.23.0 ZoeDepthImageProcessor.resize")
    t = ZoeDepthImageProcessor()
    q = lambda h, w, **kw: {"height": h, "width": w, "multiple": 1, "keep_aspect": False, "size_rule": "half_even", "interpolation": "bilinear"} | kw
    # Torch has another bilinear kernel for outputs whose sides sum to at most 128.
    for h, w, nh, nw in ((3, 5, 7, 9), (23, 37, 23, 37), (23, 37, 12, 90), (7, 2, 140, 3), (2, 9, 1, 1), (1, 1, 4, 130), (13, 14, 120, 9), (31, 40, 100, 61)):
        for resample, name in ((2, "bilinear"), (3, "bicubic")):
            for c, dt in ((1, "float32"), (3, "float32"), (1, "uint8"), (3, "uint8")):
                if (c, dt, nh, nw) == (3, "uint8", 1, 1):
                    continue  # raises in torch 2.15.0
                a = chw(image(h, w, c, dt))
                want = t.resize(torch.from_numpy(a)[None], SizeDict(height=nh, width=nw), False, 1, resample)[0].numpy()
                g.case(f"{name}_{h}x{w}_{nh}x{nw}_{c}_{dt}", q(nh, nw, interpolation=name), a, want, "CHW")
    for keep in (True, False):
        for multiple, rule, n in ((7, "half_even", 7), (1 / 32, "fraction", 32)):
            a = chw(image(11, 23, 3, "float32"))
            want = t.resize(torch.from_numpy(a)[None], SizeDict(height=30, width=41), keep, multiple, 2)[0].numpy()
            g.case(f"{rule}_{keep}", q(30, 41, multiple=n, keep_aspect=keep, size_rule=rule), a, want, "CHW")
    g.write()


if __name__ == "__main__":
    for f in (pad_to_square, center_crop_fraction, pad_to_next_multiple, pad_sqrt, expand_dims, clamp, resize_align_corners):
        f()
