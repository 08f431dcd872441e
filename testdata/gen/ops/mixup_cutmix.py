"""Writes the goldens of mixup and cutmix, and what MixUp and CutMix draw, of torchvision.

Run with Python 3.11, NumPy 2.4.6, torch 2.15.0 and torchvision 0.29.2. Every run gives the same bytes.
"""

import numpy as np
import torch
from torchvision.transforms import v2

from golden import Draws, Golden

TV = "torchvision 0.29.2"


def batch(n, h, w, dtype, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (n, 3, h, w))
    return x.astype(np.uint8) if dtype == "uint8" else (x / 255).astype(np.float32)


def labels(n, k, seed):
    """Classes, vectors with a 1, and others."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, k, n)
    return [(k, classes), (k, classes.astype(np.int32)), (0, np.eye(k, dtype=np.int64)[classes]), (0, rng.random((n, k)).astype(np.float32))]


def run(t, x, k, y):
    t.num_classes = k or None
    a, b = t(torch.from_numpy(x), torch.from_numpy(y).to(torch.int64 if y.dtype == np.int32 else None))
    return [a.numpy(), b.numpy()]


def mixup():
    g = Golden("mixup", f"{TV} v2.MixUp")
    for i, (n, h, w, f) in enumerate([(4, 5, 6, 0.3), (1, 3, 3, 0.9), (2, 1, 1, 0.0), (3, 2, 7, 1.0), (5, 4, 4, 0.123456789), (8, 3, 2, 0.5), (6, 2, 2, 1e-9)]):
        for j, (k, y) in enumerate(labels(n, 7, i)):
            t = v2.MixUp()
            t.make_params = lambda _: {"lam": f}
            x = batch(n, h, w, "float32", i)
            g.columns_case(f"{i}_{j}", {"factors": [f], "partners": [], "classes": k}, [x, y], run(t, x, k, y))
    g.write()


def cutmix():
    g = Golden("cutmix", f"{TV} v2.CutMix")
    for i, (n, h, w, dtype) in enumerate([(4, 5, 6, "float32"), (1, 3, 3, "uint8"), (2, 1, 1, "uint8"), (3, 2, 7, "float32"), (5, 9, 4, "uint8"), (8, 3, 12, "uint8")]):
        for j, (k, y) in enumerate(labels(n, 7, i)):
            t = v2.CutMix()
            x = batch(n, h, w, dtype, i)
            torch.manual_seed(10 * i + j)
            p = v2.CutMix.make_params(t, [torch.from_numpy(x)])
            t.make_params = lambda _: p
            x1, y1, x2, y2 = p["box"]
            q = {"windows": [y1, x1, y2 - y1, x2 - x1], "partners": [], "classes": k, "layout": "CHW"}
            a, b = run(t, x, k, y)
            g.columns_case(f"{i}_{j}", q, [x, y], [a, b])
            last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
            g.columns_case(f"{i}_{j}_hwc", q | {"layout": "HWC"}, [last, y], [np.ascontiguousarray(a.transpose(0, 2, 3, 1)), b])
    g.write()


def draws():
    torch.manual_seed(1)
    mix, cut = Draws("random_mixup", TV), Draws("random_cutmix", TV)
    for alpha, (h, w) in ((1.0, (32, 32)), (0.2, (17, 200)), (5.0, (375, 500)), (0.02, (9, 8))):
        x = [torch.zeros(2, 3, h, w)]
        t = v2.MixUp(alpha=alpha, num_classes=5)
        drawn = [[("mixup", {"factors.0": t.make_params(x)["lam"]})] for _ in range(4000)]
        mix.case(f"{alpha}", {"alpha": alpha, "each": False, "partner": "previous", "classes": 5}, (h, w), drawn, batch=2)
        t, drawn = v2.CutMix(alpha=alpha, num_classes=5), []
        for _ in range(4000):
            x1, y1, x2, y2 = t.make_params(x)["box"]
            drawn.append([("cutmix", {f"windows.{i}": v for i, v in enumerate((y1, x1, y2 - y1, x2 - x1))})])
        q = {"probability": 1.0, "alpha": alpha, "each": False, "partner": "previous", "classes": 5, "layout": "CHW"}
        cut.case(f"{alpha}", q, (h, w), drawn, batch=2)
    mix.write()
    cut.write()


if __name__ == "__main__":
    mixup()
    cutmix()
    draws()
