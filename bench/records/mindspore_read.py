"""MindSpore's readers of MindRecord files: FileReader, or MindDataset with one worker if the case
is called dataset-hand and the like. Called with make FILE SIZE COUNT it writes such a file, of random bytes and
a label, as records.py's others."""
import os
import sys

import mindspore
import mindspore.dataset as ds
from mindspore.mindrecord import FileReader, FileWriter

import common


def make(name, size, count):
    import numpy as np

    random = np.random.default_rng(0)
    w = FileWriter(name, shard_num=1, overwrite=True)
    w.add_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}}, "")
    for begin in range(0, count, 100):
        w.write_raw_data([{"label": i % 1000, "data": random.bytes(size)} for i in range(begin, min(count, begin + 100))])
    w.commit()


def file_reader(name, use):
    n = 0
    reader = FileReader(name, num_consumer=1)
    for r in reader.get_next():
        n += 1
        if use:
            use(r["data"])
    reader.close()
    return n


def dataset(name, use):
    n = 0
    ds.config.set_enable_autotune(False)
    for r in ds.MindDataset(name, num_parallel_workers=1, shuffle=False).create_dict_iterator(num_epochs=1, output_numpy=True):
        n += 1
        if use:
            use(r["data"].tobytes())
    return n


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    sys.stdout.flush()
    os._exit(0)
reader = file_reader
if sys.argv[1].startswith("dataset-"):
    sys.argv[1] = sys.argv[1].removeprefix("dataset-")
    reader = dataset
common.main(mindspore.__version__, reader)
