"""What mnist_cifar.py and mnist_cifar_mindspore.py share."""

import hashlib
import json
from pathlib import Path

import numpy as np

DATASETS = Path(__file__).resolve().parent.parent.parent / "datasets"

MNIST_KINDS = ["mnist", "fashion_mnist", "kmnist"]
EMNIST = [("letters", 1, 26), ("balanced", 0, 46), ("byclass", 0, 61)]  # name, lowest and highest label
CIFAR10_FILES = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
EXTENSIONS = [".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"]
ATTRIBUTES = ["5_o_Clock_Shadow", "Bald", "Smiling", "Young"]


def array(a):
    """An array: short ones as text, others as the digest of their bytes."""
    a = np.asarray(a, order="C")
    v = {"dtype": str(a.dtype), "shape": list(a.shape)}
    if a.size <= 16:
        v["data"] = [str(x) for x in a.ravel().tolist()]
    else:
        v["sha256"] = hashlib.sha256(a.tobytes()).hexdigest()
    return v


def integer(n):
    """A Python integer, which has no type."""
    return {"dtype": "int", "shape": [], "data": [str(int(n))]}


def encoded(b):
    return {"dtype": "bytes", "size": len(b), "sha256": hashlib.sha256(b).hexdigest()}


def file(path):
    return encoded(path.read_bytes())


def case(source, params, rows, classes=None):
    """A source as it is registered, its parameters, where dir is below DATASETS, and what was read."""
    up = "../.." if source in ("image_folder", "numpy_slices") else "../../.."  # from the source's package
    for k in ("dir", "files"):
        if k in params:
            below = lambda p: f"{up}/testdata/datasets/{p}"
            params = params | {k: below(params[k]) if k == "dir" else [below(p) for p in params[k]]}
    c = {"source": source, "params": params, "rows": list(rows)}
    if classes is not None:
        c["class_indexing"] = classes
    return c


def write(name, reference, cases):
    """A line for each row."""
    dump = lambda v: json.dumps(v, ensure_ascii=False)
    out = []
    for c in cases:
        head = dump({k: v for k, v in c.items() if k != "rows"})
        out.append(head[:-1] + ', "rows": [\n' + ",\n".join(map(dump, c["rows"])) + "\n]}")
    text = f'{{"reference": {dump(reference)}, "cases": [\n' + ",\n".join(out) + "\n]}\n"
    json.loads(text)
    (DATASETS / name / (reference.split()[0].lower() + ".json")).write_text(text)
