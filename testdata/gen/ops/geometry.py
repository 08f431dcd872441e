"""Writes the goldens of Rotate, Affine, Perspective, Elastic, ElasticNoise, FiveCrop, TenCrop and Tile.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, torch 2.15.0 and torchvision 0.29.2, on x86-64 with glibc 2.36. Every run gives the same bytes.
The CPU needs fused multiply-add. MKL's matrix products, of which torch makes its grids, fuse on Intel's CPUs only; here they never do.
"""

import os

os.environ["MKL_CBWR"] = "COMPATIBLE"

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as v2
from torchvision.transforms.v2.functional._misc import _get_gaussian_kernel1d

from erase_adjust import philox
from golden import Golden, chw, image

torch.set_num_threads(1)

METHODS = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}


def gradient(h, w, c):
    """Smooth values, whose interpolated values are often close to an integer."""
    y, x, k = np.mgrid[0:h, 0:w, 0:c]
    return ((x * 7 + y * 5 + k * 40) % 256).astype(np.uint8)


# One pixel, one row, odd sides, a square, noise and smooth values, gray and colour.
IMAGES = [image(1, 1, 3), image(1, 9, 1), image(11, 7, 3), image(8, 8, 3), gradient(12, 17, 3), gradient(9, 14, 1)]


def pil(a):
    return Image.fromarray(a if a.shape[2] > 1 else a[:, :, 0])


def arr(im):
    a = np.asarray(im)
    return a if a.ndim == 3 else a[:, :, None]


def fill_of(v, channels):
    """A fill for an image of these channels, of a list that has one value or at least so many, and Pillow's fillcolor of it."""
    v = v if len(v) < 2 else v[:channels]
    color = v * channels if len(v) == 1 else v
    return v, None if not v else color[0] if channels == 1 else tuple(color)


def tensor(f, a, *args, **kw):
    """What a function of torchvision makes of a uint8 tensor."""
    return f(torch.from_numpy(chw(a)), *args, **kw).numpy().transpose(1, 2, 0)


TORCH = ["nearest", "bilinear"]


def two(i):
    """Nearest and another method; or both of the others."""
    return [["nearest", "bilinear"], ["nearest", "bicubic"], ["bilinear", "bicubic"]][i % 3]


def add(g, name, params, a, want):
    """Every third case is CHW."""
    if len(g.cases) % 3 == 2:
        g.case(name + "_chw", params, chw(a), chw(want), "CHW")
    else:
        g.case(name, params, a, want)


def rotate():
    g = Golden("rotate", "Pillow 13.0.0 Image.rotate; torchvision 0.29.2 rotate")

    def torch_case(name, a, angle, method, expand=False, center=(), fill=()):
        v, _ = fill_of(list(fill), a.shape[2])
        q = {"angle": float(angle), "interpolation": method, "backend": "torch", "expand": expand, "center": [float(c) for c in center], "fill": v}
        want = tensor(v2.rotate, a, angle, InterpolationMode(method), expand, list(center) or None, [float(f) for f in v] or None)
        add(g, "torch_" + name, q, a, want)

    def case(name, a, angle, method, expand=False, center=(), fill=()):
        v, color = fill_of(list(fill), a.shape[2])
        q = {"angle": float(angle), "interpolation": method, "backend": "pillow", "expand": expand, "center": [float(c) for c in center], "fill": v}
        want = arr(pil(a).rotate(angle, METHODS[method], expand, tuple(center) or None, fillcolor=color))
        add(g, name, q, a, want)

    sets = [
        dict(angle=30), dict(angle=-45, expand=True, fill=[9, 200, 77]), dict(angle=90), dict(angle=90, expand=True), dict(angle=180, center=(2, 3)),
        dict(angle=12.34567, center=(0, 0), fill=[255]), dict(angle=-727.5, center=(3.25, -1.5), expand=True, fill=[1, 2, 3]), dict(angle=0.001),
    ]
    for i, a in enumerate(IMAGES):
        for j, s in enumerate(sets):
            for method in two(i + j):
                case(f"{a.shape[1]}x{a.shape[0]}x{a.shape[2]}_{i}_{j}_{method}", a, method=method, **s)
            torch_case(f"{a.shape[1]}x{a.shape[0]}x{a.shape[2]}_{i}_{j}", a, method=TORCH[(i + j) % 2], **s)
    for angle in (0, 360, -360, -90, 180, 270, 450, -1e-20, 1e6, 540.0):
        for expand in (False, True):
            case(f"turn_{angle}_{expand}", IMAGES[2], angle, "bilinear", expand, fill=[50])
    for method in METHODS:
        for angle in (0, 20, 180):
            case(f"center_{angle}_{method}", IMAGES[4], angle, method, center=(8.5, 6), fill=[3, 4, 5])
        case(f"alpha_{method}", image(7, 9, 4), 33, method, fill=[10, 200, 30, 128])
        case(f"alpha_none_{method}", image(7, 9, 4), 33, method, True)
        case(f"la_{method}", image(7, 9, 2), 33, method)
        case(f"la_turn_{method}", image(7, 7, 2), 270, method)
    # Coordinates that 16 fractional bits do not hold.
    case("far", IMAGES[4], 1, "nearest", center=(-2e6, 3e6), fill=[7])
    case("far_center", IMAGES[4], 45, "nearest", center=(40000, 40000), fill=[7])
    rng = np.random.default_rng(1)
    for i in range(30):
        h, w, c = (int(rng.integers(1, 14)), int(rng.integers(1, 14)), int(rng.choice([1, 3, 3, 4])))
        method = list(METHODS)[i % 3]
        angle = float(rng.uniform(-400, 400)) if i % 2 else int(rng.integers(-400, 400))
        center = [] if i % 5 else rng.uniform(-3, 12, 2)
        case(f"random{i}", image(h, w, c), angle, method, bool(rng.integers(2)), center, [[], [5], [200, 100, 50, 255]][i % 4 % 3])
        torch_case(f"random{i}", image(h, w, c), angle, TORCH[i % 2], bool(rng.integers(2)), center, [[], [5], [200, 100, 50, 255]][i % 4 % 3])
    for method in TORCH:
        torch_case(f"5_channels_{method}", image(7, 9, 5), 33, method, True, fill=[9])
        torch_case(f"far_{method}", IMAGES[4], 45, method, center=(1.6e7, -1.6e7), fill=[9])
    for i in range(16):
        h, w = (int(rng.integers(1, 300)), int(rng.integers(1, 400)))
        torch_case(f"size{i}", np.zeros((h, w, 1), np.uint8), float(rng.choice([45, 30, 60, 12.5, rng.uniform(0, 360)])), "nearest", True)
    g.write()


def affine():
    g = Golden("affine", "torchvision 0.29.2 affine, with Pillow 13.0.0 and on tensors")

    def case(name, a, method, angle=0.0, translate=(0, 0), scale=1.0, shear=(0.0, 0.0), center=(), fill=()):
        v, _ = fill_of(list(fill), a.shape[2])
        q = {"angle": float(angle), "translate_x": float(translate[0]), "translate_y": float(translate[1]), "scale": float(scale),
             "shear_x": float(shear[0]), "shear_y": float(shear[1]), "interpolation": method, "backend": "pillow",
             "center": [float(c) for c in center], "fill": v}
        args = float(angle), list(translate), float(scale), list(shear), InterpolationMode(method)
        add(g, name, q, a, arr(v2.affine(pil(a), *args, v or None, list(center) or None)))
        if method in TORCH:
            add(g, "torch_" + name, dict(q, backend="torch"), a, tensor(v2.affine, a, *args, [float(f) for f in v] or None, list(center) or None))

    sets = [
        dict(angle=30, fill=[9, 200, 77]), dict(translate=(3, -2), fill=[5]), dict(scale=1.7, angle=-12.5), dict(shear=(20, 0)),
        dict(shear=(-35.5, 12), scale=0.6, fill=[255]), dict(angle=90), dict(angle=200, translate=(0.5, 1), shear=(5, 70), center=(2, 4.5)),
        dict(angle=0.001, scale=3, center=(-3, 20), fill=[1, 2, 3]),
    ]
    for i, a in enumerate(IMAGES):
        for j, s in enumerate(sets):
            for method in two(i + j):
                case(f"{a.shape[1]}x{a.shape[0]}x{a.shape[2]}_{i}_{j}_{method}", a, method, **s)
    for method in METHODS:
        case(f"identity_{method}", IMAGES[2], method)
        case(f"turn_{method}", IMAGES[2], method, 180)
        case(f"alpha_{method}", image(7, 9, 4), method, 33, shear=(10, 0), fill=[10, 200, 30, 128])
        case(f"la_{method}", image(7, 9, 2), method, 33, scale=1.2)
        case(f"far_{method}", IMAGES[4], method, 1, translate=(40000, -1e5), scale=1e-3, fill=[7])
        case(f"steep_{method}", IMAGES[4], method, 0, shear=(90, 0), fill=[7])
    rng = np.random.default_rng(2)
    for i in range(30):
        h, w, c = (int(rng.integers(1, 14)), int(rng.integers(1, 14)), int(rng.choice([1, 3, 3, 4])))
        case(f"random{i}", image(h, w, c), list(METHODS)[i % 3], float(np.float32(rng.uniform(-180, 180))),
             (int(rng.integers(-4, 5)), int(rng.integers(-4, 5))), float(np.exp(rng.uniform(-1, 1))), rng.uniform(-60, 60, 2),
             [] if i % 5 else rng.uniform(-3, 12, 2), [[], [5], [200, 100, 50, 255]][i % 4 % 3])
    g.write()


def corners(h, w):
    return [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]


def flat(points):
    return [float(v) for p in points for v in p]


def perspective():
    g = Golden("perspective", "torchvision 0.29.2 perspective, with Pillow 13.0.0 and on tensors")

    def case(name, a, method, start=None, end=None, coefficients=None, fill=()):
        v, _ = fill_of(list(fill), a.shape[2])
        q = {"start": flat(start or [[0, 0]] * 4), "end": flat(end or [[0, 0]] * 4), "coefficients": [float(c) for c in coefficients or []],
             "interpolation": method, "backend": "pillow", "fill": v}
        args = start, end, InterpolationMode(method)
        add(g, name, q, a, arr(v2.perspective(pil(a), *args, v or None, coefficients)))
        if method in TORCH:
            add(g, "torch_" + name, dict(q, backend="torch"), a, tensor(v2.perspective, a, *args, [float(f) for f in v] or None, coefficients))

    rng = np.random.default_rng(3)
    for i, a in enumerate(IMAGES):
        h, w = a.shape[:2]
        s, d = max(w, 3), max(h, 3)  # a map needs four points, no three of them on a line
        box = corners(d, s)
        sets = [
            dict(start=box, end=[[1, 2], [s - 2, 0], [s - 1, d - 2], [0, d - 1]], fill=[9, 200, 77]),
            dict(start=box, end=[[s // 3, d // 3], [s, 0], [s - 1, d + 4], [-3, d]], fill=[5]),
            dict(start=[[2, 1], [s + 2, -1], [s, d + 3], [1, d - 1]], end=box),
            dict(coefficients=[1, 0, 0, 0, 1, 0, 0, 0]),
            dict(coefficients=[0.9, 0.2, -1, 0.1, 1.2, 0.3, 0.03, -0.02], fill=[1, 2, 3]),
            dict(coefficients=[2, 0, 0, 0, 2, 0, -0.25, 0], fill=[50]),
            dict(coefficients=[1, 0, -0.5, 0, 1, 0, -2, 0], fill=[50]),
            dict(coefficients=rng.normal(0, 1, 8).tolist()),
        ]
        for j, t in enumerate(sets):
            for method in two(i + j):
                case(f"{w}x{h}x{a.shape[2]}_{i}_{j}_{method}", a, method, **t)
    for method in METHODS:
        for c in (2, 4):
            case(f"alpha{c}_{method}", image(7, 9, c), method, corners(7, 9), [[1, 0], [7, 2], [8, 5], [0, 6]], fill=[] if c == 2 else [10, 200, 30, 128])
    for i in range(24):
        h, w, c = (int(rng.integers(4, 14)), int(rng.integers(4, 14)), int(rng.choice([1, 3, 3, 4])))
        bw, bh = w // 4 + 1, h // 4 + 1
        end = [[int(rng.integers(bw)), int(rng.integers(bh))], [w - 1 - int(rng.integers(bw)), int(rng.integers(bh))],
               [w - 1 - int(rng.integers(bw)), h - 1 - int(rng.integers(bh))], [int(rng.integers(bw)), h - 1 - int(rng.integers(bh))]]
        case(f"random{i}", image(h, w, c), list(METHODS)[i % 3], corners(h, w), end, fill=[[], [5], [200, 100, 50, 255]][i % 4 % 3])
    g.write()


def elastic():
    g = Golden("elastic", "torchvision 0.29.2 elastic")
    rng = np.random.default_rng(8)
    sides = [image(2, 3, 5), image(6, 1, 4)]
    for i, a in enumerate(IMAGES + sides):
        h, w = a.shape[:2]
        fields = [np.zeros((h, w, 2)), rng.uniform(-1, 1, (h, w, 2)) / [w, h], rng.normal(0, 1, (h, w, 2)), np.full((h, w, 2), 2.0) / [w, h]]
        fields[2].flat[:4] = np.nan, np.inf, -np.inf, 1e30
        for j, field in enumerate(fields):
            field = field.astype(np.float32)
            for method in TORCH:
                v, _ = fill_of([[], [7], [9, 200, 77, 3, 128]][(i + j) % 3], a.shape[2])
                want = tensor(v2.elastic, a, torch.from_numpy(field[None]), InterpolationMode(method), [float(f) for f in v] or None)
                q = {"interpolation": method, "fill": v}
                flip = len(g.cases) % 3 == 2
                layout = "CHW" if flip else "HWC"
                g.columns_case(f"{i}_{j}_{method}", q, [(chw(a) if flip else a, layout), field], [(chw(want) if flip else want, layout)])
    g.write()


def blurred(v, n, sigmas):
    """Along the rows, then along the columns, tap by tap in float32."""
    for axis, sigma in ((1, sigmas[0]), (0, sigmas[1])):
        taps = _get_gaussian_kernel1d(n, sigma, torch.float32, torch.device("cpu")).numpy()
        pad = [(0, 0), (0, 0)]
        pad[axis] = (n // 2, n // 2)
        wide, out = np.pad(v, pad, mode="reflect"), np.zeros_like(v)
        for k, tap in enumerate(taps):
            out += np.take(wide, range(k, k + v.shape[axis]), axis) * tap
        v = out
    return v


def noise_field(h, w, alpha, sigma, key):
    """The displacement of ElasticNoise."""
    sizes = [int(8 * s + 1) | 1 for s in sigma]
    bits = np.array([philox([key & 0xFFFFFFFF, key >> 32], [0, 0, n, 0])[:2] for n in range(h * w)])
    noise = ((bits >> 8).astype(np.float32) * np.float32(2**-23) - np.float32(1)).reshape(h, w, 2)
    field = []
    for k in range(2):
        v = noise[:, :, k]
        if any(sigma):
            blur = v2.gaussian_blur(torch.from_numpy(v[None].copy()), [sizes[k]] * 2, list(sigma)).numpy()[0]
            v = blurred(v, sizes[k], sigma)
            assert np.abs(v - blur).max() < 1e-6
        field.append(v * np.float32(alpha[k]) / np.float32((w, h)[k]))
    return torch.from_numpy(np.stack(field, 2)[None])


def elastic_noise():
    g = Golden("elastic_noise", "torchvision 0.29.2 elastic, with a displacement of Philox 4x32-10")
    images = [image(1, 1, 3), image(11, 7, 3), image(8, 8, 3), gradient(12, 17, 3), gradient(9, 14, 1), image(33, 30, 1)]
    for i, a in enumerate(images):
        h, w = a.shape[:2]
        for j, (alpha, sigma, key) in enumerate([((50, 50), (0, 0), 0), ((20, 30), (0.5, 0.3), 2**64 - 1), ((-100, 40), (0.7, 0.8), 0x0123456789ABCDEF),
                                                 ((1000, 1000), (3.5, 2), 5), ((60, 50), (5, 5), 77)]):
            sizes = [int(8 * s + 1) | 1 for s in sigma]
            if any(sigma) and max(sizes) // 2 >= min(h, w):
                continue
            field = noise_field(h, w, alpha, sigma, key)
            method = TORCH[(i + j) % 2]
            v, _ = fill_of([[0], [], [9, 200, 77]][(i + j) % 3], a.shape[2])
            q = {"alpha_x": float(alpha[0]), "alpha_y": float(alpha[1]), "sigma_x": float(sigma[0]), "sigma_y": float(sigma[1]), "key": key,
                 "interpolation": method, "fill": v}
            add(g, f"{i}_{j}", q, a, tensor(v2.elastic, a, field, InterpolationMode(method), [float(f) for f in v] or None))
    g.write()


# Several dtypes, layouts and channels.
CROPPED = [image(1, 1, 3), image(7, 9, 3), image(8, 8, 1), image(9, 6, 4, "float32"), image(6, 11, 2, "int16"), image(5, 5, 3, "bool")]


def stacked(f, a, *args):
    """The outputs of a function of torchvision of a HWC array, along a new first axis."""
    return np.stack([t.numpy().transpose(1, 2, 0) for t in f(torch.from_numpy(chw(a)), *args)])


def both(g, name, params, a, want):
    """A case in each layout."""
    g.case(name, params, a, want, "HWC", "none")
    g.case(name + "_chw", params, chw(a), np.ascontiguousarray(want.transpose(0, 3, 1, 2)), "CHW", "none")


def crops():
    five = Golden("five_crop", "torchvision 0.29.2 five_crop")
    ten = Golden("ten_crop", "torchvision 0.29.2 ten_crop")
    for i, a in enumerate(CROPPED):
        h, w = a.shape[:2]
        for ch, cw in sorted({(1, 1), (h, w), (h - h // 3, w - w // 2), (max(h - 3, 1), max(w - 1, 1))}):
            q = {"height": ch, "width": cw}
            both(five, f"{i}_{cw}x{ch}", q, a, stacked(v2.five_crop, a, [ch, cw]))
            for vertical in (False, True):
                both(ten, f"{i}_{cw}x{ch}_{vertical}", dict(q, vertical=vertical), a, stacked(v2.ten_crop, a, [ch, cw], vertical))
    five.write()
    ten.write()


def tiles():
    g = Golden("tile", "torch 2.15.0 unfold, and pad")
    for i, a in enumerate(CROPPED):
        h, w = a.shape[:2]
        for j, (th, tw, oh, ow) in enumerate([(1, 1, 0, 0), (2, 3, 0, 0), (3, 4, 1, 2), (5, 4, 4, 0), (h, w, 0, 0), (h + 2, w - w // 2, 1, 0)]):
            for edge in ("pad", "drop"):
                if edge == "drop" and (th > h or tw > w):
                    continue
                fill = [[0], [1], [1] * a.shape[2]][j % 3]
                sh, sw = th - oh, tw - ow
                x = torch.from_numpy(chw(a))
                if edge == "pad":
                    more = [max(n - t, 0) for n, t in ((h, th), (w, tw))]
                    bottom, right = th + -(-more[0] // sh) * sh - h, tw + -(-more[1] // sw) * sw - w
                    x = torch.nn.functional.pad(x.double(), (0, right, 0, bottom), value=fill[0]).to(x.dtype)
                want = x.unfold(1, th, sh).unfold(2, tw, sw).permute(1, 2, 3, 4, 0).reshape(-1, th, tw, a.shape[2]).numpy()
                q = {"height": th, "width": tw, "overlap_height": oh, "overlap_width": ow, "edge": edge, "fill": [float(f) for f in fill]}
                both(g, f"{i}_{j}_{edge}", q, a, want)
    g.write()


if __name__ == "__main__":
    rotate()
    affine()
    perspective()
    crops()
    tiles()
    elastic()
    elastic_noise()
