"""Functions, generators, sequences and callbacks of Python in datasets."""

import gc
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref

import conftest
import numpy as np
import pytest

from infer_prep import Callback, Dataset, Graph, InferPrepError, Pipeline

N = {"n": "int64"}


def numbers():
    yield from range(10)


class Squares:
    """Ten samples with random access."""

    def __len__(self):
        return 10

    def __getitem__(self, i):
        return {"n": i, "square": np.full((2,), i * i, np.float32)}


SQUARES = Dataset.from_sequence(Squares(), {**N, "square": ("float32", (2,))})


def add(n, call):
    return n + 100 * call.epoch + 1000 * int(np.random.default_rng(call.seed).integers(2))


def values(p, column="n"):
    return [b[column].tolist() for b in p]


def resumed(d, column="n", **options):
    """The batches of two epochs, of which each can be resumed to."""
    p = Pipeline(d, seed=1, **options)
    states, got = [p.state_dict()], []
    for _ in range(2):
        for b in p:
            got.append((b.epoch, b[column].tolist()))
            states.append(p.state_dict())
    q = Pipeline(d, seed=1, workers=1)
    for i, s in enumerate(states[:-1]):
        q.load_state_dict(json.loads(json.dumps(s)))
        rest = [(b.epoch, b[column].tolist()) for b in q]
        assert rest == [x for x in got[i:] if x[0] == got[max(i - 1, 0)][0]]
    return got


def test_generator():
    """Each epoch reads it again, with functions in between; random numbers are those of the sample."""
    d = Dataset.from_generator(numbers, N).map(add, inputs=["n"], outputs=N).batch(4)
    got = resumed(d)
    assert [e for e, _ in got] == [0, 0, 0, 1, 1, 1] and [len(n) for _, n in got] == [4, 4, 2] * 2
    assert [n % 100 for _, b in got for n in b] == [*range(10)] * 2
    assert {n // 1000 for _, b in got for n in b} == {0, 1} and {n // 100 % 10 for n in got[3][1]} == {1}
    assert repr(d) == "<infer_prep.Dataset batch/func/from_generator>"

    def epochs(epoch):
        return iter([(epoch, "ä")])

    p = Pipeline(Dataset.from_generator(epochs, {"n": "int64", "text": bytes}).map(lambda text: text.tobytes().upper(), inputs=["text"], outputs={"text": bytes}, name="upper"))
    assert [(b["n"].tolist(), b["text"].tobytes().decode(), b.key) for _ in range(2) for b in p] == [(0, "ä", "epochs:0"), (1, "ä", "epochs:0")]


def test_sequence():
    """It is shuffled, divided among ranks and resumed."""
    d = SQUARES.shuffle().batch(4)
    assert len(Pipeline(d)) == 3
    got = resumed(d)
    assert sorted(n for e, b in got if e == 1 for n in b) == [*range(10)] != [n for e, b in got if e == 0 for n in b]
    ranks = [n for r in range(2) for b in values(Pipeline(d, seed=1, rank=r, world=2)) for n in b]
    assert sorted(ranks) == [*range(10)]


def test_filter_and_batch():
    """A function per batch gives other shapes and other columns."""

    def odd(n):
        return n % 2

    def pairs(n, square):
        longest = max(n)
        return {"sum": [float(s.sum()) for s in square], "row": [np.arange(longest) for _ in n]}

    d = SQUARES.filter(odd, inputs=["n"]).batch(2, per_batch=pairs, inputs=["n", "square"], outputs={"row": ("int64", (-1,)), "sum": "float32"})
    got = [{k: a.tolist() for k, a in b.items()} for b in Pipeline(d)]
    assert [list(b) for b in got] == [["row", "sum"]] * 3 and [b["sum"] for b in got] == [[2, 18], [50, 98], [162]]
    assert [len(b["row"][0]) for b in got] == [3, 7, 9]

    def double(square):
        return [np.concatenate([s, s]) for s in square]

    with pytest.raises(InferPrepError, match="ints returned int64 .*: outputs= allows others"):
        list(Pipeline(SQUARES.batch(5, per_batch=lambda square: [s.astype(np.int64) for s in square], inputs=["square"], name="ints")))
    (b,) = Pipeline(SQUARES.batch(10, per_batch=double, inputs=["square"]))
    assert b["square"].shape == (10, 4) and b["n"].tolist() == [*range(10)]


class Log(Callback):
    def __init__(self):
        self.events = []

    def epoch_begin(self, at):
        self.events.append(("begin", at.epoch, at.step))

    def step_begin(self, at):
        self.events.append(("step", at.step, at.answer))

    def epoch_end(self, at):
        self.events.append(("end", at.epoch, at.step))


FACTOR = [1]


def scale(n):
    return n * FACTOR[0]


class Scales(Callback):
    def step_begin(self, at):
        FACTOR[0] = at.answer or 1


def test_callbacks():
    log = Log()
    p = Pipeline(SQUARES.batch(4).watch(log, every=2))
    assert len(values(p)) == 3
    assert log.events == [("begin", 0, 0), ("step", 1, None), ("step", 3, None), ("end", 0, 3)]

    p = Pipeline(Dataset.from_generator(numbers, N).map(scale, inputs=["n"], outputs=N).batch(5).watch(Scales(), waited=True), seed=1)
    got = []
    for b in p:  # what is made depends on the loop
        got.append(b["n"].tolist())
        p.give(10)
    assert got == [[0, 1, 2, 3, 4], [50, 60, 70, 80, 90]]
    p = Pipeline(pickle.loads(pickle.dumps(SQUARES.map(scale, inputs=["n"], outputs=N).batch(5).watch(Scales(), waited=True))))
    next(iter(p))
    state = p.state_dict()
    p.load_state_dict(state)
    p.give(3)  # the answer to the batch before the state
    p.give(4)
    assert values(p) == [[15, 18, 21, 24, 27]]
    with pytest.raises(InferPrepError, match="closed"):
        p.close()
        p.give(1)


def test_weights():
    seen = []

    class Follow(Callback):
        def epoch_end(self, at):
            seen.append(at.pipeline.weights("aug"))
            at.pipeline.set_weights("aug", [1, at.epoch + 2])

    files = [conftest.png(8, 8, i) for i in range(6)]
    d = Dataset.from_sequence(files, {"image": bytes}).map(Graph.from_ops("decode", ("feedback_policy", {"name": "aug"}))).batch(2).watch(Follow())
    p = Pipeline(d, autotune=True)
    for _ in range(3):
        assert len(list(p)) == 3
    assert seen == [[1, 1], [1, 2], [1, 3]] and len({b["image"].tobytes() for b in p}) == 3
    q = Pipeline(d)
    q.load_state_dict(p.state_dict())
    assert q.weights("aug") == [1, 5]
    for name, weights, text in ("agu", [1, 1], 'did you mean "aug"'), ("aug", [1], "2"):
        with pytest.raises(InferPrepError, match=text):
            p.set_weights(name, weights)


def test_names():
    """A state is of functions with these names and versions."""

    def d(version, name="add"):
        return Dataset.from_generator(numbers, N).map(add, inputs=["n"], outputs=N, name=name, version=version).batch(4)

    state = Pipeline(d(1)).state_dict()
    for other, text in (d(2), "add version 2"), (d(1, "plus"), "plus version 1"), (Dataset.from_generator(numbers, N), "has numbers version 1$"):
        with pytest.raises(InferPrepError, match=f"of the functions numbers version 1, add version 1, .*{text}") as e:
            Pipeline(other).load_state_dict(state)
        assert e.value.code == "state"
    with pytest.raises(ValueError, match="a lambda has no name"):
        SQUARES.filter(lambda n: n, inputs=["n"])
    with pytest.raises(ValueError, match="two functions named 'add'"):
        d(1).map(numbers, inputs=["n"], outputs=N, name="add")
    with pytest.raises(InferPrepError, match='unknown function "numbers": want the Dataset that has it') as e:
        Pipeline(Dataset("concat", SQUARES, d(1).definition))
    assert e.value.code == "input"


def fails(n):
    if n > 5:
        raise KeyError("none of these")
    return n


def test_exceptions():
    """They are the cause, with their own traceback, and can be skipped."""
    d = Dataset.from_generator(numbers, N).map(fails, inputs=["n"], outputs=N)
    p = Pipeline(d)
    with pytest.raises(InferPrepError, match="from_generator|numbers:6.*the function fails: KeyError: 'none of these'") as e:
        values(p)
    assert e.value.code == "function" and isinstance(e.value.__cause__, KeyError)
    assert "raise KeyError(\"none of these\")" in "".join(traceback.format_exception(e.value))
    assert values(Pipeline(d, on_error="skip")) == [*range(6)]

    def breaks():
        yield 1
        raise OSError("the disk")

    p = Pipeline(Dataset.from_generator(breaks, N))
    with pytest.raises(InferPrepError, match="OSError: the disk") as e:
        values(p)
    assert isinstance(e.value.__cause__, OSError)

    class Ends(Callback):
        def step_end(self, at):
            raise SystemExit(3)

    with pytest.raises(InferPrepError, match="the function Ends: SystemExit: 3"):
        values(Pipeline(SQUARES.watch(Ends())))


def test_returned():
    """What a function returns is checked."""
    for f, columns, text in [
        (lambda n: np.zeros(3), N, r'column "n": f returned float64 \(3,\), want int64 \(\)'),
        (lambda n: "text", N, "f returned str of <U4, want numbers of int64"),
        (lambda n: 0.5, N, r"f returned float64 \(\), want int64 \(\)"),
        (lambda n: (n, n), N, r"f returned 2 values, want 1: \['n'\]"),
        (lambda n: {"m": n}, N, r"f returned the columns \['m'\], want \['n'\]"),
        (lambda n: n, {"n": "int64", "m": "int64"}, r"want a dict or a tuple of \['n', 'm'\]"),
        (lambda n: np.zeros((1,) * 9, np.int64), N, "9 axes, want at most 8"),
        (lambda n: [300], {"n": ("uint8", (1,))}, r"f returned \[300\], want numbers of uint8"),
        (lambda n: [2, 0], {"n": ("bool", (-1,))}, r"returned int64 \(2,\), want bool"),
        (lambda n: np.zeros(3), {"n": bytes}, "f returned an array of float64, want bytes"),
        (lambda n: 5, {"n": bytes}, "memoryview: a bytes-like object is required"),
    ]:
        with pytest.raises(InferPrepError, match=text):
            values(Pipeline(SQUARES.map(f, inputs=["n"], outputs=columns, name="f")))
    # Big-endian and strided arrays, and lists, are converted; nothing is lost.
    for f, shape in [(lambda n: np.full((2, 4), n, ">i8").T, (4, 2)), (lambda n: [[int(n)], [int(n)]], (2, 1))]:
        (b,) = Pipeline(SQUARES.map(f, inputs=["n"], outputs={"n": ("int64", shape)}, name="f").batch(10))
        assert b["n"].shape == (10, *shape) and b["n"][:, 0, 0].tolist() == [*range(10)]
    (b,) = Pipeline(SQUARES.map(lambda n: np.zeros((0, 3), np.uint8), inputs=["n"], outputs={"n": ("uint8", (-1, 3))}, name="f").batch(10))
    assert b["n"].shape == (10, 0, 3)
    for call, text in [
        (lambda: Dataset.from_sequence(5, N), "want a sequence"),
        (lambda: Dataset.from_generator(5, N), "want a function"),
        (lambda: Dataset.from_generator(numbers, ["n"]), "the columns are list"),
        (lambda: Dataset.from_generator(numbers, {"n": None}), "dtype None, want one of"),
        (lambda: Pipeline(Dataset.from_generator(numbers, {"n": ("uint8", 3, "HWX")})), "HWX"),
        (lambda: Dataset.from_generator(numbers, {"n": "int46"}), "dtype 'int46', want one of"),
        (lambda: SQUARES.map(add), "a function needs its columns"),
        (lambda: SQUARES.filter(add, inputs="n"), "a list of columns"),
        (lambda: SQUARES.watch(add), "want a Callback"),
        (lambda: SQUARES.watch(Log(), every=0), "every=0"),
        (lambda: SQUARES.batch(4, inputs=["n"]), "those of per_batch"),
        (lambda: SQUARES.batch(0), "batches of 0"),
    ]:
        with pytest.raises((TypeError, ValueError, InferPrepError), match=text):
            call()


def test_threads():
    """Functions are called on threads of their own, several at a time, and the loop's thread runs meanwhile."""
    names, both = set(), threading.Barrier(2)

    def meet(n):
        both.wait(60)  # two calls at a time, which both wait without the GIL
        names.add(threading.current_thread().name)
        return n

    before = threading.active_count()
    p = Pipeline(SQUARES.map(meet, inputs=["n"], outputs=N).batch(2), workers=2)
    assert len(values(p)) == 5 and names == {"infer_prep"}
    assert threading.active_count() <= before + 7  # two workers each of the source and the map, and one that waits
    p.close()
    while threading.active_count() > before:  # they end
        time.sleep(0.01)

    # A function may close its pipeline, but not wait for itself.
    def inside(n):
        with pytest.raises(InferPrepError, match="may call only weights, set_weights, give and close"):
            p.state_dict()
        p.close()
        return n

    p = Pipeline(SQUARES.map(inside, inputs=["n"], outputs=N), workers=1)
    with pytest.raises(InferPrepError) as e:
        values(p)
    assert e.value.code == "closed"

    # A pipeline that is dropped within an epoch ends, also if its function refers to it.
    def refers(n):
        return n + 0 * len(cycle)

    cycle = Pipeline(SQUARES.map(refers, inputs=["n"], outputs=N).batch(2))
    next(iter(cycle))
    gone = weakref.ref(cycle)
    del cycle
    while gone() is not None or threading.active_count() > before:
        gc.collect()
        time.sleep(0.01)


def test_kept():
    """Arrays that a function keeps stay valid, and what it changes later has no effect."""
    kept = []

    def keep(square):
        kept.append(square)
        return square

    d = SQUARES.map(keep, inputs=["square"], outputs={"square": ("float32", (2,))}).batch(5)
    got = [b["square"].tolist() for b in Pipeline(d)]
    want = [[i * i] * 2 for i in range(10)]
    assert got == [want[:5], want[5:]] and sorted(a.tolist() for a in kept) == want


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
import time
from infer_prep import Dataset, Pipeline
def read():
    yield 1
    print("waits", flush=True)
    %s
try:
    for b in Pipeline(Dataset.from_generator(read, {"n": "int64"})):
        pass
except KeyboardInterrupt:
    print(time.clock_gettime(time.CLOCK_MONOTONIC))
"""


@pytest.mark.parametrize("work", ["time.sleep(30)", "while True: sum(range(1000))"])
def test_interrupt(work):
    """Ctrl-C ends a next() that waits for a function, which sleeps or computes, within 0.1 s, and the process ends."""
    for last in [False] * 9 + [True]:  # the machine may be busy
        p = subprocess.Popen([sys.executable, "-c", INTERRUPTED % work], stdout=subprocess.PIPE, text=True)
        assert p.stdout.readline() == "waits\n"
        time.sleep(0.1)
        begin = time.clock_gettime(time.CLOCK_MONOTONIC)
        p.send_signal(signal.SIGINT)
        try:
            out, _ = p.communicate(timeout=60)
        finally:
            p.kill()
        assert p.returncode == 0
        took = float(out) - begin
        if took < 0.1:
            break
        assert not last, f"{took:.3f} s"


def test_methods(folder):
    """The nodes' methods make what then makes."""
    graph = Graph.from_ops("decode")
    d = Dataset("image_folder", dir=folder).shuffle().map(graph).batch(3)
    assert d.definition == Dataset("image_folder", dir=folder).then("shuffle").then("map", graph=graph).then("batch", size=3).definition
    a, b = d.take(2), d.rename(["label"], to=["class"])
    assert a.mix(d, weights=[2, 1]).definition == Dataset("mix", a, d, weights=[2, 1]).definition
    assert b.definition["top"]["params"] == {"from": ["label"], "to": ["class"]}
    assert len(Pipeline(Dataset("image_folder", dir=pathlib.Path(folder)).map(graph).repeat(2).skip(3).batch(4, drop_remainder=True))) == 9


TYPED = """
import infer_prep
from infer_prep import Dataset, Graph, Pipeline
d: Dataset = Dataset("image_folder", dir="train").shuffle().map(Graph.from_ops("decode")).batch(32)
d.tkae(3)
Dataset("image_folder", drr="train")
d.take("3")
Pipeline(d)["x"]
Graph.from_ops("decode").run(b"", as_dict=True)["image"].shape
Graph.from_ops("decode").run(b"", as_dict=False).shape
Graph.from_ops("decode").run(b"").shape
"""


def test_types(tmp_path):
    """Type checkers know the nodes and their parameters."""
    (tmp_path / "typed.py").write_text(TYPED)
    p = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.environ.get("MYPY_CACHE", tmp_path / "cache"), "typed.py"], cwd=tmp_path, capture_output=True, text=True)
    lines = [int(l.split(":")[1]) for l in p.stdout.splitlines() if ": error:" in l]
    assert lines == [5, 6, 7, 8, 11], p.stdout


def test_example(folder, tmp_path):
    """The example is killed, and goes on with the batches of a run without the interruption."""
    program = [sys.executable, str(conftest.ROOT / "python" / "examples" / "train_functions.py"), str(folder)]
    whole = subprocess.run([*program, str(tmp_path / "whole")], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(whole) == len(set(whole)) == 21
    got = []
    for n in 5, 100:
        p = subprocess.Popen([*program, str(tmp_path / "place")], stdout=subprocess.PIPE, text=True)
        lines = [l for _, l in zip(range(n), iter(p.stdout.readline, ""))]
        p.kill()
        lines += p.stdout.readlines()
        p.communicate()
        first = whole.index(lines[0].strip())
        assert first <= len(got)
        got[first:] = [l.strip() for l in lines]
    assert got == whole


def test_names_in_errors():
    """Errors speak of Python's names, and a wrong node or key has a code of its own."""
    for call, code, text in [
        (lambda: Dataset("image_foldr"), "node", 'did you mean "image_folder"'),
        (lambda: Dataset("image_folder", dri="x"), "param", 'unknown parameter "dri"; did you mean "dir"'),
        (lambda: SQUARES.batch(2, pad=[{"column": "x", "shape": [-2]}]), "param", "padded"),
        (lambda: Dataset("batch", size="3"), "param", "'size' is a string, want int"),
        (lambda: Dataset("image_folder", dir=["x"]), "param", "'dir' is an array, want str"),
        (lambda: Pipeline(SQUARES.batch(2), device="cpu", on_error="no"), "input", "on_error"),
        (lambda: values(Pipeline(SQUARES.map(lambda n: np.zeros(n, np.int64), inputs=["n"], outputs={"n": ("int64", (-1,))}, name="f").batch(2))), None, "sizes differ; pad= pads them"),
    ]:
        with pytest.raises(InferPrepError, match=text) as e:
            call()
        assert code in (None, e.value.code), str(e.value)
        assert not any(w in str(e.value) for w in ("set Pad", "Options.", "RegisterFunc", "import of its package", "*dataset", "Go value", "Go struct")), str(e.value)
