"""Writes MindSpore's goldens of the ops of tone.py and of AdjustSaturation, LightingNoise, LinearTransformation for
backend mindspore; those of RGBToHSV and HSVToRGB; and the draws of RandomPosterize, RandomSolarize, RandomColor and RandomSharpness.

Run with Python 3.11, MindSpore 2.10.0, NumPy 2.4.6 and Pillow 13.0.0, on x86-64 with AVX2.
Every run gives the same bytes.
"""

import mindspore.dataset as ds
import mindspore.dataset.vision as vision
import numpy as np

from posterize_solarize_mindspore import IMAGES, REFERENCE, case
from PIL import Image

from golden import Draws, Golden, chw, image
from mxnet_random import Generator

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


def lighting():
    """What MindSpore draws is predicted: its generator is that of MXNet's iterators, and starts from the seed."""
    g = Golden("lighting_noise", REFERENCE + ".RandomLighting", "lighting_noise_mindspore")
    ds.config.set_num_parallel_workers(1)
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, 2)
    for sd, seed in ((0.05, 1), (0.5, 2), (2.0, 3), (8.0, 4)):
        ds.config.set_seed(seed)
        r = Generator(seed)
        for i, got in enumerate(rows(vision.RandomLighting(sd), ramp, 6)):
            alpha = [float(r.normal(sd)) for _ in range(3)]
            g.case(f"{sd}_{i}", {"alpha": alpha, "backend": "mindspore"}, ramp, got.astype(np.uint8))
    # Among these draws are some that show the roundings: sums next to a half.
    ds.config.set_seed(7)
    r = Generator(7)
    gray = np.full((1, 1, 3), 128, np.uint8)
    for i, got in enumerate(rows(vision.RandomLighting(2.0), gray, 99200)):
        alpha = [float(r.normal(2.0)) for _ in range(3)]
        if i % 9000 == 0 or i in (13304, 31335, 66473, 99164):
            g.case(f"many_{i}", {"alpha": alpha, "backend": "mindspore"}, gray, got.astype(np.uint8))
    for seed, sd in enumerate((0.05, 0.05, 0.5, 0.5, 2.0, 2.0, 8.0, 0.0)):
        for name, a in (("ramp", ramp), ("photo", LEVELS[0][1]), ("row", image(1, 9, 3))):
            np.random.seed(seed)
            got = np.asarray(vision.RandomLighting(sd)(Image.fromarray(a)))
            np.random.seed(seed)
            alpha = [float(np.random.normal(0.0, sd)) for _ in range(3)]
            g.case(f"pillow_{name}_{seed}", {"alpha": alpha, "backend": "pillow"}, a, got)
    g.write()


def hsv():
    rng = np.random.default_rng(9)
    edge = np.array([[r, g, b] for r in (0, 0.3, 1) for g in (0, 0.3, 1) for b in (0, 0.3, 1)]).reshape(3, 9, 3)[::-1]
    images = [rng.random((11, 13, 3)), (image(23, 17, 3) / 255), edge, rng.random((1, 1, 3)), rng.random((1, 9, 3)) ** 4, np.full((2, 3, 3), 0.4)]
    # Hues of which the rounded sum is a whole turn.
    tiny = np.array([[0.7, 0.2, 0.2], [1, 0.5, np.nextafter(0.5, 1)], [0.9, 0.1, 0.1 + 1e-17], [1e-300, 0, 5e-324]]).reshape(1, 4, 3)
    for op, kind in (("rgb_to_hsv", vision.RgbToHsv), ("hsv_to_rgb", vision.HsvToRgb)):
        g = Golden(op, REFERENCE + "." + kind.__name__)
        wide = [rng.uniform(-3, 3, (3, 5, 3))] if op == "hsv_to_rgb" else [tiny]
        for i, a in enumerate(images + wide):
            for dt in ("float64", "float32"):
                x = a.astype(dt)
                # NumPy's vectorize takes the type from the first pixel.
                want, planes = kind(True)(x), kind(False)(chw(x))
                assert np.array_equal(chw(want), planes)
                if want.dtype != x.dtype:
                    want, planes = want.astype(dt), planes.astype(dt)
                g.case(f"{i}_{dt}", {}, x, want)
                g.case(f"{i}_{dt}_chw", {}, chw(x), planes, "CHW")
        g.write()


def linear_transformation():
    g = Golden("linear_transformation", REFERENCE + ".LinearTransformation", "linear_transformation_mindspore")
    rng = np.random.default_rng(8)
    for h, w, c in ((1, 1, 1), (1, 1, 3), (2, 2, 3), (3, 3, 3), (4, 5, 1)):
        n = h * w * c
        for i in range(2 if n < 20 else 1):
            mean = [float(v) for v in rng.integers(0, 2560, n) / 10]
            matrix = [float(f"{v:.2f}") for v in rng.normal(0, 1, n * n)]
            params = {"matrix": matrix, "mean": mean, "backend": "mindspore"}
            for j, a in enumerate((image(h, w, c), image(h, w, c, "float32"))):
                want = vision.LinearTransformation(np.array(matrix).reshape(n, n), np.array(mean))(chw(a))
                g.case(f"{w}x{h}x{c}_{i}_{j}", params, chw(a), want, "CHW")
                if n > 1:
                    g.cases[-1] |= {"tolerance": 2e-12, "reason": "NumPy's BLAS adds in an order of its own, which depends on the processor"}
    g.write()


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
    lighting()
    hsv()
    linear_transformation()
    draws()
