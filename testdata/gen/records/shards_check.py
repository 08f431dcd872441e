"""Prints what webdataset reads from the shards in a folder and those below it: a JSON line for each field, with shard, key, ext and sha256.

    python testdata/gen/records/shards_check.py FOLDER [EXT]

With EXT, such as npy, fields of that ending are decoded as webdataset decodes them, and dtype and shape are printed too.
Needs webdataset 1.0.2 (and NumPy for npy, and the program zstd for what that compressed).
"""

import hashlib
import json
import pathlib
import shlex
import sys

import webdataset

folder = pathlib.Path(sys.argv[1])
decode = sys.argv[2] if len(sys.argv) > 2 else None
endings = (".tar", ".tar.gz", ".tgz", ".tar.zst")
for shard in sorted(p for p in folder.rglob("*") if p.name.endswith(endings)):
    url = f"pipe:zstd -dcq {shlex.quote(str(shard))}" if shard.suffix == ".zst" else str(shard)
    data = webdataset.WebDataset(url, shardshuffle=False, empty_check=False)
    decoded = None if decode is None else iter(webdataset.WebDataset(url, shardshuffle=False, empty_check=False).decode())
    for sample in data:
        arrays = next(decoded) if decoded is not None else {}
        for ext in sorted(k for k in sample if not k.startswith("__")):
            line = {"shard": shard.relative_to(folder).as_posix(), "key": sample["__key__"], "ext": ext, "sha256": hashlib.sha256(sample[ext]).hexdigest()}
            if decode is not None and ext.split(".")[-1] == decode:
                a = arrays[ext]
                line |= {"dtype": str(a.dtype), "shape": list(a.shape), "data": hashlib.sha256(a.tobytes()).hexdigest()}
            print(json.dumps(line, ensure_ascii=False))
