"""Writes MDS folders by mosaicml-streaming, in every encoding and compression that
is read, and what its StreamingDataset reads of them: testdata/mds."""

import functools
import gzip
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

os.environ["TMPDIR"] = tempfile.mkdtemp()

import numpy as np
import streaming
from PIL import Image
from streaming import MDSWriter, StreamingDataset

gzip.compress = functools.partial(gzip.compress, mtime=0)  # equal files at any time

ROOT = Path(__file__).resolve().parent.parent.parent.parent
OUT = ROOT / "testdata" / "mds"
JPEG = ROOT / "testdata" / "images" / "jpeg_fill_bytes.jpg"
N = 7

# By column: its encoding, and a value by the sample's number.
COLUMNS = {
    "bytes": ("bytes", lambda i: bytes(range(i))),
    "str": ("str", lambda i: f"größe {i}" * (i % 3)),
    "int": ("int", lambda i: -(i**9)),
    **{t: (t, lambda i, t=t: np.dtype(t).type(i * 3 + 1)) for t in ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]},
    **{t: (t, lambda i, t=t: np.dtype(t).type(i / 3)) for t in ["float16", "float32", "float64"]},
    "str_int": ("str_int", lambda i: 10**i),
    "str_float": ("str_float", lambda i: 1 / (i + 1)),
    "nd": ("ndarray", lambda i: np.arange(2 * i + 2, dtype=np.int16).reshape(2, -1)),
    "nd_type": ("ndarray:uint32", lambda i: np.arange(300 if i == 3 else i + 1, dtype=np.uint32)),
    "nd_shape": ("ndarray:float64:2,3", lambda i: np.full((2, 3), i / 7)),
    "pil": ("pil", lambda i: Image.fromarray(np.arange(6 * (i + 1), dtype=np.uint8).reshape(i + 1, 2, 3))),
    "jpeg": ("jpeg", lambda i: Image.open(JPEG)),
    "png": ("png", lambda i: Image.fromarray(np.full((2, i + 1), i, np.uint8))),
    "json": ("json", lambda i: {"a": [i, None]}),
}
# Those that infer-prep's writer writes, in its encodings.
WRITTEN = {
    "x": ("bytes", lambda i: bytes(range(10 * i))),
    "größe": ("str", lambda i: f'"<&>\\\t\u2028{i}'),
    "label": ("int64", lambda i: i - 3),
    "score": ("float32", lambda i: np.float32(i / 3)),
    "box": ("ndarray:float32", lambda i: np.arange(4 * (i + 1), dtype=np.float32).reshape(-1, 4)),
    "long": ("ndarray:uint8", lambda i: np.arange(300 + i, dtype=np.uint16).astype(np.uint8)),
    "jpg": ("jpeg", lambda i: Image.open(JPEG)),
}


def value(encoding, v):
    if encoding == "jpeg":
        return encoded(JPEG.read_bytes())
    if encoding in ("bytes", "str", "json", "png"):
        return encoded(coder(encoding).encode(v))
    if encoding in ("int", "str_int"):
        v = np.int64(v)
    a = np.asarray(v)
    a = a.astype({"uint32": "int64", "uint64": "int64"}.get(str(a.dtype), a.dtype))
    return {"dtype": str(a.dtype), "shape": list(a.shape), "sha256": hashlib.sha256(a.tobytes()).hexdigest()}


def coder(encoding):
    from streaming.base.format.mds.encodings import _get_coder
    return _get_coder(encoding)


def encoded(b):
    return {"dtype": "bytes", "size": len(b), "sha256": hashlib.sha256(b).hexdigest()}


def write(name, columns, **options):
    with MDSWriter(out=str(OUT / name), columns={k: e for k, (e, _) in columns.items()}, size_limit=4000, **options) as w:
        for i in range(N):
            w.write({k: f(i) for k, (_, f) in columns.items()})
    rows = []
    with tempfile.TemporaryDirectory() as copy:  # it unpacks shards beside themselves
        shutil.copytree(OUT / name, copy, dirs_exist_ok=True)
        for r in StreamingDataset(local=copy, shuffle=False, batch_size=1):
            rows.append({k: value(e, r[k]) for k, (e, _) in columns.items()})
    assert len(rows) == N
    return {"source": "mds", "params": {"dir": f"../../testdata/mds/{name}", "columns": []}, "rows": rows}


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir()
cases = [write("all", COLUMNS), write("written", WRITTEN)]
few = {k: COLUMNS[k] for k in ["bytes", "int", "str"]}
cases += [write(c.split(":")[0], few, compression=c) for c in ["zstd:7", "gz", "bz2", "snappy"]]
with MDSWriter(out=str(OUT / "odd"), columns={"pkl": "pkl", "int": "int", "list": "list[png]"}) as w:
    w.write({"pkl": 1, "int": 5, "list": []})
lines = []
for c in cases:
    head = json.dumps({k: v for k, v in c.items() if k != "rows"})
    lines.append(head[:-1] + ', "rows": [\n' + ",\n".join(map(json.dumps, c["rows"])) + "\n]}")
(OUT / "streaming.json").write_text(f'{{"reference": "streaming {streaming.__version__}", "cases": [\n' + ",\n".join(lines) + "\n]}\n")
