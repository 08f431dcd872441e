"""Makes the small sets of lmdb_hdf5_files.py, and writes what torchvision's classes read from them: torchvision.json in each
set's folder. It also writes what CocoCaptions reads, from a file of annotated.py.

Needs Python 3.11, requirements.txt (torchvision 0.29.2) and requirements-datasets6.txt. Every run gives the same bytes. The images of
a row are the bytes that the class opened for it.
"""

import contextlib
import io
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import PIL.Image
from torchvision import datasets

import lmdb_hdf5_files
from shared import DATASETS, array, case, encoded, integer, write

tmp = Path(tempfile.mkdtemp())
opened = []
real_open = PIL.Image.open


def open_image(f, *args, **kw):
    opened.append(f.getvalue())
    return real_open(f, *args, **kw)


def rows(d, label):
    for i in range(len(d)):
        opened.clear()
        _, target = d[i]
        assert len(opened) == 1
        yield {"image": encoded(opened[0]), "label": integer(label(target))}


def lsun(name):
    PIL.Image.open = open_image
    root = str(DATASETS / name)
    for classes in (["val"], ["test"], ["bedroom_train", "tower_train"], ["tower_train", "bedroom_val", "bedroom_train"]):
        d = datasets.LSUN(root, classes[0] if len(classes) == 1 else classes)
        yield case("lsun", {"dir": name, "classes": classes}, rows(d, int), {c: i for i, c in enumerate(d.classes)})
    d = datasets.lsun.LSUNClass(root + "/bedroom_train_lmdb")
    yield case("lsun", {"dir": name + "/bedroom_train_lmdb", "classes": []}, rows(d, lambda target: -1))
    PIL.Image.open = real_open


def pcam(name):
    (tmp / "pcam").symlink_to(DATASETS / name)
    for usage in ("train", "val", "test"):
        d = datasets.PCAM(tmp, usage)
        out = [{"image": array(np.asarray(image)), "label": integer(label)} for image, label in (d[i] for i in range(len(d)))]
        yield case("pcam", {"dir": name, "usage": usage}, out)


def captions():
    """What CocoCaptions reads from the file that annotated.py makes."""
    with contextlib.redirect_stdout(io.StringIO()):
        d = datasets.CocoCaptions(DATASETS / "coco" / "images", DATASETS / "coco" / "captions.json")
    images = [{"file": d.coco.loadImgs(n)[0]["file_name"], "annotations": [{"caption": c} for c in d[i][1]]} for i, n in enumerate(d.ids)]
    (DATASETS / "coco" / "torchvision_captions.json").write_text(json.dumps({"reference": "torchvision 0.29.2", "cases": [{"name": "captions", "images": images}]}, indent=0) + "\n")


def main():
    lmdb_hdf5_files.make()
    os.chdir(tmp)  # LSUN writes caches of its keys there
    try:
        for f in (lsun, pcam):
            write(f.__name__, "torchvision 0.29.2", list(f(f.__name__)))
        captions()
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
