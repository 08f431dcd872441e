"""What MindSpore reads of MindRecord files, for mindrecord.py and mindrecord_check.py."""

import hashlib
import json
import os
import struct

import mindspore.dataset as ds
from mindspore.mindrecord import FileReader


def header(path):
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        return json.loads(f.read(n))


def value(dtype, shape, data):
    return {"dtype": dtype, "shape": list(shape), "sha256": hashlib.sha256(data).hexdigest()[:16]}


def rows(path):
    """The rows of a set: {field: value}. Text and bytes are FileReader's, since numpy's drop zeros at their end; numbers are MindDataset's
    (FileReader gives large floats as integers). In arrays, the two must agree."""
    h = header(path)
    if h["page"] is None and len(h["shard_addresses"]) == 1:
        return []
    schema = h["schema"][0]["schema"]
    reader = FileReader(path)
    first = list(reader.get_next())
    reader.close()
    out = []
    for a, b in zip(first, ds.MindDataset(path, shuffle=False).create_dict_iterator(output_numpy=True, num_epochs=1), strict=True):
        assert sorted(a) == sorted(b) == sorted(schema), (sorted(a), sorted(b), sorted(schema))
        row = {}
        for name, f in schema.items():
            if f["type"] == "string":
                row[name] = value("string", (), a[name].encode())
            elif f["type"] == "bytes":
                row[name] = value("bytes", (), a[name])
            else:
                assert str(b[name].dtype) == f["type"], (name, b[name].dtype)
                if "shape" in f:
                    assert a[name].tobytes() == b[name].tobytes() and a[name].shape == b[name].shape, name
                row[name] = value(f["type"], b[name].shape, b[name].tobytes())
        out.append(row)
    return out


def sets(folder):
    """The first files of the sets of a folder."""
    names = sorted(n for n in os.listdir(folder) if n + ".db" in os.listdir(folder))
    return [n for n in names if header(os.path.join(folder, n))["shard_id"] == 0]
