"""Makes compat/mxnet/testdata/images.json and mean.bin: what MXNet's ImageRecordIter gives.

Needs mxnet 1.9.1 and numpy 1.23.5 (Python 3.11 or earlier). Takes no arguments; running it again gives the same bytes.

The records are files of testdata/images, by their names: record i of a case has the id 10*i+3 and the labels i, i+0.25, i+0.5, ...
"params" are the parameters that MXNet documents, with their defaults. "decode" has for each file the digests of what 3
channels and 1 are decoded to, and the size, or null where MXNet fails. Each of "cases" has parameters and what the first
epoch gives: of each batch the pad, the labels and a digest for each image (the first 12 letters of the SHA-256 of its
bytes); of batches that round_batch=False leaves short only what is data. mean.bin is the mean image that the case
"mean image" makes.
"""

import glob
import hashlib
import json
import os
import re
import shutil
import tempfile

import mxnet as mx
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
IMAGES = os.path.join(ROOT, "testdata", "images")
OUT = os.path.join(ROOT, "compat", "mxnet", "testdata")

PHOTOS = [
    "jpeg_large.jpg", "jpeg_base_420.jpg", "jpeg_base_444.jpg", "jpeg_base_422.jpg", "jpeg_prog_420.jpg", "jpeg_gray.jpg",
    "jpeg_restart_1.jpg", "jpeg_optimized.jpg", "jpeg_size_2x2_17x33.jpg", "png_rgb8.png", "png_rgba8.png", "png_gray8.png", "png_p8.png",
]
ALPHA = ["png_rgba8.png", "png_rgba8_interlaced.png"]


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:12]


def label(i, width):
    return float(i) if width == 1 else [i + k / 4 for k in range(width)]


def pack(folder, files, width=1):
    w = mx.recordio.MXIndexedRecordIO(os.path.join(folder, "x.idx"), os.path.join(folder, "x.rec"), "w")
    for i, name in enumerate(files):
        with open(os.path.join(IMAGES, name), "rb") as f:
            head = mx.recordio.IRHeader(0, label(i, width), 10 * i + 3, 0)
            w.write_idx(10 * i + 3, mx.recordio.pack(head, f.read()))
    w.close()


def run(folder, params):
    """The batches of the first epoch. index, list and mean stand for files in the folder."""
    args = dict(params)
    for k, name in (("path_imgidx", "x.idx"), ("path_imglist", "x.lst"), ("mean_img", "mean.bin")):
        if k in args:
            args[k] = os.path.join(folder, name)
    total = args.pop("total", None)  # records of the part, where the last batch is short
    try:
        it = mx.io.ImageRecordIter(path_imgrec=os.path.join(folder, "x.rec"), preprocess_threads=1, verbose=False, **args)
    except StopIteration:  # no records
        return []
    out = []
    for b in it:
        data, labels = b.data[0].asnumpy(), b.label[0].asnumpy()
        n = len(data)
        if total is not None:
            n = min(n, total - sum(len(x["images"]) for x in out))
        out.append({"pad": int(b.pad), "labels": labels[:n].reshape(-1).tolist(), "images": [digest(x) for x in data[:n]]})
    return out


def decode_cases():
    out = {}
    for path in sorted(glob.glob(os.path.join(IMAGES, "*.jpg")) + glob.glob(os.path.join(IMAGES, "*.png"))):
        name = os.path.basename(path)
        with open(path, "rb") as f:
            data = f.read()
        got = []
        for flag in (1, 0):
            try:
                img = mx.image.imdecode(data, flag=flag).asnumpy()
                h, w = img.shape[:2]
                with tempfile.TemporaryDirectory() as folder:
                    pack(folder, [name])
                    b = run(folder, {"data_shape": (3 if flag else 1, h, w), "batch_size": 1, "dtype": "uint8"})
                got.append([h, w, b[0]["images"][0]])
            except (mx.base.MXNetError, ValueError):
                got.append(None)
        out[name] = got
    return out


def settings():
    """Names, files and parameters of the cases."""
    base = {"data_shape": (3, 24, 32), "batch_size": 4, "dtype": "uint8"}

    def case(name, files=PHOTOS, **params):
        return name, files, {**base, **params}

    yield case("default")
    for m in (0, 1, 2, 3, 4, 9):
        yield case(f"large, inter_method {m}", ["jpeg_large.jpg"], batch_size=1, resize=600, data_shape=(3, 600, 700), inter_method=m)
    for m in (0, 1, 2, 3, 4, 9):
        yield case(f"resize, inter_method {m}", resize=41, inter_method=m)
        yield case(f"resize up, inter_method {m}", resize=130, inter_method=m)
        yield case(f"too small, inter_method {m}", data_shape=(3, 96, 61), inter_method=m)
        yield case(f"crop size, inter_method {m}", max_crop_size=16, min_crop_size=16, inter_method=m)
    for h, w in ((20, 100), (100, 20), (37, 45), (54, 77), (71, 90), (113, 91), (224, 224), (33, 17), (35, 17), (33, 18)):
        yield case(f"too small, {h} x {w}", data_shape=(3, h, w))
    for h, w in ((20, 100), (100, 20), (97, 61), (60, 76)):
        yield case(f"too small, {h} x {w}, inter_method 9", data_shape=(3, h, w), inter_method=9)
    yield case("resize and too small", resize=20, data_shape=(3, 31, 40))
    yield case("resize and crop", resize=64, data_shape=(3, 56, 56))
    yield case("resize to the shape", resize=24, data_shape=(3, 24, 24))
    yield case("pad", pad=5, fill_value=100)
    yield case("pad and too small", pad=3, data_shape=(3, 60, 60))
    yield case("resize, pad, crop", resize=30, pad=4, data_shape=(3, 32, 32))
    yield case("crop size above the shape", max_crop_size=17, min_crop_size=17, data_shape=(3, 9, 11))
    yield case("mirror", mirror=True)
    for d in ("float32", "int8"):
        yield case(f"plain {d}", dtype=d)
        yield case(f"means {d}", dtype=d, mean_r=123.68, mean_g=116.779, mean_b=103.939)
        yield case(f"negative means {d}", dtype=d, mean_r=-3.5, mean_g=-2.5, mean_b=0.5)
        yield case(f"means, std, scale {d}", dtype=d, mean_r=123.68, mean_g=116.779, mean_b=103.939, std_r=58.393, std_g=57.12, std_b=57.375, scale=0.017)
        yield case(f"std, scale, mirror {d}", dtype=d, std_r=58.393, std_g=57.12, std_b=57.375, scale=1 / 255, mirror=True)
        yield case(f"negative scale {d}", dtype=d, scale=-0.5, mean_r=10)
        yield case(f"gray {d}", dtype=d, data_shape=(1, 24, 32), mean_r=10.5, mean_g=99, std_r=3, std_g=99)
        yield case(f"alpha {d}", ALPHA, dtype=d, data_shape=(4, 20, 32), mean_r=1.5, mean_g=2, mean_b=3, mean_a=4.25, std_r=2, std_g=3, std_b=5, std_a=7)
    yield case("means uint8", mean_r=100, std_r=2, scale=3)
    yield case("gray, resize", data_shape=(1, 24, 32), resize=40)
    yield case("gray, pad", data_shape=(1, 24, 32), pad=9, fill_value=7)
    yield case("alpha", ALPHA, data_shape=(4, 20, 32))
    yield case("alpha, pad", ALPHA, data_shape=(4, 30, 44), pad=4, fill_value=9)
    yield case("alpha, too small", ALPHA, data_shape=(4, 50, 44))
    yield case("alpha, mirror", ALPHA, data_shape=(4, 20, 20), mirror=True)
    for m in (1, 2, 3, 4, 9):
        yield case(f"rotate 30, inter_method {m}", rotate=30, inter_method=m)
    yield case("rotate 90", rotate=90, fill_value=0)
    yield case("rotate 200 and resize", rotate=200, resize=50)
    yield case("rotate -30", rotate=-30)
    yield case("rotate list", rotate_list="45")
    yield case("rotate, gray", rotate=15, data_shape=(1, 24, 32))
    yield case("rotate, alpha", ALPHA, rotate=15, data_shape=(4, 20, 32))
    yield case("scale", max_random_scale=1.5, min_random_scale=1.5)
    yield case("scale down", max_random_scale=0.4, min_random_scale=0.4)
    yield case("aspect", max_aspect_ratio=1.5, min_aspect_ratio=1.5)
    yield case("image sizes", max_img_size=60, min_img_size=50)
    yield case("all of them", rotate=10, max_random_scale=1.2, min_random_scale=1.2, max_aspect_ratio=0.8, min_aspect_ratio=0.8, max_img_size=90)
    yield case("mean image", dtype="float32", mean_img="", data_shape=(3, 20, 24))
    yield case("mean image, mirror", dtype="float32", mean_img="", data_shape=(3, 20, 24), mirror=True, scale=0.5, std_g=3, mean_r=7)
    yield case("mean image int8", dtype="int8", mean_img="", data_shape=(3, 20, 24), mirror=True)
    yield case("three labels", label_width=3)
    yield case("list", path_imglist="")
    yield case("list of three", path_imglist="", label_width=3)
    n = len(PHOTOS)
    yield case("not rounded", round_batch=False, total=n)
    yield case("not rounded, index", round_batch=False, path_imgidx="", total=n)
    yield case("one batch", batch_size=n)
    for parts in (2, 3, 5):
        for k in range(parts):
            yield case(f"part {k} of {parts}", num_parts=parts, part_index=k, batch_size=1)
            yield case(f"part {k} of {parts}, index", num_parts=parts, part_index=k, batch_size=1, path_imgidx="")


def write_list(path, files, width):
    with open(path, "w") as f:
        for i in reversed(range(len(files))):
            labels = "\t".join(f"{100 * k + i + 0.125:f}" for k in range(width))
            f.write(f"{10 * i + 3}\t{labels}\timages/{files[i]}\n")


def cases():
    for name, files, params in settings():
        width = params.get("label_width", 1)
        with tempfile.TemporaryDirectory() as folder:
            pack(folder, files, width)
            write_list(os.path.join(folder, "x.lst"), files, width)
            if "mean_img" in params:
                mean = os.path.join(OUT, "mean.bin")
                if name == "mean image":
                    out = run(folder, params)
                    shutil.copyfile(os.path.join(folder, "mean.bin"), mean)
                else:
                    shutil.copyfile(mean, os.path.join(folder, "mean.bin"))
                    out = run(folder, params)
            else:
                out = run(folder, params)
        yield {"name": name, "files": files, "params": {k: v for k, v in params.items() if k != "total"}, "out": out}


def params():
    """Name and default of each parameter, from the documentation."""
    found = re.findall(r"^(\w+) : (.*)$", mx.io.ImageRecordIter.__doc__, re.M)
    out = []
    for name, kind in found:
        default = re.search(r"default='?([^']*)'?$", kind)
        out.append([name, default.group(1) if default else None])
    return out


def main():
    os.makedirs(OUT, exist_ok=True)
    all_cases = {"mxnet": mx.__version__, "params": params(), "decode": decode_cases(), "cases": list(cases())}
    with open(os.path.join(OUT, "images.json"), "w") as f:
        f.write("{\n")
        for i, (k, v) in enumerate(all_cases.items()):
            end = "," if i + 1 < len(all_cases) else ""
            if k == "decode":
                f.write(f" {json.dumps(k)}: {{\n" + ",\n".join(f"  {json.dumps(n)}: {json.dumps(c, separators=(',', ':'))}" for n, c in v.items()) + f"\n }}{end}\n")
            elif isinstance(v, list):
                f.write(f" {json.dumps(k)}: [\n" + ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in v) + f"\n ]{end}\n")
            else:
                f.write(f" {json.dumps(k)}: {json.dumps(v)}{end}\n")
        f.write("}\n")


main()
