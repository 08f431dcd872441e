"""What the tests share: images, a folder of classes, child processes."""

import json
import os
import pathlib
import subprocess
import sys
import zlib
import struct

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "testdata" / "images"


def png(width, height, seed):
    """A PNG file of noise."""
    state = seed + 1
    rows = bytearray()
    for _ in range(height):
        rows.append(0)
        for _ in range(3 * width):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            rows.append(state >> 24)
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")


SMALL = {
    "infer_prep_graph": 1,
    "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
    "steps": [
        {"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": {
            "color": "rgb", "alpha": "drop", "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow", "scale": "full"}},
    ],
    "outputs": ["image"],
}


@pytest.fixture(scope="session")
def jpeg():
    return (IMAGES / "jpeg_large.jpg").read_bytes()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two classes of 20 small images."""
    d = tmp_path_factory.mktemp("folder")
    for c in "ab":
        (d / c).mkdir()
        for i in range(10):
            (d / c / f"{i:02d}.png").write_bytes(png(24, 16, i + 100 * ord(c)))
    return d


@pytest.fixture(scope="session")
def definition(folder):
    """Batches of 3 of its images, shuffled: seven in an epoch, the last of 2."""
    return images(folder, batch=3, shuffle=True)


def images(folder, graph=SMALL, batch=2, shuffle=False):
    """The definition of a folder with a subfolder of images for each class, as a dict."""
    from infer_prep import Dataset

    d = Dataset("image_folder", dir=folder)
    if shuffle:
        d = d.then("shuffle")
    return d.map(graph).then("batch", size=batch).definition


@pytest.fixture
def child():
    """Runs a Python program in a process of its own."""

    def run(code, *args, timeout=60, status=0, python=(sys.executable,)):
        p = subprocess.run([*python, "-c", code, *map(str, args)], capture_output=True, text=True, timeout=timeout)
        assert p.returncode == status, f"status {p.returncode}: {p.stdout}{p.stderr}"
        return p.stdout

    return run


@pytest.fixture(scope="session")
def definition_file(definition, tmp_path_factory):
    f = tmp_path_factory.mktemp("definition") / "train.json"
    f.write_text(json.dumps(definition))
    return f


@pytest.fixture(scope="session")
def command():
    """The program infer-prep, which make python-test builds."""
    p = os.environ.get("INFER_PREP")
    if not p:
        pytest.skip("INFER_PREP is not set: want the path of the program infer-prep; make python-test sets it")
    return p


def resident(pid="self"):
    """Resident memory of a process in bytes."""
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
