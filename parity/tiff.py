"""Compares 2,000 random windows of generated TIFF files with what rasterio (GDAL) reads, and of JPEG in TIFF with what tifffile reads.

usage: tiff.py TIFFWINDOWS

The files have 1 to 13 bands of every type, strips and tiles, chunky and planar, every compression and predictor, both orders of bytes, BigTIFF,
overviews, and missing tiles. TIFFWINDOWS is the program of tools/tiffwindows. The script prints how many windows are equal for each file, names
the others, and exits with 1 if there are any.
"""

import hashlib
import itertools
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import rasterio
import rasterio.shutil
import tifffile
from rasterio.enums import Resampling
from rasterio.windows import Window

warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
W, H, WINDOWS = 611, 467, 2000
TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")


def scene(rng, bands, dtype):
    t = np.dtype(dtype)
    y, x = np.mgrid[:H, :W]
    v = np.stack([(np.sin(x / (9 + b)) + np.cos(y / (7 + b)) + 2) / 4 + rng.rand(H, W) / 20 for b in range(bands)])
    if t.kind == "f":
        return ((v - 0.5) * 10.0 ** rng.randint(-3, 6)).astype(t)
    info = np.iinfo(t)
    lo, hi = max(info.min, -(2**40)), min(info.max, 2**40)
    return (v * (hi - lo) + lo).clip(lo, hi).astype(t)


def gdal(folder, rng, n):
    """A file with random options."""
    t = TYPES[n % len(TYPES)]
    compress = ("none", "lzw", "deflate", "zstd", "packbits")[n // len(TYPES) % 5]
    bands = int(rng.choice((1, 2, 3, 4, 5, 8, 13)))
    o = {"compress": compress, "endianness": rng.choice(("little", "big")), "bigtiff": rng.choice(("yes", "no")), "interleave": rng.choice(("band", "pixel"))}
    if rng.rand() < 0.6:
        o |= {"tiled": True, "blockxsize": int(rng.choice((16, 64, 128))), "blockysize": int(rng.choice((32, 64, 256)))}
    else:
        o["blockysize"] = int(rng.randint(1, 90))
    if compress in ("lzw", "deflate", "zstd"):
        o["predictor"] = 3 if t[0] == "f" and rng.rand() < 0.7 else 2 if t[0] != "f" and rng.rand() < 0.7 else 1
    if t == "u1" and rng.rand() < 0.5:
        o["nbits"] = int(rng.choice((1, 2, 4)))
    if t == "u2" and rng.rand() < 0.5:
        o |= {"nbits": int(rng.choice((9, 10, 12, 15))), "predictor": 1}
    if "nbits" in o:
        o["predictor"] = 1
    if rng.rand() < 0.3:
        o |= {"sparse_ok": True, "nodata": 3}
    path = folder / f"{n:03}_{t}_{bands}_{compress}.tif"
    data = scene(rng, bands, t)
    if "nbits" in o:
        data >>= np.dtype(t).type(8 * data.itemsize - o["nbits"])
    levels = 0
    with rasterio.open(path, "w", driver="GTiff", width=W, height=H, count=bands, dtype=data.dtype, **o) as d:
        if "sparse_ok" in o:
            d.write(data[:, 100:200, 130:300], window=Window(130, 100, 170, 100))
        else:
            d.write(data)
    if rng.rand() < 0.3 and "nbits" not in o:
        levels = 2
        with rasterio.open(path, "r+") as d:
            d.build_overviews((2, 4), Resampling.average)
    return path, levels


def jpeg(folder, rng, n):
    gray = n % 4 == 3
    data = scene(rng, 1 if gray else 3, "u1").transpose(1, 2, 0)
    options = {"photometric": "minisblack" if gray else "rgb", "compression": "jpeg", "compressionargs": {"level": int(rng.randint(30, 96))}}
    if not gray:
        options["subsampling"] = ((1, 1), (2, 1), (2, 2))[n % 3]
    if rng.rand() < 0.5:
        options["tile"] = (int(rng.choice((64, 128))),) * 2
    else:
        options["rowsperstrip"] = int(rng.choice((16, 48, 64)))
    path = folder / f"jpeg{n:02}.tif"
    tifffile.imwrite(path, data[..., 0] if gray else data, metadata=None, **options)
    return path


def main():
    program = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    bad = equal = files = 0

    def compare(path, level, window, a):
        nonlocal bad, equal
        a = np.ascontiguousarray(a)
        want = f"{a.dtype.name} {hashlib.sha256(a.tobytes()).hexdigest()}"
        program.stdin.write(f"{level} {' '.join(map(str, window))} {path}\n")
        program.stdin.flush()
        got = program.stdout.readline().rstrip("\n")
        if got == want:
            equal += 1
        else:
            bad += 1
            print(f"{path.name} image {level} window {window}: {got[:120]}, want {want[:30]}")

    def windows(rng, w, h, k):
        for _ in range(k):
            ww, hh = int(rng.randint(1, min(w, 300) + 1)), int(rng.randint(1, min(h, 300) + 1))
            yield int(rng.randint(0, w - ww + 1)), int(rng.randint(0, h - hh + 1)), ww, hh

    rng = np.random.RandomState(43)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for n in itertools.count():
            if equal + bad >= WINDOWS * 4 // 5:
                break
            files += 1
            path, levels = gdal(folder, rng, n)
            for level in range(levels + 1):
                with rasterio.open(path, **({"overview_level": level - 1} if level else {})) as d:
                    for w in windows(rng, d.width, d.height, 12):
                        compare(path, level, w, d.read(window=Window(*w)).transpose(1, 2, 0))
            path.unlink()
        for n in itertools.count():
            if equal + bad >= WINDOWS:
                break
            files += 1
            path = jpeg(folder, rng, n)
            a = tifffile.imread(path)
            a = a if a.ndim == 3 else a[:, :, None]
            for w in windows(rng, W, H, 20):
                x, y, ww, hh = w
                compare(path, 0, w, a[y : y + hh, x : x + ww])
            path.unlink()
    program.stdin.close()
    print(f"{equal} of {equal + bad} windows of {files} TIFF files equal rasterio {rasterio.__version__} (GDAL {rasterio.__gdal_version__}) and tifffile {tifffile.__version__}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
