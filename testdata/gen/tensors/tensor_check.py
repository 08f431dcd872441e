"""Reads what the writers of packages tensor and tensor/npz wrote, with the real
readers, and compares.

    mkdir DIR && go test ./tensor -run TestWriteForCheck -args -dir DIR
    go test ./tensor/npz -run TestWriteForCheck -args -dir DIR
    python testdata/gen/tensors/tensor_check.py DIR

Needs the packages of tensor_files.py. Prints how many files of each kind are right,
and exits with 1 if any is not.
"""
import collections
import json
import math
import pathlib
import sys

import ml_dtypes
import numpy as np
import onnx
import safetensors
import safetensors.numpy
from onnx import numpy_helper

DIR = pathlib.Path(sys.argv[1])
index = json.loads((DIR / "index.json").read_text())
npz = np.load(DIR / "all.npz", allow_pickle=False)
st = safetensors.numpy.load_file(DIR / "all.safetensors")
right, wrong = collections.Counter(), []


def check(kind, key, got, want):
    ok = got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()
    right[kind] += ok
    if not ok:
        wrong.append((kind, key, got.dtype, got.shape))


def array(dtype, shape):
    """As in tensor_files.py."""
    dtype = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    k = np.arange(math.prod(shape) * dtype.itemsize)
    b = ((k * 37 + 11) & 0xFF).astype(np.uint8)
    if dtype == np.bool_:
        b = (b >> 1) & 1
    return b.view(dtype).reshape(shape)


for e in index:
    key = e["key"]
    want = array(e["dtype"], e["shape"])
    if e["dtype"] != "bfloat16":
        check("npy", key, np.load(DIR / f"{key}.npy", allow_pickle=False), want)
        check("npz", key, npz[key], want)
    check("safetensors", key, st[key], want)
    proto = onnx.TensorProto.FromString((DIR / f"{key}.pb").read_bytes())
    onnx.checker.check_tensor(proto)
    assert proto.name == key
    check("onnx", key, numpy_helper.to_array(proto), want)
    check("raw", key, np.fromfile(DIR / f"{key}.raw", want.dtype).reshape(want.shape), want)
assert len(npz.files) == right["npz"] and len(st) == len(index)
with safetensors.safe_open(DIR / "all.safetensors", "np") as f:
    assert f.metadata() == {"b": '<"\\\n\x01é>', "a": ""}, f.metadata()
text = numpy_helper.to_array(onnx.TensorProto.FromString((DIR / "bytes.pb").read_bytes()))
assert text.shape == () and text[()] == "café", text
for kind, n in right.items():
    print(kind, n, "right")
for w in wrong:
    print("WRONG", *w)
sys.exit(bool(wrong))
