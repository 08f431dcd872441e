"""Loader and DLPack; they run where torch is, as in make bench-python."""

import json
import os
import re
import subprocess
import sys

import conftest
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; make bench-python runs these tests")

import infer_prep
import infer_prep.torch
from infer_prep import InferPrepError, Pipeline
from infer_prep.torch import Loader


def test_dlpack_copies_nothing(definition):
    p = Pipeline(definition)
    batch = next(iter(p))
    t = torch.from_dlpack(batch["image"])
    assert t.data_ptr() == batch["image"].__array_interface__["data"][0]
    want = t.clone()
    batch.release()
    del batch
    for b in p:
        pass
    assert torch.equal(t, want) and p.stats()["lent"] == 2
    del t, b
    assert p.stats()["lent"] == 0
    a = infer_prep.Graph.from_json(conftest.SMALL).run(conftest.png(8, 8, 1))
    assert torch.from_dlpack(a).data_ptr() == a.__array_interface__["data"][0]


def test_tensors_as_images():
    """CPU tensors are read where they lie, channels first or last, whatever their strides."""
    g = infer_prep.Graph.from_preset("imagenet")
    a = np.random.default_rng(1).integers(0, 256, (50, 70, 3), np.uint8)
    want, t = g.run(a), torch.from_numpy(a)
    for same in t, t.permute(2, 0, 1), t.permute(2, 0, 1).contiguous(), t.permute(2, 0, 1)[None].contiguous(memory_format=torch.channels_last)[0]:
        assert np.array_equal(g.run(same), want)
    four = torch.stack([t, t.flip(0)]).permute(0, 3, 1, 2)
    assert np.array_equal(g.run_batch(four), np.stack([want, g.run(a[::-1])]))
    for bad, text in (t.float(), "an array of float32"), (t.to(torch.bfloat16), "a tensor of torch.bfloat16"), (t.to("meta"), "a tensor"):
        with pytest.raises(TypeError, match=text):
            g.run(bad)


def test_loader(definition, tmp_path):
    loader = Loader(definition, seed=1)
    assert isinstance(loader, torch.utils.data.IterableDataset) and len(loader) == 7
    want = [(b["image"].copy(), b["label"].copy()) for b in Pipeline(definition, seed=1)]
    got = [(b["image"].clone(), b["label"].clone()) for b in loader]
    assert all(np.array_equal(x, u.numpy()) and np.array_equal(y, v.numpy()) for (x, y), (u, v) in zip(want, got)) and len(got) == 7
    it = iter(loader)
    next(it)
    torch.save(loader.state_dict(), tmp_path / "state.pt")
    rest = [b["image"].clone() for b in it]
    other = Loader(definition, seed=1)
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert all(torch.equal(a, b["image"]) for a, b in zip(rest, other)) and len(rest) == 6
    plain = torch.utils.data.DataLoader(Loader(definition, seed=1), batch_size=None)
    assert sum(len(b["label"]) for b in plain) == 20
    loader.close()
    with pytest.raises(InferPrepError, match="is closed"):
        next(iter(loader))


def test_training_step(definition):
    """A step in place changes the batch, not the data set."""
    loader = Loader(definition, seed=1)
    for b in loader:
        b["image"].zero_()
    again = Loader(definition, seed=1)
    assert all(b["image"].any() for b in again)


def test_documentation(folder):
    """The loop of docs/python.md: labels are int64, as cross_entropy needs them."""
    (block,) = [b for b in re.findall(r"```python\n(.*?)```", (conftest.ROOT / "docs" / "python.md").read_text(), re.DOTALL) if "cross_entropy" in b]
    graph = infer_prep.Graph.from_ops("decode", "to_tensor")
    names = {"definition": infer_prep.Dataset("image_folder", dir=folder).map(graph).batch(4), "device": "cpu",
             "model": torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 24, 2))}
    exec(compile(block, "docs/python.md", "exec"), names)
    assert names["loss"].item() > 0 and names["batch"]["label"].dtype == torch.int64 and names["batch"]["label"].tolist() == [1] * 4


SPAWN = """
import sys, torch
from infer_prep.torch import Loader
if __name__ == "__main__":
    loader = Loader(sys.argv[1], seed=1)
    context = sys.argv[2]
    if len(sys.argv) > 3:
        loader.pipeline  # loads the library
    workers = torch.utils.data.DataLoader(loader, batch_size=None, num_workers=2, multiprocessing_context=context, timeout=60)
    try:
        print(sorted(x for b in workers for x in b["label"].tolist()) == [0] * 10 + [1] * 10)
    except Exception as e:
        print("spawn" in str(e) and "ForkError" in str(e))
"""


@pytest.mark.parametrize("context, loaded", [("spawn", ""), ("fork", ""), ("spawn", "x"), ("fork", "x")])
def test_workers(definition_file, tmp_path, context, loaded):
    """Worker processes are ranks; those that were forked after a use are refused."""
    (tmp_path / "main.py").write_text(SPAWN)
    args = [sys.executable, "-W", "ignore", str(tmp_path / "main.py"), str(definition_file), context, *([loaded] if loaded else [])]
    p = subprocess.run(args, capture_output=True, text=True, timeout=120)
    assert p.stdout.strip() == "True", p.stdout + p.stderr


UNEVEN = """
import pickle, sys, torch, torch.distributed as dist, infer_prep
from infer_prep.torch import Loader, all_done
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=int(sys.argv[3]), world_size=2)
loader = Loader(sys.argv[1], on_error="skip", all_done=all_done())
print([[len(b["label"]) for b in loader] for _ in range(2)])
loader.close()
own = infer_prep.Pipeline(sys.argv[1], on_error="skip", all_done=bool)
print(sum(len(b["label"]) for b in own))
passed = pickle.loads(pickle.dumps(Loader(sys.argv[1])))
print(passed._options["rank"], passed._options["world"])
dist.destroy_process_group()
"""


def together(code, definition, tmp_path):
    """Runs a program on two ranks, and returns their lines."""
    ps = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, str(definition), str(tmp_path / "rendezvous"), str(r)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, env=os.environ | {"GLOO_SOCKET_IFNAME": "lo"}) for r in range(2)]
    try:
        out = [p.communicate(timeout=120) for p in ps]
    finally:
        for p in ps:
            p.kill()
    assert [p.returncode for p in ps] == [0, 0], out
    return [o[0].splitlines() for o in out]


def uneven(tmp_path):
    """Twelve images, of which two are bad that rank 1 of 2 has."""
    (tmp_path / "data" / "c").mkdir(parents=True)
    for i in range(12):
        b = conftest.png(24, 16, i)
        (tmp_path / "data" / "c" / f"{i:02d}.png").write_bytes(b[:50] if i in (1, 3) else b)
    return conftest.images(tmp_path / "data")


def test_uneven_ranks(tmp_path):
    """The epoch of rank 1 is shorter, and both end together."""
    (tmp_path / "train.json").write_text(json.dumps(uneven(tmp_path)))
    lines = together(UNEVEN, tmp_path / "train.json", tmp_path)
    assert lines == [["[[2, 2], [2, 2]]", "6", "0 2"], ["[[2, 2], [2, 2]]", "4", "1 2"]]


def test_uneven_workers(tmp_path):
    """The workers of one DataLoader end at different times."""
    d = uneven(tmp_path)
    loader = Loader(d, on_error="skip")
    workers = torch.utils.data.DataLoader(loader, batch_size=None, num_workers=2, multiprocessing_context="spawn", timeout=60)
    assert sum(len(b["label"]) for b in workers) == 10
    with pytest.raises(RuntimeError, match="iterate over the Loader itself"):
        list(torch.utils.data.DataLoader(Loader(d, all_done=bool), batch_size=None, num_workers=1, multiprocessing_context="spawn", timeout=60))


RANK = """
import sys, torch.distributed as dist, infer_prep
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=int(sys.argv[3]), world_size=2)
p = infer_prep.Pipeline(sys.argv[1], seed=1)
print(p.rank, p.world, sum(len(b["label"]) for b in p))
dist.destroy_process_group()
"""


def test_ranks(definition_file, tmp_path):
    assert together(RANK, definition_file, tmp_path) == [["0 2 10"], ["1 2 10"]]
