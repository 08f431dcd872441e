"""MosaicML's StreamingDataset over a local folder, in order, whose fields are Python's bytes."""
import streaming
from streaming import StreamingDataset

import common

opened = {}


def records(name, use):
    n = 0
    if name not in opened:
        opened[name] = StreamingDataset(local=name, shuffle=False, batch_size=1)
    for r in opened[name]:
        n += 1
        if use:
            use(r["data"])
    return n


common.main(streaming.__version__, records)
