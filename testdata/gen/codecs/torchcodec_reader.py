"""Writes testdata/golden/torchcodec.json: what TorchCodec's decode_image gives for testdata/images and testdata/damaged, and where it finds an
orientation.

Needs torch 2.15.0, torchcodec 0.17.0, numpy 2.4.6 and Pillow 13.0.0. Takes no arguments; running it again gives the same bytes.

images and damaged: for each file the size and the first 16 digits of the SHA-256 of the RGB bytes, "N frames", "undefined" in place of the digest,
or null if the file is refused.
exif: for each block of EXIF whether JPEG, PNG and WebP are turned by its orientation 6.
"""

import hashlib
import json
import pathlib

import numpy as np
from exif_blocks import blocks, files
from torchcodec.decoders import decode_image

# Their pixels have indices beyond the colour table, and decode_image reads memory behind it: other bytes in each run.
UNDEFINED = {"gif_short_table.gif", "gif_short_table_transparent.gif"}

ROOT = pathlib.Path(__file__).resolve().parents[3]


def read(data):
    try:
        return decode_image(data, mode="RGB").numpy()
    except (RuntimeError, ValueError):  # ValueError: a format that it does not read
        return None


def digest(path):
    a = read(path.read_bytes())
    if a is None:
        return None
    if a.ndim == 4:
        return f"{len(a)} frames"
    if path.name in UNDEFINED:
        return f"{a.shape[2]}x{a.shape[1]} undefined"
    pixels = np.ascontiguousarray(a.transpose(1, 2, 0))
    return f"{a.shape[2]}x{a.shape[1]} {hashlib.sha256(pixels.tobytes()).hexdigest()[:16]}"


def turned(data):
    _, h, w = read(data).shape
    return h > w


def main():
    lines = []
    for folder in ("images", "damaged"):
        entries = [f"{json.dumps(p.name)}:{json.dumps(digest(p))}" for p in sorted((ROOT / "testdata" / folder).iterdir())]
        lines.append(f'"{folder}":{{\n' + ",\n".join(entries) + "\n}")
    exif = [json.dumps({"name": n, "block": b.hex(), "turned": [turned(f) for f in files(b)]}) for n, b in blocks()]
    lines.append('"exif":[\n' + ",\n".join(exif) + "\n]")
    (ROOT / "testdata" / "golden" / "torchcodec.json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
