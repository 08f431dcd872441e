"""Writes what MindSpore's classes read from the datasets that mnist_cifar.py makes:
mindspore.json in each dataset's folder.

Run with Python 3.11, MindSpore 2.10.0 and NumPy 2.4.6. Every run gives the same bytes.
"""

import gzip
import shutil
import tempfile
from pathlib import Path

import mindspore.dataset as ds
import numpy as np

from shared import CIFAR10_FILES, DATASETS, EMNIST, EXTENSIONS, MNIST_KINDS, array, case, encoded, write

REFERENCE = "MindSpore 2.10.0"


def rows(d, files=(), pick=None):
    """The rows of a dataset, of which files are the columns with encoded images."""
    out = []
    names = d.get_col_names()
    for i, r in enumerate(d.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        if pick is None or i in pick:
            out.append({n: encoded(v.tobytes()) if n in files else array(v) for n, v in zip(names, r, strict=True)})
    return out


def mnist(tmp):
    cases = []
    for kind, cls in zip(MNIST_KINDS, (ds.MnistDataset, ds.FashionMnistDataset, ds.KMnistDataset)):
        raw = tmp / kind
        raw.mkdir()
        for f in (DATASETS / "mnist" / kind).iterdir():
            b = f.read_bytes()
            (raw / f.name.removesuffix(".gz")).write_bytes(gzip.decompress(b) if f.suffix == ".gz" else b)
        for usage in ("train", "test", "all"):
            cases.append(case(kind, {"dir": f"mnist/{kind}", "usage": usage}, rows(cls(str(raw), usage=usage, shuffle=False))))
    for name, _, _ in EMNIST:
        for usage in ("train", "test", "all"):
            d = ds.EMnistDataset(str(DATASETS / "mnist" / "emnist"), name=name, usage=usage, shuffle=False)
            cases.append(case("emnist", {"dir": "mnist/emnist", "name": name, "usage": usage}, rows(d)))
    write("mnist", REFERENCE, cases)


def cifar(tmp, name, cls, record, files):
    """MindSpore wants files of so many records, so ours are repeated, and the first of each are kept."""
    big = tmp / name
    big.mkdir()
    have = {}
    for f, n in files.items():
        b = (DATASETS / name / f).read_bytes()
        have[f] = len(b) // record
        (big / f).write_bytes((b * (n // have[f] + 1))[:n * record])
    cases = []
    for usage in ("train", "test", "all"):
        # The order in which MindSpore reads files, by name, is checked by what is in them.
        use = [f for f in sorted(files) if usage == "all" or (usage == "test") == ("test" in f)]
        pick, at = set(), 0
        for f in use:
            pick |= {at + i for i in range(have[f])}
            at += files[f]
        d = cls(str(big), usage=usage, shuffle=False)
        assert d.get_dataset_size() == at
        cases.append(case(name, {"dir": name, "usage": usage}, rows(d, pick=pick)))
    write(name, REFERENCE, cases)


def celeba(tmp):
    # The images are beside the lists.
    flat = tmp / "celeba"
    flat.mkdir()
    for f in DATASETS.glob("celeba/*.txt"):
        shutil.copy(f, flat)
    for f in DATASETS.glob("celeba/img_align_celeba/*"):
        shutil.copy(f, flat)
    cases = []
    for usage in ("train", "valid", "test", "all"):
        d = ds.CelebADataset(str(flat), usage=usage, shuffle=False)
        cases.append(case("celeba", {"dir": "celeba", "images": "img_align_celeba", "usage": usage}, rows(d, files=["image"])))
    write("celeba", REFERENCE, cases)


def imagefolder():
    cases = []
    flat = str(DATASETS / "imagefolder" / "flat")
    for classes in ({}, {"cats": 7, "Dogs": 3}, {"birds": 0, "cats": 0, "Dogs": -1}):
        d = ds.ImageFolderDataset(flat, shuffle=False, class_indexing=classes or None)
        r = rows(d, files=["image"])
        params = {"dir": "imagefolder/flat", "extensions": EXTENSIONS, "class_indexing": dict(sorted(classes.items()))}
        cases.append(case("image_folder", params, r, dict(d.get_class_indexing()) if classes else None))
    write("imagefolder", REFERENCE, cases)


def numpyslices():
    cases = []
    data = dict(np.load(DATASETS / "numpyslices" / "all.npz"))
    usual = {"names": [], "layouts": [], "max_bytes": 1 << 30}
    cases.append(case("numpy_slices", {"files": ["numpyslices/all.npz"]} | usual, rows(ds.NumpySlicesDataset(data, shuffle=False))))
    two = (data["image"], data["box"])
    params = {"files": ["numpyslices/image.npy", "numpyslices/box.npy"]}
    cases.append(case("numpy_slices", params | usual, rows(ds.NumpySlicesDataset(two, shuffle=False))))
    cases.append(case("numpy_slices", params | usual | {"names": ["a", "b"]}, rows(ds.NumpySlicesDataset(two, column_names=["a", "b"], shuffle=False))))
    write("numpyslices", REFERENCE, cases)


if __name__ == "__main__":
    ds.config.set_num_parallel_workers(1)
    with tempfile.TemporaryDirectory() as t:
        mnist(Path(t))
        cifar(Path(t), "cifar10", ds.Cifar10Dataset, 3073, dict.fromkeys(CIFAR10_FILES, 10000))
        cifar(Path(t), "cifar100", ds.Cifar100Dataset, 3074, {"train.bin": 50000, "test.bin": 10000})
        celeba(Path(t))
    imagefolder()
    numpyslices()
