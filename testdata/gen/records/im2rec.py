"""Makes testdata/im2rec/golden.json: the lists and record files that MXNet's im2rec makes.

Needs mxnet 1.9.1, numpy 1.23.5 (Python 3.11 or earlier) and opencv-python-headless 5.0.0.93. Takes no
arguments; running it again gives the same bytes.

"lists" has, for the empty files of "tree" and the arguments of each case, the lists that --list writes. "pixels" has, for
lists of testdata/images, the heads of the records (hex) and the sha256 (16 digits) of the size, the channels and the
pixels (RGB or RGBA or gray) of each image that im2rec packs as PNG. "jpeg" has, for other lists, the sha256 (16 digits)
of each record that im2rec packs as JPEG. "pass_through" has the sha256 of whole files.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile

import cv2
import mxnet as mx
import numpy as np

DATA = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IMAGES = os.path.join(DATA, "images")
TOOL = os.path.join(os.path.dirname(mx.__file__), "tools", "im2rec.py")

TREE = (
    [f"f{i}.jpg" for i in range(25)]
    + [f"a/F{i}.JPG" for i in range(12)]
    + [f"a/x/\u00fc{i}.png" for i in range(12)]
    + ["a/.hidden/k.jpg", ".jpg", "..jpg", "a.b/x.jpeg", "b/\u00e9.jpeg", "b/z.txt", "c d/a b.png", "a/y/no.ext", "a/y/Z.jPg", "Z/\U0001f600.png", "Z/\uffee.png"]
)

LISTS = [
    [],
    ["--recursive"],
    ["--recursive", "--no-shuffle"],
    ["--recursive", "--exts", ".png", ".txt"],
    ["--recursive", "--train-ratio", "0.77"],
    ["--recursive", "--train-ratio", "0.7", "--test-ratio", "0.2", "--chunks", "3"],
    ["--recursive", "--train-ratio", "0.9", "--test-ratio", "0.1"],
    ["--recursive", "--train-ratio", "0"],
    ["--chunks", "40"],
]

PIXELS = [
    (1, []),
    (3, ["--color", "0"]),
    (3, ["--color", "-1"]),
    (3, ["--resize", "20", "--center-crop"]),
    (3, ["--resize", "61", "--pack-label"]),
    (5, ["--center-crop", "--color", "0"]),
]

JPEG = [
    (2, []),
    (3, ["--quality", "80", "--resize", "61"]),
    (3, ["--quality", "100", "--color", "0"]),
    (3, ["--quality", "50", "--color", "-1", "--center-crop", "--pack-label"]),
]


def im2rec(folder, *args):
    subprocess.run([sys.executable, TOOL, *args], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def lists():
    out = []
    with tempfile.TemporaryDirectory() as d:
        for name in TREE:
            path = os.path.join(d, "root", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").close()
        for i, args in enumerate(LISTS):
            o = os.path.join(d, str(i))
            os.mkdir(o)
            im2rec(o, "--list", "x", os.path.join(d, "root"), *args)
            files = {}
            for name in sorted(os.listdir(o)):
                with open(os.path.join(o, name), encoding="utf-8") as f:
                    files[name] = f.read()
            out.append({"args": args, "files": files})
    return out


def labels(i):
    return [float(i % 7)] if i % 4 else [i / 2, -1.5, 3.25]


def write_list(path, names):
    with open(path, "w") as f:
        for i, n in enumerate(names):
            f.write("\t".join([str(3 * i), *("%f" % x for x in labels(i)), n]) + "\n")


def pixels(every, args):
    names = [n for n in sorted(os.listdir(IMAGES)) if n.endswith((".jpg", ".png"))][::every]
    records = {}
    with tempfile.TemporaryDirectory() as d:
        write_list(os.path.join(d, "x.lst"), names)
        im2rec(d, "--num-thread", "2", "--encoding", ".png", "--quality", "1", *args, "x", IMAGES)
        r = mx.recordio.MXIndexedRecordIO(os.path.join(d, "x.idx"), os.path.join(d, "x.rec"), "r")
        for k in r.keys:
            b = r.read_idx(k)
            head, content = mx.recordio.unpack(b)
            m = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
            if m.dtype != np.uint8:
                continue
            m = m[..., np.newaxis] if m.ndim == 2 else m[..., [2, 1, 0, 3][: m.shape[2]]]
            h = hashlib.sha256(("%d %d %d " % m.shape).encode() + np.ascontiguousarray(m).tobytes()).hexdigest()[:16]
            records[names[k // 3]] = b[: len(b) - len(content)].hex() + " " + h
    return {"every": every, "args": args, "records": records}


def jpeg(every, args):
    names = [n for n in sorted(os.listdir(IMAGES)) if n.endswith((".jpg", ".png"))][::every]
    records = {}
    with tempfile.TemporaryDirectory() as d:
        write_list(os.path.join(d, "x.lst"), names)
        im2rec(d, "--num-thread", "2", *args, "x", IMAGES)
        r = mx.recordio.MXIndexedRecordIO(os.path.join(d, "x.idx"), os.path.join(d, "x.rec"), "r")
        for k in r.keys:
            # cv2.imencode converts 16 bits per sample, which infer-prep refuses with --color -1.
            if "-1" in args and cv2.imread(os.path.join(IMAGES, names[k // 3]), cv2.IMREAD_UNCHANGED).dtype != np.uint8:
                continue
            records[names[k // 3]] = hashlib.sha256(r.read_idx(k)).hexdigest()[:16]
    return {"every": every, "args": args, "records": records}


def pass_through(args):
    names = sorted(os.listdir(IMAGES))[::9]
    with tempfile.TemporaryDirectory() as d:
        write_list(os.path.join(d, "x.lst"), names)
        im2rec(d, "--num-thread", "2", "--pass-through", *args, "x", IMAGES)
        return {"args": args, "rec": digest(os.path.join(d, "x.rec")), "idx": digest(os.path.join(d, "x.idx"))}


def main():
    os.makedirs(os.path.join(DATA, "im2rec"), exist_ok=True)
    golden = {
        "mxnet": mx.__version__,
        "opencv": cv2.__version__,
        "tree": TREE,
        "lists": lists(),
        "pixels": [pixels(*c) for c in PIXELS],
        "jpeg": [jpeg(*c) for c in JPEG],
        "pass_through": [pass_through([]), pass_through(["--pack-label"])],
    }
    with open(os.path.join(DATA, "im2rec", "golden.json"), "w", encoding="utf-8") as f:
        json.dump(golden, f, indent=1, ensure_ascii=False)
        f.write("\n")


main()
