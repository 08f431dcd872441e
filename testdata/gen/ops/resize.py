"""Makes the goldens of resize, resized_crop and letterbox: transforms/testdata/<op>/{cases.json,golden.npz},
transforms/testdata/resize/{sizes,torch_uint8}.json and internal/kernel/testdata/taps.json.

Needs Pillow 13.0.0, numpy 2.4.6, opencv-python-headless 5.0.0.93, torch 2.15.0, torchvision 0.29.2, timm 1.0.31,
transformers 5.23.0 and ultralytics 8.4.190 (which imports with --no-deps). torch must run on a CPU with fused
multiply-add (on x86 AVX2 or AVX-512: the two agree) and more than one thread.
Takes no arguments; running it again gives the same bytes.
"""

import hashlib
import json
import math
import os
import random
import subprocess
import sys
import warnings
import zlib

import cv2
import numpy as np
import torch
import torch.nn.functional as F
import torchvision.transforms.v2.functional as TF
from PIL import Image
from timm.data.transforms import ResizeKeepRatio
from torchvision.transforms.functional import _compute_resized_output_size
from torchvision.transforms import InterpolationMode
from transformers.image_transforms import get_size_with_aspect_ratio
from transformers.image_utils import get_image_size_for_max_height_width
from transformers import GLPNImageProcessor, JanusImageProcessor, MaskFormerImageProcessor, PPLCNetImageProcessor, TextNetImageProcessor
from transformers.image_utils import SizeDict
from transformers.models.dpt.image_processing_pil_dpt import get_resize_output_image_size as dpt_size
from transformers import PPOCRV5ServerDetImageProcessor, PPOCRV5ServerRecImageProcessor
from transformers.models.pixtral.image_processing_pixtral import get_resize_output_image_size as pixtral_size
from transformers.models.sam.image_processing_pil_sam import SamImageProcessorPil
from transformers.models.yolos.image_processing_pil_yolos import get_size_with_aspect_ratio_yolos
from transformers.models.tvp.image_processing_pil_tvp import get_resize_output_image_size as tvp_size
from transformers.models.vilt.image_processing_pil_vilt import get_resize_output_image_size as vilt_size
from transformers.models.zoedepth.image_processing_zoedepth import get_resize_output_image_size as zoedepth_size
from ultralytics.data.augment import LetterBox

import golden

warnings.simplefilter("ignore")
cv2.ipp.setUseIPP(False)
cv2.setNumThreads(1)
torch.set_num_threads(2)

ROOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "..", "..", "transforms", "testdata")
REFERENCE = "Pillow 13.0.0, OpenCV 5.0.0.93 without IPP, torch 2.15.0 with fused multiply-add, torchvision 0.29.2"

PILLOW = dict(nearest=0, nearest_exact=0, box=4, bilinear=2, hamming=5, bicubic=3, lanczos=1)
OPENCV = dict(
    nearest=cv2.INTER_NEAREST, nearest_exact=cv2.INTER_NEAREST_EXACT, bilinear=cv2.INTER_LINEAR,
    bicubic=cv2.INTER_CUBIC, lanczos=cv2.INTER_LANCZOS4, area=cv2.INTER_AREA,
)
TORCH = dict(
    nearest=InterpolationMode.NEAREST, nearest_exact=InterpolationMode.NEAREST_EXACT,
    bilinear=InterpolationMode.BILINEAR, bicubic=InterpolationMode.BICUBIC, lanczos=InterpolationMode.LANCZOS,
)


def picture(h, w, c, kind, dtype):
    """HWC: noise, gradients, one colour, or (for an alpha channel) noise with holes of alpha 0 and 255."""
    rng = np.random.RandomState(h * 7919 + w * 31 + c)
    if kind == "gradient":
        x = (np.arange(h)[:, None, None] * 3 + np.arange(w)[None, :, None] * 2 + np.arange(c) * 60) % 256
    elif kind == "constant":
        x = np.broadcast_to(np.arange(c) * 60 + 73, (h, w, c))
    else:
        x = rng.randint(0, 256, (h, w, c))
        if kind == "holes":
            x[: h // 2, : w // 2, -1] = 0
            x[h // 2 :, w // 2 :, -1] = 255
    if dtype == np.uint8:
        return np.ascontiguousarray(x.astype(np.uint8))
    return ((x * 8 + rng.randint(0, 8, (h, w, c))).astype(np.float32) - 801) / np.float32(457.12)


def pillow(x, h, w, name):
    f = PILLOW[name]
    if x.dtype == np.uint8:
        mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[x.shape[2]]
        return np.asarray(Image.fromarray(x[:, :, 0] if mode == "L" else x, mode).resize((w, h), f)).reshape(h, w, -1)
    planes = [Image.fromarray(np.ascontiguousarray(x[:, :, i]), "F").resize((w, h), f) for i in range(x.shape[2])]
    return np.stack([np.asarray(p) for p in planes], -1)


def opencv(x, h, w, name):
    return cv2.resize(np.ascontiguousarray(x), (w, h), interpolation=OPENCV[name]).reshape(h, w, -1)


def torched(x, h, w, name, antialias, native=False):
    if x.shape[:2] == (h, w):
        return x
    t = torch.from_numpy(np.ascontiguousarray(x.transpose(2, 0, 1)))
    if x.dtype == np.uint8 and not native and not name.startswith("nearest"):
        t = t.float()
    if name == "area":
        y = F.interpolate(t[None], (h, w), mode="area")[0]
    else:
        y = TF.resize(t, [h, w], TORCH[name], antialias=antialias)
    if x.dtype == np.uint8:
        y = y.float().round().clamp(0, 255).to(torch.uint8)
    return y.numpy().transpose(1, 2, 0)


def scaled(x, h, w, backend, name, antialias=True, planar=False):
    """The reference of one resize. OpenCV has no planar images: their planes are images of one channel."""
    if backend == "pillow":
        return pillow(x, h, w, name)
    if backend == "opencv":
        if planar:
            return np.concatenate([opencv(x[:, :, i : i + 1], h, w, name) for i in range(x.shape[2])], -1)
        return opencv(x, h, w, name)
    return torched(x, h, w, name, antialias, backend == "torch_uint8")


class Golden(golden.Golden):
    """Goldens of HWC arrays, which it stores in the case's layout."""

    def case(self, name, params, x, outs, layout, tolerance=0, reason=""):
        def put(a):
            return a.transpose(2, 0, 1) if layout == "CHW" else a

        super().case(name, params, put(x), put(outs[0]), layout, more=outs[1:])
        if tolerance:
            self.cases[-1] |= {"tolerance": tolerance, "reason": reason}


MODES = (
    [("pillow", n, True) for n in PILLOW]
    + [("opencv", n, True) for n in OPENCV]
    + [("torch", n, True) for n in ("nearest", "nearest_exact", "bilinear", "bicubic", "lanczos", "area")]
    + [("torch", n, False) for n in ("bilinear", "bicubic")]
)

NATIVE = (
    [("torch_uint8", n, True) for n in ("nearest", "nearest_exact", "bilinear", "bicubic", "lanczos")]
    + [("torch_uint8", n, False) for n in ("bilinear", "bicubic")]
)

# (height, width), (out height, out width): down, up, mixed, exact factors, one side only, extreme ratios.
SIZES = [
    ((23, 37), (14, 22)),
    ((23, 37), (40, 61)),
    ((23, 37), (12, 50)),  # Pillow: vertical pass first
    ((36, 48), (18, 24)),  # two to one
    ((48, 64), (16, 16)),
    ((7, 100), (7, 31)),
    ((7, 100), (20, 100)),
    ((7, 100), (1, 3)),
    ((7, 9), (1, 1)),
    ((5, 3), (11, 8)),
    ((1, 1), (4, 5)),
    ((31, 9), (31, 9)),
]
LARGE = ((41, 30), (79, 52))  # beyond the outputs that torch treats as small


def tolerance(backend, name, dtype, x, h, w):
    if backend != "torch":
        return 0, ""
    if name == "area" and dtype == np.float32 and (h, w) == (1, 1):
        return 1e-6, "torch takes the mean of a whole image in an order that depends on the CPU's vectors"
    return 0, ""


def params(backend, name, antialias, **over):
    p = {
        "fit": "exact", "height": 0, "width": 0, "edge": 0, "max_edge": 0, "multiple": 0, "keep_aspect": False,
        "size_rule": "truncate", "interpolation": name, "backend": backend, "no_antialias": not antialias,
    }
    p.update(over)
    return p


def resize():
    g = Golden("resize", REFERENCE + ", timm 1.0.31, transformers 5.23.0")
    n = 0
    for (h, w), (oh, ow) in SIZES + [LARGE]:
        for backend, name, aa in MODES:
            if (h, w) == LARGE[0] and backend != "torch":
                continue
            for dtype in (np.uint8, np.float32):
                # The channels and the layout take turns over the modes.
                n += 1
                c, layout = (3, 1, 4, 3, 2)[n % 5], ("HWC", "HWC", "CHW")[n % 3]
                if dtype == np.float32:
                    c = (1, 3, 1, 1, 2)[n % 5]  # floats do not compress
                kind = ("noise", "gradient", "noise", "constant")[n % 4]
                if c in (2, 4):
                    kind = "holes"
                x = picture(h, w, c, kind, dtype)
                y = scaled(x, oh, ow, backend, name, aa, layout == "CHW")
                g.case(
                    f"{backend} {name}{'' if aa else ' no_antialias'} {np.dtype(dtype)} {layout} {c} {h}x{w} {oh}x{ow}",
                    params(backend, name, aa, height=oh, width=ow), x, [y], layout, *tolerance(backend, name, dtype, x, oh, ow),
                )
    # Every channel count with every filter at one size.
    for c in (1, 2, 3, 4):
        for backend, name, aa in MODES:
            x = picture(13, 17, c, "holes" if c in (2, 4) else "noise", np.uint8)
            for layout in ("HWC", "CHW"):
                y = scaled(x, 9, 24, backend, name, aa, layout == "CHW")
                g.case(
                    f"channels {backend} {name}{'' if aa else ' no_antialias'} {layout} {c}",
                    params(backend, name, aa, height=9, width=24), x, [y], layout, *tolerance(backend, name, np.uint8, x, 9, 24),
                )
    for (h, w), (oh, ow) in SIZES + [LARGE]:
        for i, (backend, name, aa) in enumerate(NATIVE):
            c, layout = (3, 1, 4)[i % 3], ("HWC", "CHW")[i % 2]
            if c == 3 and (oh, ow) == (1, 1):
                continue  # raises in torch 2.15.0
            x = picture(h, w, c, ("noise", "gradient")[i % 2], np.uint8)
            y = scaled(x, oh, ow, backend, name, aa)
            g.case(
                f"{backend} {name}{'' if aa else ' no_antialias'} {layout} {c} {h}x{w} {oh}x{ow}",
                params(backend, name, aa, height=oh, width=ow), x, [y], layout,
            )
    for backend, name, aa in NATIVE:
        x = picture(13, 17, 1, "noise", np.float32)
        g.case(
            f"{backend} {name}{'' if aa else ' no_antialias'} float32",
            params(backend, name, aa, height=9, width=24), x, [scaled(x, 9, 24, backend, name, aa)], "HWC",
        )
    for fit, over in sized():
        for h, w in ((23, 37), (37, 23), (20, 20), (48, 64)):
            oh, ow = size_of(h, w, {**params("pillow", "bilinear", True), **over, "fit": fit})
            if oh < 1 or ow < 1:
                continue
            x = picture(h, w, 3, "noise", np.uint8)
            g.case(
                f"size {fit} {' '.join(f'{k}={v}' for k, v in over.items())} {h}x{w}",
                params("pillow", "bilinear", True, fit=fit, **over), x, [pillow(x, oh, ow, "bilinear")], "HWC",
            )
    g.write()


def sized():
    yield "shortest", dict(edge=16, size_rule="truncate")
    yield "shortest", dict(edge=16, max_edge=20, size_rule="truncate")
    yield "shortest", dict(edge=16, size_rule="half_even")
    yield "shortest", dict(edge=16, size_rule="cap_unrounded")
    yield "shortest", dict(edge=30, max_edge=33, size_rule="cap_unrounded")
    yield "shortest", dict(edge=20, size_rule="cap_unrounded")
    yield "longest", dict(edge=25, size_rule="truncate")
    yield "longest", dict(edge=25, size_rule="half_even")
    yield "longest", dict(edge=25, size_rule="half_up")
    yield "inside", dict(height=19, width=30, size_rule="truncate")
    yield "inside", dict(height=19, width=30, size_rule="half_even")
    yield "multiple", dict(height=30, width=40, multiple=14, keep_aspect=True, size_rule="half_even")
    yield "multiple", dict(height=30, width=41, multiple=4, keep_aspect=False, size_rule="half_even")
    yield "shortest", dict(edge=30, max_edge=33, multiple=4, size_rule="cap_unrounded_down")


def size_of(h, w, p):
    """The output size by the library whose rule it is."""
    fit, rule = p["fit"], p["size_rule"]
    gray = torch.empty((1, h, w), dtype=torch.uint8)
    size = SizeDict(shortest_edge=p["edge"] or None, longest_edge=p["max_edge"] or None, max_height=p["height"] or None, max_width=p["width"] or None)
    try:
        if fit == "aligned":
            return GLPNImageProcessor().resize(gray, None, 0, p["multiple"]).shape[1:]
        if fit == "shortest" and rule == "truncate_up":
            return TextNetImageProcessor().resize(gray, size, 0, p["multiple"]).shape[1:]
        if rule in ("truncate_up", "cap_unrounded_up"):
            return MaskFormerImageProcessor().resize(gray, size, p["multiple"], 0).shape[1:]
        if rule == "scale":
            return JanusImageProcessor().resize(gray, SizeDict(height=p["edge"], width=p["edge"]), p["height"], 0).shape[1:]
    except ValueError as e:  # a side of 0
        assert "Size must contain" in str(e)
        return 0, 0
    if rule == "shrink_up":
        return pixtral_size(gray, (p["height"], p["width"]), p["multiple"], "channels_first")
    if rule == "near":
        kind = {"inside": "max", "cover": "min", "longest": "resize_long"}[fit]
        assert p["multiple"] == 32
        s = PPOCRV5ServerDetImageProcessor().get_image_size(gray, p["edge"] or p["height"], kind, p["max_edge"] or None)[0]
        return s.height, s.width
    if fit == "height":
        s = PPOCRV5ServerRecImageProcessor(size={"height": p["height"], "width": p["width"]}, max_image_width=p["max_edge"]).get_target_size([(h, w)])
        return s.height, s.width
    if rule == "scale_up":
        s = PPLCNetImageProcessor().get_image_size(gray, p["edge"], p["multiple"])
        return s.height, s.width
    if rule == "cap_half_up_down":
        return vilt_size(gray.numpy(), p["edge"], p["max_edge"], p["multiple"], "channels_first")
    if rule == "aspect":
        return tvp_size(gray.numpy(), p["edge"], "channels_first")
    if rule == "fraction":
        return zoedepth_size(gray.numpy(), (p["height"], p["width"]), p["keep_aspect"], 1 / p["multiple"], "channels_first")
    if fit == "multiple":
        s = dpt_size(np.empty((3, h, w)), (p["height"], p["width"]), p["keep_aspect"], p["multiple"])
        return s.height, s.width
    if fit == "inside":
        if rule == "truncate":
            return get_image_size_for_max_height_width((h, w), p["height"], p["width"])
        return ResizeKeepRatio.get_params(Image.new("L", (w, h)), (p["height"], p["width"]), 1.0)
    if fit == "longest":
        if rule == "truncate":
            return tuple(_compute_resized_output_size((h, w), None, p["edge"], True))
        if rule == "half_even":
            return ResizeKeepRatio.get_params(Image.new("L", (w, h)), (p["edge"], p["edge"]), 1.0)
        return SamImageProcessorPil._get_preprocess_shape(None, (h, w), p["edge"])
    if rule == "cap_unrounded_down":
        return get_size_with_aspect_ratio_yolos((h, w), p["edge"], p["max_edge"] or None, p["multiple"])
    if rule == "cap_unrounded":
        return get_size_with_aspect_ratio((h, w), p["edge"], p["max_edge"] or None)
    if rule == "truncate":
        return tuple(_compute_resized_output_size((h, w), [p["edge"]], p["max_edge"] or None, True))
    return ResizeKeepRatio.get_params(Image.new("L", (w, h)), (p["edge"], p["edge"]), 0.0)


def sizes():
    """Sizes alone: one row is the input's height and width and the output's, for many inputs of every rule."""
    r = random.Random(1)
    out = []
    for fit, over in [
        ("shortest", dict(edge=256, size_rule="truncate")), ("shortest", dict(edge=224, size_rule="truncate")),
        ("shortest", dict(edge=800, max_edge=1333, size_rule="truncate")),
        ("shortest", dict(edge=235, size_rule="half_even")), ("shortest", dict(edge=256, size_rule="half_even")),
        ("shortest", dict(edge=800, max_edge=1333, size_rule="cap_unrounded")), ("shortest", dict(edge=480, size_rule="cap_unrounded")),
        ("longest", dict(edge=448, size_rule="truncate")), ("longest", dict(edge=1024, size_rule="half_up")),
        ("longest", dict(edge=391, size_rule="half_even")),
        ("inside", dict(height=480, width=640, size_rule="truncate")), ("inside", dict(height=378, width=378, size_rule="half_even")),
        ("multiple", dict(height=384, width=384, multiple=32, keep_aspect=True, size_rule="half_even")),
        ("multiple", dict(height=518, width=518, multiple=14, keep_aspect=True, size_rule="half_even")),
        ("multiple", dict(height=500, width=375, multiple=14, keep_aspect=False, size_rule="half_even")),
        ("shortest", dict(edge=800, max_edge=1333, multiple=16, size_rule="cap_unrounded_down")), ("shortest", dict(edge=512, multiple=16, size_rule="cap_unrounded_down")),
        ("aligned", dict(multiple=32, size_rule="truncate")), ("aligned", dict(multiple=7, size_rule="truncate")),
        ("shortest", dict(edge=640, multiple=32, size_rule="truncate_up")), ("inside", dict(height=480, width=640, multiple=32, size_rule="truncate_up")),
        ("shortest", dict(edge=800, max_edge=1333, multiple=32, size_rule="cap_unrounded_up")), ("shortest", dict(edge=512, max_edge=2048, multiple=5, size_rule="cap_unrounded_up")),
        ("shortest", dict(edge=256, multiple=1, size_rule="scale_up")), ("shortest", dict(edge=217, multiple=6, size_rule="scale_up")),
        ("shortest", dict(edge=384, max_edge=639, multiple=32, size_rule="cap_half_up_down")), ("shortest", dict(edge=288, max_edge=479, multiple=1, size_rule="cap_half_up_down")),
        ("longest", dict(edge=384, size_rule="scale")), ("longest_min", dict(edge=391, height=14, width=14, size_rule="scale")),
        ("longest_min", dict(edge=100, height=90, width=90, size_rule="scale")), ("longest", dict(edge=448, size_rule="aspect")),
        ("longest", dict(edge=49, size_rule="aspect")), ("multiple", dict(height=384, width=512, multiple=32, keep_aspect=True, size_rule="fraction")),
        ("multiple", dict(height=384, width=512, multiple=32, size_rule="fraction")),
        ("multiple", dict(height=50, width=77, multiple=3, keep_aspect=True, size_rule="fraction")),
        ("inside", dict(height=1024, width=1024, multiple=16, size_rule="shrink_up")), ("inside", dict(height=540, width=301, multiple=14, size_rule="shrink_up")),
        ("inside", dict(height=960, width=960, multiple=32, max_edge=4000, size_rule="near")), ("cover", dict(height=736, width=736, multiple=32, max_edge=900, size_rule="near")),
        ("longest", dict(edge=960, multiple=32, max_edge=700, size_rule="near")), ("longest", dict(edge=1200, multiple=32, size_rule="near")),
        ("height", dict(height=48, width=320, max_edge=3200, size_rule="truncate")), ("height", dict(height=31, width=73, max_edge=170, size_rule="truncate")),
    ]:
        p = {**params("pillow", "bilinear", True), **over, "fit": fit}
        rows = []
        if over["size_rule"] in ("cap_unrounded_down", "cap_unrounded_up"):  # where the shorter edge fits already, of either orientation
            for h, w in ((50, 1344), (1344, 50), (512, 515), (515, 512), (800, 1333), (1333, 800), (1330, 798), (799, 799), (100, 1336), (1336, 100)):
                rows.append([h, w, *map(int, size_of(h, w, p))])
        while len(rows) < 150:
            h, w = r.randint(1, 2000), r.randint(1, 2000)
            if r.random() < 0.2:
                w = h
            oh, ow = size_of(h, w, p)
            rows.append([h, w, int(oh), int(ow)])
        out.append({"params": p, "sizes": rows})
    with open(os.path.join(ROOT, "resize", "sizes.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]\n")


def torch_uint8():
    """Checksums of many resizes of noise that the test makes too: height, width, output height and width, channels,
    filter, antialias, CRC-32 of the result (CHW). Torch without AVX2 is another process."""
    capability = torch.backends.cpu.get_cpu_capability()
    name, count = {"AVX2": ("torch_uint8", 3000), "AVX512": ("torch_uint8", 3000), "DEFAULT": ("torch_uint8_noavx2", 1000)}[capability]
    if name == "torch_uint8":
        subprocess.run([sys.executable, __file__, "torch_uint8"], check=True, env=os.environ | {"ATEN_CPU_CAPABILITY": "default"})
    r = random.Random(3)
    names = ("bilinear", "bicubic", "lanczos", "nearest", "nearest_exact")
    rows = []
    while len(rows) < count:
        k = len(rows)

        def side():
            if r.random() < 0.1:
                return r.randint(1, 8)
            return r.randint(1, 500 if k % 20 == 0 else 90)

        h, w, oh, ow, c = side(), side(), side(), side(), (1, 2, 3, 4, 5)[k % 5]
        f = r.randrange(len(names)) if k % 4 == 0 else r.randrange(3)
        aa = names[f] == "lanczos" or r.random() < 0.6
        if k % 9 == 0:
            oh = h
        elif k % 9 == 1:
            ow = w
        if c == 3 and (oh, ow) == (1, 1):
            continue  # raises in torch 2.15.0
        if capability == "DEFAULT" and names[f] == "bilinear" and not aa:
            continue  # depends on the threads
        x = (np.arange(k, k + c * h * w, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(56)).astype(np.uint8)
        if k % 7 == 0:
            x = (x & 128) // 128 * 255
        y = TF.resize(torch.from_numpy(x.reshape(c, h, w)), [oh, ow], TORCH[names[f]], antialias=aa)
        rows.append([h, w, oh, ow, c, f, int(aa), zlib.crc32(y.contiguous().numpy().tobytes())])
    with open(os.path.join(ROOT, "resize", name + ".json"), "w") as f:
        f.write('{"filters": %s, "rows": [\n' % json.dumps(names))
        f.write(",\n".join(json.dumps(o, separators=(",", ":")) for o in rows) + "\n]}\n")


def resized_crop():
    g = Golden("resized_crop", REFERENCE)
    n = 0
    for (h, w), box, (oh, ow) in [
        ((23, 37), (3, 5, 15, 20), (12, 12)),
        ((23, 37), (0, 0, 23, 37), (30, 17)),
        ((48, 64), (10, 1, 30, 60), (15, 30)),
        ((48, 64), (47, 63, 1, 1), (3, 4)),
        ((7, 100), (1, 40, 6, 59), (6, 59)),
        ((7, 100), (0, 90, 2, 10), (9, 40)),
    ]:
        top, left, bh, bw = box
        for backend, name, aa in MODES:
            n += 1
            dtype = (np.uint8, np.uint8, np.float32)[n % 3]
            c, layout = (3, 1, 4, 3)[n % 4], ("HWC", "CHW", "HWC")[n // 4 % 3]
            x = picture(h, w, c, "holes" if c == 4 else "noise", dtype)
            part = np.ascontiguousarray(x[top : top + bh, left : left + bw])
            y = scaled(part, oh, ow, backend, name, aa, layout == "CHW")
            p = {
                "top": top, "left": left, "height": bh, "width": bw, "out_height": oh, "out_width": ow,
                "interpolation": name, "backend": backend, "no_antialias": not aa,
            }
            g.case(
                f"{backend} {name}{'' if aa else ' no_antialias'} {np.dtype(dtype)} {layout} {c} {h}x{w} {box} {oh}x{ow}",
                p, x, [y], layout, *tolerance(backend, name, dtype, part, oh, ow),
            )
            if backend == "pillow" and c == 3 and dtype == np.uint8 and name in ("bilinear", "bicubic"):
                same = TF.resized_crop(Image.fromarray(x), top, left, bh, bw, [oh, ow], TORCH[name])
                assert np.array_equal(np.asarray(same), y)
    g.write()


def letterbox():
    g = Golden("letterbox", "ultralytics 8.4.190 LetterBox with OpenCV 5.0.0.93 without IPP")
    n = 0
    for h, w in ((23, 37), (37, 23), (48, 64), (5, 3), (1, 100), (32, 32)):
        for th, tw, auto, fill, noup, tl, stride in [
            (32, 32, False, False, False, False, 32),
            (33, 40, False, False, False, False, 32),
            (64, 64, True, False, False, False, 32),
            (50, 41, True, False, False, True, 8),
            (40, 30, False, True, False, False, 32),
            (60, 70, False, False, True, False, 32),
            (31, 45, False, False, False, True, 32),
            (24, 24, True, True, False, False, 7),
            (50, 20, False, True, True, True, 32),
        ]:
            n += 1
            dtype = (np.uint8, np.uint8, np.uint8, np.float32)[n % 4]
            c, layout = (3, 3, 1, 4, 3)[n % 5], ("HWC", "HWC", "CHW")[n % 3]
            if dtype == np.float32:
                c = 1 + n % 3
            name = ("bilinear", "bilinear", "nearest", "area", "bicubic")[n // 5 % 5]
            x = picture(h, w, c, "noise", dtype)
            box = LetterBox((th, tw), auto, fill, not noup, not tl, stride, 114, OPENCV[name])
            q = box.get_params({"img": x})
            if layout == "CHW":
                y = np.concatenate([box(image=np.ascontiguousarray(x[:, :, i : i + 1])).reshape(-1, *box(image=x).shape[1:2], 1) for i in range(c)], -1)
            else:
                y = box(image=x.copy())
            p = {
                "height": th, "width": tw, "auto": auto, "scale_fill": fill, "no_scale_up": noup, "top_left": tl,
                "stride": stride, "fill": [114], "interpolation": name, "backend": "opencv",
            }
            scale = np.array(q["ratio"][::-1], np.float32)
            pad = np.array([q["top"], q["bottom"], q["left"], q["right"]], np.int32)
            g.case(f"{h}x{w} {th}x{tw} {n} {name} {np.dtype(dtype)} {layout} {c}", p, x, [y, scale, pad], layout)
    g.write()


def taps():
    """Digests of Pillow's fixed-point weights for every pair of sides up to 64 and some larger ones: the sizes of
    thousands of tables are too many to keep. The formulas are Pillow's, the sine is Python's."""

    def sinc(x):
        return math.sin(x * math.pi) / (x * math.pi) if x else 1.0

    c54, c46 = float(np.float32(0.54)), float(np.float32(0.46))
    filters = {
        "box": (0.5, lambda x: 1.0 if -0.5 < x <= 0.5 else 0.0),
        "bilinear": (1.0, lambda x: max(1.0 - abs(x), 0.0)),
        "hamming": (1.0, lambda x: (sinc(abs(x)) * (c54 + c46 * math.cos(abs(x) * math.pi)) if x else 1.0) if abs(x) < 1 else 0.0),
        "bicubic": (2.0, lambda x: cubic(abs(x))),
        "lanczos": (3.0, lambda x: sinc(abs(x)) * sinc(abs(x / 3)) if -3 <= x < 3 else 0.0),
    }

    def cubic(x):
        if x < 1:
            return (1.5 * x - 2.5) * x * x + 1
        return (((x - 5) * x + 8) * x - 4) * -0.5 if x < 2 else 0.0

    pairs = [(a, b) for a in range(1, 65) for b in range(1, 65)]
    r = random.Random(2)
    pairs += [(r.randint(65, 4000), r.randint(65, 800)) for _ in range(40)] + [(500, 341), (375, 256), (256, 4000), (3999, 7)]
    out = {"pairs": pairs[4096:], "filters": {}}
    for name, (support, f) in filters.items():
        digest = hashlib.sha256()
        for a, b in pairs:
            scale = a / b
            stretch = max(scale, 1.0)
            reach, inv = support * stretch, 1.0 / stretch
            for i in range(b):
                center = (i + 0.5) * scale
                lo = max(int(center - reach + 0.5), 0)
                n = min(int(center + reach + 0.5), a) - lo
                w = [f((j + lo - center + 0.5) * inv) for j in range(n)]
                total = 0.0
                for v in w:
                    total += v
                row = [lo, n] + [int(v / total * (1 << 22) + (-0.5 if v / total < 0 else 0.5)) if total else 0 for v in w]
                digest.update(np.array(row, np.int32).tobytes())
        out["filters"][name] = digest.hexdigest()
    d = os.path.join(ROOT, "..", "..", "internal", "kernel", "testdata")
    os.makedirs(d, exist_ok=True)
    with open(os.path.join(d, "taps.json"), "w") as f:
        json.dump(out, f)
        f.write("\n")


if __name__ == "__main__":
    if sys.argv[1:]:  # the name of one function
        globals()[sys.argv[1]]()
        sys.exit()
    taps()
    resize()
    sizes()
    torch_uint8()
    resized_crop()
    letterbox()
