"""Runs every image processor of the installed transformers with the keys that importer/hf accepts unseen (unread in keys.go), where the class
does not read them by its source, and without. The outputs must be equal. Classes that need other inputs than one image are listed.

Needs transformers 5.23.0 and torchvision 0.29.2, as parity.py does.
"""

import json
import os
import pathlib
import re
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"

import numpy as np
import transformers
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent


def flat(value):
    """Returns the arrays in a value of dicts, lists and tensors."""
    if hasattr(value, "items"):
        return [a for k in sorted(value) for a in flat(value[k])]
    if isinstance(value, (list, tuple)):
        return [a for e in value for a in flat(e)]
    if hasattr(value, "numpy"):
        value = (value.float() if "bfloat16" in str(value.dtype) else value).numpy()
    return [np.asarray(value)]


def main():
    unread = re.findall(r'"([^"]+)"', re.search(r"var unread = \[\]string\{(.*?)\n\}", (ROOT / "importer/hf/keys.go").read_text(), re.S)[1])
    table = json.loads((ROOT / "importer/testdata/transformers.json").read_text())
    image = Image.fromarray((np.arange(200 * 300 * 3) % 251).astype("uint8").reshape(200, 300, 3))
    equal, differ, others = 0, [], []
    for name, backends in table["classes"].items():
        keys = [k for k in unread if k not in table["reads"][name] and k not in table["common"]]
        for backend in backends:
            full = name + "ImageProcessor" + ("Pil" if backend == "pil" else "")
            own = {"apply_ocr": False} if "LayoutLM" in name else {}
            try:
                kind = getattr(transformers, full)
                want = flat(kind(**own)(image, return_tensors=None))
            except (AttributeError, ImportError, TypeError, ValueError) as e:
                others.append(f"{full}: {type(e).__name__}")
                continue
            got = flat(kind.from_dict({**own, "image_processor_type": full, **dict.fromkeys(keys, 1)})(image, return_tensors=None))
            if len(want) == len(got) and all(np.array_equal(a, b) for a, b in zip(want, got)):
                equal += 1
            else:
                differ.append(full)
    print(f"{len(unread)} keys: {equal} processors give equal outputs with and without them, {len(differ)} do not {differ or ''}")
    print("not run with one image:", *others, sep="\n  ")
    sys.exit(1 if differ or not equal else 0)


if __name__ == "__main__":
    main()
