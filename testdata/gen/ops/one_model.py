"""Writes the goldens of luma, concat_channels, crop_margin, resize_bilinear11, pad_to_min and nearest_color.

Run with Python 3.11, NumPy 2.4.6, torch 2.15.0, torchvision 0.29.2 and transformers 5.23.0, on x86-64 with AVX2. Every
run gives the same bytes. Takes no arguments.
"""

import numpy as np
import torch
import torchvision.transforms.functional as v1
from transformers import NougatImageProcessor, SLANeXtImageProcessor
from transformers.image_utils import SizeDict
from transformers.models.imagegpt.image_processing_imagegpt import color_quantize_torch
from transformers.models.imagegpt.image_processing_pil_imagegpt import color_quantize
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


def resize_bilinear11():
    g = Golden("resize_bilinear11", "transformers 5.23.0 SLANeXtImageProcessor._resize")
    p = SLANeXtImageProcessor()
    for h, w in [(23, 37), (8, 8), (3, 5), (1, 1), (1, 9), (7, 1), (2, 40), (61, 47)]:
        for edge in (1, 2, 5, 16, 24, 37, 50, 64):
            c = (3, 1, 4)[(h + edge) % 3]
            x = image(h, w, c)
            if min(round(h * (edge / max(h, w))), round(w * (edge / max(h, w)))) < 1:
                continue
            y = p._resize(torch.from_numpy(chw(x))[None], SizeDict(height=edge, width=edge - edge // 3))[0].numpy()
            g.case(f"{w}x{h}_{edge}", {"edge": edge}, chw(x), y, "CHW")
            if edge % 2:
                g.case(f"{w}x{h}_{edge}_hwc", {"edge": edge}, x, hwc(y))
    g.write()


def pad_to_min():
    g = Golden("pad_to_min", "NumPy 2.4.6 pad")
    q = lambda h, w, **kw: {"height": h, "width": w, "position": "top_left", "mode": "constant", "fill": [0]} | kw
    before = {"center": lambda n: n // 2, "top_left": lambda n: 0, "bottom_right": lambda n: n}
    for h, w in [(3, 5), (8, 8), (1, 1), (7, 2)]:
        for th, tw in [(3, 9), (8, 8), (1, 1), (9, 3), (4, 6)]:
            x = image(h, w, 3, "float32")
            g.case(f"{w}x{h}_{tw}x{th}", q(th, tw), chw(x), np.pad(chw(x), [(0, 0), (0, max(0, th - h)), (0, max(0, tw - w))]), "CHW")
    x = image(5, 8, 2)
    for position, f in before.items():
        for mode in ("constant", "edge", "reflect", "symmetric"):
            widths = [(f(2), 2 - f(2)), (0, 0), (0, 0)]
            kw = {"constant_values": 9} if mode == "constant" else {}
            g.case(f"{mode}_{position}", q(7, 4, position=position, mode=mode, fill=[9]), x, np.pad(x, widths, mode=mode, **kw))
    for dt in DTYPES:
        y = image(4, 3, 1, dt)
        g.case(dt, q(2, 5), y, np.pad(y, [(0, 0), (0, 2), (0, 0)]))
    g.write()


def nearest_color():
    g = Golden("nearest_color", "transformers 5.23.0 color_quantize of ImageGPT: torch 2.15.0 (float32), NumPy 2.4.6 (float64)")
    r = np.random.default_rng(5)
    for h, w, n in [(8, 8, 16), (1, 2, 17), (23, 37, 512), (5, 3, 100), (40, 40, 16)]:
        colors = r.uniform(-1, 1, (n, 3))
        if n == 100:
            colors[50:] = colors[:50]  # the first of two wins
        x = (image(h, w, 3) / 127.5 - 1).astype(np.float32)
        if n == 512:  # near ties
            x[: h // 2] = colors[r.integers(0, n, (h // 2, w))] * 0.5 + colors[r.integers(0, n, (h // 2, w))] * 0.5
        q = lambda d: {"colors": colors.ravel().tolist(), "dtype": d}
        one = color_quantize_torch(torch.from_numpy(x.reshape(-1, 3)), torch.as_tensor(colors, dtype=torch.float32)).numpy()
        g.case(f"float32_{w}x{h}_{n}", q("float32"), x, one, out_layout="none")
        g.case(f"float64_{w}x{h}_{n}", q("float64"), chw(x), color_quantize(x, colors), "CHW", "none")
    g.write()


if __name__ == "__main__":
    for f in (luma, concat_channels, crop_margin, resize_bilinear11, pad_to_min, nearest_color):
        f()
