"""Compares the resize backend torch_uint8 with torch's resize of uint8 tensors: 2,500 sizes, three filters with and without
antialiasing, nearest and nearest-exact, and 1, 3 and 4 channels.

usage: torch_uint8.py INFER_PREP

It prints one line per filter and number of channels, and exits with 1 if a byte differs. torch must have x86-64's AVX2.
"""

import os

os.environ["OMP_NUM_THREADS"] = "2"

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as F

SIZES, BATCH = 2500, 14  # a graph has at most 100 outputs
# torch has no lanczos without antialiasing.
KINDS = [("bilinear", True), ("bilinear", False), ("bicubic", True), ("bicubic", False), ("lanczos", True), ("nearest", False), ("nearest-exact", False)]
MODES = {1: "gray", 3: "rgb", 4: "rgba"}


def pictures(folder, rng):
    """Writes images of noise over waves, with extremes of 0 and 255; yields (channels, path)."""
    for n, (h, w) in enumerate([(151, 203), (64, 33), (1, 90), (75, 1), (17, 300)]):
        for channels in MODES:
            y, x = np.mgrid[:h, :w][..., None]
            a = 127 + 100 * np.sin(x / (3 + n) + np.arange(channels)) * np.cos(y / 5) + rng.normal(0, 40, (h, w, channels))
            a[rng.random((h, w)) < 0.1] = rng.choice([0, 255])
            path = pathlib.Path(folder) / f"{n}-{channels}.png"
            a = np.clip(a, 0, 255).astype(np.uint8)
            Image.fromarray(a[..., 0] if channels == 1 else a).save(path)
            yield channels, path


def graph(channels, sizes):
    """A graph with one output per size and kind."""
    steps = [{"op": "decode", "version": 1, "in": ["image"], "out": ["image"], "params": dict(
        color=MODES[channels], alpha="drop", gray16="clip", refuse=[], orientation="ignore", damage="pillow", scale="full")}]
    outputs = []
    for n, (h, w) in enumerate(sizes):
        for name, antialias in KINDS:
            outputs.append(f"r{n}.{name}.{antialias}")
            steps.append({"op": "resize", "version": 1, "in": ["image"], "out": outputs[-1:], "params": dict(
                fit="exact", height=h, width=w, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate",
                interpolation=name.replace("-", "_"), backend="torch_uint8", no_antialias=not antialias)})
    inputs = [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}]
    return json.dumps({"infer_prep_graph": 1, "inputs": inputs, "steps": steps, "outputs": outputs})


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    capability = torch.backends.cpu.get_cpu_capability()
    if capability not in ("AVX2", "AVX512"):
        sys.exit(f"torch_uint8.py: torch's CPU capability is {capability}, want AVX2 or AVX512")
    torch.set_num_threads(2)
    rng = np.random.default_rng(15)
    count, bad = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as tmp:
        images = list(pictures(tmp, rng))
        for first in range(0, SIZES, BATCH):
            _, path = images[first // BATCH % len(images)]
            sizes = [tuple(int(v) for v in rng.integers(1, (40, 160, 420)[n % 3], 2)) for n in range(BATCH)]
            sizes = [s for s in sizes if s != (1, 1)]  # torch 2.15.0 raises an error there for 3 channels
            for channels in MODES:
                path = path.with_name(f"{path.name.split('-')[0]}-{channels}.png")
                file, out = pathlib.Path(tmp) / "graph.json", pathlib.Path(tmp) / f"{first}-{channels}"
                file.write_text(graph(channels, sizes))
                subprocess.run([program, "run", "--graph", file, "--format", "npz", "--outputs", "all", "-o", out, path], check=True, capture_output=True)
                x = np.asarray(Image.open(path))
                t = torch.from_numpy(x.reshape(*x.shape[:2], -1).transpose(2, 0, 1).copy())
                with np.load(out / (path.name + ".npz")) as got:
                    for n, size in enumerate(sizes):
                        for name, antialias in KINDS:
                            want = F.resize(t, list(size), interpolation=InterpolationMode(name), antialias=antialias).permute(1, 2, 0).numpy()
                            have = got[f"r{n}.{name}.{antialias}"]
                            key = f"{name}, {'antialias' if antialias else 'no antialias'}, {channels} channels"
                            count[key] += 1
                            if have.shape != want.shape or (have != want).any():
                                bad[key] += 1
                                if bad[key] <= 3:
                                    print(f"    {path.name} to {size}, {key}: {have.shape}, want {want.shape}")
    for key in sorted(count):
        print(f"{'torch ' + torch.__version__:34} {'resize uint8 tensors, ' + key:56} exact {count[key] - bad[key]} of {count[key]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
