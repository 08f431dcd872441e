"""Makes importer/testdata/transformers.json: the image processors of the installed transformers, with their backends.

With --check it writes nothing, and fails if what `infer-prep importers --coverage --json` prints (the argument, a file)
lists other classes or backends. Needs transformers 5.23.0 and torchvision 0.29.2.
"""

import importlib
import json
import pathlib
import pkgutil
import re
import sys

import transformers
from transformers.image_processing_backends import PilBackend, TorchvisionBackend
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES

OUT = pathlib.Path(__file__).resolve().parents[2] / "importer" / "testdata" / "transformers.json"


def classes():
    """Returns {name without ImageProcessor: [backends]}; a class that is of neither backend has its own code, in numpy."""
    found = {}
    for package in pkgutil.iter_modules(importlib.import_module("transformers.models").__path__):
        folder = pathlib.Path(transformers.__file__).parent / "models" / package.name
        for file in sorted(folder.glob("image_processing_*.py")):
            if package.name == "auto":
                continue
            module = importlib.import_module(f"transformers.models.{package.name}.{file.stem}")
            for name in re.findall(r"^class (\w+ImageProcessor(?:Pil)?)\(", file.read_text(), re.M):
                kind = getattr(module, name)
                backend = "torchvision" if issubclass(kind, TorchvisionBackend) else "pil" if issubclass(kind, PilBackend) else "numpy"
                found.setdefault(name.removesuffix("Pil").removesuffix("ImageProcessor"), set()).add(backend)
    registered = {c.removesuffix("Pil").removesuffix("ImageProcessor") for d in IMAGE_PROCESSOR_MAPPING_NAMES.values() for c in d.values() if c}
    assert registered <= found.keys(), registered - found.keys()
    return {name: sorted(found[name], reverse=True) for name in sorted(found)}


def main():
    want = classes()
    if sys.argv[1:2] == ["--check"]:
        table = json.loads(pathlib.Path(sys.argv[2]).read_text())
        have = {c["class"].removesuffix("ImageProcessor"): c["backends"] for c in table["classes"]}
        bad = [f"{name}: infer-prep {have.get(name)}, transformers {want.get(name)}" for name in sorted(have.keys() | want.keys()) if have.get(name) != want.get(name)]
        print(*bad, sep="\n", end="\n" if bad else "")
        print(f"transformers {transformers.__version__}: {len(want)} image processors, {len(bad)} listed otherwise")
        sys.exit(1 if bad or table["transformers"] != transformers.__version__ else 0)
    lines = [f"{json.dumps(name)}:{json.dumps(backends)}" for name, backends in want.items()]
    OUT.write_text('{"transformers":' + json.dumps(transformers.__version__) + ',"classes":{\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()
