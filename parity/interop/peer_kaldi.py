"""kaldi_native_io's and kaldiio's side of interop.py.

usage: peer_kaldi.py native-write FILE.ark METHOD | native-read FILE.ark|FILE.scp | kaldiio-write FILE.ark METHOD | kaldiio-read FILE.ark|FILE.scp

METHOD is 0 for no compression, else one of Kaldi's seven methods. A file named vectors* holds vectors, doubles* holds float64.
"""

import os
import sys

import kaldi_native_io as k
import kaldiio
import numpy as np

import samples


def objects(path):
    rng = np.random.default_rng(5)
    name = os.path.basename(path)
    dtype = np.float64 if name.startswith("doubles") else np.float32
    for n in range(100):
        a = rng.normal(size=(1 + n % 23,) if name.startswith("vectors") else (1 + n % 31, 1 + n % 13)).astype(dtype)
        yield f"utt-{n:03d}-ü", a


def kind(path):
    name = os.path.basename(path)
    return "DoubleMatrix" if name.startswith("doubles") else "FloatVector" if name.startswith("vectors") else "FloatMatrix"


def spec(path):
    return ("scp:" if path.endswith(".scp") else "ark:") + path


def native_write(path, method):
    wspec = f"ark,scp:{path},{path[:-4]}.scp"
    if int(method):
        with k.CompressedMatrixWriter(wspec) as w:
            for key, a in objects(path):
                w.write(key, a, k.CompressionMethod(int(method)))
    else:
        with getattr(k, kind(path) + "Writer")(wspec) as w:
            for key, a in objects(path):
                w.write(key, a)
    native_read(path)


def native_read(path):
    with getattr(k, "Sequential" + kind(path) + "Reader")(spec(path)) as r:
        for key, value in r:
            samples.show(key, {"data": np.array(value)})


def kaldiio_write(path, method):
    kaldiio.save_ark(path, dict(objects(path)), scp=path[:-4] + ".scp", compression_method=int(method) or None)
    kaldiio_read(path)


def kaldiio_read(path):
    pairs = kaldiio.load_scp_sequential(path) if path.endswith(".scp") else kaldiio.load_ark(path)
    for key, value in pairs:
        samples.show(key, {"data": value})


{"native-write": native_write, "native-read": native_read, "kaldiio-write": kaldiio_write, "kaldiio-read": kaldiio_read}[sys.argv[1]](*sys.argv[2:])
