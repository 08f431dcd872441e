"""Fork, spawn, processes that end in the middle, and memory."""

import gc
import json
import multiprocessing
import os

import conftest
import numpy as np
import pytest

import infer_prep

unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

FORK = """
import json, os, sys, warnings
warnings.simplefilter("ignore")  # of Python, about threads and fork
import infer_prep
definition = sys.argv[1]

def forked(f):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            text = f()
        except BaseException as e:
            text = type(e).__name__ + ": " + str(e)
        os.write(w, text.encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return text

def count():
    return str(sum(len(b["label"]) for b in infer_prep.Pipeline(definition)))

print(forked(count))          # not loaded before: works
p = infer_prep.Pipeline(definition)
it = iter(p)
batch = next(it)
print(count())
print(forked(count))          # loaded: an error
print(forked(lambda: str(next(it))))
print(forked(lambda: str(p.state_dict())))
print(forked(lambda: str(int(batch["label"].sum() >= 0))))  # its memory can be read
def drop():
    global p, it, batch
    del p, it, batch
    return "dropped"
print(forked(drop))           # finalizers call nothing
print(sum(len(b["label"]) for b in it) + len(batch["label"]))  # the parent goes on
"""


@unix
def test_fork(child, definition_file):
    lines = child(FORK, definition_file).splitlines()
    assert lines[:2] == ["20", "20"]
    for line in lines[2:5]:
        assert line.startswith("ForkError: infer_prep: process ") and 'get_context("spawn")' in line, line
    assert lines[5:] == ["1", "dropped", "20"]


def labels(definition):
    return [b["label"].tolist() for b in infer_prep.Pipeline(definition, seed=1)]


def run(graph, jpeg):
    return graph.run(jpeg).sum()


def test_spawn(definition, jpeg):
    want = labels(definition)
    g = infer_prep.Graph.from_preset("imagenet")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(labels, [definition]) == want
        assert pool.apply(run, [g, jpeg]) == g.run(jpeg).sum()
        with pytest.raises(infer_prep.InferPrepError) as e:  # errors pass through
            pool.apply(run, [g, b"text"])
        assert e.value.code == "format"


@unix
def test_fork_pool(definition_file, child):
    """multiprocessing's fork: the error reaches the parent, and nothing hangs."""
    code = """
import multiprocessing, sys, warnings
warnings.simplefilter("ignore")
import infer_prep
g = infer_prep.Graph.from_preset("imagenet")
def work(_):
    return infer_prep.Pipeline(sys.argv[1])
with multiprocessing.get_context("fork").Pool(2) as pool:
    try:
        pool.map(work, [1, 2])
    except infer_prep.ForkError as e:
        print(e.code)
"""
    assert child(code, definition_file).strip() == "fork"


def test_exit_in_the_middle(child, definition_file):
    """A process that ends with a running pipeline and batches ends at once."""
    code = """
import sys, infer_prep
p = infer_prep.Pipeline(sys.argv[1])
it = iter(p)
batch = next(it)
image = batch["image"]
if sys.argv[2] == "raise":
    raise SystemExit(3)
if sys.argv[2] == "thread":
    import threading
    threading.Thread(target=lambda: [None for _ in range(100) for _ in p], daemon=True).start()
print("done")
"""
    assert child(code, definition_file, "no") == "done\n"
    assert child(code, definition_file, "thread") == "done\n"
    child(code, definition_file, "raise", status=3)


def test_no_threads_left(child, definition_file):
    code = """
import os, sys, infer_prep
d = sys.argv[1]
def threads():
    return len(os.listdir("/proc/self/task"))
for i in range(60):
    p = infer_prep.Pipeline(d)
    for b in p:
        break
    p.close() if i % 2 else None
    if i == 20:
        first = threads(), len(os.listdir("/proc/self/fd"))
print(threads() - first[0] <= 3, len(os.listdir("/proc/self/fd")) <= first[1] + 1)
"""
    if not os.path.exists("/proc/self/task"):
        pytest.skip("no /proc")
    assert child(code, definition_file) == "True True\n"


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_memory(definition):
    """1,500 batches, some kept for a while, leave the memory as it was."""
    p = infer_prep.Pipeline(definition)

    def go(n):
        kept = []
        while n > 0:
            for b in p:
                n -= 1
                kept = kept[-3:] + [b["image"]]
        return kept

    go(700)
    gc.collect()
    before = conftest.resident()
    go(1500)
    gc.collect()
    assert conftest.resident() - before < 16 << 20
    assert p.stats()["lent"] <= 1


@pytest.mark.soak
def test_soak(definition, tmp_path):
    """100,000 batches, epochs that are left, resumptions: the memory stays flat."""
    p = infer_prep.Pipeline(definition, seed=1)
    g = infer_prep.Graph.from_json(conftest.SMALL)
    image = conftest.png(64, 64, 1)
    samples, n, epochs = [], 0, 0
    while n < 100_000:
        epochs += 1
        for b in p:
            n += 1
            assert b["image"].shape[1:] == (16, 24, 3)
            if n % 1000 == 0:
                gc.collect()
                samples.append(conftest.resident())
            if epochs % 10 == 0 and b.step == 3:
                break
        g.run(image)
        if epochs % 50 == 0:
            p.load_state_dict(json.loads(json.dumps(p.state_dict())))
    steady = samples[20:]
    print(f"\n{n} batches in {epochs} epochs: {min(steady) >> 10} to {max(steady) >> 10} KiB after the first 20,000; "
          f"ends: {np.mean(steady[:10]) / 2**20:.1f} and {np.mean(steady[-10:]) / 2**20:.1f} MiB")
    assert np.mean(steady[-10:]) - np.mean(steady[:10]) < 8 << 20
