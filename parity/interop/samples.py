"""The samples that the peers of interop.py write: the same in every peer and at every run."""

import hashlib
import json
import random
import struct
import zlib

MAGIC = struct.pack("<I", 0xCED7230A)  # RecordIO's


def png(rng, n):
    """Returns an uncompressed PNG of 4 x 4 RGB pixels, with a comment that may contain RecordIO's magic word."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + rng.randbytes(12) for _ in range(4))
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows + struct.pack(">I", zlib.adler32(rows))
    text = b"c\0" + b"x" * rng.randrange(60) + MAGIC * (n % 4) + b"y" * rng.randrange(8)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)) + chunk(b"tEXt", text) + chunk(b"IDAT", stored) + chunk(b"IEND", b"")


def images(count=200):
    """Returns (number, image) pairs."""
    rng = random.Random(7)
    return [(n, png(rng, n)) for n in range(count)]


def payloads(count=200):
    """Returns bytes of many lengths, some empty and some with magic words."""
    rng = random.Random(11)
    out = [b"", MAGIC, MAGIC * 2, b"abcd" + MAGIC + b"efgh", b"abc" + MAGIC + b"x", MAGIC + b"a"]
    while len(out) < count:
        b = bytearray(rng.randbytes(rng.choice((0, 1, 3, 4, 100, 5000))))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(b) + 1)
            b[at:at] = MAGIC
        out.append(bytes(b))
    return out


def field(data):
    """Describes a field: bytes, text or a NumPy array."""
    if isinstance(data, str):
        data = data.encode()
    if isinstance(data, (bytes, bytearray)):
        return {"dtype": "bytes", "shape": [], "sha256": hashlib.sha256(data).hexdigest()}
    dtype = data.dtype.newbyteorder("<")
    return {"dtype": data.dtype.name, "shape": list(data.shape), "sha256": hashlib.sha256(data.astype(dtype).tobytes()).hexdigest()}


def show(key, fields):
    """Prints a record as a line of JSON."""
    print(json.dumps({"key": str(key), "fields": {k: field(v) for k, v in fields.items()}}, sort_keys=True))
