"""MindSpore's side of interop.py.

usage: peer_mindspore.py write NAME SHARDS | read NAME | dataset NAME
"""

import os
import sys

import mindspore.dataset as ds
import numpy as np
from mindspore.mindrecord import FileReader, FileWriter

import samples

SCHEMA = {
    "id": {"type": "int64"}, "score": {"type": "float64"}, "name": {"type": "string"}, "image": {"type": "bytes"},
    "ints": {"type": "int32", "shape": [-1]}, "longs": {"type": "int64", "shape": [2, 2]}, "floats": {"type": "float32", "shape": [-1]},
}
DTYPES = {"int32": np.int32, "int64": np.int64, "float32": np.float32, "float64": np.float64}


def row(n, image):
    return {
        "id": n * 1000003 - 500, "score": n / 3, "name": "Größe %d" % n, "image": image,
        "ints": np.array([n, -n, 127, -128, 128, 40000, -2**31][: 1 + n % 7], np.int32), "longs": np.array([[n, -1], [2**40 + n, -(2**62)]], np.int64),
        "floats": np.linspace(-n, n, 1 + n % 5, dtype=np.float32),
    }


def show(n, r):
    def value(k, v):
        t = SCHEMA[k]["type"]
        if t == "bytes":
            return v.tobytes() if isinstance(v, np.ndarray) else bytes(v)
        if t == "string":
            return str(v)
        v = np.asarray(v, DTYPES[t])
        return v if "shape" in SCHEMA[k] else v.reshape(())

    samples.show(n, {k: value(k, v) for k, v in r.items()})


def write(name, shards):
    w = FileWriter(name, shard_num=int(shards), overwrite=True)
    w.set_header_size(1 << 14)
    w.set_page_size(1 << 15)
    w.add_schema(SCHEMA, "interop")
    rows = [row(n, b) for n, b in samples.images()]
    w.write_raw_data(rows)
    w.commit()
    for n, r in enumerate(rows):
        show(n, r)


def read(name):
    r = FileReader(name)
    for n, row in enumerate(r.get_next()):
        show(n, {k: row[k] for k in SCHEMA if k in row})
    r.close()


def dataset(name):
    for n, row in enumerate(ds.MindDataset(name, shuffle=False).create_dict_iterator(num_epochs=1, output_numpy=True)):
        show(n, {k: row[k] for k in SCHEMA if k in row})


{"write": write, "read": read, "dataset": dataset}[sys.argv[1]](*sys.argv[2:])
os._exit(0) if sys.stdout.flush() is None else None  # MindSpore may hang at the end
