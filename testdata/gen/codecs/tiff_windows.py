"""Writes codec/tiff/testdata: TIFF files of many layouts, made by GDAL (through rasterio) and tifffile, and golden.json: what these read of them.

Needs imagecodecs 2026.3.6, numpy 2.4.6, rasterio 1.4.4 (GDAL 3.10.3) and tifffile 2026.3.3. Takes no arguments; running it again gives the same bytes.

golden.json has for each file a list of images: the file's, then its overviews. windows: left, top, width, height, and the first 16 digits of the
SHA-256 of the samples: rows of pixels, all bands of a pixel together, little-endian. reader is the library that read them. Geotransforms are in
GDAL's order.
"""

import hashlib
import json
import pathlib
import warnings

import numpy as np
import rasterio
import rasterio.shutil
import tifffile
from rasterio.enums import Resampling
from rasterio.windows import Window

warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
HERE = pathlib.Path(__file__).resolve()
OUT = HERE.parents[3] / "codec" / "tiff" / "testdata"
W, H = 70, 50
WINDOWS = ((0, 0, W, H), (0, 0, 1, 1), (W - 1, H - 1, 1, 1), (16, 16, 16, 16), (5, 7, 33, 21), (30, 0, 3, H), (0, 31, W, 2), (17, 40, 53, 10))


def scene(bands, dtype, seed=0, w=W, h=H):
    """Smooth values with some noise, over the range of integers of up to 16 bits and a part of that of others."""
    rng = np.random.RandomState(seed)
    y, x = np.mgrid[:h, :w]
    planes = [(np.sin(x / (7 + b)) + np.cos(y / (5 + b)) + 2) / 4 + rng.rand(h, w) / 50 for b in range(bands)]
    v = np.clip(np.stack(planes), 0, 1)
    t = np.dtype(dtype)
    if t.kind == "f":
        return ((v - 0.4) * 1000).astype(t)
    info = np.iinfo(t)
    if t.itemsize > 2:
        return ((v - (0.3 if t.kind == "i" else 0)) * 1e9).astype(t)
    return (v * (info.max - info.min) + info.min).clip(info.min, info.max).astype(t)


def digest(a):
    a = np.ascontiguousarray(a)
    return hashlib.sha256(a.astype(a.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


def windows(read, w, h):
    out = []
    for x, y, ww, hh in WINDOWS:
        x, y = min(x, w - 1), min(y, h - 1)
        ww, hh = min(ww, w - x), min(hh, h - y)
        out.append([x, y, ww, hh, digest(read(x, y, ww, hh))])
    return out


def number(v):
    return str(float(v))


def by_rasterio(path, level=None):
    with rasterio.open(path, **({} if level is None else {"overview_level": level})) as d:
        t = d.transform
        geo = None if t == rasterio.Affine.identity() else [t.c, t.a, t.b, t.f, t.d, t.e]
        return {
            "reader": "rasterio", "width": d.width, "height": d.height, "bands": d.count, "type": d.dtypes[0], "transform": geo,
            "epsg": d.crs.to_epsg() if d.crs else 0, "nodata": None if d.nodata is None else number(d.nodata),
            "names": [n or "" for n in d.descriptions], "scales": list(d.scales), "offsets": list(d.offsets),
            "windows": windows(lambda x, y, w, h: d.read(window=Window(x, y, w, h)).transpose(1, 2, 0), d.width, d.height),
        }


def by_tifffile(path):
    a = tifffile.imread(path, key=0)
    with tifffile.TiffFile(path) as f:
        if f.pages[0].planarconfig == 2 and a.ndim == 3:
            a = a.transpose(1, 2, 0)
    a = a if a.ndim == 3 else a[:, :, None]
    h, w, n = a.shape
    return {
        "reader": "tifffile", "width": w, "height": h, "bands": n, "type": "uint8" if a.dtype == bool else a.dtype.name, "transform": None, "epsg": 0,
        "nodata": None, "names": [""] * n, "scales": [1.0] * n, "offsets": [0.0] * n,
        "windows": windows(lambda x, y, ww, hh: a[y : y + hh, x : x + ww], w, h),
    }


def gdal(name, data, overviews=(), names=(), scales=(), offsets=(), keep=None, tags=None, **profile):
    path = OUT / name
    path.unlink(missing_ok=True)
    n, h, w = data.shape
    with rasterio.open(path, "w", driver="GTiff", width=w, height=h, count=n, dtype=data.dtype, **profile) as d:
        if keep is None:
            d.write(data)
        else:  # other blocks are missing
            for x, y, ww, hh in keep:
                d.write(data[:, y : y + hh, x : x + ww], window=Window(x, y, ww, hh))
        for i, s in enumerate(names):
            d.set_band_description(i + 1, s)
        if scales:
            d.scales, d.offsets = scales, offsets
        if tags:
            d.update_tags(**tags)
    if overviews:
        with rasterio.open(path, "r+") as d:
            d.build_overviews(overviews, Resampling.average)
    return [by_rasterio(path)] + [by_rasterio(path, i) for i in range(len(overviews))]


def cog(name, data, **profile):
    path, tmp = OUT / name, OUT / "tmp.tif"
    path.unlink(missing_ok=True)
    n, h, w = data.shape
    with rasterio.open(tmp, "w", driver="GTiff", width=w, height=h, count=n, dtype=data.dtype, crs="EPSG:32633",
                       transform=rasterio.Affine(10, 0, 500000, 0, -10, 4600000)) as d:
        d.write(data)
    rasterio.shutil.copy(tmp, path, driver="COG", **profile)
    tmp.unlink()
    with rasterio.open(path) as d:
        levels = len(d.overviews(1))
    return [by_rasterio(path)] + [by_rasterio(path, i) for i in range(levels)]


def made(name, data, reader=by_tifffile, **options):
    path = OUT / name
    tifffile.imwrite(path, data, metadata=None, software=False, **options)
    return [reader(path)]


def main():
    OUT.mkdir(exist_ok=True)
    for p in OUT.glob("*.tif"):
        p.unlink()
    tile = {"tiled": True, "blockxsize": 16, "blockysize": 32}
    g = {}
    g["u16_deflate_tiled.tif"] = gdal("u16_deflate_tiled.tif", scene(4, "u2"), compress="deflate", predictor=2, overviews=(2, 4), crs="EPSG:32633",
                                      transform=rasterio.Affine(10, 0, 499980, 0, -10, 4600020), nodata=0, names=("red", "green", "blue", "nir & <x>"),
                                      scales=(0.0001, 0.0002, 1, 1), offsets=(0, -0.1, 0, 3), **tile)
    g["u8_lzw_strips.tif"] = gdal("u8_lzw_strips.tif", scene(3, "u1", 1), compress="lzw", predictor=2, blockysize=7, crs="EPSG:4326",
                                  transform=rasterio.Affine(0.001, 0, 13.25, 0, -0.001, 52.5), tags={"AREA_OR_POINT": "Point"})
    g["i16_planar_13.tif"] = gdal("i16_planar_13.tif", scene(13, "i2", 2)[:, :35, :20], compress="deflate", interleave="band", nodata=-32768,
                                  transform=rasterio.Affine(3, 0.5, 100, -0.25, -2, 900), **tile)
    g["u8_none_13.tif"] = gdal("u8_none_13.tif", scene(13, "u1", 3)[:, :20, :30], blockysize=8)
    g["f32_pred3_big.tif"] = gdal("f32_pred3_big.tif", scene(2, "f4", 4)[:, :34, :50], compress="zstd", predictor=3, bigtiff="yes", nodata=float("nan"), **tile)
    g["f32_pred3_be.tif"] = gdal("f32_pred3_be.tif", scene(1, "f4", 5), compress="deflate", predictor=3, endianness="big", blockysize=9)
    g["f64_be_planar.tif"] = gdal("f64_be_planar.tif", scene(2, "f8", 6)[:, :34, :40], compress="deflate", predictor=3, interleave="band", endianness="big", **tile)
    g["u32_pred2_be.tif"] = gdal("u32_pred2_be.tif", scene(1, "u4", 7)[:, :35, :50], compress="lzw", predictor=2, endianness="big", bigtiff="yes", **tile)
    g["i32_zstd.tif"] = gdal("i32_zstd.tif", scene(3, "i4", 8)[:, :25, :40], compress="zstd", predictor=2, interleave="band", blockysize=11)
    g["u64.tif"] = gdal("u64.tif", scene(1, "u8", 9)[:, :35, :40], compress="deflate", predictor=2, endianness="big", **tile)
    g["i8_packbits.tif"] = gdal("i8_packbits.tif", scene(2, "i1", 10), compress="packbits", **tile)
    g["u16_be_none.tif"] = gdal("u16_be_none.tif", scene(3, "u2", 11)[:, :30, :40], endianness="big", interleave="band", blockysize=6)
    g["bits1.tif"] = gdal("bits1.tif", scene(1, "u1", 12) >> 7, nbits=1, blockysize=8)
    g["bits1_white_g4.tif"] = gdal("bits1_white_g4.tif", scene(1, "u1", 13) >> 7, nbits=1, compress="ccittfax4", photometric="miniswhite")
    g["bits4_2.tif"] = gdal("bits4_2.tif", scene(2, "u1", 14) >> 4, nbits=4, compress="deflate", **tile)
    g["bits12.tif"] = gdal("bits12.tif", scene(1, "u2", 15) >> 4, nbits=12, compress="deflate", blockysize=13)
    g["sparse_nodata.tif"] = gdal("sparse_nodata.tif", scene(2, "i2", 16), compress="deflate", sparse_ok=True, nodata=-7, keep=((16, 0, 16, 32), (48, 32, 16, 18)), **tile)
    g["sparse_zero_planar.tif"] = gdal("sparse_zero_planar.tif", scene(3, "u1", 17), sparse_ok=True, interleave="band", keep=((0, 32, 32, 18),), **tile)
    g["webp.tif"] = gdal("webp.tif", scene(3, "u1", 18), compress="webp", webp_lossless=True, **tile)
    pal = scene(1, "u1", 19)
    g["palette.tif"] = gdal("palette.tif", pal, photometric="palette", compress="lzw", blockysize=16)
    # GDAL converts both to RGBA.
    gdal("cmyk.tif", scene(4, "u1", 20)[:, :35, :40], photometric="cmyk", compress="deflate", **tile)
    g["cmyk.tif"] = [by_tifffile(OUT / "cmyk.tif")]
    gdal("lab.tif", scene(3, "u1", 21)[:, :35, :40], photometric="cielab", compress="deflate", **tile)
    g["lab.tif"] = [by_tifffile(OUT / "lab.tif")]
    g["cog.tif"] = cog("cog.tif", scene(2, "u2", 22, 200, 140) & 0xE000, compress="zstd", blocksize=128, predictor="yes")
    hwc = lambda a: a.transpose(1, 2, 0)
    g["f16.tif"] = made("f16.tif", hwc(scene(3, "f2", 23)[:, :35, :50]), photometric="rgb", tile=(32, 16), compression="zlib", predictor=3)
    g["jpeg_420.tif"] = made("jpeg_420.tif", hwc(scene(3, "u1", 24)), photometric="rgb", tile=(32, 32), compression="jpeg", compressionargs={"level": 90}, subsampling=(2, 2))
    g["jpeg_420_strips.tif"] = made("jpeg_420_strips.tif", hwc(scene(3, "u1", 25)), photometric="rgb", rowsperstrip=16, compression="jpeg", compressionargs={"level": 70}, subsampling=(2, 2))
    g["jpeg_rgb.tif"] = made("jpeg_rgb.tif", hwc(scene(3, "u1", 26)), photometric="rgb", tile=(16, 16), compression="jpeg", compressionargs={"outcolorspace": "rgb", "level": 80})
    g["jpeg_gray_planar.tif"] = made("jpeg_gray_planar.tif", scene(3, "u1", 27)[:, :35, :40], photometric="rgb", planarconfig="separate", tile=(16, 32), compression="jpeg")
    # GDAL's files have one set of tables for all tiles.
    gdal("jpeg_tables.tif", scene(3, "u1", 28), compress="jpeg", photometric="ycbcr", jpeg_quality=85, **{**tile, "blockxsize": 32})
    g["jpeg_tables.tif"] = [by_tifffile(OUT / "jpeg_tables.tif")]
    g["u16_be_zlib.tif"] = made("u16_be_zlib.tif", hwc(scene(4, ">u2", 29)[:, :34, :50]), byteorder=">", photometric="minisblack", planarconfig="contig", tile=(16, 16), compression="zlib", predictor=2, bigtiff=True)
    total = sum(p.stat().st_size for p in OUT.glob("*.tif"))
    text = ",\n".join(f' "{k}": [\n' + ",\n".join("  " + json.dumps(i) for i in v) + "\n ]" for k, v in g.items())
    (OUT / "golden.json").write_text("{\n" + text + "\n}\n")
    print(len(g), "files,", total, "bytes")


if __name__ == "__main__":
    main()
