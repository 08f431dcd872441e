"""infer-prep feed, read by examples/read_feed.py."""

import importlib.util
import io
import os
import signal
import subprocess
import sys
import time

import conftest
import numpy as np
import pytest

import infer_prep

if sys.platform == "win32":
    pytest.skip("infer-prep feed is tested on Unix", allow_module_level=True)

EXAMPLE = conftest.ROOT / "python" / "examples" / "read_feed.py"
spec = importlib.util.spec_from_file_location("read_feed", EXAMPLE)
read_feed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(read_feed)


@pytest.fixture
def feed(command, definition_file):
    started = []

    def start(*args, **options):
        p = subprocess.Popen([command, "feed", str(definition_file), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, **options)
        started.append(p)
        return p

    yield start
    for p in started:
        p.kill()
        p.communicate()


def test_equals_pipeline(feed, definition_file):
    p = feed("--epochs", "2", "--seed", "4")
    got = list(read_feed.read(p.stdout))
    q = infer_prep.Pipeline(definition_file, seed=4)
    want = [(b.key, b["image"].copy(), b["label"].copy()) for _ in range(2) for b in q]
    assert len(got) == len(want) == 14
    for b, (key, image, label) in zip(got, want):
        assert b.header["key"] == key and np.array_equal(b.array("image"), image) and np.array_equal(b.array("label"), label)
    assert p.wait(10) == 0
    rest = list(read_feed.read(feed("--epochs", "2", "--seed", "4", "--resume", got[9].resume).stdout))
    assert [b.header["step"] for b in rest] == [4, 5, 6, 7]
    assert np.array_equal(rest[0].array("image"), want[10][1])


def test_producer_dies(feed):
    """SIGKILL is a named error with the place to resume, not the end of the data."""
    p = feed("--epochs", "0")
    batches = []
    with pytest.raises(read_feed.FeedError, match="without an end frame: its producer died") as e:
        for b in read_feed.read(p.stdout):
            batches.append(b)
            if len(batches) == 10:
                p.kill()
    assert len(batches) >= 10
    resumed = read_feed.read(feed("--epochs", "0", "--resume", e.value.resume).stdout)
    last, following = batches[-1].header, next(resumed).header
    assert (following["epoch"], following["step"]) in ((last["epoch"], last["step"] + 1), (last["epoch"] + 1, 1))


def test_every_cut_and_flip(feed):
    """A stream that is cut anywhere, or has a changed byte, is an error."""
    whole = feed().stdout.read()
    for n in [*range(0, 2000, 7), len(whole) - 300, len(whole) - 4, len(whole) - 1]:
        with pytest.raises(read_feed.FeedError):
            list(read_feed.read(io.BytesIO(whole[:n])))
    for n in [*range(0, 700), len(whole) - 3, len(whole) - 70]:
        damaged = bytearray(whole)
        damaged[n] ^= 4
        with pytest.raises(read_feed.FeedError):
            list(read_feed.read(io.BytesIO(damaged)))


def test_consumer_leaves(feed):
    p = feed("--epochs", "0")
    next(read_feed.read(p.stdout))
    p.stdout.close()
    assert p.wait(10) == 1
    assert b"the consumer left in epoch" in p.stderr.read()


def worked(pid):
    """The time that a process has worked, in hundredths of a second."""
    with open(f"/proc/{pid}/stat") as f:
        return int(f.read().split()[13])


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_slow_consumer(feed):
    """A consumer that does not read stops the producer, whose memory stays bounded."""
    p = feed("--epochs", "0")
    batches = read_feed.read(p.stdout)
    next(batches)
    time.sleep(1)
    before = conftest.resident(p.pid)
    ticks = worked(p.pid)
    time.sleep(1)
    assert worked(p.pid) - ticks < 20
    assert conftest.resident(p.pid) - before < 8 << 20
    assert next(batches).header["step"] == 2
    p.send_signal(signal.SIGTERM)
    with pytest.raises(read_feed.FeedError, match="interrupted"):
        list(batches)
    assert p.wait(10) == 143


def test_interrupt_of_a_stuck_consumer(feed):
    p = feed("--epochs", "0")
    next(read_feed.read(p.stdout))
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    assert p.wait(10) == 130
    assert b"does not read" in p.stderr.read()


def test_socket(feed, tmp_path):
    path = str(tmp_path / "feed.sock")
    p = feed("--socket", path)
    for _ in range(500):
        if os.path.exists(path):
            break
        time.sleep(0.02)
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert len(list(read_feed.read(read_feed.connect(path)))) == 7
    assert p.wait(10) == 0 and not os.path.exists(path)
    q = feed("--socket", path)
    for _ in range(500):
        if os.path.exists(path):
            break
        time.sleep(0.02)
    q.send_signal(signal.SIGINT)
    assert q.wait(10) == 130 and not os.path.exists(path)


def test_example(command, definition_file):
    p = subprocess.run(f"'{command}' feed '{definition_file}' | '{sys.executable}' '{EXAMPLE}'", shell=True, capture_output=True, text=True, timeout=60)
    assert p.stdout.splitlines()[0] == "epoch 0 batch 1: image uint8 [3, 16, 24, 3], label int32 [3]", p.stderr
    assert len(p.stdout.splitlines()) == 7
