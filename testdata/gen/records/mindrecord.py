"""Makes testdata/mindrecord: MindRecord files as MindSpore writes them, in an archive since they are mostly zeros, and what MindSpore reads of them.

Needs mindspore 2.10.0. Takes no arguments; running it again gives the same bytes. Where only the compressor gives other bytes, the
archive stays as it is.

files.tar.gz has the sets (NAME or NAME0, NAME1, … with their indexes), rows.json for each the rows: the values' types, shapes and the first 8 bytes of their SHA-256.
"""

import gzip
import io
import json
import os
import shutil
import tarfile
import tempfile

import mindrecord_common as common
import numpy as np
from mindspore.mindrecord import FileWriter

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "mindrecord")


def write(name, schema, calls, shards=1, index=None, desc="d"):
    w = FileWriter(name, shards, overwrite=True)
    w.set_header_size(1 << 14)
    w.set_page_size(1 << 15)
    w.add_schema(schema, desc)
    if index:
        w.add_index(index)
    for c in calls:
        w.write_raw_data(c)
    w.commit()


def append(name, calls):
    w = FileWriter.open_for_append(name)
    for c in calls:
        w.write_raw_data(c)
    w.commit()


def by(n, rows):
    return [rows[i : i + n] for i in range(0, len(rows), n)]


INTS = [0, 1, -1, 31, 32, -32, -33, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536, 2**31 - 1, -(2**31)]
LONGS = INTS + [2**31, -(2**31) - 1, 2**32 - 1, 2**32, 2**63 - 1, -(2**63)]
TEXTS = ["", "a", "zero \0 inside", "zero at the end\0", "é😀", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "<&>\"'\\"]


def scalars(k):
    return {"i": INTS[k % len(INTS)], "z": LONGS[k % len(LONGS)], "a": [0.0, 0.5, -1.5, 2.0**100, -0.0, 2.0**-149][k % 6],
            "b": [0.0, 0.1, 1 / 3, -1e300, 2.0**-1000, 1.0, 2.0**24 + 1, 2.0**60][k % 8], "s": TEXTS[k % len(TEXTS)]}


SCALARS = {"i": {"type": "int32"}, "z": {"type": "int64"}, "a": {"type": "float32"}, "b": {"type": "float64"}, "s": {"type": "string"}}
ONE = {"data": {"type": "bytes"}, "label": {"type": "int32"}, "name": {"type": "string"}}
ARRAYS = {"i": {"type": "int32", "shape": [-1]}, "l": {"type": "int64", "shape": [2, -1]}, "f": {"type": "float32", "shape": [2, 1, 2]},
          "d": {"type": "float64", "shape": [-1, 2]}, "bytes": {"type": "bytes"}, "n": {"type": "string"}}


def one(k, scale=5000):
    return {"data": bytes([k]) + b"ab\0" * (k * k * 91 % scale // 3), "label": k, "name": "n" * (k * 397 % 2000)}


def arrays(k):
    return {"i": np.array(INTS[: k * 2], np.int32), "l": np.array([LONGS[:k], LONGS[-k:]], np.int64), "f": np.arange(4, dtype=np.float32).reshape(2, 1, 2) / 3 - k,
            "d": np.arange(2 * k, dtype=np.float64).reshape(k, 2) / 7, "bytes": b"\0\xff" * (k % 4), "n": "row %d" % k}


def main():
    folder = tempfile.mkdtemp()  # MindSpore leaves files in the current one
    os.chdir(folder)
    os.mkdir("out")
    os.chdir("out")
    write("scalars", SCALARS, by(1, [scalars(k) for k in range(30)]), desc='all kinds: "é"\n')
    rows = [one(k) for k in range(60)]
    write("bytes", ONE, by(1, rows))
    write("calls", ONE, by(7, rows))
    write("appended", ONE, by(1, rows[:25]))
    append("appended", by(1, rows[25:]))
    write("arrays", ARRAYS, by(1, [arrays(k) for k in range(1, 12)]))
    write("packed", {"v": {"type": "int64", "shape": [-1]}}, by(1, [{"v": np.array(LONGS[k : 2 * k + 1])} for k in range(len(LONGS))]))
    write("shards", ONE, [[one(k, 900) for k in range(12)]], shards=3)
    write("many", {"k": {"type": "int64"}, "x": {"type": "float32"}}, [[{"k": k, "x": 0.1 * k} for k in range(22)]], shards=11)
    write("index", SCALARS, by(1, [scalars(k) for k in range(5)]), index=["s", "i"], desc="")
    write("empty", ONE, [])
    expected = {n: common.rows(n) for n in common.sets(".")}
    files = io.BytesIO()
    with tarfile.open(fileobj=files, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for n in sorted(os.listdir(".")):
            if not n.endswith(".db") and not os.path.exists(n + ".db"):
                continue
            info = tarfile.TarInfo(n)
            info.size = os.path.getsize(n)
            with open(n, "rb") as f:
                t.addfile(info, f)
    os.makedirs(OUT, exist_ok=True)
    os.chdir(OUT)
    shutil.rmtree(folder)
    have = b""
    if os.path.exists("files.tar.gz"):
        with gzip.open("files.tar.gz") as f:
            have = f.read()
    if have != files.getvalue():
        with open("files.tar.gz", "wb") as f:
            f.write(gzip.compress(files.getvalue(), 9, mtime=0))
    with open("rows.json", "w") as f:
        lines = ["%s:[\n%s]" % (json.dumps(n), ",\n".join(json.dumps(r, sort_keys=True, separators=(",", ":")) for r in rows)) for n, rows in sorted(expected.items())]
        f.write("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
