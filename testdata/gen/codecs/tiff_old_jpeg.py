"""Writes codec/tiff/testdata/old_jpeg.json: small TIFF files of old JPEG (compression 6), and what Pillow reads of them.

Needs Pillow 13.0.0 (libtiff 4.7.2) and numpy. With a number, such as 400, it prints as many random files instead, for
`go test ./codec/tiff -run TestOldJPEG -args -oldjpeg FILE`.
"""

import base64
import hashlib
import io
import json
import os
import pathlib
import random
import struct
import sys
import warnings

import numpy as np
from PIL import Image

warnings.simplefilter("ignore")
OUT = pathlib.Path(__file__).resolve().parents[3] / "codec" / "tiff" / "testdata" / "old_jpeg.json"
SUBSAMPLING = {(1, 1): 0, (2, 1): 1, (2, 2): 2}


def picture(w, h, seed):
    rng = np.random.RandomState(seed)
    y, x = np.mgrid[:h, :w]
    a = np.stack([128 + 100 * np.sin(x / 7), 128 + 90 * np.cos(y / 5 + x / 11), x * 255 / w], -1) + rng.normal(0, 20, (h, w, 3))
    return a.clip(0, 255).astype(np.uint8)


def jpeg(a, sub, quality):
    """The segments of a JPEG by marker, and its entropy-coded data."""
    b = io.BytesIO()
    Image.fromarray(a).save(b, "JPEG", quality=quality, subsampling=SUBSAMPLING[sub])
    b = b.getvalue()
    segments, at = [], 2
    while True:
        m, n = b[at + 1], struct.unpack(">H", b[at + 2 : at + 4])[0]
        segments.append((m, b[at + 4 : at + 2 + n]))
        at += 2 + n
        if m == 0xDA:
            return segments, b[at:-2]


def make(r):
    """A file."""
    sub = r.choice(list(SUBSAMPLING))
    w, h, quality, e = r.randint(1, 70), r.randint(1, 60), r.choice((30, 75, 92)), r.choice("<>")
    kind = r.choice(("format", "header", "tables", "strip header"))
    tile = kind == "tables" and r.random() < 0.3
    mcu_w, mcu_h = 8 * sub[0], 8 * sub[1]
    rows = r.choice((h, mcu_h, 2 * mcu_h)) if kind in ("header", "tables") and not tile else h
    rows = h if rows > h else rows
    width = w
    if tile:
        width, rows = -(-w // mcu_w) * mcu_w + r.choice((0, mcu_w)), -(-h // mcu_h) * mcu_h
    n = -(-h // rows)
    a = np.zeros((n * rows, width, 3), np.uint8)
    a[:h, :w] = picture(w, h, r.randrange(1 << 30))
    parts = [jpeg(a[i * rows : (i + 1) * rows], sub, quality) for i in range(n)]
    segments = parts[0][0]
    data = [p[1] for p in parts]
    if r.random() < 0.1:
        data[-1] = data[-1][: len(data[-1]) // 2]
    head = b"\xff\xd8"
    for m, s in segments:
        if m == 0xC0:
            s = s[:1] + struct.pack(">HH", n * rows, width) + s[5:]
        if m != 0xE0 or r.random() < 0.5:
            head += struct.pack(">BBH", 0xFF, m, len(s) + 2) + s
    tags, body = {}, bytearray()

    def put(b):
        at = 8 + len(body)
        body.extend(b + b"\0" * (len(b) % 2))
        return at

    offsets = []
    if kind == "format":
        at = put(head + data[0] + b"\xff\xd9")
        offsets, tags[513] = [at + len(head)], (4, [at])
        if r.random() < 0.7:
            tags[514] = (4, [len(head) + len(data[0]) + 2])
    elif kind == "strip header":
        data[0] = head + data[0] + b"\xff\xd9"
        offsets = [put(data[0])]
    else:
        if kind == "header":
            tags[513], tags[514] = (4, [put(head)]), (4, [len(head)])
        else:
            q = [s[k + 1 : k + 65] for m, s in segments if m == 0xDB for k in range(0, len(s), 65)]
            dc, ac = [], []
            for m, s in segments:
                while m == 0xC4 and s:
                    size = 17 + sum(s[1:17])
                    (ac if s[0] & 16 else dc).append(s[1:size])
                    s = s[size:]
            for tag, l in ((519, q), (520, dc), (521, ac)):
                at = [put(t) for t in l]
                tags[tag] = (4, [at[0], at[-1], at[-1]])
        offsets = [put(d) for d in data]
    tags[256], tags[257], tags[259], tags[262] = (r.choice((3, 4)), [w]), (3, [h]), (3, [6]), (3, [6])
    if r.random() < 0.9:
        tags[258] = (3, [8, 8, 8])
    if r.random() < 0.8:
        tags[277] = (3, [3])
    if r.random() < 0.8:
        tags[284] = (3, [1])
    tags[512] = (3, [1])
    if sub != (2, 2) or r.random() < 0.5:
        tags[530] = (3, list(sub))
    if tile:
        tags[322], tags[323], tags[324], tags[325] = (4, [width]), (4, [rows]), (4, offsets), (4, [len(d) for d in data])
    else:
        tags[273], tags[279] = (4, offsets), (4, [len(d) for d in data])
        if n > 1 or r.random() < 0.7:
            tags[278] = (4, [rows])
    if r.random() < 0.3:
        bw = r.choice(([16, 235, 128, 240, 128, 240], [0, 255, 128, 255, 128, 255]))
        tags[532] = r.choice(((4, bw), (5, [x for v in bw for x in (v, 1)])))
    if r.random() < 0.2:
        tags[529] = (5, [299, 1000, 587, 1000, 114, 1000] if r.random() < 0.5 else [2125, 10000, 7154, 10000, 721, 10000])
    entries = b""
    for tag, (t, v) in sorted(tags.items()):
        b = struct.pack(f"{e}{len(v)}{'H' if t == 3 else 'I'}", *v)
        count = len(v) // (2 if t == 5 else 1)
        entries += struct.pack(e + "HHI", tag, t, count) + (b.ljust(4, b"\0") if len(b) <= 4 else struct.pack(e + "I", put(b)))
    at = 8 + len(body)
    return kind, {"<": b"II", ">": b"MM"}[e] + struct.pack(e + "HI", 42, at) + bytes(body) + struct.pack(e + "H", len(tags)) + entries + bytes(4)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    r, out = random.Random(n), []
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the messages of libtiff
    for _ in range(n):
        kind, b = make(r)
        g = {"kind": kind, "file": base64.b64encode(b).decode()}
        try:
            im = Image.open(io.BytesIO(b)).convert("RGB")
            g |= {"size": im.size, "rgb": hashlib.sha256(im.tobytes()).hexdigest()[:16]}
        except Exception as x:
            g["error"] = f"{type(x).__name__}: {x}"
        out.append(g)
    if len(sys.argv) > 1:
        json.dump(out, sys.stdout)
    else:
        OUT.write_text(json.dumps(out, indent=0) + "\n")


if __name__ == "__main__":
    main()
