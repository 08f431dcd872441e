"""The small sets that movingmnist_phototour.py makes: files in the formats of the real ones, in testdata/datasets."""

import io

import numpy as np
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_matrix

from labelled_files import DATASETS, put

rng = np.random.Generator(np.random.PCG64(20260505))
SIDE = 64  # of a patch


def movingmnist():
    # The real file has 20 frames of 10,000 videos, 64 x 64.
    b = io.BytesIO()
    np.save(b, rng.integers(0, 256, (20, 3, 4, 5)).astype(np.uint8))
    put("movingmnist/mnist_test_seq.npy", b.getvalue())


def phototour():
    # The real pictures have 16 x 16 patches.
    d = "phototour/liberty/"
    for i, (w, h) in enumerate(((2, 1), (1, 2))):
        b = io.BytesIO()
        k = np.arange(h * w * SIDE * SIDE).reshape(h * SIDE, w * SIDE)
        Image.fromarray(((k // 7 * 3 + k % 5 + i * 40) % 256).astype(np.uint8), "L").save(b, "BMP")
        put(f"{d}patches{i:04d}.bmp", b.getvalue())
    put(d + "info.txt", "0 12\n0 3\n7 0\n9 1\n")
    put(d + "m50_100000_100000_0.txt", "0 0 0 1 0 1 0\n2 7 0 3 9 1 0\n3 9 0 0 0 0 0\n")


def sbdataset():
    d = "sbdataset/"
    parts = {"train": ["2008_000002", "2008_000008"], "val": ["2008_000003"], "train_noval": ["2008_000008"]}
    for k, i in enumerate(sorted({i for p in parts.values() for i in p})):
        h, w = 5 + k, 7 - k
        b = io.BytesIO()
        Image.fromarray(rng.integers(0, 256, (h, w, 3)).astype(np.uint8)).save(b, "JPEG")
        put(f"{d}img/{i}.jpg", b.getvalue())
        boundaries = np.empty((20, 1), object)
        for c in range(20):
            boundaries[c, 0] = csc_matrix(rng.integers(0, 4, (h, w)) == 0 if c in (k, 14) else np.zeros((h, w), bool))
        gt = {"Boundaries": boundaries, "Segmentation": rng.integers(0, 21, (h, w)).astype(np.uint8), "CategoriesPresent": np.array([[k + 1], [15]], np.uint8)}
        b = io.BytesIO()
        savemat(b, {"GTcls": gt}, do_compression=k != 1)
        b = bytearray(b.getvalue())
        b[:116] = b"MATLAB 5.0 MAT-file".ljust(116)  # its header has a date
        put(f"{d}cls/{i}.mat", bytes(b))
    for name, ids in parts.items():
        put(f"{d}{name}.txt", "".join(i + "\n" for i in ids))


def make():
    for f in (movingmnist, phototour, sbdataset):
        f()
