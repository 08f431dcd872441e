"""Makes the JPEG test images and their goldens.

  testdata/images/jpeg_*.jpg    whole images: without a fault by T.81, JFIF and Exif, though perhaps odd
  testdata/damaged/jpeg_*       damaged ones, most of which libjpeg-turbo decodes nevertheless
  testdata/golden/jpeg.json     what Pillow and OpenCV make of them

Needs Pillow 13.0.0, numpy 2.4.6 and opencv-python-headless 5.0.0.93, and cjpeg of
libjpeg-turbo 2.1.5 (Debian 12's libjpeg-turbo-progs 1:2.1.5-2). Takes no
arguments; running it again gives the same bytes.
"""

import base64
import hashlib
import io
import json
import logging
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings

import cv2
import numpy
import PIL
from numpy import random
from PIL import Image, features

WANT = {"Pillow": "13.0.0", "numpy": "2.4.6", "OpenCV": "5.0.0", "cjpeg": "libjpeg-turbo version 2.1.5 (build 20230203)"}
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


def check_tools():
    cjpeg = shutil.which("cjpeg")
    if cjpeg is None:
        sys.exit("cjpeg is missing: apt-get install libjpeg-turbo-progs")
    r = subprocess.run([cjpeg, "-version"], capture_output=True, text=True)
    have = {
        "Pillow": PIL.__version__,
        "numpy": numpy.__version__,
        "OpenCV": cv2.__version__,
        "cjpeg": (r.stdout + r.stderr).splitlines()[0],
    }
    bad = [f"{k}: have {have[k]}, want {v}" for k, v in WANT.items() if have[k] != v]
    if bad:
        sys.exit("\n".join(bad))


# ---------------------------------------------------------------- a tiny writer

ZIGZAG = [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
          35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63]


def segment(marker, payload):
    return bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload


def dqt(n, table, wide=False):
    """A quantization table of 64 values in zigzag order."""
    return segment(0xDB, bytes([n | (0x10 if wide else 0)]) + struct.pack(">64H" if wide else "64B", *table))


# Huffman tables with a code for every symbol: 5 bits for DC, 8 or 9 for AC, and
# for DC of lossless files, which has one symbol more, 5 or 6.
def flat(symbols, length):
    return {s: (length, i) for i, s in enumerate(symbols)}


DC = flat(range(16), 5)
AC = {**flat(range(254), 8), 254: (9, 0x1FC), 255: (9, 0x1FD)}
DCBITS = bytes([0] * 4 + [16] + [0] * 11)
ACBITS = bytes([0] * 7 + [254, 2] + [0] * 7)
LL = flat(range(17), 5)
LLBITS = bytes([0] * 4 + [17] + [0] * 11)


def dht(lossless=False):
    if lossless:
        return segment(0xC4, b"\x00" + LLBITS + bytes(range(17)))
    return segment(0xC4, b"\x00" + DCBITS + bytes(range(16)) + b"\x10" + ACBITS + bytes(range(256)))


class Bits:
    def __init__(self):
        self.acc, self.n = 1, 0

    def put(self, length, value):
        self.acc = self.acc << length | value
        self.n += length

    def signed(self, v):
        """T.81's category and extra bits."""
        s = abs(v).bit_length()
        return s, (v if v > 0 else v + (1 << s) - 1)

    def done(self):
        pad = -self.n % 8
        self.put(pad, (1 << pad) - 1)
        b = self.acc.to_bytes(self.n // 8 + 1, "big")[1:]
        return b.replace(b"\xff", b"\xff\x00")


class Comp:
    """A component: blocks is [rows][columns][64] in zigzag order, whole MCUs."""

    def __init__(self, id, h, v, tq, blocks):
        self.id, self.h, self.v, self.tq, self.blocks = id, h, v, tq, blocks


def sof(marker, w, h, comps, precision=8):
    b = struct.pack(">BHHB", precision, h, w, len(comps))
    for c in comps:
        b += bytes([c.id, c.h << 4 | c.v, c.tq])
    return segment(marker, b)


def sos(comps, ss=0, se=63, ahal=0):
    b = bytes([len(comps)])
    for c in comps:
        b += bytes([c.id, 0])
    return segment(0xDA, b + bytes([ss, se, ahal]))


def mcus(w, h, comps, scan, unit=8):
    """The blocks of a scan, in order, as lists of (component's index, block) for each MCU."""
    maxh, maxv = max(c.h for c in comps), max(c.v for c in comps)
    up = lambda a, b: -(-a // b)
    if len(scan) == 1:
        c = scan[0]
        for y in range(up(h * c.v, maxv * unit)):
            for x in range(up(w * c.h, maxh * unit)):
                yield [(0, c.blocks[y][x])]
        return
    for my in range(up(h, maxv * unit)):
        for mx in range(up(w, maxh * unit)):
            yield [(i, c.blocks[my * c.v + y][mx * c.h + x]) for i, c in enumerate(scan) for y in range(c.v) for x in range(c.h)]


def sequential(w, h, comps, scan, restart=0):
    """The entropy-coded data of a sequential Huffman scan."""
    out, bits, last, n, rst = b"", Bits(), [0] * len(scan), 0, 0
    for mcu in mcus(w, h, comps, scan):
        if restart and n == restart:
            out += bits.done() + bytes([0xFF, 0xD0 + rst])
            bits, last, n, rst = Bits(), [0] * len(scan), 0, (rst + 1) % 8
        n += 1
        for i, b in mcu:
            d = b[0] - last[i]
            last[i] = b[0]
            s, e = bits.signed(d)
            bits.put(*DC[s])
            bits.put(s, e)
            run = 0
            end = max([k for k in range(1, 64) if b[k]], default=0)
            for k in range(1, end + 1):
                if b[k] == 0:
                    run += 1
                    continue
                while run > 15:
                    bits.put(*AC[0xF0])
                    run -= 16
                s, e = bits.signed(b[k])
                bits.put(*AC[run << 4 | s])
                bits.put(s, e)
                run = 0
            if end < 63:
                bits.put(*AC[0])
    return out + bits.done()


def lossless_scan(w, h, comps, scan, psv, pt=0, restart_rows=0):
    """The data of a lossless scan. Components hold samples [rows][columns] in place of blocks."""
    out, bits, rst = b"", Bits(), 0
    maxh, maxv = max(c.h for c in comps), max(c.v for c in comps)
    pred = []
    for c in scan:
        a = [[v >> pt for v in row] for row in c.blocks]
        step = 1 if len(scan) == 1 else c.v
        d = []
        for y, row in enumerate(a):
            first = y == 0 or restart_rows and y % (restart_rows * step) == 0
            line = []
            for x, v in enumerate(row):
                if first:
                    p = 1 << (7 - pt) if x == 0 else row[x - 1]
                elif x == 0:
                    p = a[y - 1][0]
                else:
                    ra, rb, rc = row[x - 1], a[y - 1][x], a[y - 1][x - 1]
                    p = [0, ra, rb, rc, ra + rb - rc, ra + ((rb - rc) >> 1), rb + ((ra - rc) >> 1), (ra + rb) >> 1][psv]
                line.append((v - p + 0x8000) % 0x10000 - 0x8000)
            d.append(line)
        pred.append(Comp(c.id, c.h, c.v, 0, d))
    per_row = -(-w // maxh) if len(scan) > 1 else -(-w * scan[0].h // maxh)
    # Sampling factors count against the frame's components, not the scan's.
    whole = [Comp(c.id, c.h, c.v, 0, None) for c in comps]
    for n, mcu in enumerate(mcus(w, h, whole, pred, unit=1)):
        if restart_rows and n and n % (restart_rows * per_row) == 0:
            out += bits.done() + bytes([0xFF, 0xD0 + rst])
            bits, rst = Bits(), (rst + 1) % 8
        for _, v in mcu:
            s, e = bits.signed(v)
            bits.put(*LL[s])
            if s < 16:
                bits.put(s, e)
    return out + bits.done()


SOI, EOI = b"\xff\xd8", b"\xff\xd9"
JFIF = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")


def adobe(transform):
    return segment(0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([transform]))


def blocks(rng, w, h, comp_h, comp_v, maxh, maxv, ac=6, scale=40, dc=60):
    """Random smooth-ish coefficients for a component of a w x h image."""
    nx, ny = -(-w // (8 * maxh)) * comp_h, -(-h // (8 * maxv)) * comp_v
    out = []
    for _ in range(ny):
        row = []
        for _ in range(nx):
            b = [0] * 64
            b[0] = int(rng.integers(-dc, dc + 1))
            for _ in range(int(rng.integers(0, ac + 1))):
                k = int(rng.integers(1, 64))
                b[k] = int(rng.integers(-scale, scale + 1)) // (1 + k // 4)
            row.append(b)
        out.append(row)
    return out


def samples(rng, w, h, comp_h, comp_v, maxh, maxv):
    nx, ny = -(-w // maxh) * comp_h, -(-h // maxv) * comp_v
    y, x = numpy.mgrid[0:ny, 0:nx]
    a = (x * 9 + y * 5 + rng.integers(0, 12, (ny, nx))) % 256
    return a.astype(int).tolist()


def components(rng, w, h, factors, ids=None, tq=None, **kw):
    maxh, maxv = max(f[0] for f in factors), max(f[1] for f in factors)
    return [
        Comp(ids[i] if ids else i + 1, f[0], f[1], tq[i] if tq else 0, blocks(rng, w, h, *f, maxh, maxv, **kw))
        for i, f in enumerate(factors)
    ]


ONES = [1] * 64
RAMP = [4 + i // 2 for i in range(64)]


def baseline(w, h, comps, scans=None, marker=0xC0, head=JFIF, restart=0, tables=None):
    """A file of sequential scans; scans is a list of lists of component indexes."""
    b = SOI + head + (tables or dqt(0, RAMP)) + sof(marker, w, h, comps) + dht()
    if restart:
        b += segment(0xDD, struct.pack(">H", restart))
    for s in scans or [range(len(comps))]:
        scan = [comps[i] for i in s]
        b += sos(scan) + sequential(w, h, comps, scan, restart)
    return b + EOI


def lossless(w, h, factors, psv, pt=0, ids=None, head=b"", scans=None, restart_rows=0, rng=None):
    rng = rng or random.default_rng(psv)
    maxh, maxv = max(f[0] for f in factors), max(f[1] for f in factors)
    comps = [Comp(ids[i] if ids else i + 1, f[0], f[1], 0, samples(rng, w, h, *f, maxh, maxv)) for i, f in enumerate(factors)]
    b = SOI + head + sof(0xC3, w, h, comps) + dht(True)
    for s in scans or [range(len(comps))]:
        scan = [comps[i] for i in s]
        if restart_rows:
            per_row = -(-w // maxh) if len(scan) > 1 else -(-w * scan[0].h // maxh)
            b += segment(0xDD, struct.pack(">H", restart_rows * per_row))
        b += sos(scan, psv, 0, pt) + lossless_scan(w, h, comps, scan, psv, pt, restart_rows)
    return b + EOI


# ---------------------------------------------------------------- images

def picture(w, h, gray=False, seed=1, noise=20):
    rng = random.default_rng(seed)
    y, x = numpy.mgrid[0:h, 0:w]
    a = numpy.stack([(x * 7 + y * 3) % 256, (x * x // 9 + y * 5) % 256, (x * 3 + y * y // 7) % 256], -1)
    a = (a + rng.integers(-noise, noise + 1, a.shape)).clip(0, 255).astype(numpy.uint8)
    return a[..., 0] if gray else a


def cjpeg(a, *args, scans=None):
    h, w = a.shape[:2]
    ppm = (b"P5" if a.ndim == 2 else b"P6") + b"\n%d %d\n255\n" % (w, h) + a.tobytes()
    cmd = ["cjpeg", *[str(x) for x in args]]
    if scans is not None:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write(scans)
            f.flush()
            return subprocess.run([*cmd, "-scans", f.name], input=ppm, capture_output=True, check=True).stdout
    return subprocess.run(cmd, input=ppm, capture_output=True, check=True).stdout


def pillow(a, mode=None, **kw):
    b = io.BytesIO()
    Image.fromarray(a, mode).save(b, "JPEG", **kw)
    return b.getvalue()


def exif(order, entries, extra=b""):
    """An Exif segment with IFD0 entries (tag, type, count, 4 bytes)."""
    e = "<" if order == "II" else ">"
    t = order.encode() + struct.pack(e + "HIH", 42, 8, len(entries))
    for tag, typ, count, value in entries:
        t += struct.pack(e + "HHI", tag, typ, count) + value
    return segment(0xE1, b"Exif\0\0" + t + struct.pack(e + "I", 0) + extra)


def images():
    """The whole images, and damaged ones made of the same parts."""
    out, bad = {}, {}
    samplings = {
        "444": "1x1", "422": "2x1", "420": "2x2", "440": "1x2", "411": "4x1", "410": "4x2", "1x4": "1x4", "2x4": "2x4", "3x1": "3x1", "1x3": "1x3",
        "3x2": "3x2", "chroma_larger": "1x1,2x2,1x1", "mixed": "2x2,1x2,2x1", "mixed2": "2x1,1x2,1x1", "mixed4": "4x1,2x1,1x1", "luma22_cb22": "2x2,2x2,1x1",
    }
    for name, s in samplings.items():
        for kind, args in {"base": [], "prog": ["-progressive"]}.items():
            out[f"{kind}_{name}"] = cjpeg(picture(75, 53), "-quality", 80, "-sample", s, *args)
    # Sizes around a block, an MCU, and where chroma is too narrow for the triangle filter.
    for s in ("2x1", "2x2", "1x2"):
        for w, h in ((1, 1), (2, 2), (3, 3), (4, 5), (5, 4), (6, 1), (1, 17), (16, 16), (17, 33)):
            out[f"size_{s}_{w}x{h}"] = cjpeg(picture(w, h), "-sample", s)
    for s in ("2x1", "2x2"):
        for w, h in ((1, 1), (4, 40), (17, 33)):
            out[f"size_prog_{s}_{w}x{h}"] = cjpeg(picture(w, h), "-progressive", "-sample", s)
    out["q100"] = cjpeg(picture(70, 50), "-quality", 100, "-sample", "1x1")
    out["q1"] = cjpeg(picture(70, 50), "-quality", 1)
    out["q1_prog"] = cjpeg(picture(70, 50), "-quality", 1, "-progressive")
    out["optimized"] = cjpeg(picture(90, 70), "-optimize")
    out["gray"] = cjpeg(picture(45, 37, True))
    out["gray_prog"] = cjpeg(picture(45, 37, True), "-progressive")
    out["gray_2x2"] = cjpeg(picture(45, 37, True), "-sample", "2x2")
    out["rgb"] = cjpeg(picture(45, 37), "-rgb")
    out["rgb_prog"] = cjpeg(picture(45, 37), "-rgb", "-progressive")
    out["rgb_pillow"] = pillow(picture(45, 37), keep_rgb=True)
    for name, args in {"restart_1": ["-restart", "1"], "restart_1b": ["-restart", "1B"], "restart_7b_prog": ["-restart", "7B", "-progressive"]}.items():
        out[name] = cjpeg(picture(150, 90), "-quality", 60, *args)
    for name, args in {
        "arith": [], "arith_prog": ["-progressive"], "arith_restart": ["-restart", "3B"], "arith_prog_restart": ["-progressive", "-restart", "2B"],
    }.items():
        out[name] = cjpeg(picture(83, 61), "-arithmetic", *args)
    out["arith_gray"] = cjpeg(picture(83, 61, True), "-arithmetic")
    out["large"] = cjpeg(picture(420, 310, noise=60), "-quality", 85)
    out["large_prog"] = cjpeg(picture(420, 310, noise=60), "-quality", 85, "-progressive")
    out["large_restart"] = cjpeg(picture(420, 310, noise=60), "-quality", 85, "-restart", "1")
    # Progressive files that stop early: libjpeg smooths them.
    scripts = {
        "dc_only": "0,1,2: 0-0, 0, 0;\n",
        "dc_coarse": "0,1,2: 0-0, 0, 2;\n",
        "dc_separate": "0: 0-0, 0, 0;\n1: 0-0, 0, 0;\n2: 0-0, 0, 0;\n",
        "some_ac": "0,1,2: 0-0, 0, 0;\n0: 1-3, 0, 0;\n",
        "some_ac_coarse": "0,1,2: 0-0, 0, 0;\n0: 1-9, 0, 2;\n1: 1-5, 0, 1;\n",
        "luma_done": "0,1,2: 0-0, 0, 0;\n0: 1-63, 0, 0;\n",
        "unrefined": "0,1,2: 0-0, 0, 1;\n0: 1-63, 0, 2;\n1: 1-63, 0, 2;\n2: 1-63, 0, 2;\n0: 1-63, 2, 1;\n",
        "refined": "0,1,2: 0-0, 0, 1;\n0: 1-63, 0, 2;\n1: 1-63, 0, 2;\n2: 1-63, 0, 2;\n0: 1-63, 2, 1;\n0,1,2: 0-0, 1, 0;\n0: 1-63, 1, 0;\n",
    }
    for name, script in scripts.items():
        for s in ("1x1", "2x2"):
            out[f"partial_{name}_{s}"] = cjpeg(picture(93, 75, noise=3), "-quality", 40, "-sample", s, "-progressive", scans=script)
    for w, h in ((8, 8), (9, 17), (17, 9), (40, 24), (33, 33), (65, 16)):
        out[f"partial_dc_{w}x{h}"] = cjpeg(picture(w, h, noise=3), "-sample", "2x2", "-progressive", scans=scripts["dc_only"])
    out["partial_gray_dc"] = cjpeg(picture(93, 75, True, noise=3), "-progressive", scans="0: 0-0, 0, 0;\n")
    out["partial_arith"] = cjpeg(picture(93, 75, noise=3), "-arithmetic", "-progressive", scans=scripts["some_ac_coarse"])

    rng = random.default_rng(7)
    cmyk = rng.integers(0, 256, (37, 50, 4), dtype=numpy.uint8)
    cmyk[8:30, 5:40] //= 4
    out["cmyk"] = pillow(cmyk, "CMYK", quality=80)
    out["cmyk_prog"] = pillow(cmyk, "CMYK", quality=80, progressive=True)

    # What no encoder makes.
    def comps(w, h, factors, seed=3, **kw):
        return components(random.default_rng(seed), w, h, factors, **kw)

    f420 = [(2, 2), (1, 1), (1, 1)]
    f444 = [(1, 1)] * 3
    c = comps(61, 43, f420)
    out["multiscan"] = baseline(61, 43, c, [[0], [1], [2]])
    out["multiscan_order"] = baseline(61, 43, c, [[2], [0], [1]])
    out["multiscan_pairs"] = baseline(61, 43, c, [[0], [1, 2]], restart=3)
    bad["multiscan_missing"] = baseline(61, 43, c, [[0], [1]])
    bad["multiscan_twice"] = baseline(61, 43, c, [[0], [1], [2], [0]])
    out["extended"] = baseline(61, 43, c, marker=0xC1)
    out["gray_4x4"] = baseline(61, 43, comps(61, 43, [(4, 4)]))
    out["gray_3x2_multi"] = baseline(37, 43, comps(37, 43, [(3, 2)]))
    for n, f in {
        "2x1_1x1_2x1": [(2, 1), (1, 1), (2, 1)], "1x1_2x1_1x1": [(1, 1), (2, 1), (1, 1)], "1x1_1x2_1x2": [(1, 1), (1, 2), (1, 2)],
        "1x1_4x2_1x1": [(1, 1), (4, 2), (1, 1)], "1x1_3x1_1x1": [(1, 1), (3, 1), (1, 1)], "1x2_1x4_1x1": [(1, 2), (1, 4), (1, 1)],
        "2x2_2x1_1x2": [(2, 2), (2, 1), (1, 2)], "2x2_4x2_2x2": [(2, 2), (4, 2), (2, 2)],
    }.items():
        cc = comps(61, 43, f)
        scans = [[0], [1], [2]] if sum(a * b for a, b in f) > 10 else None
        out[f"factors_{n}"] = baseline(61, 43, cc, scans)
    # 4-component frames.
    c4 = comps(45, 33, [(1, 1)] * 4)
    out["cmyk_plain"] = baseline(45, 33, c4, head=b"")
    out["cmyk_adobe0"] = baseline(45, 33, c4, head=adobe(0))
    out["ycck"] = baseline(45, 33, c4, head=adobe(2))
    bad["ycck_odd_transform"] = baseline(45, 33, c4, head=adobe(1))
    out["ycck_420"] = baseline(45, 33, comps(45, 33, [(2, 2), (1, 1), (1, 1), (2, 2)]), head=adobe(2))
    # What tells YCbCr from RGB.
    c3 = comps(33, 21, f444)
    rgb = comps(33, 21, f444, ids=b"RGB")
    out["space_no_marker"] = baseline(33, 21, c3, head=b"")
    out["space_ids_012"] = baseline(33, 21, comps(33, 21, f444, ids=[0, 1, 2]), head=b"")
    out["space_ids_rgb"] = baseline(33, 21, rgb, head=b"")
    out["space_ids_rgb_jfif"] = baseline(33, 21, rgb)
    out["space_adobe0"] = baseline(33, 21, c3, head=adobe(0))
    out["space_adobe1_rgb"] = baseline(33, 21, rgb, head=adobe(1))
    bad["space_adobe9"] = baseline(33, 21, c3, head=adobe(9))
    out["space_adobe0_jfif"] = baseline(33, 21, c3, head=JFIF + adobe(0))
    bad["space_short_jfif"] = baseline(33, 21, rgb, head=segment(0xE0, b"JFIF\0\1\1\0\0\1"))
    out["space_rgb_420"] = baseline(61, 43, comps(61, 43, f420, ids=b"RGB"), head=b"")
    # Same id twice: libjpeg takes the next free one.
    bad["ids_equal"] = baseline(33, 21, comps(33, 21, f444, ids=[1, 1, 1]))
    # Tables.
    tables = dqt(0, [300 + 5 * i for i in range(64)], True) + dqt(1, RAMP) + dqt(3, [1 + i for i in range(64)], True)
    out["quant_16bit"] = baseline(33, 21, comps(33, 21, f444, tq=[0, 1, 3], dc=3, scale=9), marker=0xC1, tables=tables)
    huge = dqt(0, [65535 - 37 * i for i in range(64)], True)
    out["quant_wraps"] = baseline(33, 21, comps(33, 21, f444, dc=30, scale=30), marker=0xC1, tables=huge)
    bad["quant_zero"] = baseline(33, 21, c3, tables=dqt(0, [0] * 64))
    # Coefficients at and beyond what 8-bit samples can need: 16-bit wrap-around and saturation.
    for i, (dc, scale, ac, q) in enumerate([(2047, 4000, 20, ONES), (32767, 8000, 63, ONES), (2047, 32000, 10, RAMP), (16383, 100, 3, [2] * 64), (32767, 32767, 2, [255] * 64)]):
        r = random.default_rng(20 + i)
        blk = []
        for y in range(6):
            row = []
            for x in range(8):
                b = [0] * 64
                b[0] = int(r.integers(-dc // 2, dc // 2 + 1))
                for _ in range(int(r.integers(0, ac + 1))):
                    k = int(r.integers(1, 64)) if y % 2 else [1, 5, 6, 14, 15, 27, 28][int(r.integers(0, 7))]
                    b[k] = int(r.integers(-scale, scale + 1))
                row.append(b)
            blk.append(row)
        bad[f"extreme_{i}"] = baseline(64, 48, [Comp(1, 1, 1, 0, blk)], tables=dqt(0, q))
    # Files without Huffman tables use the standard's.
    b = cjpeg(picture(45, 37))
    while (i := b.find(b"\xff\xc4")) >= 0:
        b = b[:i] + b[i + 2 + int.from_bytes(b[i + 2 : i + 4], "big") :]
    out["no_dht"] = b
    # Marker oddities that are no damage.
    b = cjpeg(picture(45, 37))
    i = b.index(b"\xff\xdb")
    out["fill_bytes"] = b[:i] + b"\xff" * 5 + b[i:-2] + b"\xff\xff" + EOI
    out["comments"] = b[:2] + segment(0xFE, b"a comment") + b[2:i] + segment(0xEC, bytes(300)) + b[i:]
    out["trailing"] = b + b"something after EOI \xff\xd8\xff"
    out["tables_first"] = SOI + dqt(0, RAMP) + dht() + EOI + SOI + sof(0xC0, 33, 21, c3) + sos(c3) + sequential(33, 21, c3, c3) + EOI
    # The tables of the components are fixed at their first scans.
    c0, c1, c2 = comps(33, 21, f444)
    out["quant_changes"] = (
        SOI + JFIF + dqt(0, RAMP) + sof(0xC0, 33, 21, [c0, c1, c2]) + dht() + sos([c0]) + sequential(33, 21, [c0, c1, c2], [c0])
        + dqt(0, [40] * 64) + sos([c1, c2]) + sequential(33, 21, [c0, c1, c2], [c1, c2]) + EOI
    )
    # Lossless.
    for psv in range(1, 8):
        out[f"lossless_psv{psv}"] = lossless(29, 23, f444, psv)
    out["lossless_gray"] = lossless(29, 23, [(1, 1)], 4)
    out["lossless_pt2"] = lossless(29, 23, f444, 6, pt=2)
    out["lossless_cmyk"] = lossless(29, 23, [(1, 1)] * 4, 5, head=adobe(0))
    out["lossless_restart"] = lossless(29, 23, f444, 7, restart_rows=3)
    out["lossless_multiscan"] = lossless(29, 23, f444, 3, scans=[[0], [1], [2]], restart_rows=2)
    out["lossless_420"] = lossless(29, 23, f420, 4)
    out["lossless_rgb_ids"] = lossless(29, 23, f444, 1, ids=b"RGB")

    # Orientation.
    small = cjpeg(picture(12, 8))
    body = small[2:]
    o = lambda n, e: struct.pack(e + "HH", n, 0)
    for n in range(0, 10):
        out[f"exif_mm_{n}"] = SOI + exif("MM", [(0x112, 3, 1, o(n, ">"))]) + body
    out["exif_ii_6"] = SOI + exif("II", [(0x10F, 2, 3, b"ab\0\0"), (0x112, 3, 1, o(6, "<"))]) + body
    out["exif_long"] = SOI + exif("II", [(0x112, 4, 1, struct.pack("<I", 8))]) + body
    out["exif_byte"] = SOI + exif("II", [(0x112, 1, 1, b"\6\0\0\0")]) + body
    out["exif_sbyte"] = SOI + exif("II", [(0x112, 6, 1, b"\6\0\0\0")]) + body
    out["exif_rational"] = SOI + exif("II", [(0x112, 5, 1, struct.pack("<I", 26))], struct.pack("<II", 12, 2)) + body
    out["exif_two_values"] = SOI + exif("II", [(0x112, 3, 2, struct.pack("<HH", 3, 6))]) + body
    bad["exif_no_value"] = SOI + exif("II", [(0x112, 3, 0, o(6, "<"))]) + body
    bad["exif_type_unknown"] = SOI + exif("II", [(0x112, 99, 1, o(6, "<"))]) + body
    out["exif_twice"] = SOI + exif("II", [(0x112, 3, 1, o(6, "<")), (0x112, 3, 1, o(3, "<"))]) + body
    out["exif_two_segments"] = SOI + exif("II", [(0x112, 3, 1, o(6, "<"))]) + exif("MM", [(0x112, 3, 1, o(3, ">"))]) + body
    out["exif_after_jfif"] = SOI + JFIF + exif("II", [(0x112, 3, 1, o(6, "<"))]) + body[20 - 2 :]
    bad["exif_bad_offset"] = SOI + exif("II", [(0x100, 3, 9, struct.pack("<I", 5000)), (0x112, 3, 1, o(6, "<"))]) + body
    bad["exif_bad_count"] = SOI + exif("II", [(0x100, 3, 0xFFFFFFFF, struct.pack("<I", 0)), (0x112, 3, 1, o(6, "<"))]) + body
    bad["exif_bad_header"] = SOI + segment(0xE1, b"Exif\0\0XX*\0\0\0\0\0") + body
    bad["exif_empty"] = SOI + segment(0xE1, b"Exif\0\0") + body
    bad["exif_short"] = SOI + segment(0xE1, b"Exif\0\0II*\0") + body
    xmp = segment(0xE1, b'http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation="8"/>')
    out["xmp_orientation"] = SOI + xmp + body
    out["xmp_and_exif"] = SOI + xmp + exif("II", [(0x112, 3, 1, o(6, "<"))]) + body
    out["xmp_element"] = SOI + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<tiff:Orientation>5<") + body
    return out, bad


# ---------------------------------------------------------------- damage

def damaged():
    out = {}
    b = cjpeg(picture(61, 43), "-quality", 70)
    p = cjpeg(picture(61, 43), "-quality", 70, "-progressive")
    r = cjpeg(picture(61, 43), "-quality", 70, "-restart", "2B")
    a = cjpeg(picture(61, 43), "-quality", 70, "-arithmetic")
    pr = cjpeg(picture(61, 43), "-quality", 70, "-progressive", "-restart", "2B")
    rng = random.default_rng(11)
    for name, d in {"base": b, "prog": p, "rst": r, "arith": a}.items():
        out[f"{name}_no_eoi"] = d[:-2]
        out[f"{name}_half_eoi"] = d[:-1]
        for cut in (3, 4, 5, 6, 8, 12, 20):
            out[f"{name}_cut_{cut}"] = d[:-cut]
        out[f"{name}_half"] = d[: len(d) * 3 // 4]
        out[f"{name}_half_with_eoi"] = d[: len(d) * 3 // 4] + EOI
        body = d.index(b"\xff\xda") + 14
        for i in range(12):
            x = bytearray(d)
            for _ in range(1 + i % 3):
                x[int(rng.integers(body, len(x)))] ^= 1 << int(rng.integers(0, 8))
            out[f"{name}_flip_{i}"] = bytes(x)
        for i in range(3):
            at = int(rng.integers(body, len(d) - 2))
            out[f"{name}_drop_{i}"] = d[:at] + d[at + 1 + 20 * (i % 2) :]
            out[f"{name}_insert_{i}"] = d[:at] + bytes(rng.integers(0, 256, 5, dtype=numpy.uint8)) + d[at:]
            out[f"{name}_marker_{i}"] = d[:at] + bytes([0xFF, [0xD3, 0xFE, 0xD9][i]]) + d[at:]
        for i, m in enumerate((0xC0, 0xC4, 0xDB, 0xDA)):
            if d.find(bytes([0xFF, m])) > 0:
                at = d.index(bytes([0xFF, m]))
                n = int.from_bytes(d[at + 2 : at + 4], "big") + 2
                out[f"{name}_without_{m:02x}"] = d[:at] + d[at + n :]
                out[f"{name}_twice_{m:02x}"] = d[: at + n] + d[at : at + n] + d[at + n :]
    for name, d in {"rst": r, "prst": pr}.items():
        marks = [i for i in range(len(d) - 1) if d[i] == 0xFF and 0xD0 <= d[i + 1] <= 0xD7]
        for i, k in enumerate((0, 2, 3)):
            at = marks[k]
            out[f"{name}_lost_{i}"] = d[:at] + d[at + 2 :]
            for j in (1, 2, 4, 6, 7):
                x = bytearray(d)
                x[at + 1] = 0xD0 + (x[at + 1] - 0xD0 + j) % 8
                out[f"{name}_wrong_{i}_{j}"] = bytes(x)
            out[f"{name}_lost_segment_{i}"] = d[:at] + d[marks[k + 1] :]
            out[f"{name}_junk_{i}"] = d[:at] + b"\x12\x34\xff\x00" + d[at:]
    rng2 = random.default_rng(3)
    c3 = components(rng2, 33, 21, [(1, 1)] * 3)
    good = baseline(33, 21, c3)
    at = good.index(b"\xff\xc0")
    def frame(i, v):
        x = bytearray(good)
        x[at + i] = v
        return bytes(x)
    out["frame_12bit"] = frame(4, 12)
    out["frame_9bit"] = frame(4, 9)
    out["frame_height_0"] = frame(6, 0)
    out["frame_width_0"] = frame(8, 0)
    out["frame_5_components"] = frame(9, 5)
    out["frame_sampling_0"] = frame(11, 0x01)
    out["frame_sampling_5"] = frame(11, 0x51)
    out["frame_sampling_2_3"] = frame(11, 0x32)
    out["frame_no_quant"] = frame(12, 3)
    out["frame_lossless_arith"] = frame(1, 0xCB)
    out["frame_hierarchical"] = frame(1, 0xC5)
    out["frame_arith"] = frame(1, 0xC9)
    out["frame_prog"] = frame(1, 0xC2)
    out["frame_tall"] = frame(5, 0x08)
    c2 = components(rng2, 33, 21, [(1, 1)] * 2)
    out["two_components"] = baseline(33, 21, c2)
    out["fraction"] = baseline(61, 43, components(rng2, 61, 43, [(3, 1), (2, 1), (1, 1)]))
    out["many_blocks"] = baseline(61, 43, components(rng2, 61, 43, [(4, 2), (2, 2), (1, 1)]))
    out["dnl"] = frame(6, 0)[:-2] + segment(0xDC, b"\0\x15") + EOI
    out["dri_short"] = good[:at] + segment(0xDD, b"\1") + good[at:]
    out["tem"] = good[:2] + b"\xff\x01" + good[2:]
    out["junk_before_marker"] = good[:at] + b"abc" + good[at:]
    out["second_scan"] = good[:-2] + sos(c3) + sequential(33, 21, c3, c3) + EOI
    out["tail_sof"] = good[:-2] + b"\xff\xc0"
    out["tail_sos_cut"] = good[:-2] + b"\xff\xda\x00"
    out["tail_junk"] = good[:-2] + b"\x00\x11\x22" + EOI
    out["tail_reserved"] = good[:-2] + b"\xff\x02" + EOI
    out["bad_huffman_table"] = good.replace(DCBITS, bytes([3] + [0] * 3 + [13] + [0] * 11), 1)
    out["huffman_symbol"] = good.replace(DCBITS + bytes(range(16)), DCBITS + bytes(range(15)) + b"\x10", 1)
    # Doubled ff before a stuffed zero, far from the end: libjpeg's fast path trips over it.
    big = cjpeg(picture(420, 310, noise=60), "-quality", 60)
    marks = [i for i in range(700, len(big) - 30000) if big[i : i + 2] == b"\xff\x00"]
    out["ff_ff_00"] = big[: marks[20]] + b"\xff" + big[marks[20] :]
    out["ff_ff_00_many"] = b"".join(big[x:y] + b"\xff" for x, y in zip([0] + marks[:40:4], marks[:40:4])) + big[marks[36] :]
    # Arithmetic data must be in Pillow's first 65536 bytes.
    out["arith_beyond_64k"] = cjpeg(picture(200, 150), "-arithmetic")[:2] + segment(0xFE, bytes(65000)) + cjpeg(picture(200, 150), "-arithmetic")[2:]
    out["short_jfif"] = good[:2] + segment(0xE0, b"JFIF\0\1") + good[2:]
    out["short_adobe"] = good[:2] + segment(0xEE, b"Adobe\0") + good[2:]
    out["short_icc"] = good[:2] + segment(0xE2, b"ICC_PROFILE\0\1") + good[2:]
    out["photoshop"] = good[:2] + segment(0xED, b"Photoshop 3.0\0" + b"8BIM\4\4") + good[2:]
    nojfif = baseline(33, 21, c3, head=b"")
    dpi = lambda typ, n, v: nojfif[:2] + exif("II", [(0x11A, typ, n, v), (0x128, 3, 1, b"\2\0\0\0")]) + nojfif[2:]
    out["dpi_byte"] = dpi(1, 1, b"\5\0\0\0")
    out["dpi_text"] = dpi(2, 1, b"5\0\0\0")
    out["dpi_text_ok"] = dpi(2, 3, b"72\0\0")
    out["lossless_restart_odd"] = lossless(29, 23, [(1, 1)] * 3, 7).replace(b"\xff\xda", segment(0xDD, b"\0\7") + b"\xff\xda", 1)
    out["lossless_ycc"] = lossless(29, 23, [(1, 1)] * 3, 1, head=JFIF)
    l = lossless(29, 23, [(1, 1)] * 3, 4, restart_rows=2)
    out["lossless_cut"] = l[: len(l) // 2] + EOI
    out["lossless_psv0"] = lossless(29, 23, [(1, 1)] * 3, 1).replace(b"\1\0\2\0\3\0\1\0\0", b"\1\0\2\0\3\0\0\0\0", 1)
    return out


# ---------------------------------------------------------------- goldens

# Images whose pixels are in the golden file too, so that a test can say where it differs.
SHOWN = ["size_2x1_5x4", "size_2x2_5x4", "size_1x2_3x3", "partial_dc_9x17", "lossless_gray", "exif_mm_1", "ycck_420"]


def sha(b):
    return hashlib.sha256(b).hexdigest()


def by_pillow(b):
    """None if Pillow refuses b."""
    try:
        im = Image.open(io.BytesIO(b))
        im.load()
    except Exception:
        return None
    try:
        o = im.getexif().get(0x0112)
    except Exception:
        o = None
    o = o if not isinstance(o, (bytes, str)) and o in range(1, 9) else 1
    return {
        "width": im.width, "height": im.height, "mode": im.mode, "orientation": int(o),
        "native": sha(im.tobytes()), "rgb": sha(im.convert("RGB").tobytes()),
    }


def by_opencv(b, gray):
    flags = cv2.IMREAD_GRAYSCALE if gray else cv2.IMREAD_COLOR
    a = cv2.imdecode(numpy.frombuffer(b, numpy.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION)
    if a is None:
        return None
    return sha(a.tobytes() if gray else a[..., ::-1].tobytes())


def main():
    check_tools()
    golden = {"versions": {**WANT, "libjpeg-turbo in Pillow": features.version("libjpeg_turbo")}, "images": {}, "damaged": {}}
    sizes = {}
    whole, bad = images()
    for kind, files in {"images": whole, "damaged": {**bad, **damaged()}}.items():
        folder = ROOT / kind
        folder.mkdir(exist_ok=True)
        for f in folder.glob("jpeg_*"):
            f.unlink()
        for name, b in sorted(files.items()):
            (folder / f"jpeg_{name}.jpg").write_bytes(b)
            g = by_pillow(b)
            if kind == "images":
                if g is None:
                    sys.exit(f"Pillow refuses {name}")
                if name in SHOWN:
                    g["pixels"] = base64.b64encode(Image.open(io.BytesIO(b)).tobytes()).decode()
            if kind == "images" or name in bad:
                g["opencv"] = by_opencv(b, False)
                g["opencv_gray"] = by_opencv(b, True)
            golden[kind][f"jpeg_{name}.jpg"] = g
        sizes[kind] = (len(files), sum(map(len, files.values())))
    (ROOT / "golden" / "jpeg.json").write_text(json.dumps(golden, indent=1) + "\n")
    for kind, (n, size) in sizes.items():
        print(f"{kind}: {n} files, {size} bytes; {sum(g is not None for g in golden[kind].values())} accepted by Pillow")


if __name__ == "__main__":
    main()
