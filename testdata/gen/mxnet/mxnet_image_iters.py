"""Makes compat/mxnet/testdata/image_iters.json: what MXNet's mx.image.ImageIter and ImageDetIter, and mx.io.ImageDetRecordIter give, batch by batch,
and det_mean.bin: the mean image that the latter's case "mean image" makes.

Needs mxnet 1.9.1 and numpy 1.23.5 (Python 3.11 or earlier). Takes no arguments; running it again gives the same bytes.

"params" are the parameters of ImageIter and CreateAugmenter with their defaults. "files" are files of testdata/images. Each of
"cases" names the source that they are in ("rec": x.rec; "idx": with x.idx, whose lines are in the reverse order; "lst": x.lst;
"imglist"), the parameters and the batches of each epoch: pad, labels, and a digest for each image (the first 12 letters of
the SHA-256 of its bytes). Record and line i have the key 10*i+3. The labels in records are i, i+0.25, ...; those in lists
are i+0.125, 100+i+0.125, ... "color" are the colour augmenters with drawn numbers, over a small image. "boxes" are deciles
of 20,000 random boxes, and the share of boxes below them. "det_params" and "det" are those of ImageDetIter and
CreateDetAugmenter, with the labels of boxes(). "record_params" and "record" are those of ImageDetRecordIter.
"""

import hashlib
import inspect
import json
import logging
import os
import random
import re
import shutil
import tempfile

import mxnet as mx
import numpy as np

from mxnet_random import F, Generator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
IMAGES = os.path.join(ROOT, "testdata", "images")
OUT = os.path.join(ROOT, "compat", "mxnet", "testdata", "image_iters.json")
MEAN = os.path.join(os.path.dirname(OUT), "det_mean.bin")
logging.disable(logging.CRITICAL)

PHOTOS = [
    "jpeg_base_422.jpg", "jpeg_base_420.jpg", "jpeg_base_444.jpg", "jpeg_gray.jpg", "jpeg_exif_mm_6.jpg", "jpeg_size_2x2_17x33.jpg",
    "png_rgb8.png", "png_rgba8.png", "png_gray8.png", "png_p8.png",
]


def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:12]


def boxes(i, width=5):
    """The label of image i for detection: a header of 2 or 4 numbers, and 1 to 4 objects; some have no area or a negative class."""
    label = [2, width] if i % 2 else [4, width, 7, 7]
    for k in range(1 + i * 5 % 4):
        n = i + 3 * k
        label += [-1 if i % 5 == 3 or n % 7 == 5 else n % 4, n % 5 / 16, n % 7 / 16, (n % 5 + (0 if k and n % 3 == 0 else 6)) / 16, (n % 7 + 5) / 16] + [n / 4] * (width - 5)
    return label


def labels_of(i, width, base):
    """The labels of image i: width numbers, or for -5 and -6 those of boxes."""
    return boxes(i, -width) if width < 0 else [base * k + i for k in range(width)]


def pack(folder, files, width):
    w = mx.recordio.MXIndexedRecordIO(os.path.join(folder, "x.idx"), os.path.join(folder, "x.rec"), "w")
    for i, name in enumerate(files):
        with open(os.path.join(IMAGES, name), "rb") as f:
            label = float(i) if width == 1 else labels_of(i, width, 1 / 4)
            w.write_idx(10 * i + 3, mx.recordio.pack(mx.recordio.IRHeader(0, label, 10 * i + 3, 0), f.read()))
    w.close()
    with open(os.path.join(folder, "x.idx")) as f:
        lines = f.readlines()
    with open(os.path.join(folder, "x.idx"), "w") as f:
        f.writelines(reversed(lines))


def write_list(folder, files, width):
    with open(os.path.join(folder, "x.lst"), "w") as f:
        for i in range(len(files)):
            labels = "\t".join(f"{v + (0.125 if width > 0 else 0):f}" for v in labels_of(i, width, 100))
            f.write(f"{10 * i + 3}\t{labels}\t{files[i]}\n")


def arguments(folder, source, files, width):
    """The parameters of a source."""
    args = {}
    if source in ("rec", "idx", "idx+lst"):
        pack(folder, files, width)
        args["path_imgrec"] = os.path.join(folder, "x.rec")
    if source.startswith("idx"):
        args["path_imgidx"] = os.path.join(folder, "x.idx")
    if source.endswith("lst"):
        write_list(folder, files, width)
        args["path_imglist"] = os.path.join(folder, "x.lst")
    if source == "imglist":
        args["imglist"] = [[v + (0.125 if width > 0 else 0) for v in labels_of(i, width, 100)] + [name] for i, name in enumerate(files)]
    if source in ("lst", "imglist"):
        args["path_root"] = IMAGES
    return args


def batches(it, epochs):
    out = []
    for _ in range(epochs):
        out.append([{"pad": int(b.pad), "labels": b.label[0].asnumpy().ravel().tolist(), "images": [digest(x) for x in b.data[0].asnumpy()]} for b in it])
        it.reset()
    return out


def values(params):
    """True, and lists as arrays, for mean and std."""
    return {k: np.array(v) if k in ("mean", "std") and isinstance(v, list) else tuple(v) if isinstance(v, list) else v for k, v in params.items()}


def describe(it):
    return [[name, list(shape)] for name, shape in it.provide_data + it.provide_label]


def image_cases():
    def case(name, source="rec", epochs=1, **params):
        params = {"batch_size": 4, "data_shape": [3, 24, 32], **params}
        with tempfile.TemporaryDirectory() as folder:
            it = mx.image.ImageIter(**arguments(folder, source, PHOTOS, params.get("label_width", 1)), **values(params))
            return {"name": name, "source": source, "params": params, "desc": describe(it), "out": batches(it, epochs)}

    yield case("default", epochs=2)
    for source in ("idx", "lst", "imglist", "idx+lst"):
        yield case(source, source=source)
        yield case(f"{source}, three labels", source=source, label_width=3)
        for parts in (2, 3):
            for k in range(parts):
                yield case(f"{source}, part {k} of {parts}", source=source, batch_size=1, num_parts=parts, part_index=k)
    yield case("three labels", label_width=3)
    yield case("integer labels", source="imglist", dtype="int32")
    for mode in ("pad", "discard", "roll_over"):
        yield case(mode, epochs=3, last_batch_handle=mode)
        yield case(f"{mode}, list", source="lst", epochs=3, last_batch_handle=mode, batch_size=7)
        yield case(f"{mode}, whole batches", source="lst", epochs=2, last_batch_handle=mode, batch_size=5)
    for m in (0, 1, 2, 3, 4, 9):
        yield case(f"resize, inter_method {m}", resize=41, inter_method=m)
        yield case(f"resize up, inter_method {m}", resize=130, inter_method=m)
        yield case(f"too small, inter_method {m}", data_shape=[3, 96, 61], inter_method=m)
    for h, w in ((20, 100), (100, 20), (37, 45), (224, 224), (33, 17), (35, 17), (33, 18)):
        yield case(f"too small, {h} x {w}", data_shape=[3, h, w])
    yield case("mean and std", mean=True, std=True)
    yield case("mean", mean=[100.5, 3, 77.25])
    yield case("mean of one", mean=[100.5])
    yield case("std", std=[3, 0.7, 200])
    yield case("names", data_name="x", label_name="y")


def det_cases():
    def case(name, source="rec", epochs=1, width=5, **params):
        params = {"batch_size": 4, "data_shape": [3, 24, 32], "inter_method": 1, **params}
        with tempfile.TemporaryDirectory() as folder:
            it = mx.image.ImageDetIter(**arguments(folder, source, PHOTOS, -width), **values(params))
            return {"name": name, "source": source, "width": width, "params": params, "desc": describe(it), "out": batches(it, epochs)}

    yield case("default", epochs=2)
    yield case("wide objects", width=6)
    for source in ("idx", "lst", "imglist", "idx+lst"):
        yield case(source, source=source)
        for k in range(3):
            yield case(f"{source}, part {k} of 3", source=source, batch_size=1, num_parts=3, part_index=k)
    for mode in ("pad", "discard", "roll_over"):
        yield case(mode, epochs=3, last_batch_handle=mode)
        yield case(f"{mode}, list", source="lst", epochs=3, last_batch_handle=mode, batch_size=5)
    for m in (0, 1, 2, 3, 4, 9):
        yield case(f"inter_method {m}", inter_method=m, resize=57)
        yield case(f"up, inter_method {m}", inter_method=m, data_shape=[3, 113, 91])
    yield case("mean and std", mean=True, std=True)
    yield case("names", data_name="x", label_name="y")


def record_cases():
    """ImageDetRecordIter: the first epoch. Of batches that round_batch=False leaves short only what is data."""

    def case(name, files=None, source="rec", width=5, total=None, **params):
        files = files or PHOTOS
        params = {"batch_size": 4, "data_shape": [3, 24, 32], **params}
        with tempfile.TemporaryDirectory() as folder:
            pack(folder, files, -width)
            args = {k: tuple(v) if isinstance(v, list) else v for k, v in params.items()}
            if source == "rec+lst":
                write_list(folder, [f"images/{f}" for f in files], -width)
                args["path_imglist"] = os.path.join(folder, "x.lst")
            if "mean_img" in params:
                args["mean_img"] = os.path.join(folder, "mean.bin")
                if name != "mean image":
                    shutil.copyfile(MEAN, args["mean_img"])
            it = mx.io.ImageDetRecordIter(path_imgrec=os.path.join(folder, "x.rec"), preprocess_threads=1, verbose=False, **args)
            desc = [[d.name, list(d.shape)] for d in it.provide_data + it.provide_label]
            out = []
            for b in it:
                n = len(b.data[0]) - (int(b.pad) if total else 0)
                out.append({
                    "pad": int(b.pad), "labels": b.label[0].asnumpy()[:n].ravel().tolist(), "images": [digest(x) for x in b.data[0].asnumpy()[:n]],
                    "index": [int(i) for i in b.index[:n]],
                })
            if name == "mean image":
                shutil.copyfile(args["mean_img"], MEAN)
        return {"name": name, "files": files, "source": source, "width": width, "params": params, "desc": desc, "out": out}

    yield case("default")
    yield case("wide objects", width=6)
    yield case("list", source="rec+lst")
    yield case("label_pad_width", label_pad_width=40, label_pad_value=-7.5)
    for k in range(3):
        yield case(f"part {k} of 3", batch_size=1, num_parts=3, part_index=k)
    yield case("not rounded", round_batch=False, total=True)
    for m in (0, 1, 2, 3, 4, 9):
        yield case(f"inter_method {m}", inter_method=m)
        yield case(f"resize, inter_method {m}", inter_method=m, resize=41)
    for mode in ("shrink", "fit"):
        yield case(mode, resize_mode=mode)
        yield case(f"{mode}, large", resize_mode=mode, data_shape=[3, 50, 90])
        yield case(f"{mode}, mean and std", resize_mode=mode, data_shape=[3, 50, 40], mean_r=100, mean_g=10.5, std_b=3, scale=0.25)
    yield case("gray", data_shape=[1, 24, 32])
    yield case("alpha", files=["png_rgba8.png", "png_rgba8_interlaced.png"], data_shape=[4, 20, 32], batch_size=2)
    yield case("mean and std", mean_r=123.68, mean_g=116.28, mean_b=103.53, std_r=58.395, std_g=57.12, std_b=57.375)
    yield case("negative means", mean_r=-10, mean_g=-1, std_r=-2)
    yield case("one positive mean", mean_r=-10, mean_b=1)
    yield case("std", std_r=3, std_g=0.7, scale=0.017)
    yield case("mean image", mean_img="", data_shape=[3, 20, 24])
    yield case("mean image, std", mean_img="", data_shape=[3, 20, 24], std_r=7, scale=3)


def record_colors():
    """The colours that ImageDetRecordIter changes, with the numbers that it draws: its one thread's generator has the seed 233."""
    n, name = 12, "jpeg_base_420.jpg"
    h, w = mx.image.imread(os.path.join(IMAGES, name)).shape[:2]
    rng, draws, out = Generator(233), [], []
    limits = {"max_random_hue": 18, "max_random_saturation": 40, "max_random_illumination": 50, "max_random_contrast": 0.5}
    chance = 0.6
    probs = {k.replace("max_", "") + "_prob": chance for k in limits}
    for _ in range(n):
        drawn = [rng.uniform(-1, 1) * F(v) for v in limits.values()]
        drawn = [int(v) for v in drawn[:3]] + [float(drawn[3])]
        draws.append([v if rng.unit() < F(chance) else 0 for v in drawn])
    with tempfile.TemporaryDirectory() as folder:
        pack(folder, [name] * n, -5)
        it = mx.io.ImageDetRecordIter(path_imgrec=os.path.join(folder, "x.rec"), preprocess_threads=1, verbose=False, data_shape=(3, h, w), batch_size=1, **limits, **probs)
        for b, d in zip(it, draws):
            yield {"file": name, "h": d[0], "s": d[1], "l": d[2], "c": d[3], "image": digest(b.data[0].asnumpy()[0])}


def color_cases():
    """The colour augmenters of mx.image, whose random numbers are given."""
    rng = np.random.RandomState(1)
    image = rng.randint(0, 256, (5, 4, 3)).astype(np.float32)
    real = random.uniform, random.random, np.random.normal
    for name, aug, draw in (
        *(("brightness", mx.image.BrightnessJitterAug(0.9), d) for d in (-0.75, 0.1, 0.9)),
        *(("contrast", mx.image.ContrastJitterAug(0.9), d) for d in (-0.75, 0.1, 0.9)),
        *(("saturation", mx.image.SaturationJitterAug(0.9), d) for d in (-0.75, 0.1, 0.9)),
        *(("hue", mx.image.HueJitterAug(0.9), d) for d in (-0.75, 0.1, 0.9)),
        ("gray", mx.image.RandomGrayAug(1), 0),
        ("lighting", mx.image.LightingAug(0.1, np.array([55.46, 4.794, 1.148]), np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])), [0.1, -0.25, 0.05]),
    ):
        random.uniform, random.random, np.random.normal = lambda a, b: draw, lambda: 0, lambda *a, **k: np.array(draw)
        out = aug(mx.nd.array(image)).asnumpy()
        random.uniform, random.random, np.random.normal = real
        yield {"name": name, "draw": draw, "image": image.ravel().tolist(), "out": out.ravel().tolist()}


def box_cases():
    """Deciles of the boxes that random_size_crop draws: left, top, width, height. It draws with Python's generator."""
    random.seed(7)
    fixed = mx.image.image.fixed_crop
    mx.image.image.fixed_crop = lambda *a: None  # no pixels
    for h, w in ((60, 80), (30, 200)):
        src = mx.nd.zeros((h, w, 3))
        boxes = np.array([mx.image.random_size_crop(src, (32, 24), 0.08, (3 / 4, 4 / 3))[1] for _ in range(20000)])
        yield {"h": h, "w": w, "deciles": [np.sort(b)[2000::2000].tolist() for b in boxes.T], "below": [[float((b < v).mean()) for v in np.sort(b)[2000::2000]] for b in boxes.T]}
    mx.image.image.fixed_crop = fixed


def params(*functions):
    """Name and default of each parameter."""
    out = []
    for f in functions:
        for p in inspect.signature(f).parameters.values():
            if p.name in ("self", "kwargs") or p.name in [n for n, _ in out]:
                continue
            text = {None: "[]" if p.name in ("mean", "std", "aug_list", "imglist") else "", True: "1", False: "0"}
            if p.default is p.empty:
                default = None
            elif p.default is None or isinstance(p.default, bool):
                default = text[p.default]
            else:
                default = json.dumps(p.default).strip('"')
            out.append([p.name, default])
    return out


def documented(f):
    """Name and default of each parameter, from the documentation."""
    found = re.findall(r"^(\w+) : (.*)$", f.__doc__, re.M)
    defaults = [re.search(r"default='?([^']*)'?$", kind) for _, kind in found]
    return [[n, d.group(1) if d else None] for (n, _), d in zip(found, defaults)]


def main():
    all_cases = {
        "mxnet": mx.__version__,
        "params": params(mx.image.ImageIter.__init__, mx.image.CreateAugmenter),
        "files": PHOTOS,
        "cases": list(image_cases()),
        "color": list(color_cases()),
        "boxes": list(box_cases()),
        "det_params": params(mx.image.ImageDetIter.__init__, mx.image.CreateDetAugmenter),
        "det": list(det_cases()),
        "record_params": documented(mx.io.ImageDetRecordIter),
        "record": list(record_cases()),
        "record_colors": list(record_colors()),
    }
    with open(OUT, "w") as f:
        f.write("{\n")
        for i, (k, v) in enumerate(all_cases.items()):
            end = "," if i + 1 < len(all_cases) else ""
            if isinstance(v, list):
                f.write(f" {json.dumps(k)}: [\n" + ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in v) + f"\n ]{end}\n")
            else:
                f.write(f" {json.dumps(k)}: {json.dumps(v)}{end}\n")
        f.write("}\n")


if __name__ == "__main__":
    main()
