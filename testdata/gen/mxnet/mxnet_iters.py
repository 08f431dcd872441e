"""Makes compat/mxnet/testdata/iters.json: what MXNet's NDArrayIter, CSVIter, MNISTIter, LibSVMIter and ResizeIter give, batch by batch.

Needs mxnet 1.9.1 and numpy 1.23.5 (its last that MXNet can be imported with; Python 3.11 or earlier).
Takes no arguments; running it again gives the same bytes.

Each case is a list of steps on one iterator: "epoch" reads until the end, "next" reads one batch, "reset"
and "hard_reset" are the methods. For each step there is the list of batches that it gave: the numbers of
the rows (the data's first element), the labels, pad, index. "error" is a step in which MXNet fails; it is the last.
"""

import hashlib
import json
import os
import re
import struct
import tempfile

import mxnet as mx
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
OUT = os.path.join(ROOT, "compat", "mxnet", "testdata", "iters.json")

EPOCHS = ["epoch", "reset", "epoch", "reset", "epoch"]
STEPS = {
    "reset": EPOCHS,
    "no reset": ["epoch", "epoch", "epoch"],
    "read on at the end": ["epoch", "epoch", "reset", "epoch"],
    "reset twice": ["epoch", "reset", "reset", "epoch"],
    "reset in the middle": ["next", "reset", "epoch", "reset", "next", "reset", "epoch"],
    "hard reset": ["epoch", "hard_reset", "epoch"],
}


def batch_of(b):
    data = b.data[0].asnumpy()
    return {
        "rows": [int(r.flat[0]) for r in data],
        "labels": [float(r.flat[0]) for r in b.label[0].asnumpy()],
        "pad": int(b.pad),
        "index": None if b.index is None else [int(i) for i in b.index],
    }


def run(it, steps):
    out = []
    for s in steps:
        got = []
        if s in ("next", "epoch"):
            while True:
                try:
                    got.append(batch_of(it.next()))
                except StopIteration:
                    break
                except (mx.base.MXNetError, AssertionError):
                    return out + ["error"]
                if s == "next":
                    break
        else:
            getattr(it, s)()
        out.append(got)
    return out


def describe(it):
    return [[d.name, list(d.shape), np.dtype(d.dtype).name, getattr(d, "layout", "")] for d in list(it.provide_data) + list(it.provide_label)]


def ndarray_cases():
    for mode in ("pad", "discard", "roll_over"):
        for n, size in ((10, 4), (8, 4), (3, 4), (3, 8), (1, 4)):
            for name, steps in STEPS.items():
                if name == "hard reset" and mode != "roll_over":
                    continue
                data = np.arange(n, dtype=np.float32).reshape(n, 1) * np.ones((1, 2), np.float32)
                label = np.arange(n, dtype=np.float32) + 100
                it = mx.io.NDArrayIter(data, label, size, last_batch_handle=mode)
                yield {"n": n, "batch": size, "mode": mode, "name": name, "steps": steps, "out": run(it, steps)}


def names_cases():
    a, b = np.zeros((4, 3), np.float32), np.zeros((4, 2, 2), np.float32)
    for name, data, label in (
        ("one", a, None),
        ("list", [a, b], [a]),
        ("dict", {"z": a, "b": b}, {"y": a, "x": b}),
    ):
        it = mx.io.NDArrayIter(data, label, 2)
        yield {"name": name, "desc": describe(it)}


def csv(text, **kwargs):
    with tempfile.TemporaryDirectory() as d:
        files = {}
        for k in ("data_csv", "label_csv"):
            t = text if k == "data_csv" else kwargs.pop("labels", None)
            if t is not None:
                files[k] = os.path.join(d, k)
                with open(files[k], "wb") as f:
                    f.write(t.encode())
        steps = kwargs.pop("steps", ["epoch"])
        it = mx.io.CSVIter(**files, **kwargs)
        out = run(it, steps)
        if not kwargs.get("round_batch", True):
            for step in out:
                for b in step:  # the rest of a batch is whatever was in memory
                    keep = len(b["rows"]) - b["pad"]
                    b["rows"], b["labels"] = b["rows"][:keep], b["labels"][:keep]
        return {"desc": describe(it), "out": out}


def csv_cases():
    for n, size in ((10, 4), (8, 4), (5, 4)):
        for rb in (True, False):
            text = "".join(f"{i},{i + 0.5}\n" for i in range(n))
            labels = "".join(f"{100 + i}\n" for i in range(n))
            yield {"n": n, "batch": size, "round_batch": rb, "steps": EPOCHS,
                   **csv(text, labels=labels, data_shape=(2,), batch_size=size, round_batch=rb, steps=EPOCHS)}


def csv_text_cases():
    """What of the syntax is read, and as what."""
    for name, text in (
        ("plain", "1,2\n3,4\n"),
        ("no newline at the end", "1,2\n3,4"),
        ("CRLF", "1,2\r\n3,4\r\n"),
        ("blank lines", "1,2\n\n\n3,4\n\n"),
        ("spaces", "1, 2\n 3,\t4\n"),
        ("byte order mark", "\ufeff1,2\n3,4\n"),
        ("signs and exponents", "-1.5,+2e3\n.5,4E-2\n"),
    ):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.csv")
            with open(path, "wb") as f:
                f.write(text.encode())
            it = mx.io.CSVIter(data_csv=path, data_shape=(2,), batch_size=2, round_batch=False)
            yield {"name": name, "text": text, "values": [[float(x) for x in r] for r in it.next().data[0].asnumpy()]}


def params(name):
    """Name and default of each parameter, from the documentation."""
    found = re.findall(r"^(\w+) : (.*)$", getattr(mx.io, name).__doc__, re.M)
    defaults = [re.search(r"default='?([^']*)'?$", kind) for _, kind in found]
    return [[n, d.group(1) if d else None] for (n, _), d in zip(found, defaults)]


def digest(a):
    return hashlib.sha256(a).hexdigest()[:12]


def write_idx(folder, n, h, w):
    """Images whose bytes count up in steps of 7, and labels from 0."""
    image, label = os.path.join(folder, "image"), os.path.join(folder, "label")
    with open(image, "wb") as f:
        f.write(struct.pack(">IIII", 2051, n, h, w) + (np.arange(n * h * w) * 7).astype(np.uint8).tobytes())
    with open(label, "wb") as f:
        f.write(struct.pack(">II", 2049, n) + bytes(range(n)))
    return {"image": image, "label": label}


def mnist_cases():
    def case(n=10, h=3, w=4, **kwargs):
        with tempfile.TemporaryDirectory() as folder:
            try:
                it = mx.io.MNISTIter(silent=True, shuffle=False, **write_idx(folder, n, h, w), **kwargs)
            except StopIteration:  # fewer images than a batch
                return {"n": n, "h": h, "w": w, "params": kwargs, "desc": [], "labels": [], "data": digest(b"")}
            epochs = []
            for _ in range(2):
                epochs.append([(b.label[0].asnumpy().tolist(), b.data[0].asnumpy().tobytes()) for b in it])
                it.reset()
            assert epochs[0] == epochs[1]
            labels, data = zip(*epochs[0])
            return {"n": n, "h": h, "w": w, "params": kwargs, "desc": describe(it), "labels": labels, "data": digest(b"".join(data))}

    yield case(batch_size=4)
    yield case(batch_size=5, flat=True)
    yield case(n=9, h=28, w=28, batch_size=2)
    yield case(batch_size=11)
    for parts in (2, 3, 7):
        for k in range(parts):
            yield case(n=23, batch_size=1, num_parts=parts, part_index=k)


def isolated(f):
    """The result of f in another process, whose end is not clean: MXNet 1.9.1 often crashes when it frees a LibSVMIter."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        with os.fdopen(w, "w") as out:
            json.dump(f(), out)
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as out:
        text = out.read()
    os.waitpid(pid, 0)
    return json.loads(text)


def csr(a):
    if a.stype == "default":
        return a.asnumpy().tolist()
    return {"data": a.data.asnumpy().tolist(), "indices": a.indices.asnumpy().tolist(), "indptr": a.indptr.asnumpy().tolist()}


LIBSVM = "".join(f"{i}.5" + "".join(f" {k}:{(i * 7 + k * 3) % 11 / 8}" for k in range(6) if (i + k) % (2 + i % 3) == 0) + "\n" for i in range(11))
LIBSVM_LABELS = "".join(f"0 {i % 3}:{i}" + (f" 2:{i + 0.25}\n" if i % 3 < 2 else "\n") for i in range(11))


def libsvm_cases():
    def case(name, text=LIBSVM, labels=None, epochs=1, n=6, **kwargs):
        def run():
            with tempfile.TemporaryDirectory() as d:
                files = {}
                for k, t in (("data_libsvm", text), ("label_libsvm", labels)):
                    if t is not None:
                        files[k] = os.path.join(d, k)
                        with open(files[k], "wb") as f:
                            f.write(t.encode())
                try:
                    it = mx.io.LibSVMIter(data_shape=(n,), **files, **kwargs)
                except StopIteration:  # an empty part
                    return {"desc": [], "out": []}
                got = [{"data": csr(b.data[0]), "label": csr(b.label[0]), "dense": b.data[0].asnumpy().ravel().tolist(), "pad": int(b.pad), "index": [int(i) for i in b.index]} for b in it]
                return {"desc": describe(it), "out": got}

        return {"name": name, "text": text, "labels": labels, "n": n, "params": kwargs, **isolated(run)}

    yield case("whole batches", batch_size=1)
    yield case("rounded", batch_size=4)
    yield case("one batch", batch_size=11)
    yield case("larger than the data", batch_size=22)
    yield case("labels", labels=LIBSVM_LABELS, label_shape=(3,), batch_size=4)
    for parts in (2, 3, 5):
        for k in range(parts):
            yield case(f"part {k} of {parts}", batch_size=1, num_parts=parts, part_index=k)
    yield case("weights, queries, comments and spaces", "1:0.5 0:1\n 2 1:2 # c\n\n3 qid:7 2:1\t3:5\r\n4 0:1e-3 1:.5", batch_size=4)
    yield case("any order", "1 2:1 0:5\n", batch_size=1)
    yield case("twice", "2 0:1 0:2\n", batch_size=1)


def resize_cases():
    """Epochs of size batches of an NDArrayIter of n rows."""
    for n, batch, mode, size, internal in (
        (10, 4, "pad", 2, True), (10, 4, "pad", 3, True), (10, 4, "pad", 5, True), (10, 4, "pad", 7, False),
        (10, 4, "discard", 3, False), (10, 4, "discard", 1, False), (8, 4, "pad", 9, True),
    ):
        it = mx.io.ResizeIter(mx.io.NDArrayIter(np.arange(n, dtype=np.float32), None, batch, last_batch_handle=mode), size, internal)
        out = []
        for _ in range(3):
            out.append([[b.data[0].asnumpy().tolist(), int(b.pad)] for b in it])
            it.reset()
        yield {"n": n, "batch": batch, "mode": mode, "size": size, "internal": internal, "out": out}


def main():
    all_cases = {
        "mxnet": mx.__version__,
        "ndarray": list(ndarray_cases()),
        "names": list(names_cases()),
        "csv": list(csv_cases()),
        "csv_text": list(csv_text_cases()),
        "mnist_params": params("MNISTIter"),
        "mnist": list(mnist_cases()),
        "resize": list(resize_cases()),
        "libsvm_params": params("LibSVMIter"),
        "libsvm": list(libsvm_cases()),
    }
    os.makedirs(os.path.dirname(OUT), exist_ok=True)
    with open(OUT, "w") as f:
        f.write("{\n")
        for i, (k, v) in enumerate(all_cases.items()):
            end = "," if i + 1 < len(all_cases) else ""
            if isinstance(v, list):
                f.write(f" {json.dumps(k)}: [\n" + ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in v) + f"\n ]{end}\n")
            else:
                f.write(f" {json.dumps(k)}: {json.dumps(v)}{end}\n")
        f.write("}\n")


main()
