"""Compares what infer-prep and Pillow make of damaged PNG and TIFF files, and prints a table.

usage: mutations.py INFER_PREP [N [SEED]]

Makes N (default 1,200) mutations of the PNG files of testdata/images, and as many of the TIFF files: bytes that are changed, left out, repeated or cut
off; fields of chunks (with a checksum that fits, in two of three files) and of directories. Both decode each file to RGB. A file that one refuses and
the other reads, or whose pixels differ, is a disagreement; KNOWN lists those that are, with the reason. Exits with 1 if there are others.
"""

import base64
import collections
import hashlib
import io
import json
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import warnings
import zlib

import PIL
from PIL import Image

warnings.simplefilter("ignore")
IMAGES = pathlib.Path(__file__).resolve().parents[1] / "testdata" / "images"

# Disagreements: a name, what there is to see, and a pattern of infer-prep's message, or "" for pixels.
KNOWN = (
    ("refused by name", "infer-prep refuses", r": unsupported: "),
    ("above a limit of pixels or bytes", "infer-prep refuses", r"limit"),
    ("Zstandard whose bits do not end with the block, which libzstd does not check", "infer-prep refuses", r"corruption detected: (stream overrun|short output block)"),
    ("CCITT strips without a place, for which libtiff decodes the file's first bytes", "infer-prep refuses", r"offsets of \d+ strips or tiles, want"),
    ("Pillow's own check of chunks fails", "Pillow refuses", r"AssertionError"),
)


def bytes_of(r, b):
    """A mutation of any bytes."""
    b = bytearray(b)
    kind = r.choice(("flip", "flip", "set", "set", "few", "cut", "remove", "repeat", "insert", "swap", "zero"))
    at = r.randrange(len(b))
    n = min(r.choice((1, 1, 2, 4, 7, 30)), len(b) - at)
    if kind == "flip":
        b[at] ^= 1 << r.randrange(8)
    elif kind == "set":
        b[at] = r.choice((0, 1, 127, 128, 254, 255, r.randrange(256)))
    elif kind == "few":
        for _ in range(r.randint(2, 6)):
            b[r.randrange(len(b))] = r.randrange(256)
    elif kind == "cut":
        del b[at:]
    elif kind == "remove":
        del b[at : at + n]
    elif kind == "repeat":
        b[at:at] = b[at : at + n]
    elif kind == "insert":
        b[at:at] = r.randbytes(n)
    elif kind == "swap":
        to = r.randrange(len(b) - n + 1)
        b[at : at + n], b[to : to + n] = b[to : to + n], b[at : at + n]
    else:
        b[at : at + n] = bytes(n)
    return kind, bytes(b)


def png(r, b):
    chunks, at = [], 8
    while at + 12 <= len(b):
        n = struct.unpack(">I", b[at : at + 4])[0]
        chunks.append([b[at + 4 : at + 8], b[at + 8 : at + 8 + n]])
        at += 12 + n
    kind = r.choice(("file", "chunk", "chunk", "chunk", "order", "data", "length"))
    if kind == "file":
        return bytes_of(r, b)
    i = r.randrange(len(chunks))
    if kind == "order":
        what = r.choice(("drop", "twice", "move"))
        kind += " " + what
        if what == "drop":
            del chunks[i]
        else:
            c = chunks[i] if what == "twice" else chunks.pop(i)
            chunks.insert(r.randrange(len(chunks) + 1), list(c))
    elif kind == "data":  # the compressed rows, with another division
        data = b"".join(c for t, c in chunks if t == b"IDAT")
        first = [t for t, _ in chunks].index(b"IDAT")
        chunks = [c for c in chunks if c[0] != b"IDAT"]
        if r.random() < 0.6:
            how, data = bytes_of(r, data)
            kind += " " + how
        if r.random() < 0.3:  # a whole stream of other rows
            try:
                rows = zlib.decompress(data)
                data = zlib.compress(bytes_of(r, rows)[1], r.choice((0, 1, 9)))
                kind += " rows"
            except zlib.error:
                pass
        size = r.choice((1, 3, 10, 100, 1 << 20))
        chunks[first:first] = [[b"IDAT", data[k : k + size]] for k in range(0, len(data), size)] or [[b"IDAT", b""]]
    elif kind == "chunk":
        t, c = chunks[i]
        kind += " " + t.decode("latin1")
        if c:
            chunks[i][1] = bytes_of(r, c)[1]
        else:
            chunks[i][1] = r.randbytes(r.randint(1, 5))
        if r.random() < 0.05:
            chunks[i][0] = bytes_of(r, t)[1][:4].ljust(4, b"x")
    out, fits = b[:8], r.random() < 0.67
    for k, (t, c) in enumerate(chunks):
        n, crc = len(c), zlib.crc32(t + c)
        if k == i and kind == "length":
            n = r.choice((0, n + 1, max(n - 1, 0), n + r.randint(1, 300), 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF))
        if k == i and not fits:
            crc ^= r.choice((1, 0xFFFFFFFF))
        out += struct.pack(">I", n) + t + c + struct.pack(">I", crc)
    return kind + ("" if fits else " crc"), out


def tiff(r, b):
    kind = r.choice(("file", "entry", "entry", "entry", "entry", "count", "data"))
    if kind == "file":
        return bytes_of(r, b)
    e = "<" if b[:2] == b"II" else ">"
    big = struct.unpack(e + "H", b[2:4])[0] == 43
    at = struct.unpack(e + ("Q" if big else "I"), b[8:16] if big else b[4:8])[0]
    head, size, word = (8, 20, "Q") if big else (2, 12, "I")
    n = struct.unpack(e + ("Q" if big else "H"), b[at : at + head])[0]
    b = bytearray(b)
    width = 8 if big else 4
    if kind == "count":
        how = r.choice((0, max(n - 1, 0), n + 1, n + 50))
        b[at : at + head] = struct.pack(e + ("Q" if big else "H"), how)
        return "entries", bytes(b)
    if kind == "data":  # bytes outside the directory
        free = [k for k in range(8, len(b)) if not at <= k < at + head + n * size]
        for _ in range(r.choice((1, 1, 3))):
            b[r.choice(free)] = r.randrange(256)
        return kind, bytes(b)
    k = at + head + r.randrange(n) * size
    tag, type = struct.unpack(e + "HH", b[k : k + 4])
    kind = f"tag {tag} "
    what = r.choice(("value", "value", "value", "number", "type", "tag", "swap", "value byte"))
    if what == "value":
        narrow = type == 3 and r.random() < 0.8
        v = r.choice((0, 1, 2, 3, 4, 5, 7, 8, 16, 255, 256, 1000, 65535, r.randrange(1 << 16)) + (() if narrow else (1 << 31, (1 << 32) - 1, len(b), len(b) - 1)))
        b[k + 4 + width : k + 4 + 2 * width] = struct.pack(e + "H", v).ljust(width, b"\0") if narrow else struct.pack(e + word, v)
    elif what == "value byte":
        b[k + 4 + width + r.randrange(width)] = r.randrange(256)
    elif what == "number":
        b[k + 4 : k + 4 + width] = struct.pack(e + word, r.choice((0, 1, 2, 3, 4, 100, 1 << 16, (1 << 32) - 1)))
    elif what == "type":
        b[k + 2 : k + 4] = struct.pack(e + "H", r.choice(list(range(0, 19)) + [255, 65535]))
    elif what == "tag":
        b[k : k + 2] = struct.pack(e + "H", r.choice((tag + 1, 0, 256, 257, 258, 259, 262, 273, 277, 278, 279, 284, 317, 322, 338, 65535)))
    else:
        o = at + head + r.randrange(n) * size
        b[k : k + size], b[o : o + size] = b[o : o + size], b[k : k + size]
    return kind + what, bytes(b)


def pillow(b):
    try:
        with Image.open(io.BytesIO(b)) as im:
            im = im.convert("RGB")
        return (im.size, hashlib.sha256(im.tobytes()).hexdigest()), ""
    except Exception as e:
        return None, f"{type(e).__name__}: {e}"


def main():
    n, seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1200, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the messages of libtiff
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    program = subprocess.Popen([sys.argv[1], "run", "--preset", "decode", "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def infer_prep(b):
        program.stdin.write(json.dumps({"image": base64.b64encode(b).decode()}) + "\n")
        program.stdin.flush()
        a = json.loads(program.stdout.readline())
        if "error" in a:
            return None, a["error"]["message"]
        o = a["outputs"][0]
        return (tuple(o["shape"][1::-1]), hashlib.sha256(base64.b64decode(o["data"])).hexdigest()), ""

    unknown = 0
    for name, pattern, mutate in (("PNG", "png_*.png", png), ("TIFF", "tiff_*.tif*", tiff)):
        bases = [(p.name, p.read_bytes()) for p in sorted(IMAGES.glob(pattern)) if p.stat().st_size < 20000]
        r = random.Random(seed)
        table, named = collections.Counter(), collections.Counter()
        for i in range(n):
            base, b = bases[i % len(bases)]
            kind, b = mutate(r, b)
            (ours, message), (want, why) = infer_prep(b), pillow(b)
            if ours == want:
                table["both read it, equal" if want else "both refuse it"] += 1
                continue
            what = "pixels differ" if ours and want else "infer-prep refuses" if want else "Pillow refuses"
            known = [k for k, w, m in KNOWN if w == what and re.search(m, message or why)]
            if known:
                table["a known disagreement"] += 1
                named[f"{what}: {known[0]}"] += 1
                continue
            unknown += 1
            table["DISAGREE"] += 1
            print(f"{base}, mutation {i} ({kind}): {what}: {(message or why)[:160]}")
            if len(sys.argv) > 4:
                (pathlib.Path(sys.argv[4]) / f"{i}-{base}").write_bytes(b)
        print(f"{name}: {n} mutations of {len(bases)} files, Pillow {PIL.__version__}: " + ", ".join(f"{v} {k}" for k, v in sorted(table.items())))
        for k, v in sorted(named.items()):
            print(f"  {v:4} {k}")
    program.stdin.close()
    sys.exit(unknown > 0)


if __name__ == "__main__":
    main()
