"""Exchanges record files between infer-prep and the libraries that define the formats.

usage: interop.py INFER-PREP GO FOLDER-OF-IMAGES...

infer-prep reads the libraries' files, and the libraries read infer-prep's. The script compares keys, payloads, labels and
order, record by record. Each library is installed in its own virtual environment. The exit status is 1 if anything differs.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GEN = os.path.join(ROOT, "testdata", "gen")

binary, go, *folders = sys.argv[1:]
binary = os.path.abspath(binary)
work = tempfile.mkdtemp(prefix="interop-")
failed = 0
pythons = {}


def python(requirements):
    if requirements not in pythons:
        out = subprocess.run([os.path.join(ROOT, "parity", "venv.sh"), os.path.join(GEN, requirements)], check=True, stdout=subprocess.PIPE, text=True).stdout
        pythons[requirements] = out.strip()
    return pythons[requirements]


def run(*command, status=0):
    r = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode != status:
        sys.exit(f"interop: {' '.join(command)}: exit status {r.returncode}\n{r.stdout[-2000:]}{r.stderr[-4000:]}")
    return r.stdout


def lines(text):
    """Returns (key, {name: (dtype, shape, sha256)}) for each line of JSON; libraries print other lines, too."""
    out = []
    for line in text.splitlines():
        if line.startswith("{"):
            r = json.loads(line)
            out.append((r["key"], {k: (v["dtype"], tuple(v["shape"]), v["sha256"]) for k, v in r["fields"].items()}))
    return out


def peer(name, requirements):
    def call(*arguments):
        return lines(run(python(requirements), os.path.join(HERE, name), *arguments))

    return call


mxnet = peer("peer_mxnet.py", "requirements-mxnet-im2rec.txt")
webdataset = peer("peer_webdataset.py", "requirements-records.txt")
kaldi = peer("peer_kaldi.py", "requirements-kaldi.txt")
mindspore = peer("peer_mindspore.py", "requirements-mindspore.txt")
tfrecord = peer("peer_tfrecord.py", "requirements-tfrecord.txt")


def cat(*arguments):
    return lines(run(binary, "records", "cat", *arguments))


def convert(*arguments):
    run(binary, "records", "convert", *arguments)


def equal(what, got, want):
    """Compares two lists of records and prints how many are equal."""
    global failed
    same = sum(a == b for a, b in zip(got, want))
    ok = same == len(want) == len(got) and same > 0
    print(f"{what:90} {same:5} of {len(want)}{'' if len(got) == len(want) else f' ({len(got)} were read)'}", flush=True)
    if not ok:
        failed += 1
        for a, b in zip(got, want):
            if a != b:
                print(f"  first difference: {a}\n                want {b}")
                break


def same_file(what, a, b):
    """Compares the bytes of two files."""
    global failed
    with open(os.path.join(work, a), "rb") as f, open(os.path.join(work, b), "rb") as g:
        x, y = f.read(), g.read()
    print(f"{what:90} {'equal' if x == y and x else 'DIFFERENT':>11} ({len(x)} bytes)", flush=True)
    failed += x != y or not x


def recordio():
    want = mxnet("write-raw", "raw.rec")
    equal("RecordIO by MXNet, read here", cat("--from", "recordio", "raw.rec"), want)
    convert("--from", "recordio", "raw.rec", "-o", "raw2.rec", "--to", "recordio")
    equal("RecordIO from here, read by MXNet", mxnet("read-raw", "raw2.rec"), want)
    same_file("the file written again", "raw2.rec", "raw.rec")

    want = mxnet("write-images", "images.rec")
    equal("image records by MXNet, read here", cat("images.rec"), want)
    convert("images.rec", "-o", "images2.rec", "--index")
    equal("image records from here, read by MXNet", mxnet("read-images", "images2.rec"), want)
    equal("image records from here, read by MXNet by their index, last first", mxnet("indexed", "images2.rec"), want[::-1])
    same_file("the file written again", "images2.rec", "images.rec")
    convert("images.rec", "-o", "images.tar")
    got = webdataset("read", "images.tar")
    equal("image records brought to shards here, read by webdataset: the images", [(k, {"png": f["png"]}) for k, f in got], [(k, {"png": f["png"]}) for k, f in want])
    convert("images.tar", "-o", "images3.rec", "--to", "imagerecord")
    same_file("and brought back to image records", "images3.rec", "images.rec")


def partitions():
    """Compares up to 16 parts of 200 random sets of files, each divided in three ways into 1 to 400 parts."""
    want = mxnet("parts", "sets")
    equal("parts of random sets of files, read by MXNet and here", lines(run(os.path.join(work, "parts"), "sets", *[k for k, _ in want])), want)


def im2rec():
    images = "images"
    mxnet("choose", images, *[os.path.abspath(f) for f in folders])
    mxnet("im2rec", "--list", "--recursive", "theirs", images)
    run(binary, "pack", "recordio", "--list", "--recursive", "ours", images)
    same_file("im2rec's list", "ours.lst", "theirs.lst")
    mxnet("im2rec", "--list", "--recursive", "--chunks", "2", "--train-ratio", "0.7", "--test-ratio", "0.2", "theirs", images)
    run(binary, "pack", "recordio", "--list", "--recursive", "--chunks", "2", "--train-ratio", "0.7", "--test-ratio", "0.2", "ours", images)
    for part in ("0_train", "0_val", "0_test", "1_train", "1_val", "1_test"):
        same_file(f"im2rec's list {part}", f"ours_{part}.lst", f"theirs_{part}.lst")
    for side, extra in ("theirs", ()), ("ours", ()):
        os.makedirs(os.path.join(work, side), exist_ok=True)
        shutil.copy(os.path.join(work, "theirs.lst"), os.path.join(work, side, "a.lst"))
    mxnet("im2rec", "--pass-through", "theirs/a", images)
    run(binary, "pack", "recordio", "--pass-through", "ours/a", images)
    same_file("im2rec's records, the files as they are", "ours/a.rec", "theirs/a.rec")
    same_file("and their index", "ours/a.idx", "theirs/a.idx")
    for flags in (), ("--resize", "64", "--quality", "80"), ("--center-crop", "--quality", "100"):
        mxnet("im2rec", *flags, "theirs/a", images)
        run(binary, "pack", "recordio", "--force", *flags, "ours/a", images)
        same_file(" ".join(("im2rec's records, JPEG files", *flags)), "ours/a.rec", "theirs/a.rec")
    shaped = ("--resize", "64", "--center-crop", "--encoding", ".png", "--quality", "3")
    mxnet("im2rec", *shaped, "theirs/a", images)
    run(binary, "pack", "recordio", "--force", *shaped, "ours/a", images)
    params = "data_shape=(3, 64, 64)", "batch_size=1", "dtype=uint8", "round_batch=False"
    want = mxnet("iterate", "ImageRecordIter", "path_imgrec=theirs/a.rec", "path_imgidx=theirs/a.idx", *params)
    mine = "path_imgrec=ours/a.rec", "path_imgidx=ours/a.idx", *params
    equal("images resized and cropped, packed here and by im2rec, in MXNet's ImageRecordIter", mxnet("iterate", "ImageRecordIter", *mine), want)
    equal("the same in the ImageRecordIter of compat/mxnet", iterate("ImageRecordIter", *mine), want)


def iterate(*arguments):
    return lines(run(os.path.join(work, "iterate"), *arguments))


def iterators():
    """Compares the iterators of compat/mxnet with MXNet's over JPEG files by im2rec, with classes and with boxes."""
    mxnet("im2rec", "--resize", "300", "theirs/a", "images")
    mxnet("boxes", "theirs/a.rec", "boxes.rec")
    classes = "path_imgrec=theirs/a.rec", "path_imgidx=theirs/a.idx", "batch_size=7"
    boxes = "path_imgrec=boxes.rec", "batch_size=7"
    index = *boxes, "path_imgidx=boxes.idx"
    for name, *params in (
        ("ImageRecordIter", *classes, "data_shape=(3, 224, 224)", "resize=256"),
        ("ImageIter", *classes, "data_shape=(3, 224, 224)", "mean=True", "std=True"),
        ("ImageIter", *classes, "data_shape=(3, 224, 224)", "resize=256", "inter_method=9"),
        ("ImageIter", *classes, "data_shape=(3, 331, 299)", "last_batch_handle=discard", "num_parts=3", "part_index=1"),
        ("ImageDetIter", *index, "data_shape=(3, 300, 300)", "mean=True", "std=True"),
        ("ImageDetIter", *index, "data_shape=(3, 320, 256)", "inter_method=3", "num_parts=2", "part_index=1"),
        ("ImageDetRecordIter", *boxes, "data_shape=(3, 300, 300)", "mean_r=123.68", "mean_g=116.28", "mean_b=103.53", "std_r=58.395", "std_g=57.12", "std_b=57.375"),
        ("ImageDetRecordIter", *boxes, "data_shape=(3, 320, 256)", "resize_mode=fit", "inter_method=2"),
        ("ImageDetRecordIter", *boxes, "data_shape=(3, 320, 256)", "resize_mode=shrink", "num_parts=2", "part_index=1"),
    ):
        settings = [p for p in params if not p.startswith(("path", "batch"))]
        equal(" ".join((name, *settings)).replace(", ", ","), iterate(name, *params), mxnet("iterate", name, *params))


def typed(shards):
    """Converts shards to the form that records cat prints: .cls is a number, and .txt is text named without the suffix."""
    sha = lambda b: hashlib.sha256(b).hexdigest()
    numbers = {sha(b"%d" % n): ("int64", (), sha(n.to_bytes(8, "little"))) for n in range(10)}
    return [(key, {k.removesuffix(".txt"): numbers[v[2]] if k == "cls" else v for k, v in fields.items()}) for key, fields in shards]


def tar():
    want = webdataset("write", "s-%03d.tar")
    equal("shards by webdataset, read here", cat("s-{000..003}.tar"), typed(want))
    for end in ".tar", ".tar.gz", ".tar.zst":
        convert("s-{000..003}.tar", "-o", "o-%03d" + end, "--count", "64")
        if end == ".tar.zst":  # webdataset cannot read it
            equal("shards from here (.tar.zst), read here", cat("o-{000..003}" + end), typed(want))
        else:
            equal(f"shards from here ({end}), read by webdataset", webdataset("read", "o-{000..003}" + end), want)
    for n in range(4):
        same_file(f"shard {n} written again", f"o-{n:03}.tar", f"s-{n:03}.tar")


def tf():
    want = tfrecord("write", "a.tfrecord")
    equal("TFRecord by the tfrecord package, read here", cat("--from", "tfexample", "a.tfrecord"), want)
    convert("--from", "tfexample", "a.tfrecord", "-o", "b.tfrecord", "--to", "tfexample")
    equal("TFRecord from here, read by the tfrecord package", tfrecord("read", "b.tfrecord"), want)


def kaldis():
    for writer in "native", "kaldiio":
        for name in "floats", "doubles", "vectors":
            want = kaldi(f"{writer}-write", f"{name}-{writer}.ark", "0")
            for end in "ark", "scp":
                equal(f"{name} by {writer}, read here (.{end})", cat(f"{name}-{writer}.{end}"), want)
            convert(f"{name}-{writer}.ark", "-o", f"{name}-{writer}2.ark", "--index")
            for reader in "native", "kaldiio":
                for end in "ark", "scp":
                    equal(f"{name} from here, read by {reader} (.{end})", kaldi(f"{reader}-read", f"{name}-{writer}2.{end}"), want)
    for method in range(1, 8):
        want = kaldi("native-write", f"compressed{method}.ark", str(method))
        equal(f"compressed matrices (method {method}) by native, read here", cat(f"compressed{method}.ark"), want)


def mind():
    for shards in 1, 3:
        want = mindspore("write", f"m{shards}.mindrecord", str(shards))
        first = f"m{shards}.mindrecord" + ("0" if shards > 1 else "")
        equal(f"MindRecord of {shards} files by MindSpore, read here", cat("--from", "mindrecord", first), want)
        convert("--from", "mindrecord", first, "-o", f"n{shards}.mindrecord", "--to", "mindrecord")
        for reader in "read", "dataset":
            equal(f"MindRecord from here, {'FileReader' if reader == 'read' else 'MindDataset'}", mindspore(reader, f"n{shards}.mindrecord"), want)


def tensors():
    """Compares the shards of run with its raw files, whose elements NumPy reads as they are."""
    for preset, images in ("imagenet", "images"), ("yolo", "images/class0/png_*"):
        ran = binary, "run", "-q", "--preset", preset, "--outputs", "all"
        want = []
        for line in run(*ran, "--format", "raw", "--json", "-o", preset, images).splitlines():
            r = json.loads(line)
            fields = {}
            for o in r["outputs"]:
                with open(os.path.join(work, o["file"]), "rb") as f:
                    fields[o["name"]] = (o["dtype"], tuple(o["shape"]), hashlib.sha256(f.read()).hexdigest())
            name = os.path.relpath(r["input"], "images") if preset == "imagenet" else os.path.basename(r["input"])
            want.append((name, fields))
        for format, ext, reader, library in ("webdataset", "tar", webdataset, "webdataset"), ("recordio", "rec", mxnet, "MXNet and safetensors"), ("tfrecord", "tfrecord", tfrecord, "the tfrecord package"):
            out = f"{preset}-{format}"
            run(*ran, "--format", format, "--samples-per-file", "40", "-o", out, images)
            shards = sorted(f"{out}/{f}" for f in os.listdir(os.path.join(work, out)) if f.endswith(ext))
            keys = [(os.path.splitext(k)[0].replace(".", "%2e"), v) for k, v in want] if format == "webdataset" else want
            got = [r for s in shards for r in reader("tensors", s)]
            equal(f"tensors of {preset} in {len(shards)} {format} shards, read by {library}", got, keys)


def main():
    for program in "iterate", "parts":
        subprocess.run([go, "build", "-o", os.path.join(work, program), "./parity/interop/" + program], cwd=ROOT, check=True)
    for part in recordio, partitions, im2rec, iterators, tensors, tar, tf, kaldis, mind:
        part()
    print(f"{failed} differ" if failed else "all are equal")
    shutil.rmtree(work)
    sys.exit(failed > 0)


main()
