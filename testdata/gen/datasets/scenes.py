"""Makes the small sets of scenes_files.py, and writes what torchvision's classes read from them: torchvision.json in each
set's folder.

Needs Python 3.11 and requirements-datasets.txt (torchvision 0.29.2). Every run gives the same bytes. The checksums that torchvision
has of the real archives are not compared: check_integrity is replaced. os.listdir is sorted, since torchvision's order is that of the
file system. The images of a row are the files that the class opened for it. Numbers that are Python's are float32 here, and KITTI's
types are numbered in the order of their names, as in MindSpore. What MindSpore reads is written by scenes_mindspore.py, which must
run after this.
"""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import PIL.Image
from torchvision import datasets
from torchvision.datasets import cityscapes as cityscapes_module
from torchvision.datasets import omniglot as omniglot_module
from torchvision.datasets import sbu as sbu_module

import scenes_files
from shared import DATASETS, array, case, encoded, file, integer, write
from scenes_files import source

REFERENCE = "torchvision 0.29.2"
opened = []
real_open, real_list, real_load = PIL.Image.open, os.listdir, cityscapes_module.Cityscapes._load_json


def open_image(f, *args, **kw):
    opened.append(Path(f if isinstance(f, (str, Path)) else f.name).resolve())
    return real_open(f, *args, **kw)


def load_json(self, path):
    opened.append(Path(path).resolve())
    return real_load(self, path)


PIL.Image.open = open_image
cityscapes_module.Cityscapes._load_json = load_json
os.listdir = lambda *args: sorted(real_list(*args))
omniglot_module.check_integrity = sbu_module.check_integrity = lambda *args, **kw: True
tmp = Path(tempfile.mkdtemp())


def root(name, folder):
    """A root with the set's folder under torchvision's name."""
    to = tmp / name / folder
    to.parent.mkdir(parents=True, exist_ok=True)
    to.symlink_to(DATASETS / name)
    return tmp / name


def rows(d, columns, values=lambda target: {}):
    """The files that a row opens, by columns, and its values."""
    for i in range(len(d)):
        opened.clear()
        target = d[i][1]
        yield dict(zip(columns, map(file, opened), strict=True)) | values(target)


def cityscapes(name):
    for quality, usages in (("fine", ("train", "test", "val")), ("coarse", ("train", "train_extra", "val"))):
        for usage in usages:
            for task in ("instance", "semantic", "polygon", "color"):
                d = datasets.Cityscapes(DATASETS / name, split=usage, mode=quality, target_type=task)
                yield case(source(name), {"dir": name, "usage": usage, "quality": quality, "task": task}, rows(d, ["image", "task"]))


def kitti(name):
    r = tmp / name
    (r / "Kitti" / "raw" / "training").mkdir(parents=True)
    for to, part in (("training/image_2", "data_object_image_2/training/image_2"), ("training/label_2", "data_object_label_2/training/label_2"), ("testing", "data_object_image_2/testing")):
        (r / "Kitti" / "raw" / to).symlink_to(DATASETS / name / part)
    train = datasets.Kitti(r)
    names = {n: i for i, n in enumerate(sorted({o["type"] for _, t in train for o in t}))}

    def values(target):
        column = lambda k, n, t: array(np.array([o[k] for o in target], t).reshape(-1, n))
        return {"label": array(np.array([names[o["type"]] for o in target], np.int32)[:, None]), "truncated": column("truncated", 1, np.float32),
                "occluded": column("occluded", 1, np.int32), "alpha": column("alpha", 1, np.float32), "bbox": column("bbox", 4, np.float32),
                "dimensions": column("dimensions", 3, np.float32), "location": column("location", 3, np.float32), "rotation_y": column("rotation_y", 1, np.float32)}

    yield case(source(name), {"dir": name, "usage": "train"}, rows(train, ["image"], values), names)
    yield case(source(name), {"dir": name, "usage": "test"}, rows(datasets.Kitti(r, train=False), ["image"]))


def widerface(name):
    r = root(name, "widerface")
    for usage in ("train", "val", "test"):
        d = datasets.WIDERFace(r, split=usage)
        values = (lambda t: {}) if usage == "test" else lambda t: {k: array(v.numpy()) for k, v in t.items()}
        yield case(source(name), {"dir": name, "usage": usage.replace("val", "valid")}, rows(d, ["image"], values))


def flickr(name, token):
    d = datasets.Flickr30k(str(DATASETS / name / "images"), str(DATASETS / name / token))
    params = {"dir": name + "/images", "annotations": f"../../../testdata/datasets/{name}/{token}"}
    # The source joins the captions of an image by newlines.
    yield case(source(name), params, rows(d, ["image"], lambda t: {"annotation": encoded("\n".join(t).encode())}))


def flickr8k(name):
    return flickr(name, "Flickr8k.token.txt")


def flickr30k(name):
    return flickr(name, "results_20130124.token")


def omniglot(name):
    r = root(name, "omniglot-py")
    for background in (True, False):
        d = datasets.Omniglot(r, background=background)
        yield case(source(name), {"dir": name, "background": background}, rows(d, ["image"], lambda t: {"label": integer(t)}), {c: i for i, c in enumerate(d._characters)})


def sbu(name):
    # torchvision's images lie beside the lists, with shorter names.
    d = datasets.SBU(DATASETS / name / "torchvision", download=False)
    yield case(source(name), {"dir": name + "/torchvision/dataset"}, rows(d, ["image"], lambda t: {"caption": encoded(t.encode())}))


def main():
    scenes_files.make()
    try:
        for f in (cityscapes, kitti, widerface, flickr8k, flickr30k, omniglot, sbu):
            write(f.__name__, REFERENCE, list(f(f.__name__)))
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
