"""Hugging Face's datasets with its torch format: a folder of save_to_disk, or a Parquet file that it
streams. Fields of binary are Python's bytes. With "make" and a name, a size and a count it writes
both, NAME.saved and NAME.parquet: records of random bytes with a label."""
import sys

import datasets
import numpy as np

import common


def make(name, size, count):
    # The torch format drops zeros at the end of bytes, so the records end as JPEG files do.
    random = np.random.default_rng(1)
    d = datasets.Dataset.from_dict({"data": [random.bytes(size - 1) + b"\xd9" for _ in range(count)], "label": [i % 1000 for i in range(count)]},
                                   features=datasets.Features({"data": datasets.Value("binary"), "label": datasets.Value("int64")}))
    d.save_to_disk(name + ".saved", num_shards=1)
    d.to_parquet(name + ".parquet")


opened = {}


def records(name, use):
    if name not in opened:
        d = datasets.load_from_disk(name) if name.endswith(".saved") else datasets.load_dataset("parquet", data_files=name, split="train", streaming=True)
        opened[name] = d.with_format("torch")
    n = 0
    for r in opened[name]:
        n += 1
        if use:
            use(r["data"])
    return n


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    common.main(datasets.__version__, records)
