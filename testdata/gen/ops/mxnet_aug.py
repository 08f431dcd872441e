"""Writes the goldens of the ops that MXNet's ImageRecordIter has: AdjustHLS and LightingNoise, of
AdjustBrightness, AdjustContrast and AdjustSaturation the cases of the backend mxnet, and of WarpAffine those that the
iterator gives; what the random ops RandomWarp, RandomHLS and RandomLightingNoise draw there, as distributions; and
compat/mxnet/testdata/boxes.json, the boxes of random_resized_crop and of crop sizes.

Needs mxnet 1.9.1 and numpy 1.23.5 (its last that MXNet can be imported with; Python 3.11 or earlier), on x86-64.
Takes no arguments; running it again gives the same bytes.

Every output is the iterator's own. What it drew is predicted: with seed_aug its generator, std::mt19937, is seeded for
each image with seed_aug + 111 + its number, and libstdc++'s distributions over it are a few lines. For the distributions they are
drawn here as there; that they are the iterator's is checked by its outputs, of the boxes with an image of coordinates.
"""

import json
import math
import os
import struct
import tempfile
import zlib

import mxnet as mx
import numpy as np

from golden import Draws, Golden, image
from mxnet_random import Generator

F = np.float32
REFERENCE = "MXNet 1.9.1 ImageRecordIter"


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
        r = Generator(seed + 111)
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
            r = Generator(seed + 111)
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
        r = Generator(seed + 111)
        alpha = [float(r.normal(v)) for _ in range(3)]
        a = image(5, 9, 3) if i % 5 == 4 and i < 30 else ramp
        g.case(f"{v}_{seed}", {"alpha": alpha, "backend": "mxnet"}, a, iterate(a, pca_noise=v, seed_aug=seed))
    g.write()


INTERPOLATION = {1: "bilinear", 2: "bicubic", 3: "area", 4: "lanczos"}


def warp(r, h, w, shear=0, max_angle=0, angles=(), scale=(1, 1), aspect=0, sizes=(0, 1e10)):
    """What the affine step draws for an image of h x w: a matrix and a size."""
    s = r.unit() * F(shear) * F(2) - F(shear)
    angle = r.below(2 * max_angle + 1) - max_angle
    if angles:
        angle = angles[r.below(len(angles))]
    k = r.unit() * (F(scale[1]) - F(scale[0])) + F(scale[0])
    t = r.unit() * F(aspect) * F(2) - F(aspect) + F(1)
    a, b = F(math.cos(angle / 180.0 * math.pi)), F(math.sin(angle / 180.0 * math.pi))
    p = F(2) * k / (F(1) + t)
    q = t * p
    nw, nh = (max(F(sizes[0]), min(F(sizes[1]), k * F(v))) for v in (w, h))
    m = [p * a - s * b * q, p * b + s * a * q, 0, -b * q, a * q, 0]
    m[2] = (nw - (m[0] * F(w) + m[1] * F(h))) / F(2)
    m[5] = (nh - (m[3] * F(w) + m[4] * F(h))) / F(2)
    size = (int(nh), int(nw))
    return [float(v) for v in m], size if min(size) > 0 else (h, w)


def warps():
    g = Golden("warp_affine", REFERENCE, "warp_affine_mxnet")
    rng = np.random.default_rng(23)

    def case(name, a, method, fill, seed, options, drawn):
        m, size = warp(Generator(seed + 111), *a.shape[:2], **drawn)
        q = {"matrix": m, "height": size[0], "width": size[1], "interpolation": INTERPOLATION[method], "backend": "opencv4", "fill": [fill]}
        g.case(name, q, a, iterate(a, size, inter_method=method, fill_value=fill, seed_aug=seed, **options))

    # A fixed angle is not drawn, but MXNet draws another before. What comes after it has no effect.
    for i, angle in enumerate((30, 1, 45, 89, 90, 91, 135, 180, 200, 270, 300, 359, 360, 450, 720, 1000)):
        a = image(*(int(v) for v in rng.integers(9, 30, 2)), (3, 3, 1)[i % 3])
        m = 1 + i % 4
        case(f"rotate_{angle}", a, m, int(rng.integers(0, 256)), i, {"rotate": angle}, {"angles": (angle,)})
    for i in range(12):
        a, m, f = image(*(int(v) for v in rng.integers(9, 30, 2)), 3), 1 + i % 4, int(rng.integers(0, 256))
        case(f"all_{i}", a, m, f, i, {"max_shear_ratio": 0.2, "max_rotate_angle": 40, "min_random_scale": 0.6, "max_random_scale": 1.5, "max_aspect_ratio": 0.3},
             {"shear": 0.2, "max_angle": 40, "scale": (0.6, 1.5), "aspect": 0.3})
    for i in range(4):
        a = image(11 + i, 19 - i, 3)
        case(f"sizes_{i}", a, 1, 9, i, {"min_img_size": 13.5, "max_img_size": 16.5}, {"sizes": (13.5, 16.5)})
    case("empty", image(9, 12, 3), 1, 9, 0, {"min_random_scale": 0.05, "max_random_scale": 0.05}, {"scale": (0.05, 0.05)})
    g.write()


def box(r, h, w, area, ratio):
    """What random_resized_crop draws until a box fits, ten times at the most, and the box (None: none did)."""
    tries = []
    for _ in range(10):
        a, t = r.uniform(*area), r.uniform(*ratio)
        n = a * F(h * w)
        y, x = (int(math.floor(math.sqrt(float(v)) + 0.5)) for v in (n / t, n * t))
        turned = bool(r.unit() > F(0.5))
        if turned:
            x, y = y, x
        tries.append([float(str(a)), float(str(t)), turned])
        if 0 < y <= h and 0 < x <= w:
            return tries, [r.below(h - y + 1), r.below(w - x + 1), y, x]
    return tries, None


def boxes():
    """The boxes are the iterator's: an image of coordinates is cut out, by sides as large as the output."""
    cases = []
    for seed in range(288):
        h, w = 20 + seed % 40, 61 - seed % 40
        a = np.stack(np.broadcast_arrays(np.arange(h)[:, None] * 4, np.arange(w)[None] * 4, 9), -1).astype(np.uint8)
        area, ratio = (((0.1, 0.9), (0.5, 2)), ((0.08, 1), (3 / 4, 4 / 3)), ((0.5, 1.5), (0.25, 4)))[seed % 3]
        tries, b = box(Generator(seed + 111), h, w, area, ratio)
        size = b[2:] if b else (5, 5)
        out = iterate(a, size, random_resized_crop=True, min_random_area=area[0], max_random_area=area[1], min_aspect_ratio=ratio[0], max_aspect_ratio=ratio[1], seed_aug=seed)
        top, left = b[:2] if b else ((h - 5) // 2, (w - 5) // 2)
        assert np.array_equal(out, a[top:top + size[0], left:left + size[1]]), (seed, b)
        cases.append({"height": h, "width": w, "tries": tries, "box": b})
        r = Generator(seed + 111)
        side = 5 + r.below(12)
        for random in (True, False):
            top, left = (r.below(h - side + 1), r.below(w - side + 1)) if random else ((h - side) // 2, (w - side) // 2)
            out = iterate(a, (side, side), min_crop_size=5, max_crop_size=16, rand_crop=random, seed_aug=seed)
            assert np.array_equal(out, a[top:top + side, left:left + side]), (seed, side, top, left)
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "../../compat/mxnet/testdata/boxes.json")
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")


N = 20000


def draws():
    r = Generator(111)
    d = Draws("random_hls", REFERENCE)
    for h, l, s in ((36, 50, 50), (255, 1, 0)):
        q = {"h": h, "l": l, "s": s}
        d.case(f"{h}_{l}_{s}", q, (5, 7), [[("adjust_hls", {"h": shift(r, h), "s": shift(r, s), "l": shift(r, l)})] for _ in range(N)])
    d.write()
    d = Draws("random_lighting_noise", REFERENCE)
    for sd in (0.1, 3.0):
        d.case(f"{sd}", {"sd": sd, "backend": "mxnet"}, (5, 7), [[("lighting_noise", {f"alpha.{i}": float(r.normal(sd)) for i in range(3)})] for _ in range(N)])
    d.write()

    d = Draws("random_warp", REFERENCE)
    for (h, w), kw in (((20, 30), {"max_angle": 10}), ((31, 17), {"angles": (-30, 0, 45)}), ((24, 24), {"shear": 0.3, "scale": (0.5, 2.0), "aspect": 0.25}),
                       ((40, 25), {"max_angle": 180, "shear": 0.1, "scale": (0.8, 1.2), "sizes": (22.0, 41.0)}), ((8, 9), {"scale": (0.1, 0.2)}), ((8, 9), {})):
        s, a = kw.get("shear", 0), kw.get("aspect", 0)
        q = {"shear": [-s, s], "max_angle": kw.get("max_angle", 0), "angles": list(kw.get("angles", ())), "scale": list(kw.get("scale", (1, 1))),
             "aspect": [1 - a, 1 + a], "min_size": kw.get("sizes", (0, 0))[0], "max_size": kw.get("sizes", (0, 1e10))[1],
             "interpolation": "bilinear", "backend": "opencv4", "fill": [255]}
        drawn = []
        for _ in range(N):
            m, size = warp(r, h, w, **kw)
            drawn.append([("warp_affine", {"height": size[0], "width": size[1], **{f"matrix.{i}": v for i, v in enumerate(m)}})])
        d.case(f"{w}x{h}_{'_'.join(kw)}", q, (h, w), drawn)
    d.write()


if __name__ == "__main__":
    hls()
    lighting()
    warps()
    boxes()
    draws()
    adjustments()
