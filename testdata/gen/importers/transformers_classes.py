"""Makes importer/testdata/transformers.json: the image processors of the installed transformers, with their backends, the names that the code
of each reads, and the class of each model type.

With --check it writes nothing, and fails if what `infer-prep importers --coverage --json` prints (the argument, a file)
lists other classes or backends. Needs transformers 5.23.0 and torchvision 0.29.2.
"""

import ast
import importlib
import inspect
import json
import pathlib
import pkgutil
import re
import sys
import textwrap

import transformers
from transformers.image_processing_backends import PilBackend, TorchvisionBackend
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES

OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "testdata" / "transformers.json"


def kinds():
    """Gives (name without ImageProcessor, class) for each image processor of each backend."""
    for package in pkgutil.iter_modules(importlib.import_module("transformers.models").__path__):
        folder = pathlib.Path(transformers.__file__).parent / "models" / package.name
        for file in sorted(folder.glob("image_processing_*.py")):
            if package.name == "auto":
                continue
            module = importlib.import_module(f"transformers.models.{package.name}.{file.stem}")
            for name in re.findall(r"^class (\w+ImageProcessor(?:Pil)?)\(", file.read_text(), re.M):
                yield name.removesuffix("Pil").removesuffix("ImageProcessor"), getattr(module, name)


def classes():
    """Returns {name without ImageProcessor: [backends]}; a class that is of neither backend has its own code, in numpy."""
    found = {}
    for name, kind in kinds():
        backend = "torchvision" if issubclass(kind, TorchvisionBackend) else "pil" if issubclass(kind, PilBackend) else "numpy"
        found.setdefault(name, set()).add(backend)
    registered = {c.removesuffix("Pil").removesuffix("ImageProcessor") for d in IMAGE_PROCESSOR_MAPPING_NAMES.values() for c in d.values() if c}
    assert registered <= found.keys(), registered - found.keys()
    return {name: sorted(found[name], reverse=True) for name in sorted(found)}


def words(source):
    """Returns the names by which a class can read a key of its file.

    from_dict calls cls(**file). __init__ sets every key as an attribute of the object, and passes those of valid_kwargs on. So a key can be
    read as self.KEY, by getattr and its kin, as an argument of __init__, or as a key of a dict.
    """
    found = set()
    for n in ast.walk(ast.parse(source)):
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in ("self", "cls"):
            found.add(n.attr)
        elif isinstance(n, ast.Call):
            name = n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "")
            if name in ("pop", "get", "getattr", "hasattr", "setdefault", "setattr"):
                found |= {x.value for x in n.args if isinstance(x, ast.Constant) and isinstance(x.value, str)}
        elif isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str):
            found.add(n.slice.value)
        elif isinstance(n, ast.Compare):
            found |= {x.value for x in [n.left, *n.comparators] if isinstance(x, ast.Constant) and isinstance(x.value, str)}
        elif isinstance(n, ast.FunctionDef) and n.name == "__init__":
            found |= {x.arg for x in n.args.args + n.args.kwonlyargs}
    return {w for w in found if re.fullmatch(r"[A-Za-z]\w*", w)}


def reads():
    """Returns {name without ImageProcessor: names that the code of any of its backends reads}, and the names common to all classes."""
    found = {}
    for name, kind in kinds():
        have = found.setdefault(name, set())
        have |= set(kind.valid_kwargs.__annotations__)
        for base in kind.__mro__[:-1]:
            have |= words(textwrap.dedent(inspect.getsource(base)))
    common = set.intersection(*found.values())
    return {name: sorted(found[name] - common) for name in sorted(found)}, sorted(common)


def models():
    """Returns {model type: class without ImageProcessor}."""
    first = {m: next(c for c in d.values() if c) for m, d in IMAGE_PROCESSOR_MAPPING_NAMES.items() if any(d.values())}
    return {m: c.removesuffix("Pil").removesuffix("ImageProcessor") for m, c in sorted(first.items())}


def main():
    want = classes()
    if sys.argv[1:2] == ["--check"]:
        table = json.loads(pathlib.Path(sys.argv[2]).read_text())
        have = {c["class"].removesuffix("ImageProcessor"): c["backends"] for c in table["classes"]}
        bad = [f"{name}: infer-prep {have.get(name)}, transformers {want.get(name)}" for name in sorted(have.keys() | want.keys()) if have.get(name) != want.get(name)]
        print(*bad, sep="\n", end="\n" if bad else "")
        print(f"transformers {transformers.__version__}: {len(want)} image processors, {len(bad)} listed otherwise")
        sys.exit(1 if bad or table["transformers"] != transformers.__version__ else 0)
    per, common = reads()
    tables = [f'"{key}":{{\n' + ",\n".join(f"{json.dumps(k)}:{json.dumps(v)}" for k, v in table.items()) + "\n}" for key, table in (("classes", want), ("reads", per), ("models", models()))]
    OUT.write_text('{"transformers":' + json.dumps(transformers.__version__) + ',"common":' + json.dumps(common) + "," + ",".join(tables) + "}\n")


if __name__ == "__main__":
    main()
