"""Makes internal/kernel/testdata/idct_reduced.bin: what libjpeg-turbo makes of blocks
of coefficients, at full size and at a half, a quarter and an eighth of it.

Little-endian records, until the end of the file:

  64 uint16        quantizers, in natural order
  uint16           n, the number of blocks
  n times 64 int16 coefficients, in natural order
  n times 64, n times 16, n times 4, n times 1 bytes: samples of each block, row by row

The blocks are the row of a gray JPEG file that is written here, and the samples
what Pillow's draft mode decodes from it. Needs Pillow 13.0.0 and numpy 2.4.6. Takes
no arguments; running it again gives the same bytes.
"""

import io
import pathlib
import struct
import sys

import numpy
import PIL
from PIL import Image

WANT = {"Pillow": "13.0.0", "numpy": "2.4.6"}
OUT = pathlib.Path(__file__).resolve().parents[3] / "internal/kernel/testdata/idct_reduced.bin"
BLOCKS = 56

# Diagonal by diagonal, every other one upwards.
ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))


def segment(marker, payload):
    return bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload


def huffman(table_class):
    """All symbols have codes of 8 bits, their own values; that of all ones may not be."""
    symbols = list(range(16)) if table_class == 0 else list(range(255))
    counts = [0] * 16
    counts[7] = len(symbols)
    return segment(0xC4, bytes([table_class << 4] + counts + symbols))


class Bits:
    def __init__(self):
        self.bits = []

    def put(self, value, n):
        self.bits += [value >> i & 1 for i in reversed(range(n))]

    def signed(self, v, n):
        self.put(v if v > 0 else v + (1 << n) - 1, n)

    def bytes(self):
        bits = self.bits + [1] * (-len(self.bits) % 8)
        return numpy.packbits(numpy.array(bits, numpy.uint8)).tobytes().replace(b"\xff", b"\xff\x00")


def jpeg(quant, blocks):
    """A gray file of extended sequential mode, which may have quantizers of 16 bits."""
    out = b"\xff\xd8"
    out += segment(0xDB, b"\x10" + b"".join(struct.pack(">H", quant[k]) for k in ZIGZAG))
    out += segment(0xC1, struct.pack(">BHHB", 8, 8, 8 * len(blocks), 1) + b"\x01\x11\x00")
    out += huffman(0) + huffman(1)
    out += segment(0xDA, b"\x01\x01\x00\x00\x3f\x00")
    w, pred = Bits(), 0
    for b in blocks:
        diff, pred = int(b[0]) - pred, int(b[0])
        n = abs(diff).bit_length()
        assert n < 16, diff
        w.put(n, 8)
        w.signed(diff, n)
        run = 0
        for k in ZIGZAG[1:]:
            v = int(b[k])
            if v == 0:
                run += 1
                continue
            while run > 15:
                w.put(0xF0, 8)
                run -= 16
            n = abs(v).bit_length()
            assert n < 16, v
            assert run < 15 or n < 15
            w.put(run << 4 | n, 8)
            w.signed(v, n)
            run = 0
        if run:
            w.put(0, 8)
    return out + w.bytes() + b"\xff\xd9"


def decoded(data, scale):
    im = Image.open(io.BytesIO(data))
    size = im.size
    if scale > 1:
        im.draft("L", (size[0] // scale, size[1] // scale))
    a = numpy.asarray(im)
    side = 8 // scale
    assert a.shape == (side, size[0] // scale), (a.shape, size, scale)
    return a.reshape(side, -1, side).transpose(1, 0, 2).tobytes()


def block(r, limits, top, zeros):
    """Coefficients of magnitude up to top at zigzag indexes up to one of limits, some of them 0."""
    b = numpy.zeros(64, int)
    last = limits[r.integers(len(limits))]
    b[ZIGZAG[: last + 1]] = r.integers(-top, top + 1, last + 1)
    b[r.random(64) < zeros] = 0
    if r.random() < 0.2:
        b[8:] = 0  # the first row alone
    if r.random() < 0.1:
        b[8:32] = b[40:] = 0  # and the fifth, which a half of the size does not use
    return b


def main():
    have = {"Pillow": PIL.__version__, "numpy": numpy.__version__}
    if have != WANT:
        sys.exit(f"have {have}, want {WANT}")
    r = numpy.random.Generator(numpy.random.PCG64(20))
    limits = [0, 2, 5, 9, 10, 14, 20, 35, 63]
    photo = numpy.array([3 + (i // 8) * 2 + i % 8 * 2 for i in range(64)])
    out = b""
    for quant, top, zeros in [
        (photo, 12, 0.5),
        (numpy.full(64, 1), 16383, 0.3),
        (r.integers(1, 65536, 64), 3, 0.5),
        (r.integers(1, 65536, 64), 16383, 0.2),
    ]:
        blocks = [block(r, limits, top, zeros) for _ in range(BLOCKS)]
        if top == 12:
            for b in blocks:
                b[0] = r.integers(-300, 300)
        data = jpeg(quant, blocks)
        out += struct.pack("<65H", *quant, BLOCKS) + numpy.array(blocks, "<i2").tobytes()
        out += b"".join(decoded(data, s) for s in (1, 2, 4, 8))
    OUT.write_bytes(out)


if __name__ == "__main__":
    main()
