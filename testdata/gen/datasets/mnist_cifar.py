"""Makes the small datasets in testdata/datasets, and writes what torchvision's
classes read from them: torchvision.json in each dataset's folder.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, torch 2.15.0 and torchvision
0.29.2. Every run gives the same bytes. What MindSpore reads is written by
mnist_cifar_mindspore.py, which must run after this.
"""

import gzip
import io
import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from torchvision import datasets

from shared import (ATTRIBUTES, CIFAR10_FILES, DATASETS, EMNIST, EXTENSIONS, MNIST_KINDS, array, case, file, integer, write)

rng = np.random.Generator(np.random.PCG64(20260101))


def idx(a):
    return bytes([0, 0, 8, a.ndim]) + b"".join(int(n).to_bytes(4, "big") for n in a.shape) + a.tobytes()


def put(path, b):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b)


def pair(folder, name, n, low, high, pack=False):
    """A file of images and one of labels, which have the lowest and the highest."""
    labels = rng.integers(low, high + 1, n).astype(np.uint8)
    labels[0], labels[-1] = low, high
    for kind, a in (("images-idx3", rng.integers(0, 256, (n, 28, 28)).astype(np.uint8)), ("labels-idx1", labels)):
        b = idx(a)
        if pack:
            put(folder / f"{name}-{kind}-ubyte.gz", gzip.compress(b, 9, mtime=0))
        else:
            put(folder / f"{name}-{kind}-ubyte", b)


def encoded(format, n):
    b = io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (4, 4 + n % 5, 3)).astype(np.uint8)).save(b, format)
    return b.getvalue()


def make():
    shutil.rmtree(DATASETS / "mnist", ignore_errors=True)
    for kind in MNIST_KINDS:
        for name, n in (("train", 4), ("t10k", 2)):
            pair(DATASETS / "mnist" / kind, name, n, 0, 9, pack=kind == "kmnist")
    for name, low, high in EMNIST:
        for part in ("train", "test"):
            pair(DATASETS / "mnist" / "emnist", f"emnist-{name}-{part}", 2, low, high)

    shutil.rmtree(DATASETS / "cifar10", ignore_errors=True)
    for i, f in enumerate(CIFAR10_FILES):
        n = 2 if i in (0, 5) else 1
        put(DATASETS / "cifar10" / f, b"".join(bytes([(3 * i + 9 * k) % 10]) + rng.bytes(3072) for k in range(n)))
    put(DATASETS / "cifar10" / "batches.meta.txt", b"airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n")
    shutil.rmtree(DATASETS / "cifar100", ignore_errors=True)
    for f, n in (("train.bin", 3), ("test.bin", 2)):
        put(DATASETS / "cifar100" / f, b"".join(bytes([19 - 7 * k, 99 - 33 * k]) + rng.bytes(3072) for k in range(n)))
    put(DATASETS / "cifar100" / "fine_label_names.txt", b"".join(b"fine %d\n" % i for i in range(100)))

    celeba = DATASETS / "celeba"
    shutil.rmtree(celeba, ignore_errors=True)
    n = 7  # torchvision cannot read a part with one photo
    attr = rng.integers(0, 2, (n, len(ATTRIBUTES))) * 2 - 1
    put(celeba / "list_attr_celeba.txt",
        (f"{n}\n{' '.join(ATTRIBUTES)}\n" + "".join(f"{i + 1:06d}.jpg " + " ".join(f"{v:2d}" for v in attr[i]) + "\n" for i in range(n))).encode())
    put(celeba / "list_eval_partition.txt", "".join(f"{i + 1:06d}.jpg {p}\n" for i, p in enumerate([0, 2, 1, 0, 2, 0, 1])).encode())
    for i in range(n):
        put(celeba / "img_align_celeba" / f"{i + 1:06d}.jpg", encoded("JPEG", i))

    folder = DATASETS / "imagefolder"
    shutil.rmtree(folder, ignore_errors=True)
    # Below a class the folder a-b sorts between a and a/c; 10 before 2; capitals first.
    for i, name in enumerate([
        "cats/2.png", "cats/10.PNG", "cats/B.png", "cats/a/1.png", "cats/a-b/1.png", "cats/a/c/1.png", "cats/Z/1.png",
        "Dogs/1.jpg", "Dogs/1.JPEG", "bird s/é.bmp", "bird s/e.bmp", "bird s/.png", "bird s/x.tar.png",
    ]):
        put(folder / "nested" / name, encoded({"g": "PNG", "p": "BMP"}.get(name[-1].lower(), "JPEG") if "j" not in name.lower() else "JPEG", i))
    put(folder / "nested" / "cats" / "notes.txt", b"not an image\n")
    put(folder / "nested" / "readme.png", b"not in a class\n")
    for i, name in enumerate(["cats/2.png", "cats/10.png", "Dogs/1.jpg", "Dogs/0.bmp", "birds/x.png"]):
        put(folder / "flat" / name, encoded({"png": "PNG", "bmp": "BMP", "jpg": "JPEG"}[name[-3:]], i))

    arrays = DATASETS / "numpyslices"
    shutil.rmtree(arrays, ignore_errors=True)
    arrays.mkdir(parents=True)
    a = {
        "image": rng.integers(0, 256, (5, 2, 3)).astype(np.uint8),
        "box": rng.standard_normal((5, 4)).astype(np.float32),
        "label": rng.integers(-9, 9, (5, 1)),
    }
    # numpy.savez dates its members 1980, so that the bytes are the same each time.
    np.savez(arrays / "all.npz", **a)
    for name in ("image", "box"):
        np.save(arrays / f"{name}.npy", a[name])


def pixels(d):
    for image, label in d:
        a = np.asarray(image)
        yield {"image": array(a.reshape(a.shape[0], a.shape[1], -1)), "label": integer(label)}


def mnist(tmp):
    cases = []
    for kind, cls in zip(MNIST_KINDS, (datasets.MNIST, datasets.FashionMNIST, datasets.KMNIST)):
        raw = tmp / cls.__name__ / "raw"
        raw.mkdir(parents=True)
        for f in (DATASETS / "mnist" / kind).iterdir():
            b = f.read_bytes()
            put(raw / f.name.removesuffix(".gz"), gzip.decompress(b) if f.suffix == ".gz" else b)
        for train in (True, False):
            d = cls(tmp, train=train)
            cases.append(case(kind, {"dir": f"mnist/{kind}", "usage": "train" if train else "test"}, pixels(d), d.class_to_idx))
    shutil.copytree(DATASETS / "mnist" / "emnist", tmp / "EMNIST" / "raw")
    for name, _, _ in EMNIST:
        for train in (True, False):
            d = datasets.EMNIST(tmp, split=name, train=train)
            cases.append(case("emnist", {"dir": "mnist/emnist", "name": name, "usage": "train" if train else "test"}, pixels(d), d.class_to_idx))
    write("mnist", "torchvision 0.29.2", cases)


def pickled(path, files, keys, names):
    """The files' records as the pickles that torchvision reads, without their checksums."""
    path.mkdir(parents=True)
    for f in files:
        a = np.frombuffer(f.read_bytes(), np.uint8).reshape(-1, len(keys) + 3072)
        entry = {key: a[:, i].tolist() for i, key in enumerate(keys)}
        entry["data"] = a[:, len(keys):]
        (path / f.stem).write_bytes(pickle.dumps(entry))
    (path / "meta").write_bytes(pickle.dumps(names))


def cifar(tmp):
    names = (DATASETS / "cifar10" / "batches.meta.txt").read_text().split()
    pickled(tmp / "c10", [DATASETS / "cifar10" / f for f in CIFAR10_FILES], ["labels"], {"label_names": names})

    class C10(datasets.CIFAR10):
        base_folder = "c10"
        train_list = [[f.removesuffix(".bin"), None] for f in CIFAR10_FILES[:5]]
        test_list = [["test_batch", None]]
        meta = {"filename": "meta", "key": "label_names", "md5": None}

    cases = []
    for train in (True, False):
        d = C10(tmp, train=train)
        cases.append(case("cifar10", {"dir": "cifar10", "usage": "train" if train else "test"}, pixels(d), d.class_to_idx))
    write("cifar10", "torchvision 0.29.2", cases)

    names = (DATASETS / "cifar100" / "fine_label_names.txt").read_text().splitlines()
    pickled(tmp / "c100", [DATASETS / "cifar100" / f for f in ("train.bin", "test.bin")],
            ["coarse_labels", "fine_labels"], {"fine_label_names": names})

    class C100(datasets.CIFAR100):
        base_folder = "c100"
        train_list = [["train", None]]
        test_list = [["test", None]]
        meta = {"filename": "meta", "key": "fine_label_names", "md5": None}

    cases = []
    for train in (True, False):
        d = C100(tmp, train=train)
        rows = ({"image": r["image"], "fine_label": r["label"]} for r in pixels(d))
        cases.append(case("cifar100", {"dir": "cifar100", "usage": "train" if train else "test"}, rows, d.class_to_idx))
    write("cifar100", "torchvision 0.29.2", cases)


def celeba(tmp):
    class C(datasets.CelebA):
        def _check_integrity(self):
            return True

    shutil.copytree(DATASETS / "celeba", tmp / "celeba")
    names = [line.split()[0] for line in (tmp / "celeba" / "list_eval_partition.txt").read_text().splitlines()]
    (tmp / "celeba" / "identity_CelebA.txt").write_text("".join(f"{n} 1\n" for n in names))
    for f, k in (("list_bbox_celeba.txt", 4), ("list_landmarks_align_celeba.txt", 10)):
        (tmp / "celeba" / f).write_text(f"{len(names)}\n" + " ".join(["x"] * k) + "\n" + "".join(n + " 1" * k + "\n" for n in names))
    cases = []
    for usage in ("train", "valid", "test", "all"):
        d = C(tmp, split=usage, target_type="attr")
        rows = [{"image": file(DATASETS / "celeba" / "img_align_celeba" / d.filename[i]), "attr": array(d[i][1].numpy())} for i in range(len(d))]
        cases.append(case("celeba", {"dir": "celeba", "images": "img_align_celeba", "usage": usage}, rows))
    write("celeba", "torchvision 0.29.2", cases)


def imagefolder():
    cases = []
    for name in ("nested", "flat"):
        d = datasets.ImageFolder(DATASETS / "imagefolder" / name)
        rows = ({"image": file(Path(p)), "label": integer(label)} for p, label in d.samples)
        cases.append(case("image_folder", {"dir": f"imagefolder/{name}", "extensions": EXTENSIONS, "class_indexing": {}}, rows, d.class_to_idx))
    assert tuple(EXTENSIONS) == datasets.folder.IMG_EXTENSIONS
    write("imagefolder", "torchvision 0.29.2", cases)


if __name__ == "__main__":
    make()
    with tempfile.TemporaryDirectory() as t:
        mnist(Path(t))
        cifar(Path(t))
        celeba(Path(t))
    imagefolder()
