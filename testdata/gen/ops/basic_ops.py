"""Writes the goldens of the geometry, pointwise, colour and type ops.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, opencv-python-headless
5.0.0.93, torch 2.15.0, torchvision 0.29.2, transformers 5.23.0, timm 1.0.31
and onnx 1.23.2, on x86-64 with AVX2. Every run gives the same bytes.
The goldens of NormalizePad are normalize_pad.py's, which needs MindSpore.
"""

import sys

import cv2
import numpy as np
import torch
import torchvision.transforms.functional as v1
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from PIL import Image, ImageOps
from timm.data.transforms import center_crop_or_pad
from torchvision.transforms.v2 import functional as v2
from transformers import image_transforms as hf

from golden import Golden, chw, image

cv2.setNumThreads(1)
if hasattr(cv2, "ipp"):
    cv2.ipp.setUseIPP(False)
torch.set_num_threads(1)

SIZES = [(23, 37), (8, 8), (3, 5), (1, 1), (7, 2)]  # height, width
OTHER_DTYPES = ["int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]


def t(a):
    return torch.from_numpy(np.ascontiguousarray(a))


def pil(a):
    return Image.fromarray(a if a.shape[2] > 1 else a[:, :, 0])


def arr(im):
    a = np.asarray(im)
    return a if a.ndim == 3 else a[:, :, None]


def flips():
    for name, axis in (("horizontal_flip", 1), ("vertical_flip", 0)):
        g = Golden(name, "NumPy 2.4.6 flip, checked against torchvision 0.29.2, Pillow 13.0.0 and OpenCV 5.0.0")
        for h, w in SIZES:
            a = image(h, w, 3)
            want = np.flip(a, axis)
            assert (want == arr((ImageOps.flip if axis == 0 else ImageOps.mirror)(pil(a)))).all()
            assert (want == cv2.flip(a, axis)).all()
            tv = v2.vertical_flip if axis == 0 else v2.horizontal_flip
            assert (chw(want) == tv(t(chw(a))).numpy()).all()
            g.case(f"{w}x{h}", {}, a, want)
        for dt in OTHER_DTYPES:
            a = image(3, 5, 2, dt)
            g.case(f"chw_{dt}", {}, chw(a), chw(np.flip(a, axis)), "CHW")
        for c in (1, 2, 4):
            a = image(3, 5, c)
            g.case(f"channels_{c}", {}, a, np.flip(a, axis))
        g.write()


def rotate90():
    g = Golden("rotate90", "NumPy 2.4.6 rot90")
    for k in (-5, -1, 0, 1, 2, 3, 4, 5):
        for h, w in ((3, 5), (7, 2), (1, 1)):
            a = image(h, w, 3)
            g.case(f"{w}x{h}_{k}", {"turns": k}, a, np.rot90(a, k))
        a = image(4, 6, 2, "float32")
        g.case(f"chw_{k}", {"turns": k}, chw(a), np.rot90(chw(a), k, (1, 2)), "CHW")
    for dt in OTHER_DTYPES:
        a = image(3, 5, 1, dt)
        g.case(f"{dt}", {"turns": 1}, a, np.rot90(a, 1))
    g.case("37x23", {"turns": 3}, image(23, 37, 4), np.rot90(image(23, 37, 4), 3))
    g.write()


def layouts():
    for name, axes, lin, lout in (("hwc2chw", (2, 0, 1), "HWC", "CHW"), ("chw2hwc", (1, 2, 0), "CHW", "HWC")):
        g = Golden(name, "NumPy 2.4.6 transpose")
        for dt in ["uint8"] + OTHER_DTYPES:
            a = image(5, 4, 3, dt)
            a = a if lin == "HWC" else chw(a)
            g.case(dt, {}, a, a.transpose(axes), lin, lout)
        for h, w, c in ((23, 37, 3), (1, 1, 1), (1, 2, 8), (7, 2, 4)):
            a = image(h, w, c)
            a = a if lin == "HWC" else chw(a)
            g.case(f"{w}x{h}x{c}", {}, a, a.transpose(axes), lin, lout)
        g.write()


def center_crop():
    g = Golden("center_crop", "half_even: torchvision 0.29.2 v2 center_crop, timm 1.0.31 center_crop_or_pad (fill); "
               "floor: transformers 5.23.0 image_transforms.center_crop; ceil: torchvision 0.29.2 v2 pad")
    p = lambda h, w, r, *fill: {"height": h, "width": w, "crop_rounding": r, "fill": list(fill) or [0]}
    sizes = [(5, 4), (4, 5), (6, 7), (3, 3), (1, 1), (10, 9), (9, 3), (2, 12), (11, 12)]
    for h, w in ((8, 8), (7, 5), (1, 1), (6, 9)):
        a = image(h, w, 3)
        for ch, cw in sizes:
            want = v2.center_crop(t(chw(a)), [ch, cw]).numpy()
            assert (want == chw(arr(v2.center_crop(pil(a), [ch, cw])))).all()
            assert (want == v1.center_crop(t(chw(a)), [ch, cw]).numpy()).all()
            g.case(f"tv_{w}x{h}_{cw}x{ch}", p(ch, cw, "half_even"), chw(a), want, "CHW")
            g.case(f"hf_{w}x{h}_{cw}x{ch}", p(ch, cw, "floor"), a,
                   hf.center_crop(a, (ch, cw), input_data_format="channels_last"))
            top, left = (ch - h) // 2, (cw - w) // 2
            padded = v2.pad(t(chw(a)), [left, top, cw - w - left, ch - h - top])
            g.case(f"pad_{w}x{h}_{cw}x{ch}", p(ch, cw, "ceil"), chw(a), padded.numpy(), "CHW")
    a = image(23, 37, 3)
    g.case("photo", p(16, 16, "half_even"), a, arr(v2.center_crop(pil(a), [16, 16])))
    a = image(5, 4, 3)
    g.case("timm_fill", p(8, 9, "half_even", 124, 116, 104), a,
           arr(center_crop_or_pad(pil(a), [8, 9], fill=(124, 116, 104))))
    for dt in OTHER_DTYPES:
        a = image(4, 5, 2, dt)
        if dt != "bool":  # transformers' path is the same for all; bool is plain NumPy
            g.case(dt, p(5, 4, "floor"), chw(a), hf.center_crop(chw(a), (5, 4), input_data_format="channels_first"), "CHW")
        want = np.pad(a, ((0, 1), (0, 0), (0, 0)), constant_values=1)[:, :4]
        g.case(dt + "_fill", p(5, 4, "half_even", 1), a, want)
    g.write()


def crop():
    g = Golden("crop", "Pillow 13.0.0 Image.crop, torchvision 0.29.2 v2 crop")
    boxes = [(0, 0, 3, 4), (1, 2, 4, 3), (-2, -1, 6, 5), (5, 4, 6, 6), (-3, 3, 4, 2), (20, 20, 2, 3), (-9, 0, 4, 4), (0, 0, 12, 12)]
    for h, w in ((8, 8), (5, 3), (1, 1)):
        a = image(h, w, 3)
        for top, left, ch, cw in boxes:
            want = arr(pil(a).crop((left, top, left + cw, top + ch)))
            if top + ch > 0 and left + cw > 0 and top < h and left < w:  # else torchvision's tensor has another size
                assert (chw(want) == v2.crop(t(chw(a)), top, left, ch, cw).numpy()).all()
            q = {"top": top, "left": left, "height": ch, "width": cw}
            g.case(f"{w}x{h}_{left}_{top}_{cw}x{ch}", q, a, want)
            g.case(f"chw_{w}x{h}_{left}_{top}_{cw}x{ch}", q, chw(a), chw(want), "CHW")
    for dt in OTHER_DTYPES:
        a = image(4, 5, 1, dt)
        want = np.pad(a, ((1, 2), (0, 3), (0, 0)))[0:7, 2:8]
        g.case(dt, {"top": -1, "left": 2, "height": 7, "width": 6}, a, want)
    a = image(23, 37, 3)
    g.case("photo", {"top": 3, "left": 9, "height": 17, "width": 20}, a, a[3:20, 9:29])
    g.write()


def object_crop():
    g = Golden("object_crop", "torchvision 0.29.2 v2 crop, as RandomIoUCrop calls it")
    for h, w in ((8, 8), (5, 3), (1, 1), (23, 37)):
        a = image(h, w, 3)
        for top, left, ch, cw in ((0, 0, h, w), (h // 2, w // 3, h - h // 2, w - w // 3), (h - 1, w - 1, 1, 1), (0, w // 2, (h + 1) // 2, 1)):
            q = {"top": top, "left": left, "height": ch, "width": cw}
            want = v2.crop(t(chw(a)), top, left, ch, cw).numpy()
            for keep, coverage in (("center", 0), ("covered", 0.3)):
                name = f"{w}x{h}_{left}_{top}_{cw}x{ch}_{keep}"
                g.case("chw_" + name, q | {"keep": keep, "coverage": coverage}, chw(a), want, "CHW")
                g.case(name, q | {"keep": keep, "coverage": coverage}, a, want.transpose(1, 2, 0))
    g.write()


def pad():
    g = Golden("pad", "NumPy 2.4.6 pad, checked against torchvision 0.29.2 pad")
    for mode in ("constant", "edge", "reflect", "symmetric"):
        for h, w in ((3, 5), (8, 8), (1, 1), (7, 2), (1, 4)):
            for top, bottom, left, right in ((1, 2, 0, 3), (0, 0, 0, 0), (2, 0, 1, 1), (9, 7, 11, 8)):
                a = image(h, w, 3)
                want = np.pad(a, ((top, bottom), (left, right), (0, 0)), mode=mode)
                m = {"padding_mode": mode}
                if mode in ("constant", "edge"):
                    assert (chw(want) == v2.pad(t(chw(a)), [left, top, right, bottom], **m).numpy()).all()
                assert (want == arr(v2.pad(pil(a), [left, top, right, bottom], **m))).all()
                g.case(f"{mode}_{w}x{h}_{top}_{bottom}_{left}_{right}",
                       {"top": top, "bottom": bottom, "left": left, "right": right, "mode": mode, "fill": [0]}, a, want)
    q = {"top": 1, "bottom": 2, "left": 3, "right": 0, "mode": "constant", "fill": [10, 250, 7]}
    a = image(4, 3, 3)
    want = arr(v2.pad(pil(a), [3, 1, 0, 2], fill=(10, 250, 7)))
    g.case("fill_hwc", q, a, want)
    g.case("fill_chw", q, chw(a), chw(want), "CHW")
    for dt in OTHER_DTYPES:
        a = image(4, 3, 2, dt)
        fill = 1 if dt == "bool" else 0.1 if "float" in dt else -7 if dt[0] == "i" else 7
        g.case(dt, dict(q, fill=[fill]), chw(a), np.pad(chw(a), ((0, 0), (1, 2), (3, 0)), constant_values=np.array(fill).astype(dt)), "CHW")
        g.case("reflect_" + dt, dict(q, mode="reflect"), a, np.pad(a, ((1, 2), (3, 0), (0, 0)), mode="reflect"))
    g.write()

    g = Golden("pad_to_size", "NumPy 2.4.6 pad, transformers 5.23.0 image_transforms.pad")
    modes = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "symmetric": "symmetric"}
    for h, w in ((3, 5), (8, 8), (1, 1)):
        for th, tw in ((8, 8), (9, 11), (8, 9)):
            a = image(h, w, 3)
            for pos in ("center", "top_left", "bottom_right"):
                dh, dw = th - h, tw - w
                top, left = {"center": (dh // 2, dw // 2), "top_left": (0, 0), "bottom_right": (dh, dw)}[pos]
                for mode, m in modes.items():
                    want = hf.pad(a, ((top, dh - top), (left, dw - left)), mode=hf.PaddingMode(m), input_data_format="channels_last")
                    q = {"height": th, "width": tw, "position": pos, "mode": mode, "fill": [0]}
                    g.case(f"{mode}_{pos}_{w}x{h}_{tw}x{th}", q, a, want)
    for h, w, c in ((5, 2, 1), (7, 7, 4), (2, 8, 3)):
        a = image(h, w, c)
        q = {"height": 8, "width": 9, "position": "center", "mode": "edge", "fill": [0]}
        top, left = (8 - h) // 2, (9 - w) // 2
        g.case(f"edge_{w}x{h}x{c}", q, a, np.pad(a, ((top, 8 - h - top), (left, 9 - w - left), (0, 0)), mode="edge"))
    a = image(2, 3, 3, "float32")
    g.case("fill", {"height": 4, "width": 4, "position": "center", "mode": "constant", "fill": [0.5, -1, 0.1]}, chw(a),
           np.stack([np.pad(c, ((1, 1), (0, 1)), constant_values=v) for c, v in zip(chw(a), np.float32([0.5, -1, 0.1]))]), "CHW")
    g.write()


def rescale():
    g = Golden("rescale", "hf: transformers 5.23.0 image_transforms.rescale (offset: minus 1 in float32, as its EfficientNet "
               "and ViViT); multiply: torchvision 0.29.2 v2.to_dtype, torch 2.15.0; divide: torchvision to_tensor, torch")
    levels = np.arange(256, dtype=np.uint8).reshape(8, 32, 1)
    q = lambda s, o, r: {"scale": s, "offset": o, "rule": r}
    for i, s in enumerate((1 / 255, 1 / 127.5, 0.00392156862745098, 1 / 256, -0.7, 0.0)):
        g.case(f"hf_{i}", q(s, 0, "hf"), levels, hf.rescale(levels, s))
        g.case(f"hf_offset_{i}", q(s, -1, "hf"), levels, hf.rescale(levels, s) - 1)
        g.case(f"multiply_{i}", q(s, 0, "multiply"), levels, (t(levels).to(torch.float32) * s).numpy())
    g.case("to_dtype", q(1 / 255, 0, "multiply"), chw(image(8, 8, 3)),
           v2.to_dtype(t(chw(image(8, 8, 3))), torch.float32, scale=True).numpy(), "CHW")
    for i, s in enumerate((255, 127.5, 0.1, -3)):
        g.case(f"divide_{i}", q(s, 0, "divide"), levels, (t(levels).to(torch.float32) / s).numpy())
        g.case(f"divide_offset_{i}", q(s, -1, "divide"), levels, (t(levels).to(torch.float32) / s - 1).numpy())
        g.case(f"multiply_offset_{i}", q(s, 0.3, "multiply"), levels, (t(levels).to(torch.float32) * s + 0.3).numpy())
    for dt in ("int8", "uint16", "int16", "int32", "float16", "float32", "float64"):
        a = image(17, 31, 1, dt)  # longer than one block
        g.case(f"hf_{dt}", q(1 / 255, 0, "hf"), a, hf.rescale(a, 1 / 255))
        g.case(f"multiply_{dt}", q(1 / 255, 0, "multiply"), chw(a), (t(chw(a).astype("float32")) * (1 / 255)).numpy(), "CHW")
        g.case(f"divide_{dt}", q(255, 0.25, "divide"), a, (t(a.astype("float32")) / 255 + 0.25).numpy())
    g.write()


IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


def normalize():
    g = Golden("normalize", "torchvision 0.29.2 v2 normalize (CHW), transformers 5.23.0 image_transforms.normalize (HWC)")
    levels = np.repeat((np.arange(256, dtype=np.float32) / np.float32(255)).reshape(16, 16, 1), 3, axis=2)
    pairs = [("imagenet", IMAGENET), ("half", ([0.5] * 3, [0.5] * 3)),
             ("clip", ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]))]
    for name, (mean, std) in pairs:
        q = {"mean": mean, "std": std}
        g.case(name + "_chw", q, chw(levels), v2.normalize(t(chw(levels)), mean, std).numpy(), "CHW")
        g.case(name + "_hwc", q, levels, hf.normalize(levels, mean, std, input_data_format="channels_last"))
    a = image(23, 37, 3, "float32")
    for mean, std in ((IMAGENET), ([0.3], [7.0]), ([1, 2, 3], [0.1])):
        want = hf.normalize(a, mean if len(mean) > 1 else mean * 3, std if len(std) > 1 else std * 3, input_data_format="channels_last")
        g.case(f"wide_{len(mean)}_{len(std)}", {"mean": mean, "std": std}, a, want)
    for c in (1, 2, 4, 5):
        a = image(3, 5, c, "float32")
        mean, std = [0.1 * (i + 1) for i in range(c)], [0.3 + i for i in range(c)]
        g.case(f"channels_{c}", {"mean": mean, "std": std}, a, hf.normalize(a, mean, std, input_data_format="channels_last"))
        g.case(f"channels_chw_{c}", {"mean": mean, "std": std}, chw(a), v2.normalize(t(chw(a)), mean, std).numpy(), "CHW")
    g.write()


def to_tensor():
    g = Golden("to_tensor", "torchvision 0.29.2 functional.to_tensor")
    for name, a in [("levels", np.arange(256, dtype=np.uint8).reshape(16, 16, 1))] + [(f"{w}x{h}", image(h, w, 3)) for h, w in SIZES] + [("rgba", image(4, 3, 4))]:
        g.case(name, {}, a, v1.to_tensor(pil(a)).numpy(), "HWC", "CHW")
    g.write()


def colours():
    """Colours that cover the cube: its corners, every gray, and random ones, 37 wide so that OpenCV's tail is used."""
    rng = np.random.default_rng(7)
    corners = np.array([[r, g, b] for r in (0, 1, 127, 128, 254, 255) for g in (0, 1, 127, 128, 254, 255) for b in (0, 1, 127, 128, 254, 255)])
    grays = np.repeat(np.arange(256)[:, None], 3, 1)
    grid = np.array([[r, g, b] for r in range(0, 256, 17) for g in range(0, 256, 17) for b in range(0, 256, 17)])
    x = np.concatenate([corners, grays, grid, rng.integers(0, 256, (3600, 3))]).astype(np.uint8)
    n = len(x) // 75
    return x[: n * 75].reshape(n, 75, 3)


def convert_color():
    g = Golden("convert_color", "OpenCV 5.0.0 cvtColor (opencv-python-headless 5.0.0.93, one thread, no IPP, x86-64 with AVX2); "
               "Pillow 13.0.0 Image.convert")
    rgb = colours()
    rng = np.random.default_rng(8)
    alpha = rng.integers(0, 256, rgb.shape[:2] + (1,), dtype=np.uint8)
    rgba = np.concatenate([rgb, alpha], 2)
    small = rgb[5:9, :40]
    src = {"rgb": rgb, "bgr": rgb, "hsv": rgb, "ycrcb": rgb, "rgba": rgba[:20], "bgra": rgba[20:40], "gray": np.arange(256, dtype=np.uint8).reshape(4, 64, 1)}
    upper = {"rgb": "RGB", "bgr": "BGR", "rgba": "RGBA", "bgra": "BGRA", "gray": "GRAY", "hsv": "HSV", "ycrcb": "YCrCb"}

    def code(a, b):
        return getattr(cv2, f"COLOR_{upper[a]}2{upper[b]}", None)

    def convert(x, a, b):
        if a == b:
            return x
        if b in ("rgba", "bgra") and a in ("hsv", "ycrcb"):
            c = code(a, b[:3])
            y = cv2.cvtColor(x, c, dstCn=4)
        else:
            # OpenCV's codes from RGB take four channels too.
            c = code(a[:3] if a in ("rgba", "bgra") and b in ("hsv", "ycrcb") else a, b)
            if c is None:
                return convert(convert(x, a, "rgb"), "rgb", b)
            y = cv2.cvtColor(x, c)
        return y if y.ndim == 3 else y[:, :, None]

    full = {("rgb", "hsv"), ("hsv", "rgb"), ("rgb", "ycrcb"), ("ycrcb", "rgb"), ("rgb", "gray")}
    for a in src:
        for b in src:
            x = src[a] if (a, b) in full or a == "gray" else src[a][3:9]
            want = convert(x, a, b)
            q = {"from": a, "to": b, "backend": "opencv"}
            g.case(f"opencv_{a}_{b}", q, x, want)
            if (a, b) in full:
                y = small if a != "gray" else x
                g.case(f"opencv_{a}_{b}_chw", q, chw(y), chw(convert(y, a, b)), "CHW")
    for h, w in ((3, 31), (2, 32), (2, 33), (1, 1), (1, 96)):
        x = rgb[10 : 10 + h, :w] if w <= 75 else rgb[:4].reshape(1, -1, 3)[:, :w]
        g.case(f"opencv_hsv_rgb_{w}x{h}", {"from": "hsv", "to": "rgb", "backend": "opencv"}, x, convert(np.ascontiguousarray(x), "hsv", "rgb"))

    mode = {"rgb": "RGB", "bgr": "RGB", "rgba": "RGBA", "bgra": "RGBA", "gray": "L", "hsv": "HSV", "ycrcb": "YCbCr"}
    order = {"bgr": [2, 1, 0], "bgra": [2, 1, 0, 3], "ycrcb": [0, 2, 1]}

    def pillow(x, a, b):
        if a in order:
            x = x[:, :, order[a]]
        x = np.ascontiguousarray(x)
        im = Image.frombytes(mode[a], (x.shape[1], x.shape[0]), x.tobytes())
        y = arr(im.convert(mode[b]))
        return y[:, :, order[b]] if b in order else y

    for a in src:
        for b in src:
            x = src[a] if (a, b) in full or a == "gray" else src[a][3:9]
            g.case(f"pillow_{a}_{b}", {"from": a, "to": b, "backend": "pillow"}, x, pillow(x, a, b))
    g.write()


def grayscale():
    g = Golden("grayscale", "Pillow 13.0.0 convert, OpenCV 5.0.0 cvtColor, torchvision 0.29.2 functional.rgb_to_grayscale")
    x = colours()
    gray = image(4, 5, 1)
    for n in (1, 3):
        p = arr(v1.to_grayscale(pil(x), num_output_channels=n))
        o = np.repeat(cv2.cvtColor(x, cv2.COLOR_RGB2GRAY)[:, :, None], n, 2)
        tv = v1.rgb_to_grayscale(t(chw(x)), n).numpy()
        for backend, want in (("pillow", p), ("opencv", o), ("torch", tv.transpose(1, 2, 0))):
            q = {"channels": n, "backend": backend}
            g.case(f"{backend}_{n}", q, x, want)
            g.case(f"{backend}_{n}_chw", q, chw(x[:9, :37]), chw(want[:9, :37]), "CHW")
            g.case(f"{backend}_{n}_gray", q, gray, np.repeat(gray, n, 2))
        for h, w in SIZES:
            y = image(h, w, 3)
            o = np.repeat(cv2.cvtColor(y, cv2.COLOR_RGB2GRAY).reshape(h, w, 1), n, 2)
            for backend, want in (("pillow", arr(v1.to_grayscale(pil(y), num_output_channels=n))), ("opencv", o), ("torch", v1.rgb_to_grayscale(t(chw(y)), n).numpy().transpose(1, 2, 0))):
                g.case(f"{backend}_{n}_{w}x{h}", {"channels": n, "backend": backend}, y, want)
    # Colours at which fused arithmetic would give another value.
    a = np.arange(1 << 24, dtype=np.uint32)
    r, gr, b = (((a >> s) & 255).astype(np.float32) for s in (16, 8, 0))
    f = np.float32
    plain = (f(0.2989) * r + f(0.587) * gr) + f(0.114) * b
    d = np.float64
    fused = (d(f(0.587)) * gr + (f(0.2989) * r)).astype(f)
    fused = (d(f(0.114)) * b + fused).astype(f)
    hard = np.nonzero(plain.astype(np.uint8) != fused.astype(np.uint8))[0]
    y = np.stack([hard >> 16, hard >> 8 & 255, hard & 255], -1).astype(np.uint8)[None]
    g.case("torch_fused", {"channels": 1, "backend": "torch"}, y, v1.rgb_to_grayscale(t(chw(y)), 1).numpy().transpose(1, 2, 0))
    g.write()


def to_type():
    g = Golden("to_type", "NumPy 2.4.6 astype; OpenCV 5.0.0 (cv2.add of 0 with a dtype, which saturates as convertTo) for saturate")
    dtypes = ["uint8"] + OTHER_DTYPES
    q = lambda d, r: {"dtype": d, "rule": r}
    ranges = {d: (0, 1) if d == "bool" else (np.iinfo(d).min, np.iinfo(d).max) for d in dtypes if "float" not in d}
    for a in dtypes:
        x = image(6, 100, 1, a)  # longer than one block
        for b in dtypes:
            y = x
            if "float" in a and b in ranges and b != "bool":
                lo, hi = ranges[b]  # beyond it NumPy's result is the platform's
                y = np.clip(x.astype("float64"), max(lo, -(2**53)), min(hi, 2**53)).astype(a)
                y = np.where((y.astype("float64") > hi) | (y.astype("float64") < lo), np.zeros((), a), y)
            with np.errstate(over="ignore"):
                g.case(f"truncate_{a}_{b}", q(b, "truncate"), y, y.astype(b))
    ties = np.array([-3.5, -2.5, -1.5, -0.5, -0.0, 0.49999997, 0.5, 1.5, 2.5, 126.5, 127.5, 128.5, 254.5, 255.5, 256.5, 300, -129, -128.5,
                     32767.5, 32768.5, -32768.5, 65534.5, 65535.5, 65536.5, 70000, -70000, 1e9, -1e9], np.float64).reshape(4, 7, 1)
    depth = {"uint8": cv2.CV_8U, "int8": cv2.CV_8S, "uint16": cv2.CV_16U, "int16": cv2.CV_16S, "int32": cv2.CV_32S, "float32": cv2.CV_32F, "float64": cv2.CV_64F}

    def opencv(x, b):
        return cv2.add(x, 0, dtype=depth[b]).reshape(x.shape)

    for a in ("float32", "float64", "uint8", "int8", "uint16", "int16", "int32"):
        x = ties.astype(a) if "float" in a else image(6, 100, 1, a)
        for b in depth:
            if "float" in a and "float" in b:
                continue  # adding 0 would change -0
            g.case(f"saturate_{a}_{b}", q(b, "saturate"), x, opencv(x, b))
    g.case("plain", q("float32", "truncate"), np.arange(5, dtype=np.int64), np.arange(5, dtype=np.float32), "none")
    g.case("scalar", q("uint8", "truncate"), np.array(3.7), np.array(3, np.uint8), "none")
    # Half precision ties, and doubles that a detour over float32 would round twice.
    h = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 65519.99, 65520, -65520, 2.0**-25, 2.0**-25 * 1.0000001, 6e-8, np.inf])
    with np.errstate(over="ignore"):
        g.case("half", q("float16", "truncate"), h, h.astype("float16"), "none")
    g.write()


def quantize():
    g = Golden("quantize", "onnx 1.23.2 reference evaluator, QuantizeLinear, opset 21")
    types = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "uint16": TensorProto.UINT16, "int16": TensorProto.INT16}

    def onnx(x, scale, zero, dt, axis):
        per = len(scale) > 1 or len(zero) > 1
        n = x.shape[axis]
        s = np.array(scale * (n if per and len(scale) == 1 else 1), np.float32)
        z = np.array(zero * (n if per and len(zero) == 1 else 1), dt)
        if not per:
            s, z = s[0], z[0]
        node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=axis)
        graph = helper.make_graph([node], "q", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
                                                helper.make_tensor_value_info("s", TensorProto.FLOAT, np.shape(s)),
                                                helper.make_tensor_value_info("z", types[dt], np.shape(z))],
                                  [helper.make_tensor_value_info("y", types[dt], x.shape)])
        m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        return ReferenceEvaluator(m).run(None, {"x": x, "s": np.asarray(s), "z": np.asarray(z)})[0]

    a = image(23, 37, 3, "float32")
    ties = ((np.arange(600) - 300) / 2).astype(np.float32).reshape(10, 20, 3)
    for dt in types:
        lo = np.iinfo(dt).min
        for name, scale, zero in (("one", [0.5], [3]), ("unit", [1 / 255], [0]), ("low", [0.037], [lo]),
                                  ("each", [0.5, 0.1, 0.01], [0, 7, 100]), ("scales", [0.5, 0.1, 0.01], [5]), ("zeros", [0.25], [1, 2, 3])):
            q = {"scale": scale, "zero_point": zero, "dtype": dt}
            for x, s in ((a, "wide"), (ties, "ties")):
                g.case(f"{dt}_{name}_{s}", q, x, onnx(x, scale, zero, dt, 2))
            g.case(f"{dt}_{name}_chw", q, chw(a[:5, :6]), onnx(chw(a[:5, :6]), scale, zero, dt, 0), "CHW")
            for h, w in ((1, 1), (3, 2), (1, 9)):
                x = image(h, w, 3, "float32")
                g.case(f"{dt}_{name}_{w}x{h}", q, x, onnx(x, scale, zero, dt, 2))
    g.write()


def alpha_composite():
    g = Golden("alpha_composite", "Pillow 13.0.0 Image.alpha_composite, then convert(\"RGB\")")
    # Every pair of a value and an alpha.
    v, al = np.meshgrid(np.arange(256), np.arange(256))
    every = np.stack([v, v[:, ::-1], np.roll(v, 77, 1), al], -1).astype(np.uint8)
    for bg in ([255, 255, 255], [0], [7, 128, 200], [255], [1], [128, 127, 254], [0, 255, 0], [64]):
        for name, x in [("every", every[:: {255: 5, 0: 5, 7: 3}.get(bg[0], 51)])] + [(f"{w}x{h}", image(h, w, 4)) for h, w in SIZES]:
            x = np.ascontiguousarray(x)
            back = Image.new("RGBA", (x.shape[1], x.shape[0]), tuple(bg * 3)[:3] + (255,))
            want = arr(Image.alpha_composite(back, Image.fromarray(x, "RGBA")).convert("RGB"))
            s = "_".join(map(str, bg))
            g.case(f"{name}_on_{s}", {"background": bg}, x, want)
            if name == "37x23":
                g.case(f"{name}_chw_on_{s}", {"background": bg}, chw(x), chw(want), "CHW")
    g.write()


def invert():
    g = Golden("invert", "torchvision 0.29.2 v2 invert, Pillow 13.0.0 ImageOps.invert")
    for h, w in SIZES:
        a = image(h, w, 3)
        want = arr(ImageOps.invert(pil(a)))
        g.case(f"{w}x{h}", {}, a, want)
        g.case(f"chw_{w}x{h}", {}, chw(a), v2.invert(t(chw(a))).numpy(), "CHW")
    g.write()


if __name__ == "__main__":
    for f in (flips, rotate90, layouts, center_crop, crop, object_crop, pad, rescale, normalize, to_tensor, convert_color, grayscale, to_type,
              quantize, alpha_composite, invert):
        f()
    sys.exit(0)
