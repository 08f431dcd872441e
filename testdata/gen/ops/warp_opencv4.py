"""Writes the goldens of WarpAffine, and some of Rotate and Perspective with the backend opencv4.

Run with Python 3.11, NumPy 2.2.6 and opencv-python-headless 4.11.0.86, on x86-64: OpenCV 5 warps otherwise.
Every run gives the same bytes.
"""

import cv2
import numpy as np

from golden import Golden, image

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)

METHODS = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC, "lanczos": cv2.INTER_LANCZOS4, "area": cv2.INTER_AREA}


def case(g, name, a, m, size, method, fill):
    h, w = size
    want = cv2.warpAffine(a, np.array(m, np.float64).reshape(2, 3), (w, h), flags=METHODS[method], borderMode=cv2.BORDER_CONSTANT,
                          borderValue=fill * 4 if len(fill) == 1 else fill)
    q = {"matrix": [float(v) for v in m], "height": h, "width": w, "interpolation": method, "backend": "opencv4", "fill": fill}
    g.case(name, q, a, want.reshape(h, w, a.shape[2]))


def around(angle, scale, shear, src, dst, aspect=1.0):
    """Rotates, scales and shears about the centres of images of the sizes (height, width)."""
    a, b = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    m = np.array([[a, b], [-b, a]]) @ np.array([[scale * aspect, shear], [0, scale / aspect]])
    c = np.array([src[1], src[0]]) / 2
    t = np.array([dst[1], dst[0]]) / 2 - m @ c
    return [m[0, 0], m[0, 1], t[0], m[1, 0], m[1, 1], t[1]]


def matrices(rng, n, src, dst):
    """n matrices of all kinds."""
    fixed = [
        [1, 0, 0, 0, 1, 0], [1, 0, 3, 0, 1, -2], [1, 0, 0.5, 0, 1, 0.25], [1, 0, 1 / 64, 0, 1, -1 / 64], [0, 1, 0, -1, 0, src[1]],
        [-1, 0, src[1] - 1, 0, -1, src[0] - 1], [2, 0, 0.5, 0, 2, 0.5], [0.5, 0, -0.25, 0, 0.5, -0.25], [1, 1, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0], [1, 2, 3, 2, 4, 6], [1, 2, 3, 2, 4.0000001, 6], [1e-4, 0, 5, 0, 1e-4, 5], [1e4, 0, -2e4, 0, 1e4, -3e4],
        [1e-9, 1e-9, 0, 1e-9, -1e-9, 0], [1e12, 0, 3, 0, 1e12, 3], [1, 0, 1e9, 0, 1, 1e9], [0.1, 0, -40000, 0, 0.1, 0], [1e-300, 0, 0, 0, 1e-300, 0],
    ]
    for m in fixed[:n]:
        yield [float(v) for v in m]
    for i in range(n - len(fixed)):
        kind = i % 4
        if kind == 0:
            yield around(int(rng.integers(-180, 181)), 1.0, 0.0, src, dst)
        elif kind == 1:
            yield around(rng.uniform(-180, 180), float(np.exp(rng.uniform(-1.5, 1.5))), rng.uniform(-1, 1), src, dst, rng.uniform(0.5, 2))
        elif kind == 2:
            yield list(np.float32(around(int(rng.integers(-45, 46)), rng.uniform(0.7, 1.3), rng.uniform(-0.2, 0.2), src, dst)).astype(float))
        else:
            yield list(rng.normal(0, 1, 6) * [1, 1, 20, 1, 1, 20])


def fill_of(rng, channels, i):
    return [int(v) for v in rng.integers(0, 256, 1 if i % 3 else channels)]


def warp():
    g = Golden("warp_affine", "OpenCV 4.11.0 warpAffine without IPP")
    rng = np.random.default_rng(5)
    names = list(METHODS)
    for i, m in enumerate(matrices(rng, 95, (17, 21), (16, 19))):
        channels = (1, 3, 4)[i % 3]
        case(g, f"m{i}", image(17, 21, channels), m, (16, 19), names[i % 4], fill_of(rng, channels, i))
    for i, (src, dst) in enumerate([((1, 1), (5, 5)), ((1, 9), (7, 8)), ((2, 2), (9, 9)), ((7, 7), (1, 1)), ((8, 8), (1, 13)), ((3, 30), (30, 3))]):
        for j, method in enumerate(names):
            channels = (1, 3, 4)[(i + j) % 3]
            case(g, f"{src[1]}x{src[0]}_{method}", image(*src, channels), around(30 + i, 1.5, 0.1, src, dst), dst, method, fill_of(rng, channels, i + j))
    # Beyond a block of OpenCV's, of 32 x 128 or 64 x 64 pixels.
    for i, method in enumerate(names[:4]):
        a = (image(12, 11, 1) // 8).astype(np.uint8)
        case(g, f"blocks_{method}", a, around(12 + i, 5.5, 0.3, (12, 11), (70, 135)), (70, 135), method, [0])
    g.write()


def rotate():
    g = Golden("rotate", "OpenCV 4.11.0 getRotationMatrix2D and warpAffine without IPP", "rotate_opencv4")
    rng = np.random.default_rng(6)
    names = list(METHODS)
    for i in range(40):
        channels, method = (1, 3, 4, 2)[i % 4], names[i % 5]
        h, w = (int(v) for v in rng.integers(1, 20, 2))
        a, fill = image(h, w, channels), fill_of(rng, channels, i)
        angle = float(rng.uniform(-400, 400)) if i % 3 else float(rng.integers(-8, 9) * 45)
        center = [] if i % 2 else [float(np.float32(v)) for v in rng.uniform(-3, 20, 2)]
        m = cv2.getRotationMatrix2D(tuple(center) or ((w - 1) / 2, (h - 1) / 2), angle, 1.0)
        want = cv2.warpAffine(a, m, (w, h), flags=METHODS[method], borderMode=cv2.BORDER_CONSTANT, borderValue=fill * 4 if len(fill) == 1 else fill)
        q = {"angle": angle, "interpolation": method, "backend": "opencv4", "expand": False, "center": center, "fill": fill}
        g.case(f"{i}", q, a, want.reshape(a.shape))
    g.write()


def perspective():
    g = Golden("perspective", "OpenCV 4.11.0 getPerspectiveTransform and warpPerspective without IPP", "perspective_opencv4")
    rng = np.random.default_rng(7)
    names = list(METHODS)

    def case(name, a, method, start=(), end=(), coefficients=(), fill=(0,)):
        if start:
            m, flags = cv2.getPerspectiveTransform(np.array(start, np.float32), np.array(end, np.float32)), METHODS[method]
        else:
            m, flags = np.array([*coefficients, 1.0]).reshape(3, 3), METHODS[method] | cv2.WARP_INVERSE_MAP
        fill = list(fill)
        h, w = a.shape[:2]
        want = cv2.warpPerspective(a, m, (w, h), flags=flags, borderMode=cv2.BORDER_CONSTANT, borderValue=fill * 4 if len(fill) == 1 else fill)
        flat = lambda points: [float(v) for p in points for v in p] or [0.0] * 8
        q = {"start": flat(start), "end": flat(end), "coefficients": [float(v) for v in coefficients], "interpolation": method, "backend": "opencv4", "fill": fill}
        g.case(name, q, a, want.reshape(a.shape))

    for i in range(30):
        channels, method = (1, 3, 4, 2)[i % 4], names[i % 5]
        h, w = (int(v) for v in rng.integers(3, 18, 2))
        start = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]
        end = [[float(np.float32(v)) for v in np.array(p) + rng.uniform(-0.3, 0.3, 2) * [w, h]] for p in start]
        case(f"{i}", image(h, w, channels), method, start, end, fill=fill_of(rng, channels, i))
    a = image(9, 11, 1)
    for method in names[:4]:
        for i, c in enumerate([[1, 0, 0, 0, 1, 0, 0, 0], [0.9, 0.2, -1, 0.1, 1.2, 0.3, 0.03, -0.02], [2, 0, 0, 0, 2, 0, -0.25, 0], [1, 0, -1, 0, 1, 0, -0.5, 0],
                               [1e9, 0, 3, 0, 1e9, 3, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]):
            case(f"coefficients{i}_{method}", a, method, coefficients=c, fill=[50])
    # Beyond a block of OpenCV's, of 64 x 16 pixels or wider.
    case("blocks", (image(34, 130, 1) // 64).astype(np.uint8), "bilinear", [[0, 0], [129, 0], [129, 33], [0, 33]], [[10, 3], [120, 0], [129, 30], [5, 33]])
    case("wide", (image(3, 700, 1) // 64).astype(np.uint8), "bilinear", [[0, 0], [699, 0], [699, 2], [0, 2]], [[10, 0], [690, 0.5], [699, 2], [5, 1.5]])
    g.write()


if __name__ == "__main__":
    warp()
    rotate()
    perspective()
