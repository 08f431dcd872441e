"""webdataset's reader: samples of a shard, whose fields are Python's bytes."""
import webdataset

import common


def records(name, use):
    n = 0
    for s in webdataset.WebDataset(name, shardshuffle=False):
        n += 1
        if use:
            for key, value in s.items():
                if not key.startswith("__"):
                    use(value)
    return n


common.main(webdataset.__version__, records)
