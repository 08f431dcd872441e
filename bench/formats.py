"""Writes photographs in another format: formats.py CASE PHOTOS OUT. The files are
named as those of PHOTOS, whatever their format. What Pillow does not write, OpenCV
and zlib do."""
import glob
import os
import struct
import sys
import zlib

import cv2
import numpy as np
from PIL import Image


def saved(convert, **options):
    return lambda x, name: convert(x).save(name, **options)


def png16(x, name):
    wide = np.asarray(x)[..., ::-1].astype(np.uint16)
    ok, b = cv2.imencode(".png", wide * 257)
    assert ok
    with open(name, "wb") as f:
        f.write(b)


def interlaced(x, name):
    """PNG in Adam7's order, each row with the filter of the row above."""
    a = np.asarray(x)
    rows = []
    for x0, y0, dx, dy in (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2):
        p = a[y0::dy, x0::dx]
        if p.size:
            p = p.reshape(len(p), -1)
            p = np.vstack([p[:1], p[1:] - p[:-1]])
            rows += [b"\2" + r.tobytes() for r in p]
    chunk = lambda kind, b: struct.pack(">I", len(b)) + kind + b + struct.pack(">I", zlib.crc32(kind + b))
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", a.shape[1], a.shape[0], 8, 2, 0, 0, 1))
                + chunk(b"IDAT", zlib.compress(b"".join(rows), 6)) + chunk(b"IEND", b""))


def rle(x, name):
    """BMP with run-length encoding: runs of 3 and more, and literals of 3 to 254."""
    x = x.quantize(256)
    colours = np.zeros((256, 4), np.uint8)
    table = np.asarray(x.getpalette(), np.uint8).reshape(-1, 3)
    colours[: len(table), :3] = table[:, ::-1]
    data = bytearray()

    def literal(row, start, end):
        while end - start >= 3:
            n = min(end - start, 254)
            data.extend(bytes([0, n]) + row[start : start + n] + b"\0" * (n % 2))
            start += n
        for i in range(start, end):
            data.extend((1, row[i]))

    for row in np.asarray(x)[::-1]:
        ends = [*(np.flatnonzero(np.diff(row)) + 1), len(row)]
        row, at, begun = row.tobytes(), 0, 0
        for end in map(int, ends):
            if end - at >= 3:
                literal(row, begun, at)
                for i in range(at, end, 255):
                    data.extend((min(255, end - i), row[at]))
                begun = end
            at = end
        literal(row, begun, at)
        data.extend(b"\0\0")
    data.extend(b"\0\1")
    with open(name, "wb") as f:
        f.write(struct.pack("<2sIIIIiiHHIIiiII", b"BM", 1078 + len(data), 0, 1078, 40, x.width, x.height, 1, 8, 1, len(data), 2835, 2835, 256, 0) + colours.tobytes() + data)


def rgba(x):
    x = x.convert("RGBA")
    x.putalpha(Image.linear_gradient("L").resize(x.size))
    return x


def rgb(x):
    return x


def gray(x):
    return x.convert("L")


def palette(x):
    return x.quantize(256)


CASES = {
    "png": saved(rgb, format="PNG"), "png-rgba": saved(rgba, format="PNG"), "png-palette": saved(palette, format="PNG"),
    "png-gray": saved(gray, format="PNG"), "png-16": png16, "png-interlaced": interlaced,
    "webp": saved(rgb, format="WEBP", quality=85), "webp-lossless": saved(rgb, format="WEBP", lossless=True),
    "gif": saved(palette, format="GIF"),
    "bmp": saved(rgb, format="BMP"), "bmp-palette": saved(palette, format="BMP"),
    "bmp-32": saved(lambda x: x.convert("RGBA"), format="BMP"), "bmp-rle": rle,
    "tiff-lzw": saved(rgb, format="TIFF", compression="tiff_lzw"), "tiff-deflate": saved(rgb, format="TIFF", compression="tiff_adobe_deflate"),
    "tiff-packbits": saved(rgb, format="TIFF", compression="packbits"), "tiff": saved(rgb, format="TIFF"),
    "jpeg-progressive": saved(rgb, format="JPEG", quality=90, progressive=True),
    "jpeg-restart": saved(rgb, format="JPEG", quality=75, restart_marker_rows=1),
    "jpeg-95": saved(rgb, format="JPEG", quality=95), "jpeg-gray": saved(gray, format="JPEG", quality=75),
}

case, photos, out = sys.argv[1:]
for name in sorted(glob.glob(os.path.join(glob.escape(photos), "*.jpg"))):
    CASES[case](Image.open(name).convert("RGB"), os.path.join(out, os.path.basename(name)))
