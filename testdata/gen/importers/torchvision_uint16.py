"""Writes importer/torchvision/testdata/uint16.json: transforms as Python prints them, and what torchvision makes of 16-bit PNG files by decode_image.

Needs the packages of importers/goldens.py. Takes no arguments; running it again gives the same bytes. fails holds the prints with which torchvision
fails.
"""

import base64
import hashlib
import json
import pathlib

import cv2
import numpy as np
import torch
from torchvision.io import decode_image
from torchvision.transforms import InterpolationMode as Mode
from torchvision.transforms import v2
from torchvision import transforms as v1

OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "torchvision" / "testdata" / "uint16.json"
TAIL = [v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4])]
OLD = [v1.ConvertImageDtype(torch.float32), v1.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4])]


def images():
    for h, w in ((30, 40), (61, 47)):
        y, x, c = np.mgrid[:h, :w, :3]
        a = ((np.sin(x / (5 + c)) + np.cos(y / (3 + c)) + 2) / 4 * 65535).astype(np.uint16)
        a[::5] ^= 0x1234
        for v in (a, a[..., 0]):
            yield cv2.imencode(".png", v)[1].tobytes()


def cases():
    yield v2.Compose([v2.Resize((16, 16), antialias=True), *TAIL[:1]])
    yield v2.Compose([v2.ToImage(), v2.Resize(24, antialias=True), v2.CenterCrop(20), *TAIL])
    yield v2.Compose([v2.Resize((70, 90), antialias=False), v2.CenterCrop((33, 95)), *TAIL])
    yield v1.Compose([v1.Resize([25], antialias=True), v1.CenterCrop(20), *OLD])
    yield v1.Compose([v1.Resize((70, 21), antialias=True), *OLD[:1]])
    for mode in (Mode.NEAREST, Mode.NEAREST_EXACT):
        yield v2.Compose([v2.Resize((19, 50), interpolation=mode), *TAIL[:1]])
    for mode in ("constant", "edge", "reflect", "symmetric"):
        yield v2.Compose([v2.Pad([3, 2], fill=9, padding_mode=mode)])
    yield v2.Compose([v2.CenterCrop(24)])
    yield v2.Compose([v2.RGB(), v2.ToDtype(torch.float32)])
    yield v2.Compose([v2.ToDtype(torch.uint8)])
    yield v2.Compose([v2.ToDtype(torch.int32)])


def fails():
    yield v2.Compose([v2.Normalize([0.5] * 3, [0.5] * 3)])
    yield v2.Compose([v2.ToPILImage(), v2.ToTensor()])
    yield v2.Compose([v2.Resize((9, 9), interpolation=Mode.HAMMING), *TAIL])
    yield v1.Compose([v1.ConvertImageDtype(torch.uint8)])


def text(t):
    """The print, with the dtypes that it lacks."""
    lines = str(t).split("\n")
    many = len(lines) > 1
    for i, step in enumerate(t.transforms, int(many)):
        line = lines[i]
        if isinstance(step, v2.ToDtype):
            lines[i] = line.replace("ToDtype(", f"ToDtype(dtype={step.dtype}, ").replace(", )", ")")
        elif isinstance(step, (v1.ConvertImageDtype, v2.ConvertImageDtype)):
            lines[i] = line.replace("ConvertImageDtype(", f"ConvertImageDtype(dtype={step.dtype}")
    return "\n".join(lines)


def main():
    files = list(images())
    out = []
    for t in cases():
        results = []
        for f in files:
            x = decode_image(torch.frombuffer(bytearray(f), dtype=torch.uint8), mode="RGB")
            assert x.dtype == torch.uint16
            y = np.ascontiguousarray(t(x).numpy())
            results.append([y.dtype.name, list(y.shape), hashlib.sha256(y.tobytes()).hexdigest()[:16]])
        out.append({"text": text(t), "results": results})
    broken = []
    for t in fails():
        try:
            t(decode_image(torch.frombuffer(bytearray(files[0]), dtype=torch.uint8), mode="RGB"))
        except Exception:
            broken.append(text(t))
        else:
            raise AssertionError(text(t))
    OUT.write_text(json.dumps({"files": [base64.b64encode(f).decode() for f in files], "cases": out, "fails": broken}, indent=0) + "\n")


if __name__ == "__main__":
    main()
