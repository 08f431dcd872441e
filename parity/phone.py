"""Compares infer-prep's pixels of AVIF and HEIC files with those of Pillow and pillow-heif.

usage: phone.py INFER_PREP FOLDER
FOLDER has the files and the goldens.json of testdata/gen/codecs/phone.py. The libraries are those of the wheels.
"""
import hashlib, json, os, subprocess, sys, tempfile

import numpy as np
import PIL

program, folder = sys.argv[1:]
site = os.path.dirname(os.path.dirname(os.path.abspath(PIL.__file__)))
env = dict(os.environ, INFER_PREP_AVIF=os.path.join(site, "pillow.libs"), INFER_PREP_HEIF=os.path.join(site, "pillow_heif.libs"))
with open(os.path.join(folder, "goldens.json")) as f:
    goldens = json.load(f)
bad = 0
for ext, reference in (("avif", "Pillow 13.0.0"), ("heic", "pillow-heif 1.8.1")):
    names = [n for n in goldens if n.endswith("." + ext)]
    equal = 0
    with tempfile.TemporaryDirectory() as out:
        paths = [os.path.join(folder, n) for n in names]
        subprocess.run([program, "run", "-q", "--preset", "decode", "-o", out, *paths], env=env)
        for n in names:
            p = os.path.join(out, n + ".npy")
            got = hashlib.sha256(np.load(p).tobytes()).hexdigest() if os.path.exists(p) else "no output"
            if got == goldens[n]["rgb"]:
                equal += 1
            else:
                print(f"{n}: differs: {got}")
    bad += len(names) - equal
    print(f"{reference}: decode {ext}: {equal} of {len(names)} equal")
sys.exit(bad > 0)
