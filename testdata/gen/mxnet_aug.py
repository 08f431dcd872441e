"""Writes the goldens of the ops that MXNet's ImageRecordIter has: AdjustHLS and LightingNoise, and
of AdjustBrightness, AdjustContrast and AdjustSaturation the cases of the backend mxnet.

Needs mxnet 1.9.1 and numpy 1.23.5 (its last that MXNet can be imported with; Python 3.11 or earlier), on x86-64.
Takes no arguments; running it again gives the same bytes.

Every output is the iterator's own. What it drew is predicted: with seed_aug its generator, std::mt19937, is seeded for
each image with seed_aug + 111 + its number, and libstdc++'s distributions over it are a few lines.
"""

import os
import struct
import tempfile
import zlib

import mxnet as mx
import numpy as np

from golden import Golden, image

F = np.float32
REFERENCE = "MXNet 1.9.1 ImageRecordIter"


class Generator:
    """std::mt19937 of the first image, and libstdc++'s distributions of floats."""

    def __init__(self, seed_aug):
        self.mt = [seed_aug + 111]
        for i in range(1, 624):
            self.mt.append((1812433253 * (self.mt[-1] ^ self.mt[-1] >> 30) + i) & 0xFFFFFFFF)
        self.at, self.saved = 624, None

    def bits(self):
        if self.at == 624:
            mt = self.mt
            for i in range(624):
                y = mt[i] & 0x80000000 | mt[(i + 1) % 624] & 0x7FFFFFFF
                mt[i] = mt[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
            self.at = 0
        y = self.mt[self.at]
        self.at += 1
        y ^= y >> 11
        y ^= y << 7 & 0x9D2C5680
        y ^= y << 15 & 0xEFC60000
        return y ^ y >> 18

    def unit(self):
        return min(F(self.bits()) / F(2**32), np.nextafter(F(1), F(0)))

    def uniform(self, a, b):
        return self.unit() * (F(b) - F(a)) + F(a)

    def normal(self, sd):
        if self.saved is not None:
            v, self.saved = self.saved, None
            return v * F(sd)
        while True:
            x, y = F(2) * self.unit() - F(1), F(2) * self.unit() - F(1)
            r = x * x + y * y
            if 0 < r <= 1:
                break
        m = np.sqrt(F(-2) * F(np.log(np.float64(r))) / r)
        self.saved = x * m
        return y * m * F(sd)


def png(a):
    """An image of 8 bits, gray or RGB, as a PNG file."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    h, w, c = a.shape
    rows = np.concatenate([np.zeros((h, 1), np.uint8), a.reshape(h, w * c)], 1)
    head = struct.pack(">IIBBBBB", w, h, 8, {1: 0, 3: 2, 4: 6}[c], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 1)) + chunk(b"IEND", b"")


def iterate(a, size=None, **options):
    """What ImageRecordIter makes of an image."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "a.rec")
        w = mx.recordio.MXRecordIO(path, "w")
        w.write(mx.recordio.pack(mx.recordio.IRHeader(0, 0.0, 0, 0), png(a)))
        w.close()
        it = mx.io.ImageRecordIter(path_imgrec=path, data_shape=(a.shape[2], *(size or a.shape[:2])), batch_size=1, preprocess_threads=1,
                                   verbose=False, ctx="cpu", dtype="uint8", **options)
        return next(it).data[0].asnumpy()[0].transpose(1, 2, 0).copy()


# Colours whose saturation rounds otherwise in the last columns: see AdjustHLS.
TAIL = [[116, 118, 190], [128, 129, 178], [148, 136, 170], [164, 134, 172], [176, 126, 180]]


def shift(g, v):
    x = g.uniform(0, 1)
    x = (x + F(4) * g.uniform(0, 1)) / F(5)
    return int(x * F(v) * F(2) - F(v))


def hls():
    g = Golden("adjust_hls", REFERENCE)
    rng = np.random.default_rng(21)
    levels = np.array([0, 1, 64, 127, 128, 254, 255], np.uint8)
    corners = np.stack(np.meshgrid(levels, levels, levels), -1).reshape(7, 49, 3)

    def case(name, a, h, l, s, seed):
        r = Generator(seed)
        q = {"h": shift(r, h), "s": shift(r, s), "l": shift(r, l)}
        g.case(name, q, a, iterate(a, random_h=h, random_l=l, random_s=s, seed_aug=seed))

    case("tail", np.array(TAIL, np.uint8).reshape(1, 5, 3), 1, 1, 1, 0)
    for w in (1, 3, 5):
        case(f"tails_{w}", np.array([[c] * w for c in TAIL], np.uint8), 1, 1, 1, 0)
    case("corners", corners, 1, 1, 1, 0)
    case("photo", image(23, 37, 3), 1, 1, 1, 0)
    for i in range(12):
        h, l, s = (int(v) for v in rng.integers(1, 256, 3))
        case(f"corners_{i}", corners, h, l, s, i)
        case(f"photo_{i}", image(*(int(v) for v in rng.integers(1, 30, 2)), 3), h, l, s, 50 + i)
    g.write()


def adjustments():
    rng = np.random.default_rng(22)
    photo, dark = image(23, 37, 3), (image(16, 31, 3) // 4).astype(np.uint8)
    large = rng.integers(0, 256, (90, 120, 3), dtype=np.uint8)
    for draw, name in enumerate(("brightness", "contrast", "saturation")):
        g = Golden("adjust_" + name, REFERENCE, "adjust_" + name + "_mxnet")

        def case(what, a, v, seed):
            r = Generator(seed)
            values = [{"brightness": 0, "contrast": 1, "saturation": 2}[name] == i and v or 0 for i in range(3)]
            f = [F(1.0 + float(r.uniform(-w, w))) for w in values][draw]
            g.case(what, {"factor": float(f), "backend": "mxnet"}, a, iterate(a, seed_aug=seed, **{name: v}))

        for i in range(8):
            case(f"photo_{i}", photo, (0.3, 0.9, 3.0)[i % 3], i)
            case(f"dark_{i}", dark, (0.4, 1.0)[i % 2], 20 + i)
            case(f"small_{i}", image(*(int(v) for v in rng.integers(1, 9, 2)), 3), 0.6, 40 + i)
        case("large", large, 0.5, 60)
        g.write()


def lighting():
    g = Golden("lighting_noise", REFERENCE)
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, 2)
    # With the last three it shows that the products of eigenvalues and eigenvectors are float32's of float32s.
    for i, (v, seed) in enumerate([(v, seed) for seed in range(10) for v in (0.1, 0.5, 2.0)] + [(2.0, 77), (2.75, 647), (4.125, 776)]):
        r = Generator(seed)
        alpha = [float(r.normal(v)) for _ in range(3)]
        a = image(5, 9, 3) if i % 5 == 4 and i < 30 else ramp
        g.case(f"{v}_{seed}", {"alpha": alpha}, a, iterate(a, pca_noise=v, seed_aug=seed))
    g.write()


if __name__ == "__main__":
    hls()
    lighting()
    adjustments()
