"""The tfrecord package's side of interop.py.

usage: peer_tfrecord.py write FILE | read FILE | tensors FILE...
"""

import sys

import numpy as np
from tfrecord.reader import tfrecord_loader
from tfrecord.writer import TFRecordWriter

import samples


def write(path):
    w = TFRecordWriter(path)
    for n, b in samples.images():
        ints, floats = np.arange(-(n % 4), 5, dtype=np.int64) * (1 << (n % 60)), np.linspace(0, n, 3, dtype=np.float32)
        w.write({"image": (b, "byte"), "ints": (ints.tolist(), "int"), "floats": (floats.tolist(), "float")})
        samples.show(n, {"image": b, "ints": ints, "floats": floats})
    w.close()


def read(path):
    for n, r in enumerate(tfrecord_loader(path, None, {"image": "byte", "ints": "int", "floats": "float"})):
        samples.show(n, {"image": bytes(r["image"]), "ints": np.asarray(r["ints"], np.int64), "floats": np.asarray(r["floats"], np.float32)})


def tensors(*paths):
    """Prints the tensors of Examples that infer-prep run wrote."""
    for path in paths:
        for r in tfrecord_loader(path, None):
            fields = {}
            for name in r:
                if name + "/dtype" in r:
                    data = np.frombuffer(bytes(r[name]), np.dtype(bytes(r[name + "/dtype"]).decode()).newbyteorder("<"))
                    fields[name] = data.reshape(r[name + "/shape"])
            samples.show(bytes(r["__key__"]).decode(), fields)


{"write": write, "read": read, "tensors": tensors}[sys.argv[1]](*sys.argv[2:])
