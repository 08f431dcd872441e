"""Writes what MindSpore's classes read from the sets that movingmnist_phototour.py makes: mindspore.json in each set's folder.

It also writes testdata/datasets/mindspore.txt, the names of all of MindSpore's vision sets.

Needs Python 3.11, MindSpore 2.10.0 with the SciPy that it installs, and NumPy 2.4.6 (requirements-mindspore.txt). Every run gives
the same bytes. PhotoTourDataset wants pictures of 16 x 16 patches: the patches are put into such a picture, in their order.
SBDataset's rows are those of its reader.
"""

import shutil
import tempfile
from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset.engine import datasets_vision as readers
from PIL import Image

from shared import DATASETS, array, case, encoded, write

SIDE = 64


def phototour(name, tmp):
    folder = tmp / "liberty"
    folder.mkdir()
    picture, n = np.zeros((16 * SIDE, 16 * SIDE), np.uint8), 0
    for f in sorted((DATASETS / name / "liberty").iterdir()):
        if f.suffix != ".bmp":
            shutil.copy(f, folder)
            continue
        a = np.asarray(Image.open(f))
        for y in range(0, a.shape[0], SIDE):
            for x in range(0, a.shape[1], SIDE):
                picture[n // 16 * SIDE:, n % 16 * SIDE:][:SIDE, :SIDE] = a[y:y + SIDE, x:x + SIDE]
                n += 1
    Image.fromarray(picture).save(folder / "patches0000.bmp")
    for usage in ("train", "test"):
        d = ds.PhotoTourDataset(str(tmp), "liberty", usage=usage, shuffle=False)
        names = d.get_col_names()
        out = [dict(zip(names, map(array, r), strict=True)) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        yield case("photo_tour", {"dir": name + "/liberty", "usage": usage}, out)


def sbdataset(name, _):
    for usage in ("train", "val", "train_noval", "all"):
        for task in ("Boundaries", "Segmentation"):
            d = readers._SBDataset(str(DATASETS / name), task, usage, False)
            out = [{"image": encoded(image.tobytes()), "task": array(np.asarray(t))} for image, t in (d[i] for i in range(len(d)))]
            yield case("sb_dataset", {"dir": name, "usage": usage, "task": task.lower()}, out)


def names():
    """The vision sets that MindSpore exports."""
    sets = {k for k in readers.__dict__ if k.endswith("Dataset") and getattr(ds, k, None) is readers.__dict__[k] and readers.__dict__[k].__module__ == readers.__name__}
    (DATASETS / "mindspore.txt").write_text("".join(n + "\n" for n in sorted(sets)))


def main():
    names()
    ds.config.set_num_parallel_workers(1)
    for f in (phototour, sbdataset):
        tmp = Path(tempfile.mkdtemp())
        try:
            write(f.__name__, "MindSpore 2.10.0", list(f(f.__name__, tmp)))
        finally:
            shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
