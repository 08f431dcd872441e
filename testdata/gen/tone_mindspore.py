"""Writes MindSpore's goldens of the ops of tone.py and of AdjustSaturation for backend mindspore, and the draws of
RandomPosterize, RandomSolarize, RandomColor and RandomSharpness.

Run with Python 3.11, MindSpore 2.10.0, NumPy 2.4.6 and Pillow 13.0.0, on x86-64 with AVX2.
Every run gives the same bytes.
"""

import mindspore.dataset as ds
import mindspore.dataset.vision as vision
import numpy as np

from colour_mindspore import IMAGES, REFERENCE, case
from golden import Draws, Golden, image

RNG = np.random.default_rng(5)
LEVELS = IMAGES + [("wide", RNG.normal(120, 50, (40, 51, 3)).clip(0, 255).astype(np.uint8)),
                   ("narrow", RNG.normal(90, 6, (31, 30, 3)).clip(0, 255).astype(np.uint8)), ("flat", np.full((5, 7, 3), 77, np.uint8))]


def tones():
    g = Golden("auto_contrast", REFERENCE + ".AutoContrast", "auto_contrast_mindspore")
    for cutoff in (0, 1, 2.5, 10, 33.3, 49, 49.9, 0.9):
        for i, ignore in enumerate(([], [0], [255, 3], [77])):
            for name, a in LEVELS[i % 2 :: 2]:
                params = {"cutoff_low": cutoff, "cutoff_high": cutoff, "ignore": ignore, "backend": "mindspore"}
                case(g, f"{name}_{cutoff}_{i}", params, a, vision.AutoContrast(cutoff, ignore or None))
    g.write()

    g = Golden("equalize", REFERENCE + ".Equalize", "equalize_mindspore")
    for name, a in LEVELS:
        case(g, name, {"backend": "opencv"}, a, vision.Equalize())
    g.write()

    g = Golden("adjust_sharpness", REFERENCE + ".AdjustSharpness", "adjust_sharpness_mindspore")
    for i, f in enumerate((0.0, 1.0, 0.5, 2.0, 0.3, 1.9, 1.1, 3.7, 10.0, 1e-7, 1234.5)):
        for name, a in LEVELS + [("three", image(3, 3, 3)), ("row", image(1, 9, 3)), ("two", image(9, 2, 3)), ("four", image(3, 4, 1))]:
            case(g, f"{name}_{i}", {"factor": f, "backend": "opencv"}, a, vision.AdjustSharpness(f))
    g.write()

    g = Golden("adjust_gamma", REFERENCE + ".AdjustGamma", "adjust_gamma_mindspore")
    for gamma in (0.0, 0.3, 0.4545, 0.5, 1.0, 1.7, 2.0, 2.2, 3.7, 10.0):
        for gain in (1.0, 0.5, 1.7, 0.0):
            for name, a in (IMAGES[0], IMAGES[5]) if gain == 1 else IMAGES[5:]:
                case(g, f"{name}_{gamma}_{gain}", {"gamma": gamma, "gain": gain, "backend": "pillow"}, a, vision.AdjustGamma(gamma, gain))
    g.write()

    g = Golden("adjust_saturation", REFERENCE + ".RandomColor", "adjust_saturation_mindspore")
    for i, f in enumerate((1e-7, 1.0, 0.5, 2.0, 0.3, 1.9, 1.1, 3.7, 1234.5)):
        for name, a in [x for x in LEVELS if x[1].shape[2] == 3]:
            case(g, f"{name}_{i}", {"factor": f, "backend": "mindspore"}, a, vision.RandomColor((f, f)))
    g.write()


def rows(op, a, n=8000):
    """What an op makes of an image, n times."""
    d = ds.NumpySlicesDataset({"image": np.repeat(a[None], n, 0)}, shuffle=False).map(op, "image")
    return [r["image"].astype(int) for r in d.create_dict_iterator(num_epochs=1, output_numpy=True)]


def draws():
    ds.config.set_seed(1)
    ds.config.set_num_parallel_workers(1)
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    d = Draws("random_posterize", REFERENCE + ".RandomPosterize")
    for bits in ((1, 8), (3, 6), (8, 8), (2, 3)):
        drawn = [[("posterize", {"bits": len(np.unique(r)).bit_length() - 1})] for r in rows(vision.RandomPosterize(bits), ramp)]
        d.case(str(bits), {"bits": list(bits)}, (16, 16), drawn)
    d.write()

    d = Draws("random_solarize", REFERENCE + ".RandomSolarize")
    for threshold in ((0, 255), (10, 14), (7, 7), (252, 255), (0, 1)):
        drawn = []
        for r in rows(vision.RandomSolarize(threshold), ramp):
            changed = np.flatnonzero(r.ravel() != np.arange(256))
            assert (r.ravel()[changed] == 255 - changed).all() and len(changed) == changed[-1] - changed[0] + 1
            drawn.append([("solarize", {"threshold.min": changed[0], "threshold.max": changed[-1]})])
        d.case(str(threshold), {"threshold": list(threshold)}, (16, 16), drawn)
    d.write()

    # The factors follow from the mean of many results: a red pixel, or a dot, moves from a gray (smooth) value to its own.
    degrees = ((0.1, 1.9), (0.63, 1.41), (0.001, 2.0))
    red = np.zeros((10, 12, 3), np.uint8)
    red[:, :, 0] = np.arange(120).reshape(10, 12)
    d = Draws("random_color", REFERENCE + ".RandomColor")
    gray = (9798 * red[:, :, 0].astype(int) + 16384) >> 15
    for lo, hi in degrees:
        drawn = [[("adjust_saturation", {"factor": (r[:, :, 0] - gray).sum() / (red[:, :, 0] - gray).sum()})] for r in rows(vision.RandomColor((lo, hi)), red)]
        d.case(f"{lo}_{hi}", {"degrees": [lo, hi], "backend": "mindspore"}, (10, 12), drawn)
    d.write()
    dots = np.zeros((31, 31, 1), np.uint8)
    dots[1::3, 1::3, 0] = 20 + np.arange(100).reshape(10, 10)
    v = dots[1::3, 1::3, 0].astype(int)
    smooth = (10 * v + 13) // 26
    d = Draws("random_sharpness", REFERENCE + ".RandomSharpness")
    for lo, hi in degrees:
        drawn = [[("adjust_sharpness", {"factor": (r.reshape(31, 31)[1::3, 1::3] - smooth).sum() / (v - smooth).sum()})]
                 for r in rows(vision.RandomSharpness((lo, hi)), dots)]
        d.case(f"{lo}_{hi}", {"degrees": [lo, hi], "backend": "opencv"}, (31, 31), drawn)
    d.write()


if __name__ == "__main__":
    tones()
    draws()
