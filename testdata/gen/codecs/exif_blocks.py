"""Blocks of EXIF that readers take differently, files that have them, and the golden of a reader."""

import io
import json
import pathlib
import struct
import zlib

from PIL import Image

TESTDATA = pathlib.Path(__file__).resolve().parents[2]


def tiff(entries, end="<", extra=b"", count=None, mark=42):
    """A TIFF header and a directory of (tag, type, count, four bytes)."""
    b = (b"II" if end == "<" else b"MM") + struct.pack(end + "HI", mark, 8)
    b += struct.pack(end + "H", len(entries) if count is None else count)
    for tag, kind, n, value in entries:
        b += struct.pack(end + "HHI", tag, kind, n) + value
    return b + struct.pack(end + "I", 0) + extra


def blocks():
    six, beyond = b"\6\0\0\0", struct.pack("<I", 5000)
    turn = (274, 3, 1, six)
    yield "SHORT", tiff([turn])
    yield "SHORT, big-endian", tiff([(274, 3, 1, b"\0\6\0\0")], ">")
    for name, kind in (("BYTE", 1), ("LONG", 4), ("type 0", 0), ("type 99", 99)):
        yield name, tiff([(274, kind, 1, six)])
        yield name + ", big-endian", tiff([(274, kind, 1, six if kind == 1 else b"\0\0\0\6")], ">")
    yield "RATIONAL", tiff([(274, 5, 1, struct.pack("<I", 26))], extra=struct.pack("<II", 6, 1))
    yield "RATIONAL at 6", tiff([(274, 5, 1, six)], extra=struct.pack("<II", 1, 1))
    yield "no value", tiff([(274, 3, 0, six)])
    yield "nine values", tiff([(274, 3, 9, six)])
    yield "9", tiff([(274, 3, 1, b"\x09\0\0\0")])
    yield "1, then 6", tiff([(274, 3, 1, b"\1\0\0\0"), turn])
    yield "6, then 1", tiff([turn, (274, 3, 1, b"\1\0\0\0")])
    yield "BigTIFF", tiff([turn], mark=43)
    yield "XX", b"XX" + tiff([(274, 3, 1, b"\0\6\0\0")], ">")[2:]
    yield "IM", b"IM" + tiff([turn])[2:]
    yield "count too large", tiff([turn], count=5)
    yield "count 0", tiff([turn], count=0)
    for cut in (4, 6, 7, 14, 16):
        yield f"cut by {cut}", tiff([turn])[:-cut]
    for tag in (0x10E, 0x10F, 0x110, 0x131, 0x132, 0x13B, 0x8298, 0x9999):
        yield f"text {tag:#x} beyond, then 6", tiff([(tag, 2, 100, beyond), turn])
        yield f"6, then text {tag:#x} beyond", tiff([turn, (tag, 2, 100, beyond)])
        yield f"short text {tag:#x}", tiff([(tag, 2, 4, beyond), turn])
    for tag in (0x11A, 0x11B, 0x13E, 0x13F, 0x211, 0x214):
        for at in (5000, 10, 30):
            yield f"fraction {tag:#x} at {at}", tiff([(tag, 5, 1, struct.pack("<I", at)), turn])
    for tag in (0x128, 0x213):
        yield f"number {tag:#x}", tiff([(tag, 3, 1, beyond), turn])


def files(block):
    """JPEG, PNG and WebP of 30 x 20 pixels with the block."""
    im = Image.new("RGB", (30, 20))

    def save(kind):
        b = io.BytesIO()
        im.save(b, kind)
        return b.getvalue()

    j, p, w = save("JPEG"), save("PNG"), save("WEBP")
    yield j[:20] + struct.pack(">BBH", 255, 0xE1, len(block) + 8) + b"Exif\0\0" + block + j[20:]
    yield p[:33] + struct.pack(">I", len(block)) + b"eXIf" + block + struct.pack(">I", zlib.crc32(b"eXIf" + block)) + p[33:]
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes([8, 0, 0, 0, 29, 0, 0, 19, 0, 0]) + w[12:]
    body += b"EXIF" + struct.pack("<I", len(block)) + block + b"\0" * (len(block) & 1)
    yield b"RIFF" + struct.pack("<I", len(body)) + body


def write(name, digest, turned):
    """Writes the golden of a reader: digest of each file of testdata/images and testdata/damaged, and turned of each file with a block."""
    lines = []
    for folder in ("images", "damaged"):
        entries = [f"{json.dumps(p.name)}:{json.dumps(digest(p))}" for p in sorted((TESTDATA / folder).iterdir())]
        lines.append(f'"{folder}":{{\n' + ",\n".join(entries) + "\n}")
    exif = [json.dumps({"name": n, "block": b.hex(), "turned": [turned(f) for f in files(b)]}) for n, b in blocks()]
    lines.append('"exif":[\n' + ",\n".join(exif) + "\n]")
    (TESTDATA / "golden" / name).write_text("{" + ",\n".join(lines) + "}\n")
