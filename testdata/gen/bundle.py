"""Makes testdata/bundle/torchvision.bundle: a model bundle by docs/format/bundle.md alone, whose golden
samples are what torchvision gives.

Needs Pillow 13.0.0, numpy, torch 2.15.0 and torchvision 0.29.2. Takes no arguments; running it again gives
the same bytes. It stands in no folder: the bundle's metadata states this path.
"""

import hashlib
import json
import os
import struct

import numpy as np
from PIL import Image
from torchvision import transforms as T

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IMAGES = ["jpeg_base_420.jpg", "jpeg_exif_ii_6.jpg", "png_rgba8.png", "webp_lossy_37x23.webp"]
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
TRANSFORM = T.Compose([T.Resize(64), T.CenterCrop(56), T.ToTensor(), T.Normalize(MEAN, STD)])
REFERENCE = "torchvision 0.29.2 Resize(64), CenterCrop(56), ToTensor, Normalize"


def pack(v):
    """msgpack, integers in their widest form."""
    if v is None or v is False or v is True:
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[v]
    if isinstance(v, int):
        return b"\xd3" + struct.pack(">q", v)
    if isinstance(v, float):
        return b"\xcb" + struct.pack(">d", v)
    if isinstance(v, str):
        b = v.encode()
        return b"\xdb" + struct.pack(">I", len(b)) + b
    if isinstance(v, bytes):
        return b"\xc6" + struct.pack(">I", len(v)) + v
    return b"\xdd" + struct.pack(">I", len(v)) + b"".join(map(pack, v))


def step(op, params, out="image"):
    return [op, 1, ["image"], [out], params]


GRAPH = [
    1,
    REFERENCE,
    [["image", 12, 0, []]],
    [
        step("decode", [0, 0, 0, 0, 0, 0, 0]),
        # shortest, edge 64, Pillow's bilinear
        step("resize", [1, 0, 0, 64, 0, 0, False, 0, 3, 0, False]),
        # half to even, as torchvision's round()
        step("center_crop", [56, 56, 0, [0.0]]),
        step("to_tensor", []),
        step("normalize", [MEAN, STD], "pixel_values"),
    ],
    ["pixel_values"],
    [],
]


def align(b):
    return b + bytes(-len(b) % 64)


def crc32c(b):
    crc = 0xFFFFFFFF
    for x in b:
        crc ^= x
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def main():
    sections = {
        "graph": pack(GRAPH),
        "labels": "tench\ngoldfish\n".encode(),
        "meta": json.dumps({"made by": "testdata/gen/bundle.py", "ü": "€"}).encode(),
        "model/none.txt": b"no model\n",
    }
    goldens = []
    for name in IMAGES:
        path = os.path.join(ROOT, "images", name)
        with open(path, "rb") as f:
            sections["golden/" + name] = f.read()
        a = TRANSFORM(Image.open(path).convert("RGB")).numpy()
        flat = np.ascontiguousarray(a, "<f4").ravel()
        at = [0, 1, 3135, 3136, len(flat) - 1]
        goldens.append([name, [["pixel_values", 9, 2, list(a.shape), hashlib.sha256(flat.tobytes()).digest(), [[i, float(flat[i])] for i in at]]]])
    table, body = [], b""
    for name in sorted(sections, key=str.encode):
        b = sections[name]
        table.append([name, "other" if name.startswith("model/") else "", len(body), len(b), hashlib.sha256(b).digest()])
        body = align(body + b)
    manifest = pack(["exact", REFERENCE, [["Pillow", "13.0.0"], ["torchvision", "0.29.2"]], table, goldens])
    before = b"IPbundle" + struct.pack("<I", 1)
    after = struct.pack("<IIQ", 64, 0, len(manifest)) + hashlib.sha256(manifest).digest()
    header = before + struct.pack("<I", crc32c(before + after)) + after
    out = os.path.join(ROOT, "bundle")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "torchvision.bundle"), "wb") as f:
        f.write(align(header + manifest) + body)


main()
