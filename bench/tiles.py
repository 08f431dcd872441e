"""Compares windows of a tiled scene: codec/tiff beside rasterio (GDAL) and tifffile.

usage: tiles.py TILES [FILE]

TILES is the program of bench/tiles. The scene is uint16, tiled, Deflate with predictor 2: FILE, or one that the script makes of smooth shapes and
noise. Every reader gets the same 512 x 512 windows, at random places or aligned with the tiles, with 1 and 2 threads, and without a cache or with one
that holds the tiles of all windows. All readers are run in turns; the least processor time of each counts. The arrays are compared first.
A window a processor second is the unit: other programs on the machine change it less than time on the clock.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import rasterio
import tifffile
from rasterio.windows import Window

SIDE, SIZE, TILE = 6144, 512, 512
COUNT, ROUNDS = 96, int(os.environ.get("ROUNDS", 3))
CACHE = 512 << 20


def make(path):
    rng = np.random.RandomState(1)
    y, x = np.mgrid[:SIDE, :SIDE].astype("f4")
    with rasterio.open(path, "w", driver="GTiff", width=SIDE, height=SIDE, count=3, dtype="uint16", tiled=True, blockxsize=TILE, blockysize=TILE, compress="deflate", predictor=2, interleave="pixel") as d:
        for b in range(3):
            v = 3000 + 1500 * np.sin(x / (90 + 10 * b)) * np.cos(y / (70 + 9 * b)) + rng.rand(SIDE, SIDE).astype("f4") * 60
            d.write(v.astype("u2"), b + 1)


def places(kind, w, h):
    rng = np.random.RandomState(2)
    if kind == "aligned":
        return [(int(rng.randint(w // TILE)) * TILE, int(rng.randint(h // TILE)) * TILE) for _ in range(COUNT)]
    return [(int(rng.randint(w - SIZE)), int(rng.randint(h - SIZE))) for _ in range(COUNT)]


def threaded(threads, windows, opened, read):
    """Runs read(handle, window, k) on threads with a handle of their own."""

    def work(t):
        with opened() as d:
            for k in range(t, len(windows), threads):
                read(d, windows[k], k)

    cpu, wall = time.process_time(), time.perf_counter()
    if threads == 1:
        work(0)
    else:
        all = [threading.Thread(target=work, args=(t,)) for t in range(threads)]
        for t in all:
            t.start()
        for t in all:
            t.join()
    return time.process_time() - cpu, time.perf_counter() - wall


class Rasterio:
    name = "rasterio"

    def __call__(self, path, windows, threads, cache, sums):
        def read(d, w, k):
            a = d.read(window=Window(*w, SIZE, SIZE))
            if sums is not None:
                sums[k] = hashlib.sha256(np.ascontiguousarray(a.transpose(1, 2, 0)).tobytes()).hexdigest()

        # GDAL has no way without a cache; the smallest one holds less than a tile.
        with rasterio.Env(GDAL_CACHEMAX=CACHE if cache else 1, GDAL_NUM_THREADS=1):
            return threaded(threads, windows, lambda: rasterio.open(path, sharing=False), read)


class Tifffile:
    """Decodes the tiles of each window with imagecodecs, as tifffile's zarr store does. It has no cache."""

    name = "tifffile"

    def __call__(self, path, windows, threads, cache, sums):
        if cache:
            return None

        def read(d, w, k):
            page = d.pages[0]
            x, y = w
            out = np.empty((SIZE, SIZE, page.samplesperpixel), page.dtype)
            across = (page.imagewidth + TILE - 1) // TILE
            for ty in range(y // TILE, (y + SIZE - 1) // TILE + 1):
                for tx in range(x // TILE, (x + SIZE - 1) // TILE + 1):
                    n = ty * across + tx
                    d.filehandle.seek(page.dataoffsets[n])
                    tile = page.decode(d.filehandle.read(page.databytecounts[n]), n)[0][0]
                    x0, y0 = max(x, tx * TILE), max(y, ty * TILE)
                    x1, y1 = min(x + SIZE, tx * TILE + TILE), min(y + SIZE, ty * TILE + TILE)
                    out[y0 - y : y1 - y, x0 - x : x1 - x] = tile[y0 - ty * TILE : y1 - ty * TILE, x0 - tx * TILE : x1 - tx * TILE]
            if sums is not None:
                sums[k] = hashlib.sha256(out.tobytes()).hexdigest()

        return threaded(threads, windows, lambda: tifffile.TiffFile(path), read)


class Ours:
    name = "infer-prep"

    def __init__(self, program):
        self.p = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, path, windows, threads, cache, sums):
        q = {"file": str(path), "windows": windows, "size": SIZE, "threads": threads, "cache": CACHE if cache else 0, "sums": sums is not None}
        self.p.stdin.write(json.dumps(q) + "\n")
        self.p.stdin.flush()
        a = json.loads(self.p.stdout.readline())
        if sums is not None:
            sums.update(enumerate(a["sums"]))
        return a["cpu"], a["wall"]


def main():
    readers = [Ours(sys.argv[1]), Rasterio(), Tifffile()]
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(folder) / "scene.tif"
        if len(sys.argv) < 3:
            make(path)
        with rasterio.open(path) as d:
            w, h, size = d.width, d.height, os.path.getsize(path)
            print(f"{w} x {h} x {d.count} {d.dtypes[0]}, {size / 1e6:.0f} MB in {d.compression.value}, tiles {d.block_shapes[0]}")
        print("512 x 512 windows a processor second (a second); the ratio is infer-prep / rasterio")
        print("| windows | threads | cache | " + " | ".join(r.name for r in readers) + " | ratio |")
        print("|---|---|---|" + "---|" * (len(readers) + 1))
        for kind in ("random", "aligned"):
            windows = places(kind, w, h)
            sums = [{} for _ in readers]
            for r, s in zip(readers, sums):
                r(path, windows, 1, False, s)
            assert sums[0] == sums[1] == sums[2] and len(sums[0]) == COUNT, f"{kind}: the arrays differ"
            for cache in (False, True):
                for threads in (1, 2):
                    best = [None] * len(readers)
                    for _ in range(ROUNDS):
                        for i, r in enumerate(readers):
                            t = r(path, windows, threads, cache, None)
                            if t is not None:
                                best[i] = t if best[i] is None else (min(best[i][0], t[0]), min(best[i][1], t[1]))
                    cells = [f"{COUNT / b[0]:.0f} ({COUNT / b[1]:.0f})" if b else "" for b in best]
                    print(f"| {kind} | {threads} | {'512 MiB' if cache else 'none'} | {' | '.join(cells)} | {best[1][0] / best[0][0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
