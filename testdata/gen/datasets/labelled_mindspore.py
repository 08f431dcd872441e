"""Writes what MindSpore's classes read from the sets that labelled.py makes: mindspore.json in each set's folder.

Needs Python 3.11, MindSpore 2.10.0 with the SciPy that it installs, and NumPy 2.4.6 (requirements-mindspore.txt). Every run gives the same bytes.
Caltech101Dataset, Flowers102Dataset and SVHNDataset pass the scalars of their readers to numpy.array(copy=False), which NumPy 2
refuses; the rows are therefore those of the readers themselves (_Caltech101Dataset and so on), as they return them. Food101Dataset
returns the names of classes; they are numbered here in the order of classes.txt.
"""

import gzip
import shutil
import tempfile
from pathlib import Path

import mindspore.dataset as ds
from mindspore.dataset.engine import datasets_vision as readers

from shared import DATASETS, array, case, encoded, integer, write
from labelled_files import source

FILES = ("image", "image1", "image2", "segmentation")


def value(name, v, pixels):
    if name in FILES and not pixels:
        return encoded(v.tobytes())
    return integer(v) if isinstance(v, int) else array(v)


def rows(d, pixels=False):
    names = d.get_col_names()
    return [{n: value(n, v, pixels) for n, v in zip(names, r, strict=True)} for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def read(d, pixels=False):
    return [{n: value(n, v, pixels) for n, v in zip(d.column_names, d[i], strict=True)} for i in range(len(d))]


def food101(name, _):
    names = (DATASETS / name / "meta" / "classes.txt").read_text().split()
    for usage in ("train", "test", "all"):
        out = rows(ds.Food101Dataset(str(DATASETS / name), usage=usage, shuffle=False))
        for r in out:
            r["label"] = integer(names.index(r["label"]["data"][0]))
        yield case(source(name), {"dir": name, "usage": usage, "lists": "txt"}, out)


def flowers102(name, _):
    for task in ("Classification", "Segmentation"):
        for usage in ("train", "valid", "test", "all"):
            d = readers._Flowers102Dataset(str(DATASETS / name), task, usage, False)
            yield case(source(name), {"dir": name, "usage": usage, "segmentation": task == "Segmentation"}, read(d))


def caltech101(name, _):
    for target in ("category", "annotation", "all"):
        d = readers._Caltech101Dataset(str(DATASETS / name), target)
        yield case(source(name), {"dir": name, "target": target}, read(d))


def caltech256(name, _):
    d = f"{name}/256_ObjectCategories"
    yield case(source(name), {"dir": d}, rows(ds.Caltech256Dataset(str(DATASETS / d), shuffle=False)))


def svhn(name, _):
    for usage in ("train", "test", "extra", "all"):
        yield case(source(name), {"dir": name, "usage": usage}, read(readers._SVHNDataset(str(DATASETS / name), usage), True))


def unpacked(name, tmp):
    for f in (DATASETS / name).iterdir():
        b = f.read_bytes()
        (tmp / f.name.removesuffix(".gz")).write_bytes(gzip.decompress(b) if f.suffix == ".gz" else b)
    return str(tmp)


def stl10(name, tmp):
    folder = unpacked(name, tmp)
    for usage in ("train", "test", "unlabeled", "train+unlabeled", "all"):
        yield case(source(name), {"dir": name, "usage": usage, "fold": -1}, rows(ds.STL10Dataset(folder, usage=usage, shuffle=False), True))


def places365(name, _):
    for usage, small in (("train-standard", True), ("train-standard", False), ("train-challenge", True), ("val", True), ("val", False)):
        d = ds.Places365Dataset(str(DATASETS / name), usage=usage, small=small, shuffle=False)
        yield case(source(name), {"dir": name, "usage": usage, "small": small}, rows(d))


def sun397(name, _):
    yield case(source(name), {"dir": name}, rows(ds.SUN397Dataset(str(DATASETS / name), shuffle=False)))


def renderedsst2(name, _):
    for usage in ("train", "val", "test", "all"):
        yield case(source(name), {"dir": name, "usage": usage}, rows(ds.RenderedSST2Dataset(str(DATASETS / name), usage=usage, shuffle=False)))


def lfw(name, _):
    for task in ("people", "pairs"):
        for usage in ("10fold", "train", "test", "all"):
            d = ds.LFWDataset(str(DATASETS / name), task=task, usage=usage, shuffle=False)
            yield case(source(name), {"dir": name, "task": task, "usage": usage, "image_set": "funneled"}, rows(d))


def usps(name, _):
    # MindSpore reads the unpacked files, which lie beside the packed ones.
    for usage in ("train", "test", "all"):
        yield case(source(name), {"dir": name, "usage": usage}, rows(ds.USPSDataset(str(DATASETS / name), usage=usage, shuffle=False), True))


def semeion(name, _):
    # Images have no axis of channels there.
    d = ds.SemeionDataset(str(DATASETS / name), shuffle=False)
    out = [{"image": array(im[..., None]), "label": array(label)} for im, label in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    yield case(source(name), {"dir": name, "white": 1}, out)


def qmnist(name, tmp):
    folder = unpacked(name, tmp)
    for usage in ("train", "test", "nist", "all"):
        for compat in (True, False):
            d = ds.QMnistDataset(folder, usage=usage, compat=compat, shuffle=False)
            yield case(source(name), {"dir": name, "usage": usage, "compat": compat}, rows(d, True))


def main():
    ds.config.set_num_parallel_workers(1)
    for f in (food101, flowers102, caltech101, caltech256, svhn, stl10, places365, sun397, renderedsst2, lfw, usps, semeion, qmnist):
        tmp = Path(tempfile.mkdtemp())
        try:
            write(f.__name__, "MindSpore 2.10.0", list(f(f.__name__, tmp)))
        finally:
            shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
