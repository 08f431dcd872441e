"""Writes the goldens of Rotate.

Run with Python 3.11, NumPy 2.4.6 and Pillow 13.0.0, on x86-64. Every run gives the same bytes.
"""

import numpy as np
from PIL import Image

from golden import Golden, chw, image

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


def add(g, name, params, a, want):
    """Every third case is CHW."""
    if len(g.cases) % 3 == 2:
        g.case(name + "_chw", params, chw(a), chw(want), "CHW")
    else:
        g.case(name, params, a, want)


def rotate():
    g = Golden("rotate", "Pillow 13.0.0 Image.rotate")

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
            for method in METHODS:
                case(f"{a.shape[1]}x{a.shape[0]}x{a.shape[2]}_{i}_{j}_{method}", a, method=method, **s)
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
    for i in range(60):
        h, w, c = (int(rng.integers(1, 14)), int(rng.integers(1, 14)), int(rng.choice([1, 3, 3, 4])))
        method = list(METHODS)[i % 3]
        angle = float(rng.uniform(-400, 400)) if i % 2 else int(rng.integers(-400, 400))
        center = [] if i % 5 else rng.uniform(-3, 12, 2)
        case(f"random{i}", image(h, w, c), angle, method, bool(rng.integers(2)), center, [[], [5], [200, 100, 50, 255]][i % 4 % 3])
    g.write()


if __name__ == "__main__":
    rotate()
