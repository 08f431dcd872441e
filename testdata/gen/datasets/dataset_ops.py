"""What MindSpore makes of batches, buckets, shards and splits, for dataset's tests:
testdata/datasets/ops.json. MindSpore 2.10.0 (requirements-mindspore.txt)."""
import json
import os

import mindspore.dataset as ds
import numpy as np

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "..", "datasets", "ops.json")
ds.config.set_num_parallel_workers(1)
ds.config.set_seed(1)


def vectors(lengths):
    """Row i is a vector of that length, all of i."""
    class Rows:
        def __len__(self):
            return len(lengths)

        def __getitem__(self, i):
            return (np.full((lengths[i],), i, np.int32),)

    return ds.GeneratorDataset(Rows(), ["v"], shuffle=False)


def numbers(n, **kw):
    return ds.NumpySlicesDataset({"v": np.arange(n, dtype=np.int32).reshape(n, 1)}, **kw)


def values(d):
    return [x["v"].tolist() for x in d.create_dict_iterator(num_epochs=1, output_numpy=True)]


LENGTHS = [3, 1, 7, 2, 9, 4, 4, 1, 12, 5, 6, 2, 8, 3, 1]
cases = {"lengths": LENGTHS, "bucket": [], "padded": [], "batch": [], "distributed": [], "split": [], "sizes": [], "per_batch": []}
for boundaries, sizes, drop, to_boundary in (
    ([3, 6], [2, 3, 2], False, False), ([3, 6], [2, 3, 2], True, False), ([2, 5, 13], [1, 2, 3, 1], False, True), ([4], [4, 4], False, False),
):
    d = vectors(LENGTHS).bucket_batch_by_length(["v"], boundaries, sizes, pad_info={"v": ([None], -1)}, drop_remainder=drop,
                                               pad_to_bucket_boundary=to_boundary)
    cases["bucket"].append({"boundaries": boundaries, "sizes": sizes, "drop": drop, "to_boundary": to_boundary, "batches": values(d)})
for size, shape, drop in ((4, [None], False), (4, [None], True), (3, [14], False)):
    d = vectors(LENGTHS).padded_batch(size, drop_remainder=drop, pad_info={"v": (shape, 7)})
    cases["padded"].append({"size": size, "shape": [-1 if s is None else s for s in shape], "drop": drop, "batches": values(d)})
for size, drop in ((4, False), (4, True), (10, False), (11, True)):
    cases["batch"].append({"size": size, "drop": drop, "batches": values(numbers(10, shuffle=False).batch(size, drop_remainder=drop))})
for n, shards, offset in ((10, 3, -1), (10, 3, 0), (10, 3, 1), (10, 3, 2), (2, 4, -1), (7, 2, 1), (12, 4, -1), (12, 4, 3)):
    rows = []
    for shard in range(shards):
        s = ds.DistributedSampler(shards, shard, shuffle=False, offset=offset)
        rows.append(values(numbers(n, sampler=s)))
    cases["distributed"].append({"n": n, "shards": shards, "offset": offset, "rows": rows})
for n, sizes in ((10, [0.5, 0.5]), (10, [0.25, 0.75]), (11, [0.3, 0.3, 0.4]), (7, [0.9, 0.1]), (10, [4, 6]), (5, [0.5, 0.25, 0.25])):
    parts = numbers(n, shuffle=False).split(sizes, randomize=False)
    cases["split"].append({"n": n, "sizes": sizes, "parts": [values(p) for p in parts]})
# Sizes and columns that functions make. The tests have the same functions.
for n, factor, drop in ((10, 1, False), (10, 1, True), (12, 1, True), (9, 0, False), (1, 2, True), (40, 3, False)):
    d = numbers(n, shuffle=False).batch(lambda i: (i.get_batch_num() * factor + i.get_epoch_num()) % 5 + 1, drop_remainder=drop)
    it = d.create_dict_iterator(num_epochs=3, output_numpy=True)
    cases["sizes"].append({"n": n, "factor": factor, "drop": drop, "epochs": [[x["v"].tolist() for x in it] for _ in range(3)]})
MAPS = {
    "rename": (["v"], ["x"], lambda v, i: ([2 * x for x in v],)),
    "add": (["v"], ["v", "n"], lambda v, i: (v, [np.array([i.get_batch_num(), len(v)], np.int32) for _ in v])),
    "merge": (["v", "w"], ["sum"], lambda v, w, i: ([x + y for x, y in zip(v, w)],)),
}
for name, (into, out, f) in MAPS.items():
    d = ds.NumpySlicesDataset({"v": np.arange(7, dtype=np.int32).reshape(7, 1), "w": np.arange(70, 77, dtype=np.int32).reshape(7, 1)}, shuffle=False)
    d = d.batch(3, per_batch_map=f, input_columns=into, output_columns=out)
    batches = [{c: v.tolist() for c, v in x.items()} for x in d.create_dict_iterator(num_epochs=1, output_numpy=True)]
    cases["per_batch"].append({"name": name, "batches": batches})
with open(OUT, "w") as f:
    json.dump(cases, f, indent=None, separators=(",", ":"))
    f.write("\n")
