import gc
import http.server
import io
import json
import logging
import pickle
import signal
import subprocess
import sys
import tarfile
import threading
import time

import conftest
import numpy as np
import pytest

import infer_prep
from infer_prep import InferPrepError, Pipeline


def epoch(p):
    return [(b.key, b["image"].copy(), b["label"].copy()) for b in p]


def same(a, b):
    return len(a) == len(b) and all(x[0] == y[0] and np.array_equal(x[1], y[1]) and np.array_equal(x[2], y[2]) for x, y in zip(a, b))


def test_epochs(definition, definition_file):
    p = Pipeline(definition, seed=1)
    assert len(p) == 7 and [c.name for c in p.columns] == ["image", "label"]
    first, second = epoch(p), epoch(p)
    assert [len(x[2]) for x in first] == [3] * 6 + [2]
    assert not same(first, second)
    for q in Pipeline(definition_file, seed=1), Pipeline(json.dumps(definition).encode(), seed=1), Pipeline(definition, seed=1, workers=1, prefetch=1), Pipeline(definition, seed=1, cache=1 << 20):
        assert same(epoch(q), first) and same(epoch(q), second)
    with pytest.raises(ValueError, match="cache 0: want at least 1"):
        Pipeline(definition, cache=0)
    batch = next(iter(p))
    assert (batch.epoch, batch.step, list(batch), len(batch)) == (2, 1, ["image", "label"], 2)
    image, label = batch.values()
    assert image.shape == (3, 16, 24, 3) and image.dtype == np.uint8 and label.dtype == np.int64
    p.close()


def test_release(definition):
    p = Pipeline(definition)
    it = iter(p)
    batch = next(it)
    kept = batch["image"]
    want = kept.copy()
    batch.release()
    batch.release()
    assert batch.released and "released" in repr(batch)
    with pytest.raises(InferPrepError, match="is released") as e:
        batch["image"]
    assert e.value.code == "closed"
    with next(it) as other:
        assert other["image"].shape == (3, 16, 24, 3)
        with pytest.raises(KeyError, match="no column 'imag'"):
            other["imag"]
    assert other.released
    for b in it:
        assert not np.shares_memory(b["image"], kept)
    assert np.array_equal(kept, want)  # an array keeps its memory after release
    assert p.stats()["lent"] == 2  # that of kept and the last one
    del b
    assert p.stats()["lent"] == 1
    p.close()
    assert np.array_equal(kept, want)  # and after close
    kept[:] = 0
    del kept
    gc.collect()


def test_memory_is_reused(definition):
    p = Pipeline(definition)
    addresses = set()
    for _ in range(10):
        for b in p:
            addresses.add(b["image"].__array_interface__["data"][0])
    assert len(addresses) < 40, len(addresses)  # of 70: each epoch begins with new buffers
    assert p.stats()["lent"] == 1
    held = [b for b in p]
    assert p.stats()["lent"] == 8
    assert len({b["image"].__array_interface__["data"][0] for b in held}) == 7
    del held
    assert p.stats()["lent"] == 1


def test_resume(definition):
    p = Pipeline(definition, seed=5)
    whole = [epoch(p), epoch(p), epoch(p)]
    for stop in 0, 1, 4, 7, 9, 14:
        q = Pipeline(definition, seed=5)
        it = iter(q)
        for _ in range(stop):
            try:
                next(it)
            except StopIteration:
                it = iter(q)
                next(it)
        if stop % 7 == 0 and stop:
            with pytest.raises(StopIteration):
                next(it)
        state = json.loads(json.dumps(q.state_dict()))
        r = Pipeline(definition, seed=5)
        next(iter(r))
        r.load_state_dict(state)
        assert r.state_dict() == state
        assert same(epoch(r), whole[stop // 7][stop % 7:]), stop
        assert same(epoch(r), whole[stop // 7 + 1]) if stop < 14 else True
    for bad in {}, {"infer_prep_state": 1, "state": "%"}, {"infer_prep_state": 2, "state": ""}, {"infer_prep_state": 1, "state": "AAAA"}, [], None:
        with pytest.raises(InferPrepError) as e:
            p.load_state_dict(bad)
        assert e.value.code == "state"
    with pytest.raises(InferPrepError, match="another definition or seed") as e:
        Pipeline(definition, seed=6).load_state_dict(state)
    assert e.value.code == "state"


def test_leaving_half_way(definition):
    p = Pipeline(definition, seed=2)
    q = Pipeline(definition, seed=2)
    for _ in p:
        break
    with pytest.raises(ZeroDivisionError):
        for _ in p:
            1 / 0
    epoch(q), epoch(q)
    assert same(epoch(p), epoch(q))  # the third epoch, whatever was left out
    old, new = iter(p), iter(p)
    next(new)
    with pytest.raises(RuntimeError, match="a later iteration"):
        next(old)


@pytest.mark.parametrize("ready", [True, False])
def test_exception_during_next(definition, monkeypatch, ready):
    """What Ctrl-C takes from a waiting loop comes with the next call, and is not in the state."""
    from infer_prep import _native, _pipeline

    want = epoch(Pipeline(definition, seed=3))
    p = Pipeline(definition, seed=3)
    it = iter(p)
    next(it)
    before = p.state_dict()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(_pipeline, "string_at" if ready else "byref", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(it)
    assert p.state_dict() == before
    assert p.stats()["lent"] == ready
    q = Pipeline(definition, seed=3)
    q.load_state_dict(p.state_dict())
    assert same(epoch(q), want[1:])
    batch = next(it)
    assert (batch.key, batch.step) == (want[1][0], 2) and np.array_equal(batch["image"], want[1][1])
    with monkeypatch.context() as m:
        m.setattr(_native, "array", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(it)
    del batch
    assert len(epoch(p)) == 7 and p.stats()["lent"] == 0  # the next epoch drops what was not delivered


def test_ranks(definition):
    parts = [epoch(Pipeline(definition, seed=1, rank=r, world=2)) for r in range(2)]
    keys = [sum((list(x[2]) for x in part), []) for part in parts]
    assert len(keys[0]) == len(keys[1]) == 10
    assert sorted(keys[0] + keys[1]) == [0] * 10 + [1] * 10

    class Distributed:
        @staticmethod
        def is_available():
            return True

        @staticmethod
        def is_initialized():
            return True

        @staticmethod
        def get_rank():
            return 1

        @staticmethod
        def get_world_size():
            return 2

    before = sys.modules.get("torch.distributed")
    sys.modules["torch.distributed"] = Distributed
    try:
        p = Pipeline(definition, seed=1)
        assert (p.rank, p.world) == (1, 2) and same(epoch(p), parts[1])
    finally:
        sys.modules.pop("torch.distributed")
        if before is not None:
            sys.modules["torch.distributed"] = before
    with pytest.raises(ValueError, match="both or none"):
        Pipeline(definition, rank=1)
    with pytest.raises(InferPrepError):
        Pipeline(definition, rank=2, world=2)


def broken(tmp_path, **options):
    for i in range(6):
        (tmp_path / "c").mkdir(exist_ok=True)
        b = conftest.png(24, 16, i)
        (tmp_path / "c" / f"{i}.png").write_bytes(b[: len(b) // 2] if i == 2 else b)
    return conftest.images(tmp_path)


def test_bad_samples(tmp_path, caplog):
    d = broken(tmp_path)
    p = Pipeline(d)
    it = iter(p)
    next(it)
    state = p.state_dict()
    for _ in range(2):
        with pytest.raises(InferPrepError, match="2.png") as e:
            next(it)
        assert e.value.code == "format"
    with pytest.raises(InferPrepError, match="2.png"):  # a new epoch meets it again
        list(p)
    q = Pipeline(d)
    q.load_state_dict(state)
    with pytest.raises(InferPrepError, match="2.png"):
        list(q)
    with caplog.at_level(logging.WARNING, "infer_prep"):
        r = Pipeline(d, on_error="skip")
        assert [len(b["label"]) for b in r] == [2, 2, 1]
    assert "2.png" in caplog.text and r.stats()["skipped"] == 1
    with pytest.raises(TypeError, match="depends on the data"):
        len(r)
    s = Pipeline(d, on_error="replace")
    assert [len(b["label"]) for b in s] == [2, 2, 2] and len(s) == 3


class Together:
    """An all_done of ranks that are threads."""

    def __init__(self, ranks):
        self.barrier, self.votes = threading.Barrier(ranks), []

    def __call__(self, done):
        self.votes.append(done)
        self.barrier.wait(60)
        answer = any(self.votes)
        if self.barrier.wait(60) == 0:
            self.votes.clear()
        self.barrier.wait(60)
        return answer


def test_all_done(tmp_path):
    """Ranks with different numbers of samples end an epoch together."""
    d = broken(tmp_path)
    with pytest.raises(InferPrepError, match="2 ranks need all_done to end together") as e:
        Pipeline(d, rank=0, world=2, on_error="skip")
    assert e.value.code == "input"
    together, steps = Together(2), {}

    def run(rank):
        p = Pipeline(d, rank=rank, world=2, on_error="skip", all_done=together)
        steps[rank] = [[b["label"].size for b in p] for _ in range(3)]
        steps[rank].append(p.state_dict()["state"] != "")

    threads = [threading.Thread(target=run, args=[r]) for r in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    # Rank 0 has the images 0, 4 and the bad one, rank 1 has 1, 3 and 5.
    assert steps == {0: [[2]] * 3 + [True], 1: [[2]] * 3 + [True]}

    alone = Pipeline(d, rank=1, world=2, on_error="skip", all_done=lambda done: done)
    assert [b["label"].size for b in alone] == [2, 1]
    wrong = Pipeline(d, rank=1, world=2, on_error="skip", all_done=lambda done: False)
    with pytest.raises(InferPrepError, match="all_done returned False, but this rank is done"):
        list(wrong)
    with pytest.raises(TypeError, match="all_done is int"):
        Pipeline(d, all_done=1)


def test_all_done_fails(definition):
    """An exception of all_done ends the epoch, and a resumed one goes on with the same batch."""
    want = epoch(Pipeline(definition, seed=3))
    calls = []

    def ask(done):
        calls.append(done)
        if len(calls) == 3:
            raise ConnectionError("a rank is gone")
        return done

    p = Pipeline(definition, seed=3, all_done=ask)
    it = iter(p)
    got = [next(it).key, next(it).key]
    with pytest.raises(ConnectionError):
        next(it)
    with pytest.raises(InferPrepError, match="all_done failed"):
        next(it)
    q = Pipeline(definition, seed=3, all_done=ask)
    q.load_state_dict(p.state_dict())
    assert got + [b.key for b in q] == [b[0] for b in want]
    assert calls == [False] * 8 + [True]
    assert len(epoch(p)) == 7 and p.stats()["lent"] == 0  # the next epoch runs


def test_stages(definition):
    """Options of single stages, and an unknown one."""
    p = Pipeline(definition, workers={"batch/map/shuffle/image_folder": 1}, queue={"batch/map": 9})
    next(iter(p))
    stages = {s["path"]: (s["workers"], s["queue"]) for s in p.stats()["stages"]}
    assert stages["batch/map/shuffle/image_folder"][0] == 1 and stages["batch/map"][1] == 9
    for option in "workers", "queue":
        with pytest.raises(InferPrepError, match=f'{option}: no stage "batch/mapp": want one of batch/map, batch/map/shuffle/image_folder; did you mean "batch/map"') as e:
            Pipeline(definition, **{option: {"batch/mapp": 3}})
        assert e.value.code == "input"


def outside(tmp_path):
    """A folder with a link that leads out of it, and not to an image."""
    (tmp_path / "secret.png").write_text("no image")
    (tmp_path / "links" / "c").mkdir(parents=True)
    (tmp_path / "links" / "c" / "x.png").symlink_to(tmp_path / "secret.png")
    return tmp_path / "links"


def test_errors(definition, tmp_path):
    for call, kind, text in [
        (lambda: Pipeline(tmp_path / "none.json"), FileNotFoundError, "none.json"),
        (lambda: Pipeline(json.dumps(definition)), ValueError, "is JSON, want a path"),
        (lambda: Pipeline(tmp_path), IsADirectoryError, "want a definition, such as Dataset('image_folder'"),
        (lambda: next(iter(Pipeline(conftest.images(outside(tmp_path))))), InferPrepError, "allow_outside=True permits it"),
        (lambda: Pipeline({}), InferPrepError, "infer_prep_dataset"),
        (lambda: Pipeline(b"\xff"), InferPrepError, ""),
        (lambda: Pipeline(7), TypeError, "want a path, a dict or bytes"),
        (lambda: Pipeline(definition, on_error="skpi"), InferPrepError, 'did you mean "skip"'),
        (lambda: Pipeline(definition, workers=0), ValueError, "workers 0"),
        (lambda: Pipeline(definition, workers=100000), InferPrepError, "Workers is 100000"),
        (lambda: Pipeline(definition, prefetch=-1), ValueError, "prefetch -1"),
        (lambda: Pipeline(definition, workers=2.5), TypeError, "workers is float"),
        (lambda: Pipeline(definition, queue={"batch/map": "x"}), TypeError, "queue is str"),
        (lambda: Pipeline(definition, seed=-1), ValueError, "seed -1"),
        (lambda: Pipeline(definition, seed="x"), TypeError, ""),
        (lambda: Pipeline(definition, max_skips=0), ValueError, "max_skips 0"),
        (lambda: Pipeline(conftest.images(tmp_path / "x")), InferPrepError, "x"),
        (lambda: pickle.dumps(Pipeline(definition)), TypeError, "cannot be pickled"),
        (lambda: pickle.dumps(next(iter(Pipeline(definition)))), TypeError, "cannot be pickled"),
    ]:
        with pytest.raises(kind) as e:
            call()
        assert text in str(e.value), str(e.value)
    with Pipeline(definition) as p:
        next(iter(p))
    p.close()
    for call in lambda: iter(p), p.state_dict, p.stats, lambda: p.load_state_dict({"infer_prep_state": 1, "state": ""}), lambda: p.__enter__():
        with pytest.raises(InferPrepError, match="is closed") as e:
            call()
        assert e.value.code == "closed"


def test_close_under_next(definition):
    """A close of another thread ends a loop with an error, not a hang."""
    p = Pipeline(definition)
    ended = []

    def loop():
        try:
            while True:
                for _ in p:
                    pass
        except InferPrepError as e:
            ended.append(e.code)

    t = threading.Thread(target=loop)
    t.start()
    time.sleep(0.2)
    p.close()
    t.join(10)
    assert not t.is_alive() and ended and ended[0] in ("closed", "canceled")


def test_threads(definition):
    p = Pipeline(definition)
    it = iter(p)
    lock, seen = threading.Lock(), []

    def work():
        for b in it:
            with lock:
                seen.append(b.step)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == list(range(1, 8))


def test_mind_record(command, tmp_path):
    """MindRecord, whose index is a SQLite database."""
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for i in range(5):
            b = conftest.png(4, 4, i)
            entry = tarfile.TarInfo(f"{i}.png")
            entry.size = len(b)
            tar.addfile(entry, io.BytesIO(b))
    subprocess.run([command, "records", "convert", "-q", "--drop", "__key__", str(tmp_path / "a.tar"), "--to", "mindrecord", "-o", str(tmp_path / "a.mindrecord")], check=True)
    top = {"node": "mind_record", "version": 1, "params": {"files": [str(tmp_path / "a.mindrecord")], "columns": ["png"]}}
    with Pipeline({"infer_prep_dataset": 1, "top": top}) as p:
        assert [b["png"].tobytes() for b in p] == [conftest.png(4, 4, i) for i in range(5)]


def test_bytes(tmp_path):
    """Without batches, a column of bytes is an array of uint8."""
    (tmp_path / "a.txt").write_text("one\ntwo\n\nthree\n")
    d = {"infer_prep_dataset": 1, "top": {"node": "text_file", "version": 1, "params": {"files": [str(tmp_path / "a.txt")]}}}
    p = Pipeline(d)
    assert p.columns == (("text", "bytes", "", (), "stack"),)
    arrays = [b["text"] for b in p]
    p.close()
    assert [a.tobytes() for a in arrays] == [b"one", b"two", b"three"]


# A shell's background jobs ignore the signal, and so would this process.
INTERRUPTED = """
import json, signal, sys, infer_prep
signal.signal(signal.SIGINT, signal.default_int_handler)
p = infer_prep.Pipeline(json.loads(sys.argv[1]))
print("open", flush=True)
try:
    next(iter(p))
except KeyboardInterrupt:
    p.state_dict()
    p.close()
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process gets no SIGINT there")
def test_interrupt():
    """Ctrl-C ends a next() that waits for a file that does not come."""

    class Stuck(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/list":
                asked.set()
                over.wait(30)
                return
            b = b'{"source": "x.png", "usage": "train", "annotation": [{"name": "cat"}]}\n'
            self.send_response(200)
            self.send_header("Content-Length", str(len(b)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(b)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    asked, over = threading.Event(), threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stuck)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        params = {"file": f"http://127.0.0.1:{server.server_port}/list", "usage": "train", "class_indexing": {}}
        d = {"infer_prep_dataset": 1, "top": {"node": "manifest", "version": 1, "params": params}}
        p = subprocess.Popen([sys.executable, "-c", INTERRUPTED, json.dumps(d)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert p.stdout.readline() == "open\n", p.communicate()
        assert asked.wait(10)
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=10)
        assert (out, p.returncode) == ("interrupted\n", 0), err
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
