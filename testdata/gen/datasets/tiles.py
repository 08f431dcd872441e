"""Writes dataset/tiles/testdata/rasterio.json: what rasterio reads of windows of the files of codec/tiff/testdata.

Needs rasterio 1.4.4 (GDAL 3.10.3), which reads float16 as float32: f16.tif is left out. Takes no arguments; running it again gives the same
bytes.

For each file: a list of windows, with the column and row of the first pixel, width and height within the file, the geotransform in GDAL's order,
the first 16 digits of the SHA-256 of the samples (rows of pixels, all bands of a pixel together, little-endian) and of the mask (dataset_mask), and
the same of the samples of the last band and the first.
"""

import hashlib
import json
import pathlib
import warnings

import numpy as np
import rasterio
from rasterio.windows import Window

warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = ("bits12", "cog", "f32_pred3_be", "f32_pred3_big", "f64_be_planar", "i16_planar_13", "i32_zstd", "i8_packbits", "sparse_nodata",
         "sparse_zero_planar", "u16_be_none", "u16_deflate_tiled", "u8_lzw_strips", "u8_none_13")
SIZE, STEP = 24, 19


def digest(a):
    """Of an array of bands, rows, columns."""
    a = np.ascontiguousarray(np.moveaxis(a, 0, -1))
    return hashlib.sha256(a.astype(a.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


def windows(src):
    out = []
    for y in range(0, max(src.height - SIZE + STEP, 1), STEP):
        for x in range(0, max(src.width - SIZE + STEP, 1), STEP):
            w = Window(x, y, min(SIZE, src.width - x), min(SIZE, src.height - y))
            out.append([x, y, w.width, w.height, list(src.window_transform(w).to_gdal()), digest(src.read(window=w)), digest(src.dataset_mask(window=w)[None]),
                        digest(src.read([src.count, 1], window=w))])
    return out


golden = {}
for name in FILES:
    with rasterio.open(ROOT / "codec" / "tiff" / "testdata" / f"{name}.tif") as src:
        golden[name + ".tif"] = windows(src)
text = json.dumps(golden).replace("[[", "[\n[").replace("], [", "],\n[")
out = ROOT / "dataset" / "tiles" / "testdata"
out.mkdir(exist_ok=True)
(out / "rasterio.json").write_text(text + "\n")
