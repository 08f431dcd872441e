"""Makes codec/animation/testdata/animations.json: animated GIF, PNG and WebP files, and the frames that Pillow makes of them.

Frames are those of ImageSequence.Iterator, each converted to RGB before the next is asked for. The files are written by this
script, so that they have what encoders avoid. Needs Pillow 13.0.0 and numpy. Running it again gives the same bytes. With a
number, such as 400, it prints that many other files of each format instead, for
`go test ./codec/animation -run TestAnimations -args -animations FILE`.
"""

import base64
import hashlib
import io
import json
import pathlib
import random
import struct
import sys
import warnings
import zlib

import numpy as np
from PIL import Image, ImageSequence

warnings.simplefilter("ignore")
OUT = pathlib.Path(__file__).resolve().parents[3] / "codec" / "animation" / "testdata" / "animations.json"


def part(r, w, h, even=False):
    """x, y, width and height of a part of the canvas."""
    if r.random() < 0.25:
        return 0, 0, w, h
    pw, ph = r.randint(1, w), r.randint(1, h)
    x, y = r.randint(0, w - pw), r.randint(0, h - ph)
    return (x & ~1, y & ~1, pw, ph) if even else (x, y, pw, ph)


def lzw(pixels, bits):
    """Literals only: the table is cleared before codes grow."""
    clear, out, n = 1 << bits, 0, 0
    codes, most = [], max((1 << bits) - 2, 1)
    for i in range(0, len(pixels), most):
        codes += [clear] + list(pixels[i : i + most])
    for c in codes + [clear + 1]:
        out |= c << n
        n += bits + 1
    b = out.to_bytes((n + 7) // 8, "little")
    return b"".join(bytes([len(b[i : i + 255])]) + b[i : i + 255] for i in range(0, len(b), 255)) + b"\0"


def table(r, bits, gray):
    n = 2 << bits
    return b"".join(bytes([i, i, i]) if gray else r.randbytes(3) for i in range(n))


def gif(r):
    w, h = r.randint(1, 13), r.randint(1, 13)
    gray = r.random() < 0.2
    screen_bits = r.choice([0, 1, 2, 4])
    has_screen = r.random() < 0.8
    b = b"GIF89a" + struct.pack("<HHBBB", w, h, (0x80 | screen_bits) if has_screen else 0, r.randint(0, 40) if r.random() < 0.3 else r.randint(0, (2 << screen_bits) - 1), 0)
    if has_screen:
        b += table(r, screen_bits, gray)
    delay = r.randint(0, 200)
    for i in range(r.randint(2, 6)):
        x, y, pw, ph = part(r, w, h)
        if i == 0 and r.random() < 0.1:
            pw += r.randint(0, 3)  # the first frame enlarges the screen
        local = r.random() < (0.3 if has_screen else 0.95)
        bits = r.choice([0, 1, 2, 4]) if local else screen_bits
        if r.random() < 0.9:
            transparent = r.random() < 0.5
            index = r.randint(0, (2 << bits) - 1) if r.random() < 0.9 else r.randint(0, 255)
            disposal = r.choice([0, 1, 1, 2, 2, 3, 3, r.randint(4, 7)])
            d = delay if r.random() < 0.8 else r.randint(0, 200)
            b += struct.pack("<BBBBHBB", 0x21, 0xF9, 4, disposal << 2 | transparent, d, index, 0)
        if r.random() < 0.1:
            b += b"!\xfe\3abc\0"
        interlaced = r.random() < 0.2
        b += struct.pack("<BHHHHB", 0x2C, x, y, pw, ph, (0x80 | bits if local else 0) | interlaced << 6)
        if local:
            b += table(r, bits, gray or r.random() < 0.1)
        code = max(bits + 1, 2)
        extra = 1 if r.random() < 0.9 else 2  # indices beyond the table
        top = min((2 << bits) * extra, 1 << code) - 1
        b += bytes([code]) + lzw([r.randint(0, top) for _ in range(pw * ph)], code)
    return b + b";"


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(r):
    w, h = r.randint(1, 13), r.randint(1, 13)
    color, depth = r.choice([(2, 8), (2, 8), (6, 8), (6, 8), (6, 8), (3, 8), (3, 4), (3, 1), (0, 8), (0, 2), (0, 1), (4, 8), (4, 16), (6, 16), (2, 16), (0, 16)])
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    few = r.random() < 0.5  # few values, so that colours are equal to the key, or alpha is 0 or 255

    def pixels(pw, ph):
        row = (pw * channels * depth + 7) // 8
        if few and depth >= 8:
            rows = [bytes(r.choice([0, 255]) for _ in range(row)) for _ in range(ph)]
        else:
            rows = [r.randbytes(row) for _ in range(ph)]
        return zlib.compress(b"".join(b"\0" + v for v in rows))

    b = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, 0))
    n, default = r.randint(1, 5), r.random() < 0.25
    acTL = chunk(b"acTL", struct.pack(">II", n, 0))
    before = r.random() < 0.5
    if before:
        b += acTL
    if color == 3:
        b += chunk(b"PLTE", r.randbytes(3 * r.randint(1, 1 << depth)))
    if color in (0, 2, 3) and r.random() < 0.5:
        if color == 3:
            values = [0, 255] if r.random() < 0.6 else range(256)
            b += chunk(b"tRNS", bytes(r.choice(values) for _ in range(r.randint(1, 1 << depth))))
        else:
            b += chunk(b"tRNS", b"".join(struct.pack(">H", r.choice([0, 255])) for _ in range(channels)))
    if not before:
        b += acTL
    if default:
        b += chunk(b"IDAT", pixels(w, h))
    seq, delay = 0, (r.randint(0, 9), r.choice([0, 10, 24, 30, 1000]))
    for i in range(n):
        x, y, pw, ph = part(r, w, h)
        if i == 0 and not default and r.random() < 0.8:
            x, y, pw, ph = 0, 0, w, h
        d = delay if r.random() < 0.8 else (r.randint(0, 9), 25)
        b += chunk(b"fcTL", struct.pack(">IIIIIHHBB", seq, pw, ph, x, y, *d, r.randint(0, 2), r.randint(0, 1)))
        seq += 1
        data = pixels(pw, ph)
        cut = r.randint(1, len(data))
        for s in (data[:cut], data[cut:]) if r.random() < 0.3 else (data,):
            if i == 0 and not default:
                b += chunk(b"IDAT", s)
            else:
                b += chunk(b"fdAT", struct.pack(">I", seq) + s)
                seq += 1
        if r.random() < 0.1:
            b += chunk(b"tEXt", b"a\0b")
    return b + chunk(b"IEND", b"")


def webp(r):
    w, h = r.randint(1, 20), r.randint(1, 20)
    frames, delay = b"", r.randint(0, 300)
    for i in range(r.randint(2, 6)):
        x, y, pw, ph = part(r, w, h, True)
        alpha = r.random() < 0.6
        a = np.frombuffer(r.randbytes(pw * ph * 4), np.uint8).reshape(ph, pw, 4).copy()
        if r.random() < 0.5:
            a[..., 3] = a[..., 3] // 128 * 255
        f = io.BytesIO()
        Image.fromarray(a if alpha else a[..., :3].copy()).save(f, "WEBP", lossless=r.random() < 0.5, exact=True, quality=r.choice([30, 90]))
        data, p, body = f.getvalue(), 12, b""
        while p < len(data):
            size = struct.unpack("<I", data[p + 4 : p + 8])[0]
            if data[p : p + 4] in (b"ALPH", b"VP8 ", b"VP8L"):
                body += data[p : p + 8 + size + size % 2]
            p += 8 + size + size % 2
        d = delay if r.random() < 0.8 else r.randint(0, 300)
        le24 = lambda v: struct.pack("<I", v)[:3]
        head = le24(x // 2) + le24(y // 2) + le24(pw - 1) + le24(ph - 1) + le24(d) + bytes([r.randint(0, 3)])
        frames += b"ANMF" + struct.pack("<I", len(head) + len(body)) + head + body
    flags = 2 | (16 if r.random() < 0.8 else 0)
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes([flags, 0, 0, 0]) + struct.pack("<I", w - 1)[:3] + struct.pack("<I", h - 1)[:3]
    body += b"ANIM" + struct.pack("<I", 6) + r.randbytes(4) + b"\0\0" + frames
    return b"RIFF" + struct.pack("<I", len(body)) + body


def golden(kind, data):
    c = {"format": kind, "file": base64.b64encode(data).decode()}
    try:
        c["frames"], c["durations"] = [], []
        with Image.open(io.BytesIO(data)) as im:
            for f in ImageSequence.Iterator(im):
                rgb = np.asarray(f.convert("RGB"))
                c["size"] = [rgb.shape[1], rgb.shape[0]]
                c["frames"].append(hashlib.sha256(rgb.tobytes()).hexdigest()[:16])
                c["durations"].append(f.info.get("duration"))
    except Exception as e:
        c["error"] = type(e).__name__
    return c


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    r = random.Random(39 + count)
    l = [json.dumps(golden(make.__name__, make(r))) for make in (gif, png, webp) for _ in range(count)]
    text = "[\n" + ",\n".join(l) + "\n]\n"
    if len(sys.argv) > 1:
        print(text, end="")
        return
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(text)


main()
