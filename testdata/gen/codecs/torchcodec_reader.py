"""Writes testdata/golden/torchcodec.json: what TorchCodec's decode_image gives for testdata/images and testdata/damaged, and where it finds an
orientation.

Needs torch 2.15.0, torchcodec 0.17.0, numpy 2.4.6 and Pillow 13.0.0. Takes no arguments; running it again gives the same bytes.

images and damaged: for each file the size and the first 16 digits of the SHA-256 of the RGB bytes, "N frames", "undefined" in place of the digest,
or null if the file is refused.
exif: for each block of EXIF whether JPEG, PNG and WebP are turned by its orientation 6.
"""

import hashlib

import numpy as np
from exif_blocks import write
from torchcodec.decoders import decode_image

# Their pixels have indices beyond the colour table, and decode_image reads memory behind it: other bytes in each run.
UNDEFINED = {"gif_short_table.gif", "gif_short_table_transparent.gif"}


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


if __name__ == "__main__":
    write("torchcodec.json", digest, turned)
