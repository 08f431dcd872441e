"""Compares infer-prep's pixels of AVIF, HEIC, JPEG 2000 and JPEG XL files with those of Pillow and its plugins.

usage: phone.py INFER_PREP FOLDER...
FOLDERs have the files and the goldens.json of testdata/gen/codecs/phone.py, jp2.py and jxl.py. The libraries are those
of the wheels.
"""
import hashlib, json, os, subprocess, sys, tempfile

import numpy as np
import PIL

program, *folders = sys.argv[1:]
site = os.path.dirname(os.path.dirname(os.path.abspath(PIL.__file__)))
env = dict(os.environ)
PLUGIN = "pillow-jxl-plugin 1.3.8"
for name, libs in (("AVIF", "pillow.libs"), ("HEIF", "pillow_heif.libs"), ("JP2", "pillow.libs"), ("JXL", "imagecodecs.libs")):
    env["INFER_PREP_" + name] = os.path.join(site, libs)
bad = 0
for folder in folders:
    with open(os.path.join(folder, "goldens.json")) as f:
        goldens = json.load(f)
    for ext, reference in (("avif", "Pillow 13.0.0"), ("heic", "pillow-heif 1.8.1"), ("53.jp2", "Pillow 13.0.0"), ("97.jp2", "Pillow 13.0.0"), ("lossless.jxl", PLUGIN), ("jpeg.jxl", PLUGIN)):
        names = [n for n in goldens if n.endswith(ext)]
        if not names:
            continue
        equal = refused = 0
        with tempfile.TemporaryDirectory() as out:
            paths = [os.path.join(folder, n) for n in names]
            subprocess.run([program, "run", "-q", "--preset", "decode", "-o", out, *paths], env=env)
            for n in names:
                p = os.path.join(out, n + ".npy")
                got = hashlib.sha256(np.load(p).tobytes()).hexdigest() if os.path.exists(p) else None
                if got == goldens[n].get("rgb"):
                    equal += 1
                    refused += got is None
                else:
                    print(f"{n}: differs: {got or 'no output'}")
        bad += len(names) - equal
        print(f"{reference}: decode {ext}: {equal} of {len(names)} equal" + f", {refused} of them refused by both" * (refused > 0))
sys.exit(bad > 0)
