"""webdataset's side of interop.py.

usage: peer_webdataset.py write PATTERN | read SHARDS | tensors SHARDS
"""

import sys

import webdataset as wds

import samples


def write(pattern):
    with wds.ShardWriter(pattern, maxcount=64, verbose=0, mtime=0) as w:
        for n, b in samples.images():
            key, text = f"{n // 50}/img.d/{n:05d}" + "k" * (120 if n % 9 == 0 else 0), "Größe %d" % n
            w.write({"__key__": key, "png": b, "cls": str(n % 7), "seg.txt": text, "empty.bin": b""})
            samples.show(key, {"png": b, "cls": str(n % 7), "seg.txt": text, "empty.bin": b""})


def read(shards):
    for s in wds.WebDataset(shards, shardshuffle=False, empty_check=False):
        samples.show(s["__key__"], {k: v for k, v in s.items() if not k.startswith("__")})


def tensors(shards):
    """Prints the arrays that webdataset decodes."""
    for s in wds.WebDataset(shards, shardshuffle=False, empty_check=False).decode():
        samples.show(s["__key__"], {k.removesuffix(".npy"): v for k, v in s.items() if k.endswith(".npy")})


{"write": write, "read": read, "tensors": tensors}[sys.argv[1]](*sys.argv[2:])
