"""Writes the goldens of data_mask: rasterio 1.4.4's dataset_mask and read_masks of files with a no-data value.

Run with requirements-tiff.txt. Every run gives the same bytes. Takes no arguments.
"""

import warnings

import numpy as np
import rasterio
from rasterio.io import MemoryFile

from golden import Golden, chw, image

warnings.simplefilter("ignore")


def masks(a, no_data):
    """dataset_mask and read_masks, HWC."""
    h, w, c = a.shape
    with MemoryFile() as f:
        with f.open(driver="GTiff", width=w, height=h, count=c, dtype=a.dtype, nodata=no_data) as d:
            d.write(chw(a))
        with f.open() as d:
            return d.dataset_mask()[..., None], np.ascontiguousarray(d.read_masks().transpose(1, 2, 0))


def data_mask():
    g = Golden("data_mask", "rasterio 1.4.4 (GDAL 3.10.3)")

    def case(name, a, no_data, nan, rule, want):
        params = {"no_data": no_data, "nan": nan, "rule": rule}
        g.case(name, params, a, want)
        g.case(name + "_chw", params, chw(a), chw(want), "CHW")

    for dtype in ("uint8", "int8", "uint16", "int16", "int32", "float32", "float64"):
        for h, w, c in [(3, 5, 1), (4, 4, 3), (2, 3, 13)]:
            a = image(h, w, c, dtype)
            values = [0, 9, -0.1 if "float" in dtype else 100]
            for v in values:
                a[0] = v
                a[1, 0, :-1] = v
                dataset, each = masks(a, v)
                case(f"{dtype}_{c}_{v}_any", a, [v], False, "any", dataset)
                case(f"{dtype}_{c}_{v}_each", a, [v], False, "each", each)
                case(f"{dtype}_{c}_{v}_all", a, [v], False, "all", each.min(2, keepdims=True))
            if "float" in dtype:
                a[0] = np.nan
                a[1, 0, :-1] = np.nan
                a[1, 1, 0] = np.inf
                dataset, each = masks(a, np.nan)
                case(f"{dtype}_{c}_nan_any", a, [], True, "any", dataset)
                case(f"{dtype}_{c}_nan_each", a, [], True, "each", each)
    g.write()


if __name__ == "__main__":
    data_mask()
