"""Writes the goldens of GaussianBlur.

Run with Python 3.11, NumPy 2.4.6 and Pillow 13.0.0, on x86-64. Every run gives the same bytes.
"""

import numpy as np
from PIL import Image, ImageFilter

from golden import Golden, chw, image

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def steps(h, w):
    """An image of edges: a step in each direction, and single pixels."""
    a = np.zeros((h, w, 1), np.uint8)
    a[h // 3 :] += 100
    a[:, w // 2 :] += 155
    a[h // 2, ::4] = 255
    return a


IMAGES = {
    "dot": image(1, 1, 3), "row": image(1, 13, 1), "column": image(9, 1, 3), "odd": image(7, 11, 3), "noise": image(19, 34, 4),
    "gray": image(16, 33, 1), "two": image(5, 6, 2), "steps": steps(24, 21),
}


def pillow(a, sx, sy):
    c = a.shape[2]
    im = Image.frombytes(MODES[c], (a.shape[1], a.shape[0]), a.tobytes())
    return np.frombuffer(im.filter(ImageFilter.GaussianBlur((sx, sy))).tobytes(), np.uint8).reshape(a.shape)


def blur():
    g = Golden("gaussian_blur", "Pillow 13.0.0 ImageFilter.GaussianBlur")
    sigmas = [(2.0, 2.0), (0.0, 0.0), (0.5, 0.5), (0.1, 1.0), (1.3, 0.0), (0.0, 7.7), (40.0, 3.0), (1e-30, 10000.0), (0.8660254037844386, 1.4142135)]
    for i, (sx, sy) in enumerate(sigmas):
        for j, (name, a) in enumerate(IMAGES.items()):
            q = {"kernel_height": 0, "kernel_width": 0, "sigma_y": sy, "sigma_x": sx, "backend": "pillow"}
            want = pillow(a, sx, sy)
            if (i + j) % 3:
                g.case(f"pillow_{i}_{name}", q, a, want)
            else:
                g.case(f"pillow_{i}_{name}_chw", q, chw(a), chw(want), "CHW")
    rng = np.random.default_rng(3)
    for i in range(40):
        s = [float(v) for v in np.exp(rng.uniform(-2, 3, 2))]
        q = {"kernel_height": 0, "kernel_width": 0, "sigma_y": s[1], "sigma_x": s[0], "backend": "pillow"}
        a = IMAGES["gray"] if i % 2 else IMAGES["odd"]
        g.case(f"pillow_random_{i}", q, a, pillow(a, *s))
    g.write()


if __name__ == "__main__":
    blur()
