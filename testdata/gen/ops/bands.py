"""Writes the goldens of graphs on images of many bands and 16 or 32 bits: datagraph/testdata/bands.

The images are TIFF files of 1, 3, 8 and 13 bands of uint16 and float32, and of 8 and 13 of uint8. The references get the same arrays: torchvision 0.29.2 as contiguous CHW
tensors, OpenCV 5.0.0.93 (without IPP) as HWC arrays, Pillow 13.0.0 band by band. Where several have the operation, all must be equal. What a
reference raises an error for is recorded as refused. Every run gives the same bytes. Takes no arguments.
"""

import json
import pathlib
import struct
import zlib

import cv2
import numpy as np
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as F

from golden import digest

ROOT = pathlib.Path(__file__).resolve().parents[3] / "datagraph" / "testdata" / "bands"
cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)
torch.set_num_threads(2)

CV = dict(nearest=cv2.INTER_NEAREST, nearest_exact=cv2.INTER_NEAREST_EXACT, bilinear=cv2.INTER_LINEAR, bicubic=cv2.INTER_CUBIC, lanczos=cv2.INTER_LANCZOS4, area=cv2.INTER_AREA)
PIL = dict(nearest=0, box=4, bilinear=2, hamming=5, bicubic=3, lanczos=1)
BORDERS = dict(constant=cv2.BORDER_CONSTANT, edge=cv2.BORDER_REPLICATE, reflect=cv2.BORDER_REFLECT_101, symmetric=cv2.BORDER_REFLECT)
SIZES = ((13, 17), (12, 15), (31, 40))


def scene(bands, dtype):
    """Smooth values with noise in a few bits, so that the file is small."""
    r = np.random.RandomState(bands)
    y, x, k = np.mgrid[:24, :30, :bands]
    v = (np.sin(x / (3 + k)) + np.cos(y / 4) + 2) / 4 * 64000 + r.randint(0, 16, (24, 30, bands)) * 64
    v = v.astype(np.uint16)
    v[3:7, 4:8], v[7:11, 4:8] = 65535, 0  # cubic filters exceed uint16
    if dtype == "uint8":
        return (v >> 8).astype(np.uint8)
    return v if dtype == "uint16" else (v.astype(np.float32) - 32000) / 64


def tiff(a):
    """A TIFF of one strip, with Deflate."""
    h, w, c = a.shape
    data = zlib.compress(a.tobytes(), 9)
    kind = 3 if a.dtype == np.float32 else 1
    entries, more, at = [], b"", 8 + len(data) + len(data) % 2

    def entry(tag, values, long=False):
        nonlocal more
        b = b"".join(struct.pack("<I" if long else "<H", v) for v in values)
        if len(b) > 4:
            b, more = struct.pack("<I", at + len(more)), more + b
        entries.append(struct.pack("<HHI", tag, 4 if long else 3, len(values)) + b.ljust(4, b"\0"))

    entry(256, [w])
    entry(257, [h])
    entry(258, [a.itemsize * 8] * c)
    entry(259, [8])
    entry(262, [1])
    entry(273, [8], True)
    entry(277, [c])
    entry(278, [h])
    entry(279, [len(data)], True)
    entry(284, [1])
    if c > 1:
        entry(338, [0] * (c - 1))
    entry(339, [kind] * c)
    file = data.ljust(at - 8, b"\0") + more
    return struct.pack("<2sHI", b"II", 42, 8 + len(file)) + file + struct.pack("<H", len(entries)) + b"".join(entries) + bytes(4)


def tensor(a):
    return torch.from_numpy(np.ascontiguousarray(a.transpose(2, 0, 1)))


def hwc(t):
    return np.ascontiguousarray(t.numpy().transpose(1, 2, 0))


class Cases:
    def __init__(self):
        self.list, self.file, self.decode = [], "", {}
        self.exceeded = False

    def case(self, name, ops, *results):
        """Records the result that the references share: an array, or an error."""
        ops = [("decode_native", self.decode), *ops]
        c = {"name": f"{self.file}_{name}", "file": self.file + ".tif", "ops": [{"op": n, "params": p} for n, p in ops]}
        errors = [r for r in results if isinstance(r, str)]
        assert len(errors) in (0, len(results)), f"{c['name']}: {errors}"
        if errors:
            self.list.append(c | {"refused": errors[0]})
            return
        assert all(r.dtype == results[0].dtype and r.shape == results[0].shape and r.tobytes() == results[0].tobytes() for r in results), c["name"]
        self.list.append(c | {"out": digest(np.ascontiguousarray(results[0]))})


def attempt(f):
    """The result, or the reference's error as a text."""
    try:
        return f()
    except (cv2.error, RuntimeError, ValueError, NotImplementedError, OSError) as e:
        return str(e).strip().split("\n")[0].split("error: ")[-1][:80]


def resize(oh, ow, name, backend, antialias=True):
    return "resize", dict(fit="exact", height=oh, width=ow, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate", interpolation=name, backend=backend, no_antialias=not antialias)


def by_cv(a, f):
    def run():
        out = f(a)
        return out.reshape(*out.shape[:2], a.shape[2])
    return attempt(run)


def by_pillow(a, oh, ow, how):
    def run():
        bands = [np.asarray(Image.fromarray(np.ascontiguousarray(a[..., k])).resize((ow, oh), how)) for k in range(a.shape[2])]
        return np.stack(bands, -1).astype(a.dtype)
    return attempt(run)


def graphs(g, a):
    t, bands = tensor(a), a.shape[2]

    # Geometry moves values of any type.
    for top, left, h, w in ((2, 3, 9, 11), (-2, 20, 10, 20)):
        params = dict(top=top, left=left, height=h, width=w)
        inside = [a[top : top + h, left : left + w]] if top >= 0 and left + w <= 30 else []
        g.case(f"crop_{top}", [("crop", params)], hwc(F.crop(t, top, left, h, w)), *inside)
    g.case("hflip", [("horizontal_flip", {})], hwc(F.horizontal_flip(t)), by_cv(a, lambda a: cv2.flip(a, 1)))
    g.case("vflip", [("vertical_flip", {})], hwc(F.vertical_flip(t)), by_cv(a, lambda a: cv2.flip(a, 0)))
    for mode, border in BORDERS.items():
        params = dict(top=1, bottom=2, left=3, right=4, mode=mode, fill=[7] if mode == "constant" else [0])
        by_torch = hwc(F.pad(t, [3, 1, 4, 2], fill=7, padding_mode=mode))
        g.case(f"pad_{mode}", [("pad", params)], by_torch, by_cv(a, lambda a: cv2.copyMakeBorder(a, 1, 2, 3, 4, border, value=(7,) * 4)))

    # Values: the mean and the deviation of each band.
    mean, std = [0.25 + k / 50 for k in range(bands)], [0.125 + k / 40 for k in range(bands)]
    scaled, ops = t, []
    if a.dtype != np.float32:
        top = np.iinfo(a.dtype).max
        scaled, ops = F.to_dtype(t, torch.float32, scale=True), [("rescale", dict(scale=1 / top, offset=0, rule="multiply"))]
        g.case("to_dtype", ops, hwc(scaled))
    want = F.normalize(scaled, mean, std)
    g.case("normalize", [*ops, ("normalize", dict(mean=mean, std=std))], hwc(want))
    g.case("normalize_chw", [*ops, ("hwc2chw", {}), ("normalize", dict(mean=mean, std=std))], want.numpy())

    # Resizing.
    for oh, ow in SIZES:
        size = f"{ow}x{oh}"
        for name, flag in CV.items():
            # Area needs to know the size when the graph is compiled.
            known = [("crop", dict(top=0, left=0, height=24, width=30))] if name == "area" else []
            g.case(f"opencv_{name}_{size}", [*known, resize(oh, ow, name, "opencv")], by_cv(a, lambda a: cv2.resize(a, (ow, oh), interpolation=flag)))
        for name, flag in PIL.items():
            g.case(f"pillow_{name}_{size}", [resize(oh, ow, name, "pillow")], by_pillow(a, oh, ow, flag))
        for name in ("nearest", "nearest_exact", "bilinear", "bicubic", "lanczos"):
            for antialias in (True, False):
                if antialias and name.startswith("nearest") or not antialias and name == "lanczos":
                    continue
                want = attempt(lambda: F.resize(t, [oh, ow], InterpolationMode(name.replace("_", "-")), antialias=antialias))
                want = want if isinstance(want, str) else want.numpy()
                if a.dtype == np.uint16 and name in ("bicubic", "lanczos"):
                    # torchvision converts float32 without limits; what exceeds uint16 is the platform's.
                    f = F.resize(t.float(), [oh, ow], InterpolationMode(name), antialias=antialias)
                    g.exceeded |= f.min().item() < 0 or f.max().item() > 65535
                    want = "torchvision does not limit the result to uint16"
                g.case(f"torch_{name}_{'aa_' if antialias else ''}{size}", [("hwc2chw", {}), resize(oh, ow, name, "torch_uint8" if a.dtype == np.uint8 else "torch", antialias)], want)


def bands():
    ROOT.mkdir(parents=True, exist_ok=True)
    g = Cases()
    for dtype, numbers in (("uint8", (8, 13)), ("uint16", (1, 3, 8, 13)), ("float32", (1, 3, 8, 13))):
        for n in numbers:
            a = scene(n, dtype)
            g.file, g.decode = f"{dtype}_{n}", {"dtype": dtype, "channels": n, "frame": 0, "expand": False}
            (ROOT / (g.file + ".tif")).write_bytes(tiff(a))
            graphs(g, a)
    assert g.exceeded
    lines = ",\n".join("  " + json.dumps(c) for c in g.list)
    (ROOT / "cases.json").write_text(f'{{"reference": "torchvision 0.29.2, OpenCV 5.0.0.93, Pillow 13.0.0", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    bands()
