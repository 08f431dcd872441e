"""Makes the small sets of movingmnist_phototour_files.py, and writes what torchvision's classes read from them: torchvision.json in each
set's folder.

It also writes testdata/datasets/torchvision.txt, the names of all of torchvision's sets.

Needs Python 3.11 and requirements-datasets.txt (torchvision 0.29.2, SciPy 1.17.1). Every run gives the same bytes. Run
movingmnist_phototour_mindspore.py after this: it writes what MindSpore reads.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from torchvision import datasets

import movingmnist_phototour_files
from shared import DATASETS, array, case, file, integer, write

tmp = Path(tempfile.mkdtemp())


def movingmnist(name):
    (tmp / "MovingMNIST").symlink_to(DATASETS / name)
    for usage in ("all", "train", "test"):
        for frames in (10, 3):
            d = datasets.MovingMNIST(tmp, split=None if usage == "all" else usage, split_ratio=frames)
            yield case("moving_mnist", {"dir": name, "usage": usage, "split_ratio": frames}, [{"image": array(d[i].numpy())} for i in range(len(d))])


def phototour(name):
    # torchvision writes a cache beside the folder. Its patches have no axis of channels.
    (tmp / "liberty").symlink_to(DATASETS / name / "liberty")
    patch = lambda a: array(a.numpy()[..., None])
    d = datasets.PhotoTour(tmp, "liberty", train=True)
    yield case("photo_tour", {"dir": name + "/liberty", "usage": "train"}, [{"image": patch(d[i])} for i in range(len(d))])
    d = datasets.PhotoTour(tmp, "liberty", train=False)
    yield case("photo_tour", {"dir": name + "/liberty", "usage": "test"},
               [{"image1": patch(a), "image2": patch(b), "matches": integer(m)} for a, b, m in (d[i] for i in range(len(d)))])


def sbdataset(name):
    for usage in ("train", "val", "train_noval"):
        for mode in ("boundaries", "segmentation"):
            d = datasets.SBDataset(DATASETS / name, image_set=usage, mode=mode)
            out = [{"image": file(Path(d.images[i])), "task": array(np.asarray(d[i][1]))} for i in range(len(d))]
            yield case("sb_dataset", {"dir": name, "usage": usage, "task": mode}, out)


def names():
    """The sets that torchvision exports."""
    sets = {k for k, v in vars(datasets).items() if isinstance(v, type) and issubclass(v, datasets.VisionDataset)} - {"VisionDataset"}
    (DATASETS / "torchvision.txt").write_text("".join(n + "\n" for n in sorted(sets)))


def main():
    movingmnist_phototour_files.make()
    names()
    try:
        for f in (movingmnist, phototour, sbdataset):
            write(f.__name__, "torchvision 0.29.2", list(f(f.__name__)))
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
