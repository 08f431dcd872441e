"""Writes internal/coverage/testdata/PACKAGE.txt: the classes of transforms of the packages that this environment has.

The packages are torchvision 0.29.2, torchaudio 2.11.0, MindSpore 2.10.0 and MXNet 1.9.1, each in an environment of its own. The first
line of a file is the version. Enumerations and functions are left out. With --check it writes nothing, and fails if a file differs.
"""

import enum
import importlib
import importlib.util
import inspect
import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parents[3] / "internal" / "coverage" / "testdata"


def torchvision():
    import torch
    from torchvision.transforms import v2

    return {"torchvision.transforms.v2": [n for n, c in classes(v2) if issubclass(c, torch.nn.Module)]}


def torchaudio():
    import torch

    torch.version.cuda = None  # torchaudio's wheel is built for another CUDA, which its import refuses
    from torchaudio import transforms

    return {"torchaudio.transforms": [n for n, c in classes(transforms) if issubclass(c, torch.nn.Module)]}


def mindspore():
    from mindspore.dataset import audio, transforms, vision

    return {m.__name__: [n for n, c in classes(m) if not issubclass(c, enum.Enum)] for m in (vision, transforms, audio)}


def mxnet():
    from mxnet import image

    return {"mxnet.image": [n for n, c in classes(image) if issubclass(c, (image.Augmenter, image.DetAugmenter))]}


def classes(module):
    """Returns (name, class) for each public class of a module, sorted by name."""
    return [(n, c) for n, c in sorted(vars(module).items()) if inspect.isclass(c) and not n.startswith("_")]


def main():
    bad = done = 0
    for package in (torchvision, torchaudio, mindspore, mxnet):
        name = package.__name__
        if not importlib.util.find_spec(name):
            continue
        listed = package().items()
        have = [f"{name} {importlib.import_module(name).__version__.partition('+')[0]}"]
        have += [f"{module}.{n}" for module, names in listed for n in names]
        path, text = OUT / f"{name}.txt", "\n".join(have) + "\n"
        done += 1
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif path.read_text() != text:
            bad += 1
            print(*(f"{path.name}: not in both: {line}" for line in sorted(set(path.read_text().splitlines()) ^ set(have))), sep="\n")
        else:
            print(f"{have[0]}: {len(have) - 1} classes, as listed")
    if not done:
        sys.exit("transform_classes.py: this environment has none of torchvision, torchaudio, MindSpore and MXNet")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
