"""Makes testdata/golden/encode.json: digests of the JPEG files that Pillow and OpenCV write.

Needs Pillow 13.0.0, numpy 2.4.6 and opencv-python-headless 5.0.0.93. Takes no arguments; running it again gives the
same bytes.

The pixels come from formulas that codec/jpeg/encode_test.go repeats, so that the goldens are small. Each case is a list:

  width, height, channels, kind of pixels (below),
  dialect: 0 Pillow, 1 OpenCV,
  quality and quality of chroma, 0 for the default,
  chroma: 0 default, 1 4:2:0, 2 4:2:2, 3 4:4:4, 4 4:4:0, 5 4:1:1,
  flags: 1 optimize, 2 progressive,
  MCUs between restart markers, rows of MCUs between them,
  the first 16 digits of the file's SHA-256
"""

import hashlib
import io
import json
import pathlib
import random
import sys

import cv2
import numpy
import PIL
from PIL import Image, ImageFile

WANT = {"Pillow": "13.0.0", "numpy": "2.4.6", "OpenCV": "5.0.0"}
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

SIZES = [(1, 1), (17, 1), (1, 33), (8, 8), (16, 16), (15, 17), (50, 31), (48, 64), (129, 7), (75, 100), (161, 113)]
QUALITIES = [0, 0, 1, 30, 75, 90, 95, 100, 2, 10, 24, 25, 49, 50, 51, 60, 85, 99]
FACTORS = [None, 0x221111, 0x211111, 0x111111, 0x121111, 0x411111]
SUBSAMPLING = [None, 2, 1, 0]
ImageFile.MAXBLOCK = 1 << 24  # Pillow fails if an optimized or progressive file is larger than its buffer


def noise(n):
    """The noise of element n: 32 bits."""
    v = n.astype(numpy.uint32) * numpy.uint32(2654435761)
    v ^= v >> numpy.uint32(15)
    v *= numpy.uint32(2246822519)
    return v ^ v >> numpy.uint32(13)


def triangle(n, period):
    """A wave from 0 to period with slopes of 1."""
    return numpy.abs(n % (2 * period) - period)


def pixels(w, h, ch, kind):
    y, x, c = numpy.mgrid[0:h, 0:w, 0:ch]
    n = noise((y * w + x) * ch + c)
    if kind == 0:  # noise
        v = n
    elif kind == 1:  # black and white
        v = (n & 1) * 255
    elif kind == 2:  # gradients with jumps
        v = 3 * x + 5 * y * (c + 1)
    elif kind == 3:  # waves with a little noise
        v = triangle(x + 9 * c, 63) + triangle(y + x // 3, 97) + 30 * c + n % 7
    elif kind == 4:  # one colour
        v = 0 * x + 200 - 60 * c
    else:  # steps of noise on one colour, in few blocks
        far = noise((y // 24 * w + x // 40) + 0 * c) % 16 == 0
        v = numpy.where(far, n % 64, 0) + 90 + 10 * c
    return (v & 255).astype(numpy.uint8)


def pillow(a, quality, chroma, optimize, progressive, blocks, rows):
    ch = a.shape[2]
    o = {}
    if quality:
        o["quality"] = quality
    if chroma:
        o["subsampling"] = SUBSAMPLING[chroma]
    f = io.BytesIO()
    m = Image.fromarray(a[..., 0] if ch == 1 else a, {1: "L", 3: "RGB", 4: "CMYK"}[ch])
    m.save(f, "JPEG", optimize=optimize, progressive=progressive, restart_marker_blocks=blocks, restart_marker_rows=rows, **o)
    return f.getvalue()


def opencv(a, quality, chroma_quality, chroma, optimize, progressive, blocks):
    o = []
    if chroma_quality:
        o += [cv2.IMWRITE_JPEG_LUMA_QUALITY, quality, cv2.IMWRITE_JPEG_CHROMA_QUALITY, chroma_quality]
    elif quality:
        o += [cv2.IMWRITE_JPEG_QUALITY, quality]
    if chroma:
        o += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, FACTORS[chroma]]
    o += [cv2.IMWRITE_JPEG_OPTIMIZE, optimize, cv2.IMWRITE_JPEG_PROGRESSIVE, progressive, cv2.IMWRITE_JPEG_RST_INTERVAL, blocks]
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[a.shape[2]]
    ok, b = cv2.imencode(".jpg", numpy.ascontiguousarray(a[..., order]), o)
    assert ok
    return b.tobytes()


def case(w, h, ch, kind, dialect, quality=0, chroma_quality=0, chroma=0, flags=0, blocks=0, rows=0):
    a = pixels(w, h, ch, kind)
    if dialect == 0:
        f = pillow(a, quality, chroma, bool(flags & 1), bool(flags & 2), blocks, rows)
    else:
        f = opencv(a, quality, chroma_quality, chroma, flags & 1, flags >> 1, blocks)
    return [w, h, ch, kind, dialect, quality, chroma_quality, chroma, flags, blocks, rows, hashlib.sha256(f).hexdigest()[:16]]


def main():
    have = {"Pillow": PIL.__version__, "numpy": numpy.__version__, "OpenCV": cv2.__version__}
    if have != WANT:
        sys.exit(f"have {have}, want {WANT}")
    cases = []
    r = random.Random(1)
    for i in range(2800):
        w, h = r.choice(SIZES)
        dialect = r.randrange(2)
        quality = r.choice(QUALITIES)
        flags = r.randrange(4)
        ch, kind = r.choice([1, 3, 3, 3, 4]), r.randrange(6)
        chroma_quality = blocks = rows = 0
        if dialect == 0:
            chroma = r.randrange(4)
        else:
            chroma = r.randrange(6)
            if quality and r.randrange(4) == 0:
                chroma_quality = r.choice(QUALITIES[2:])
        if r.randrange(3) == 0:
            blocks = r.choice([1, 2, 3, 7, 100, 65535])
            if dialect == 0 and r.randrange(2):
                rows = r.choice([1, 2, 65535])
        cases.append(case(w, h, ch, kind, dialect, quality, chroma_quality, chroma, flags, blocks, rows))
    # Large images: long runs of empty blocks, many correction bits, many tokens.
    for kind, q in ((4, 75), (5, 20), (5, 75), (3, 90)):
        cases.append(case(2111, 1203, 1, kind, 0, q, flags=2))
    for flags in range(4):
        cases.append(case(701, 503, 3, 3, flags & 1, 85, flags=flags))
        cases.append(case(301, 203, 3, 0, 0, 100, chroma=3, flags=flags))
    with open(ROOT / "golden" / "encode.json", "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")


main()
