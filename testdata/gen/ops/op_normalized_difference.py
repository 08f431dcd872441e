"""Writes the goldens of normalized_difference: NumPy 2.4.6 in float32.

Every run gives the same bytes. Takes no arguments.
"""

import numpy as np

from golden import Golden, chw, image

np.seterr(all="ignore")


def reference(a, x, y, epsilon):
    a = a.astype(np.float32)
    x, y = a[..., x], a[..., y]
    total = x + y
    if epsilon:
        total = total + np.float32(epsilon)  # as TorchGeo's AppendNormalizedDifferenceIndex
    out = (x - y) / total
    assert out.dtype == np.float32
    return out[..., None]


def normalized_difference():
    g = Golden("normalized_difference", "NumPy 2.4.6")
    for dtype in ("uint8", "uint16", "int16", "float32"):
        for h, w, c in [(3, 5, 2), (8, 8, 4), (1, 1, 3), (7, 2, 13)]:
            a = image(h, w, c, dtype)
            a[0, 0] = 0
            if dtype != "uint8" and dtype != "uint16":
                a[-1, -1, 1] = -a[-1, -1, 0]
            for x, y, epsilon in ((0, 1, 0), (1, 0, 1e-10), (c - 1, 0, 0.5), (0, 0, 0), (1, 1, 2)):
                params = {"a": x, "b": y, "epsilon": epsilon}
                want = reference(a, x, y, epsilon)
                g.case(f"{dtype}_{c}_{w}x{h}_{x}_{y}_{epsilon}", params, a, want)
                if c == 4:
                    g.case(f"{dtype}_{c}_{w}x{h}_{x}_{y}_{epsilon}_chw", params, chw(a), chw(want), "CHW")
    g.write()


if __name__ == "__main__":
    normalized_difference()
