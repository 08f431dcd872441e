"""Reads tar shards by their index with the package wids."""
import json
import os
import sys
import tarfile
import types
import typing

# wids imports torch for two base classes and for distributed sampling, which
# this test does not use.
for name in ["torch", "torch.distributed", "torch.utils", "torch.utils.data"]:
    sys.modules[name] = types.ModuleType(name)
sys.modules["torch"].distributed = sys.modules["torch.distributed"]
T = typing.TypeVar("T")
for name in ["Dataset", "Sampler"]:
    setattr(sys.modules["torch.utils.data"], name, types.new_class(name, (typing.Generic[T],)))

from wids import ShardListDataset  # noqa: E402

index = sys.argv[1]
with open(index) as f:
    want = json.load(f)
data = ShardListDataset(index, transformations=[])
assert len(data) == want["records"] > 0, (len(data), want["records"])
k = 0
for shard in want["shardlist"]:
    with tarfile.open(os.path.join(os.path.dirname(index), shard["url"])) as t:
        keys = list(dict.fromkeys(m.name.split(".")[0] for m in t.getmembers()))
    assert len(keys) == shard["nsamples"]
    for key in keys:
        sample = data[k]
        assert sample["__key__"] == key and sample[".jpg"].read(2) == b"\xff\xd8", sample
        k += 1
assert k == len(data)
print(f"wids reads {k} samples in {len(want['shardlist'])} shards")
