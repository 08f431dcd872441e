"""MindSpore's readers of MindRecord files: FileReader, or MindDataset with one worker if the case
is called dataset-hand or dataset-read."""
import sys

import mindspore
import mindspore.dataset as ds
import numpy as np
from mindspore.mindrecord import FileReader

import common


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
            use(r["data"].view(np.uint8))  # its dtype is S, one element
    return n


reader = file_reader
if sys.argv[1].startswith("dataset-"):
    sys.argv[1] = sys.argv[1].removeprefix("dataset-")
    reader = dataset
common.main(mindspore.__version__, reader)
