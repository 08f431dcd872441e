"""Compares run --tiles and stitch with rasterio, tifffile and NumPy.

usage: stitch.py INFER_PREP TIFFWINDOWS

rasterio writes scenes of several types. The windows that run --tiles writes must equal rasterio's, with its transforms. Predictions are put together
by stitch and by NumPy; the file must have the same samples in rasterio, tifffile and codec/tiff (the program TIFFWINDOWS), and the layout of a COG.
The script prints counts and exits with 1 if anything differs.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import rasterio
import tifffile
from rasterio.transform import Affine
from rasterio.windows import Window

warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
TILE = 512


def distance(n, start, size):
    """Distances to the closer end of a window in halves of a pixel; an end of the scene is none."""
    i = np.arange(size)
    d = np.full(size, 2 * size - 1)
    if start > 0:
        d = np.minimum(d, 2 * i + 1)
    if start + size < n:
        d = np.minimum(d, 2 * (size - i) - 1)
    return d


def numpy_stitch(lines, arrays, blend, nodata):
    s = lines[0]["scene"]
    h, w = s["height"], s["width"]
    c = arrays[0].shape[2]
    dtype = arrays[0].dtype
    out = np.full((h, w, c), nodata, dtype)
    if blend == "linear":
        sums, weights = np.zeros((h, w, c)), np.zeros((h, w, 1))
    else:
        best = np.zeros((h, w), int)
    for line, a in zip(lines, arrays):
        x, y, ww, hh = (line[k] for k in ("x", "y", "width", "height"))
        a = a[:hh, :ww]
        dy, dx = distance(h, y, hh), distance(w, x, ww)
        at = np.s_[y : y + hh, x : x + ww]
        if blend == "linear":
            p = (dy[:, None] * dx[None, :]).astype(float)[:, :, None]
            sums[at] += a.astype(float) * p
            weights[at] += p
        else:
            d = np.minimum(dy[:, None], dx[None, :])
            better = d > best[at]
            best[at][better] = d[better]
            out[at][better] = a[better]
    if blend == "linear":
        v = sums / np.maximum(weights, 1)
        v = v.astype(dtype) if dtype.kind == "f" else np.rint(v).astype(dtype)
        out = np.where(weights > 0, v, out)
    return out


def cog_problems(path):
    """What GDAL's validate_cloud_optimized_geotiff checks."""
    with rasterio.open(path) as d:
        if d.tags(ns="IMAGE_STRUCTURE").get("LAYOUT") != "COG":
            yield "GDAL does not call it a COG"
    with tifffile.TiffFile(path) as t:
        firsts = [p.dataoffsets[0] for p in t.pages]
        ends = max(p.offset for p in t.pages)
        if firsts != sorted(firsts, reverse=True) or ends > firsts[-1]:
            yield "the directories or the data are not in order"
        if any(p.tile != (TILE, TILE) for p in t.pages):
            yield "the tiles are not 512 x 512"
        if max(t.pages[-1].shape[:2]) > TILE or len(t.pages) > 1 and max(t.pages[-2].shape[:2]) <= TILE:
            yield "the overviews are too many or too few"


def main():
    program, windows = sys.argv[1:3]
    rng = np.random.RandomState(3)
    equal = bad = 0

    def check(ok, what):
        nonlocal equal, bad
        if ok:
            equal += 1
        else:
            bad += 1
            print("differs:", what)

    reader = subprocess.Popen([windows], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ours(path, window):
        reader.stdin.write(f"0 {' '.join(map(str, window))} {path}\n")
        reader.stdin.flush()
        return reader.stdout.readline().rstrip("\n")

    scenes = [
        # type, bands, width, height, tiles, overlap, edge, transform, crs
        ("uint8", 3, 1300, 700, 256, 64, "shift", Affine(10, 0, 399960, 0, -10, 5300040), 32633),
        ("uint16", 8, 777, 1111, 200, 30, "pad", Affine(0.001, 0, 12.5, 0, -0.001, 48.25), 4326),
        ("float32", 1, 530, 513, 512, 0, "shift", Affine(2, 0.5, 100, 0.25, -3, 7), 3857),
        ("uint8", 1, 300, 200, 512, 64, "pad", None, None),
        ("int16", 2, 640, 480, 128, 32, "drop", Affine(1, 0, 5, 0, -1, 9), 25832),
    ]
    predictions = [("u1", 1, "HW", "npy"), ("u2", 2, "HWC", "npz"), ("f4", 3, "CHW", "npy"), ("f4", 1, "HW", "npz")]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for n, (dtype, bands, w, h, size, overlap, edge, transform, crs) in enumerate(scenes):
            data = (rng.rand(bands, h, w) * 250).astype(dtype)
            scene = folder / f"scene{n}.tif"
            o = {"nodata": 3} if n % 2 else {}
            if transform:
                o |= {"transform": transform, "crs": rasterio.CRS.from_epsg(crs)}
            with rasterio.open(scene, "w", driver="GTiff", width=w, height=h, count=bands, dtype=dtype, tiled=True, compress="deflate", predictor=2 if dtype != "float32" else 3, **o) as d:
                d.write(data)
            file = folder / "graph.json"
            subprocess.run([program, "graph", "make", "decode_native", f"dtype={dtype}", f"channels={bands}", "-o", file], check=True)
            out = folder / f"tensors{n}"
            subprocess.run([program, "run", "--graph", file, "--tiles", str(size), "--overlap", str(overlap), "--edge", edge, "-q", "-o", out, scene], check=True)
            lines = [json.loads(line) for line in (out / scene.name / "tiles.jsonl").read_text().splitlines()]
            with rasterio.open(scene) as d:
                for line in lines:
                    window = Window(line["x"], line["y"], line["width"], line["height"])
                    a = np.load(out / scene.name / line["file"])
                    b = np.full((size, size, bands), o.get("nodata", 0), dtype)
                    b[: line["height"], : line["width"]] = d.read(window=window).transpose(1, 2, 0)
                    check(np.array_equal(a, b), (scene, line["file"]))
                    if transform:
                        check(line["epsg"] == crs and line["geotransform"] == list(d.window_transform(window).to_gdal()), (line, d.window_transform(window).to_gdal()))
            for k, (t, c, axes, form) in enumerate(predictions):
                for blend in ("linear", "center"):
                    a = [(rng.rand(size, size, c) * 200).astype(t) for _ in lines]
                    dst = folder / f"predictions{n}_{k}_{blend}"
                    dst.mkdir()
                    for line, v in zip(lines, a):
                        v = {"HW": v[:, :, 0], "HWC": v, "CHW": v.transpose(2, 0, 1)}[axes]
                        name = dst / line["file"]
                        if form == "npy":
                            np.save(name, v)
                        else:
                            with open(name, "wb") as f:
                                np.savez_compressed(f, v)
                    tif = folder / f"out{n}_{k}_{blend}.tif"
                    nodata = ["--nodata", "255"] if edge == "drop" else []
                    subprocess.run([program, "stitch", "--predictions", dst, "--blend", blend, *nodata, "-o", tif, out / scene.name / "tiles.jsonl"], check=True)
                    want = numpy_stitch(lines, a, blend, 255)
                    with rasterio.open(tif) as d, rasterio.open(scene) as s:
                        got = d.read().transpose(1, 2, 0)
                        check(got.dtype == want.dtype and np.array_equal(got, want), (tif.name, "rasterio", got.dtype, got.shape, np.argwhere(got != want)[:3]))
                        check((d.transform, d.crs) == (s.transform, s.crs), (tif.name, d.transform, s.transform, d.crs, s.crs))
                        check(d.nodata == (255 if nodata else None), (tif.name, d.nodata))
                        for level in range(len(d.overviews(1))):
                            with rasterio.open(tif, overview_level=level) as v:
                                small = v.read().transpose(1, 2, 0)
                            full = got if level == 0 else small_before
                            check(overview(full, blend == "center" and t[0] == "u", 255 if nodata else None, small), (tif.name, "overview", level))
                            small_before = small
                    b = tifffile.imread(tif)
                    check(np.array_equal(b.reshape(want.shape), want), (tif.name, "tifffile"))
                    check(ours(tif, (0, 0, w, h)) == f"{want.dtype.name} {hashlib.sha256(np.ascontiguousarray(want).tobytes()).hexdigest()}", (tif.name, "codec/tiff"))
                    problems = list(cog_problems(tif))
                    check(not problems, (tif.name, problems))
    reader.stdin.close()
    print(f"{equal} of {equal + bad} comparisons of windows and stitched images equal rasterio {rasterio.__version__}, tifffile {tifffile.__version__} and NumPy")
    sys.exit(bad > 0)


def overview(full, classes, nodata, small):
    """Compares an overview with the nearest pixels or the means of the image that it reduces."""
    if classes:
        return np.array_equal(full[::2, ::2], small)
    h, w, c = full.shape
    v = np.full((h + h % 2, w + w % 2, c), np.nan)
    v[:h, :w] = full
    if nodata is not None:
        v[v == nodata] = np.nan
    v = v.reshape(v.shape[0] // 2, 2, v.shape[1] // 2, 2, c)
    n = (v == v).sum((1, 3))
    # The four samples in the order of the pixels, as float64.
    total = sum(np.nan_to_num(v[:, y, :, x]) for y in (0, 1) for x in (0, 1))
    mean = np.where(n > 0, total / np.maximum(n, 1), nodata if nodata is not None else 0)
    return np.array_equal(mean.astype(small.dtype) if small.dtype.kind == "f" else np.floor(mean + 0.5).astype(small.dtype), small)


if __name__ == "__main__":
    main()
