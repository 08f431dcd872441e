"""Writes the goldens of ColorMatrix and the draws of HueJitter and RandomGray: mx.image's HueJitterAug and RandomGrayAug.

Needs mxnet 1.9.1 and numpy 1.23.5 (Python 3.11 or earlier), on x86-64. Takes no arguments; running it again gives the same bytes.
"""

import json
import random

import mxnet as mx
import numpy as np

from golden import ROOT, Draws, Golden, chw, image

REFERENCE = "MXNet 1.9.1 mx.image"
IDENTITY = mx.nd.array(np.eye(3, dtype=np.float32).reshape(1, 3, 3))


def apply(aug, a):
    return aug(mx.nd.array(a, dtype="float32")).asnumpy()


def matrix(aug):
    """What an augmenter multiplies by, as rows of weights."""
    return aug(IDENTITY).asnumpy().reshape(3, 3).T.ravel()


def fixed(angle):
    """A HueJitterAug that draws an angle."""
    aug = mx.image.HueJitterAug(1.0)

    def call(src):
        uniform, random.uniform = random.uniform, lambda a, b: angle
        try:
            return aug(src)
        finally:
            random.uniform = uniform

    return call


def goldens():
    g = Golden("color_matrix", REFERENCE + " HueJitterAug, RandomGrayAug")
    images = [("photo", image(23, 37, 3).astype(np.float32)), ("noise", image(9, 11, 3, "float32")), ("dot", image(1, 1, 3).astype(np.float32)),
              ("unit", (image(8, 5, 3) / np.float32(255)).astype(np.float32)), ("row", image(1, 7, 3, "float32")), ("column", image(40, 1, 3, "float32"))]
    angles = [0.0, 0.1, -0.1, 0.5, -0.37, 1.0, 0.03]
    for i, aug in enumerate([mx.image.RandomGrayAug(1.0)] + [fixed(v) for v in angles]):
        m = [float(v) for v in matrix(aug)]
        for j, (name, a) in enumerate(images):
            want = apply(aug, a)
            if (i + j) % 2:
                g.case(f"{name}_{i}_chw", {"matrix": m}, chw(a), chw(want), "CHW")
            else:
                g.case(f"{name}_{i}", {"matrix": m}, a, want)
    g.write()


def draws():
    rng = np.random.default_rng(3)
    angles = [0.0, 1.0, -1.0, 0.5, -0.5, 1e-9] + rng.uniform(-1, 1, 200).tolist()
    folder = ROOT / "hue_jitter"
    folder.mkdir(exist_ok=True)
    rows = ",\n".join(json.dumps([a] + [float(v) for v in matrix(fixed(a))]) for a in angles)
    (folder / "matrices.json").write_text("[\n" + rows + "\n]\n")

    random.seed(1)
    n = 10000
    d = Draws("hue_jitter", REFERENCE + " HueJitterAug")
    for hue in (0.1, 1.0):
        aug = mx.image.HueJitterAug(hue)
        d.case(str(hue), {"hue": hue}, (5, 7), [[("color_matrix", {f"matrix.{i}": float(v) for i, v in enumerate(matrix(aug))})] for _ in range(n)])
    d.write()
    d = Draws("random_gray", REFERENCE + " RandomGrayAug")
    for p in (0.5, 0.1, 0.0, 1.0):
        aug = mx.image.RandomGrayAug(p)
        drawn = [matrix(aug) for _ in range(n)]
        d.case(str(p), {"probability": p}, (5, 7), [[] if m[0] == 1 else [("color_matrix", {f"matrix.{i}": float(v) for i, v in enumerate(m)})] for m in drawn])
    d.write()


if __name__ == "__main__":
    goldens()
    draws()
