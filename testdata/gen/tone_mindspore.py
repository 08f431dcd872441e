"""Writes MindSpore's goldens of the ops of tone.py.

Run with Python 3.11, MindSpore 2.10.0, NumPy 2.4.6 and Pillow 13.0.0, on x86-64 with AVX2.
Every run gives the same bytes.
"""

import mindspore.dataset.vision as vision
import numpy as np

from colour_mindspore import IMAGES, REFERENCE, case
from golden import Golden, image

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


if __name__ == "__main__":
    tones()
