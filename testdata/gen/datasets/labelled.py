"""Makes the small sets of labelled_files.py, and writes what torchvision's classes read from them: torchvision.json in each
set's folder.

Needs Python 3.11 and requirements-datasets.txt (torchvision 0.29.2, SciPy 1.17.1). Every run gives the same bytes. The checksums
that torchvision has of the real files are not compared: check_integrity is replaced. The images of a row are the files that the
class opened for it, or its pixels where a file has many images. A missing label is None there and -1 here. What MindSpore reads is
written by labelled_mindspore.py, which must run after this.
"""

import gzip
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import PIL.Image
from scipy.io import loadmat
from torchvision import datasets
from torchvision.datasets import caltech, fer2013, flowers102, imagenet, lfw, mnist, places365, semeion, stl10, svhn

import labelled_files
from shared import DATASETS, array, case, file, integer, write
from labelled_files import source

REFERENCE = "torchvision 0.29.2"
opened = []


def record(real):
    def open_image(f, *args, **kw):
        opened.append(Path(f if isinstance(f, (str, Path)) else f.name).resolve())
        return real(f, *args, **kw)
    return open_image


PIL.Image.open = record(PIL.Image.open)
for m in (fer2013, flowers102, imagenet, lfw, mnist, places365, semeion, stl10, svhn):
    m.check_integrity = lambda *args, **kw: True

tmp = Path(tempfile.mkdtemp())


def root(name, folder):
    """A root with the set's folder under torchvision's name."""
    to = tmp / name / folder
    to.parent.mkdir(parents=True, exist_ok=True)
    if not to.exists():
        to.symlink_to(DATASETS / name)
    return tmp / name


def value(v):
    if v is None:
        return integer(-1)
    return array(v) if isinstance(v, np.ndarray) else integer(v)


def rows(d, files=("image",), values=("label",)):
    """The files and values of each row, by columns."""
    for i in range(len(d)):
        opened.clear()
        r = d[i]
        target = r[len(files):] if len(files) > 1 and len(r) > 2 else r[1]
        if not isinstance(target, tuple):
            target = (target,)
        target = [t for t in target if not isinstance(t, PIL.Image.Image)]
        out = dict(zip(files, map(file, opened), strict=True))
        yield out | dict(zip(values, map(value, target), strict=True))


def pixels(d):
    """Pixels as HWC, also of grey images."""
    for i in range(len(d)):
        image, label = d[i]
        a = np.asarray(image)
        yield {"image": array(a.reshape(*a.shape[:2], -1)), "label": value(label)}


def food101(name):
    r = root(name, "food-101")
    for usage in ("train", "test"):
        d = datasets.Food101(r, split=usage)
        yield case(source(name), {"dir": name, "usage": usage, "lists": "json"}, rows(d), d.class_to_idx)


def flowers(name):
    r = root(name, "flowers-102")
    for usage in ("train", "val", "test"):
        d = datasets.Flowers102(r, split=usage)
        params = {"dir": name, "usage": usage.replace("val", "valid"), "segmentation": False}
        yield case(source(name), params, rows(d), {c: i for i, c in enumerate(d.classes)})


def caltech101(name):
    r = root(name, "caltech101")
    for target, types in (("category", ["category"]), ("annotation", ["annotation"]), ("all", ["category", "annotation"])):
        d = datasets.Caltech101(r, target_type=types)
        yield case(source(name), {"dir": name, "target": target}, rows(d, values=types), {c: i for i, c in enumerate(d.categories)})


def caltech256(name):
    d = datasets.Caltech256(root(name, "caltech256"))
    yield case(source(name), {"dir": name + "/256_ObjectCategories"}, rows(d), {c: i for i, c in enumerate(d.categories)})


def dtd(name):
    # torchvision's folder is ROOT/dtd/dtd.
    r = root(name, "dtd/dtd")
    for usage, partition in (("train", 1), ("val", 1), ("test", 1), ("train", 10)):
        d = datasets.DTD(r, split=usage, partition=partition)
        yield case(source(name), {"dir": name, "usage": usage, "partition": partition}, rows(d), d.class_to_idx)


def eurosat(name):
    d = datasets.EuroSAT(root(name, "eurosat"))
    yield case(source(name), {"dir": name}, rows(d), d.class_to_idx)


def oxfordpet(name):
    r = root(name, "oxford-iiit-pet")
    for usage in ("trainval", "test"):
        for target, files, values, types in (("category", ["image"], ["label"], "category"), ("binary", ["image"], ["label"], "binary-category"),
                                             ("segmentation", ["image", "segmentation"], [], "segmentation"),
                                             ("all", ["image", "segmentation"], ["label", "species"], ["category", "binary-category", "segmentation"])):
            d = datasets.OxfordIIITPet(r, split=usage, target_types=types)
            classes = d.bin_class_to_idx if target == "binary" else d.class_to_idx
            yield case(source(name), {"dir": name, "usage": usage, "target": target}, rows(d, files, values), classes)


def svhn_set(name):
    for usage in ("train", "test", "extra"):
        yield case(source(name), {"dir": name, "usage": usage}, pixels(datasets.SVHN(DATASETS / name, split=usage)))


def unpacked(name, folder):
    to = tmp / name / folder
    to.mkdir(parents=True, exist_ok=True)
    for f in (DATASETS / name).iterdir():
        b = f.read_bytes()
        (to / f.name.removesuffix(".gz")).write_bytes(gzip.decompress(b) if f.suffix == ".gz" else b)
    return tmp / name


def stl10_set(name):
    r = unpacked(name, "stl10_binary")
    for usage in ("train", "test", "unlabeled", "train+unlabeled"):
        for fold in (None, 1) if usage.startswith("train") else (None,):
            d = datasets.STL10(r, split=usage, folds=fold)
            params = {"dir": name, "usage": usage, "fold": -1 if fold is None else fold}
            yield case(source(name), params, pixels(d), {c: i for i, c in enumerate(d.classes)})


def places(name):
    for usage, small in (("train-standard", True), ("train-standard", False), ("train-challenge", True), ("val", True), ("val", False), ("test", True)):
        d = datasets.Places365(DATASETS / name, split=usage, small=small)
        yield case(source(name), {"dir": name, "usage": usage, "small": small}, rows(d), d.class_to_idx)


def gtsrb(name):
    r = root(name, "gtsrb")
    for usage in ("train", "test"):
        yield case(source(name), {"dir": name, "usage": usage}, rows(datasets.GTSRB(r, split=usage)))


def fgvcaircraft(name):
    r = root(name, "fgvc-aircraft-2013b")
    for usage in ("train", "val", "trainval", "test"):
        for level in ("variant", "family", "manufacturer"):
            d = datasets.FGVCAircraft(r, split=usage, annotation_level=level)
            yield case(source(name), {"dir": name, "usage": usage, "level": level}, rows(d), d.class_to_idx)


def sun397(name):
    # torchvision's order is that of the file system; here it is that of the paths.
    d = datasets.SUN397(root(name, "SUN397"))
    pairs = sorted(zip(d._image_files, d._labels))
    d._image_files, d._labels = [p for p, _ in pairs], [n for _, n in pairs]
    yield case(source(name), {"dir": name}, rows(d), d.class_to_idx)


def country211(name):
    r = root(name, "country211")
    for usage in ("train", "valid", "test"):
        d = datasets.Country211(r, split=usage)
        yield case(source(name), {"dir": name, "usage": usage}, rows(d), d.class_to_idx)


def renderedsst2(name):
    r = root(name, "rendered-sst2")
    for usage in ("train", "val", "test"):
        d = datasets.RenderedSST2(r, split=usage)
        yield case(source(name), {"dir": name, "usage": usage}, rows(d), d.class_to_idx)


def stanfordcars(name):
    r = root(name, "stanford_cars")
    for usage in ("train", "test"):
        d = datasets.StanfordCars(r, split=usage)
        yield case(source(name), {"dir": name, "usage": usage}, rows(d), d.class_to_idx)


def imagenette(name):
    r = root(name, "imagenette2")
    for usage in ("train", "val"):
        d = datasets.Imagenette(r, split=usage)
        yield case(source(name), {"dir": name, "usage": usage}, rows(d), d.class_to_idx)


def imagenet_set(name):
    # torchvision reads the devkit from its archive, and writes meta.bin.
    r = tmp / name
    r.mkdir()
    with_truth = tmp / "devkit" / "ILSVRC2012_devkit_t12"
    shutil.copytree(DATASETS / name / "ILSVRC2012_devkit_t12", with_truth)
    (with_truth / "data" / "ILSVRC2012_validation_ground_truth.txt").write_text("3\n1\n2\n")
    shutil.make_archive(str(r / "ILSVRC2012_devkit_t12"), "gztar", with_truth.parent, "ILSVRC2012_devkit_t12")
    imagenet.parse_devkit_archive(r)
    for part in ("train", "val"):
        (r / part).symlink_to(DATASETS / name / part)
    for usage in ("train", "val"):
        d = datasets.ImageNet(r, split=usage)
        yield case(source(name), {"dir": name, "usage": usage}, rows(d), d.class_to_idx)


def inaturalist(name):
    # torchvision's order within a class is that of the file system; here it is that of the names.
    for version, targets in (("2021_train", ["full", "kingdom", "phylum", "class", "order", "family", "genus"]), ("2017", ["full", "super"]), ("2018", ["full", "super"])):
        for target in targets:
            d = datasets.INaturalist(DATASETS / name, version=version, target_type=target)
            d.index.sort()
            names = {c: i for i, c in enumerate(d.all_categories)} if target == "full" else d.categories_index[target]
            yield case(source(name), {"dir": f"{name}/{version}", "version": version, "target": target}, rows(d), names)


def lfw_set(name):
    r = root(name, "lfw-py")
    for usage in ("10fold", "train", "test"):
        d = datasets.LFWPeople(r, split=usage)
        yield case("lfw", {"dir": name, "task": "people", "usage": usage, "image_set": "funneled"}, rows(d), d.class_to_idx)
        d = datasets.LFWPairs(r, split=usage)
        yield case("lfw", {"dir": name, "task": "pairs", "usage": usage, "image_set": "funneled"}, rows(d, ["image1", "image2"]))


def clevr(name):
    r = root(name, "clevr/CLEVR_v1.0")
    for usage in ("train", "val", "test"):
        yield case(source(name), {"dir": name, "usage": usage}, rows(datasets.CLEVRClassification(r, split=usage)))


def fer(name):
    for kind in ("fer", "icml", "challenge"):
        r = tmp / name / kind
        r.mkdir(parents=True)
        (r / "fer2013").symlink_to(DATASETS / name / kind)
        for usage in ("train", "test"):
            yield case(source(name), {"dir": f"{name}/{kind}", "usage": usage}, pixels(datasets.FER2013(r, split=usage)))


def usps(name):
    for usage in ("train", "test"):
        yield case(source(name), {"dir": name, "usage": usage}, pixels(datasets.USPS(DATASETS / name, train=usage == "train")))


def semeion_set(name):
    yield case(source(name), {"dir": name, "white": 255}, pixels(datasets.SEMEION(DATASETS / name, download=False)))


def qmnist(name):
    r = unpacked(name, "QMNIST/raw")
    for usage in ("train", "test", "test10k", "nist"):
        for compat in (True, False):
            d = datasets.QMNIST(r, what=usage, compat=compat)
            out = [{"image": array(np.asarray(im)[..., None]), "label": integer(t) if compat else array(t.numpy())} for im, t in (d[i] for i in range(len(d)))]
            yield case(source(name), {"dir": name, "usage": usage, "compat": compat}, out, d.class_to_idx)


def described(a):
    """An array of a MATLAB file as dataset/sets/internal/matfile gives it, in column-major order."""
    d = {"dims": list(a.shape)}
    if a.dtype.names:
        return d | {"fields": list(a.dtype.names), "cells": [described(e[n]) for e in a.ravel("F") for n in a.dtype.names]}
    if a.dtype == object:
        return d | {"cells": [described(e) for e in a.ravel("F")]}
    if a.dtype.kind == "U":
        return {"text": "".join(a.ravel().tolist())}
    return d | {"numbers": [repr(float(v)) for v in a.ravel("F").tolist()]}


def matfiles():
    """What SciPy reads from the files of labelled_files.matfiles."""
    files = {}
    for name in ("packed", "plain", "big_endian"):
        m = loadmat(DATASETS / "matfile" / f"{name}.mat", chars_as_strings=True)
        files[name] = {k: described(v) for k, v in m.items() if not k.startswith("__")}
    (DATASETS / "matfile" / "scipy.json").write_text(json.dumps({"reference": "SciPy 1.17.1", "files": files}, indent=1) + "\n")


SETS = {"food101": food101, "flowers102": flowers, "caltech101": caltech101, "caltech256": caltech256, "dtd": dtd, "eurosat": eurosat, "oxfordpet": oxfordpet,
        "svhn": svhn_set, "stl10": stl10_set, "places365": places, "gtsrb": gtsrb, "fgvcaircraft": fgvcaircraft, "sun397": sun397, "country211": country211,
        "renderedsst2": renderedsst2, "stanfordcars": stanfordcars, "imagenette": imagenette, "imagenet": imagenet_set, "inaturalist": inaturalist, "lfw": lfw_set,
        "clevr": clevr, "fer2013": fer, "usps": usps, "semeion": semeion_set, "qmnist": qmnist}


def main():
    labelled_files.make()
    try:
        for name, f in SETS.items():
            write(name, REFERENCE, list(f(name)))
        matfiles()
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
