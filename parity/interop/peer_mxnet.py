"""MXNet's side of interop.py.

usage: peer_mxnet.py write-raw FILE.rec | write-images FILE.rec | read-raw FILE.rec | read-images FILE.rec | iterate ITERATOR PARAMETER=VALUE... | boxes FROM.rec TO.rec | parts FOLDER | choose FOLDER FROM... | im2rec ARGUMENTS... | tensors FILE.rec...
"""

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys

import mxnet as mx
import numpy as np

import samples

R = mx.recordio


def write_raw(path):
    w = R.MXRecordIO(path, "w")
    for n, b in enumerate(samples.payloads()):
        w.write(b)
        samples.show(n, {"data": b})
    w.close()


def write_images(path):
    w = R.MXIndexedRecordIO(path[:-4] + ".idx", path, "w")
    for n, b in samples.images():
        label = np.float32(n / 8) if n % 3 else np.arange(1 + n % 5, dtype=np.float32) / 3
        w.write_idx(n, R.pack(R.IRHeader(0, label, 3 * n + 1, 0), b))
        samples.show(3 * n + 1, {"label": label, "png": b})
    w.close()


def records(path):
    r = R.MXRecordIO(path, "r")
    while (b := r.read()) is not None:
        yield b
    r.close()


def read_raw(path):
    for n, b in enumerate(records(path)):
        samples.show(n, {"data": b})


def read_images(path):
    for b in records(path):
        head, content = R.unpack(b)
        samples.show(head.id, {"label": np.asarray(head.label, np.float32), "png": content})


def indexed(path):
    """Reads the records by the index, from the last to the first."""
    r = R.MXIndexedRecordIO(path[:-4] + ".idx", path, "r")
    for k in reversed(r.keys):
        head, content = R.unpack(r.read_idx(k))
        samples.show(head.id, {"label": np.asarray(head.label, np.float32), "png": content})
    r.close()


def iterate(name, *params):
    """Prints the labels and pixels from an iterator of images, in order."""

    def value(text):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text

    kwargs = {k: value(v) for k, v in (p.split("=", 1) for p in params)}
    if hasattr(mx.image, name):
        it = getattr(mx.image, name)(**kwargs)
    else:
        it = getattr(mx.io, name)(verbose=False, preprocess_threads=1, **kwargs)
    n = 0
    for batch in it:
        labels, data = batch.label[0].asnumpy(), batch.data[0].asnumpy()
        for i in range(len(data) - batch.pad):
            samples.show(n, {"label": np.atleast_1d(labels[i]), "data": data[i]})
            n += 1


def boxes(source, path):
    """Packs the images of a file of records again, with random boxes."""
    rng = random.Random(5)
    w = R.MXIndexedRecordIO(path[:-4] + ".idx", path, "w")
    for n, b in enumerate(records(source)):
        label = [2, 5]
        for _ in range(1 + rng.randrange(6)):
            x, y = rng.random(), rng.random()
            label += [rng.randrange(20), x * 0.8, y * 0.8, x * 0.8 + rng.random() * 0.2, y * 0.8 + rng.random() * 0.2]
        w.write_idx(n, R.pack(R.IRHeader(0, label, n, 0), R.unpack(b)[1]))
    w.close()


def parts(folder, sets=200):
    """Writes random sets of one to five files of 0 to 30 small records. Prints the ids of up to 16 parts of each of three divisions."""
    rng = random.Random(3)
    image = samples.images(1)[0][1]
    for s in range(sets):
        os.makedirs(f"{folder}/{s}")
        n = 0
        for f in range(rng.randrange(1, 6)):
            w = R.MXRecordIO(f"{folder}/{s}/{f}.rec", "w")
            for _ in range(max(rng.randrange(-3, 31), f == 0)):
                w.write(R.pack(R.IRHeader(0, float(n), n, 0), image + bytes(rng.randrange(40)) + samples.MAGIC * rng.randrange(3)))
                n += 1
            w.close()
        uri = ";".join(f"{folder}/{s}/{f}" for f in sorted(os.listdir(f"{folder}/{s}")))
        for count in 1, rng.randrange(2, 10), rng.randrange(10, 401):
            for k in sorted(rng.sample(range(count), min(count, 16))):  # each part takes MXNet about 30 ms
                ids = []
                try:
                    it = mx.io.ImageRecordIter(path_imgrec=uri, data_shape=(3, 4, 4), batch_size=1, dtype="uint8", round_batch=False,
                                               preprocess_threads=1, verbose=False, num_parts=count, part_index=k)
                    ids = [int(b.label[0].asnumpy()[0]) for b in it]
                except StopIteration:  # raised at the first batch: the part is empty
                    pass
                samples.show(f"{s}/{count}/{k}", {"ids": np.array(ids, np.int64)})


# Files that OpenCV decodes differently from Pillow, whose pixels infer-prep packs: CMYK; truncated progressive files; orientation in
# XMP, in PNG or of a type other than short; and tables that libjpeg-turbo reads differently since version 3.
OTHERWISE = re.compile(r"jpeg_(cmyk|ycck|partial|xmp|exif_(byte|rational)|quant_(16bit|wraps))|png_(xmp|apng_exif|raw_exif)")


def choose(folder, *sources):
    """Makes a folder of three classes with the images that OpenCV can read: im2rec stops at any other."""
    import cv2

    names = sorted(os.path.join(s, f) for s in sources for f in os.listdir(s) if f.lower().endswith((".jpg", ".jpeg", ".png")))
    for n, name in enumerate(names):
        os.makedirs(f"{folder}/class{n % 3}", exist_ok=True)
        if cv2.imread(name) is not None and not OTHERWISE.match(os.path.basename(name)):
            shutil.copy(name, f"{folder}/class{n % 3}")


def im2rec(*arguments):
    tool = os.path.join(os.path.dirname(mx.__file__), "tools", "im2rec.py")
    subprocess.run([sys.executable, tool, *arguments], check=True, stdout=sys.stderr)


def tensors(*paths):
    """Prints the safetensors files in the records, found by the index."""
    from safetensors.numpy import load

    for path in paths:
        r = R.MXIndexedRecordIO(path[:-4] + ".idx", path, "r")
        for k in r.keys:
            b = r.read_idx(k)
            head = json.loads(b[8 : 8 + int.from_bytes(b[:8], "little")])
            samples.show(head["__metadata__"]["key"], load(b))
        r.close()


commands = {"boxes": boxes, "tensors": tensors, "write-raw": write_raw, "write-images": write_images, "read-raw": read_raw, "read-images": read_images, "indexed": indexed, "iterate": iterate, "parts": parts, "choose": choose, "im2rec": im2rec}
commands[sys.argv[1]](*sys.argv[2:])
