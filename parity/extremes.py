"""Compares infer-prep with Pillow on 800 JPEG files of quality 95 to 100.

usage: extremes.py INFER_PREP PHOTOS [KEEP]

Pillow encodes 400 images of noise and 400 resized photographs of the folder
PHOTOS: gray and colour, subsampling 4:4:4, 4:2:2 and 4:2:0, baseline and
progressive, with restart markers after rows or blocks and without. `infer-prep
run --preset decode` decodes them. The script prints how many equal Pillow's
convert("RGB"), names the others, and exits with 1 if there are any. With KEEP
the files are written to that folder and kept.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import PIL
from PIL import Image, ImageFile

# Pillow writes an optimised or progressive file only if it fits one buffer.
ImageFile.MAXBLOCK = 1 << 22
EACH = 400
SUBSAMPLING = ("4:4:4", "4:2:2", "4:2:0")
RESTARTS = ({}, {"restart_marker_rows": 1}, {"restart_marker_blocks": 1}, {"restart_marker_blocks": 2}, {"restart_marker_rows": 2},
            {"restart_marker_blocks": 7}, {"restart_marker_rows": 3}, {"restart_marker_blocks": 31})


def noise(rng, gray):
    """Returns noise of 1 to 17 pixels a side in half of the images, else of up to 200."""
    h, w = rng.integers(1, 18 if rng.integers(2) else 201, 2)
    return Image.fromarray(rng.integers(0, 256, (h, w) if gray else (h, w, 3), dtype=np.uint8))


def photograph(rng, path, gray):
    """Returns the photograph with sides of 20 to 400 pixels."""
    w, h = map(int, rng.integers(20, 401, 2))
    with Image.open(path) as im:
        return im.convert("L" if gray else "RGB").resize((w, h), Image.LANCZOS)


def write(folder, photos):
    """Writes the files and returns their paths."""
    paths = []
    for i in range(2 * EACH):
        rng = np.random.default_rng([13, i])
        gray = i % 3 == 0
        im = noise(rng, gray) if i < EACH else photograph(rng, photos[i % len(photos)], gray)
        options = {"quality": 95 + int(rng.integers(6)), "progressive": bool(rng.integers(4) == 0), "optimize": bool(rng.integers(4) == 0)}
        options |= RESTARTS[int(rng.integers(len(RESTARTS)))]
        if not gray:
            options["subsampling"] = SUBSAMPLING[int(rng.integers(3))]
        paths.append(folder / f"{'noise' if i < EACH else 'photo'}_{i:03d}.jpg")
        im.save(paths[-1], **options)
    return paths


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    if PIL.__version__ != "13.0.0":
        sys.exit(f"extremes.py: Pillow {PIL.__version__}: want 13.0.0")
    photos = sorted(p for p in pathlib.Path(sys.argv[2]).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    if not photos:
        sys.exit(f"extremes.py: {sys.argv[2]}: no photographs, want .jpg or .png files")
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(sys.argv[3]) if len(sys.argv) == 4 else pathlib.Path(tmp) / "images"
        folder.mkdir(parents=True, exist_ok=True)
        paths = write(folder, photos)
        out = pathlib.Path(tmp) / "out"
        r = subprocess.run([sys.argv[1], "run", "--preset", "decode", "-o", str(out), *map(str, paths)], capture_output=True, text=True)
        if r.returncode not in (0, 1):
            sys.exit(f"extremes.py: infer-prep exited with {r.returncode}: {r.stderr[-2000:]}")
        equal = 0
        for p in paths:
            with Image.open(p) as im:
                want = np.asarray(im.convert("RGB"))
            f = out / (p.name + ".npy")
            have = np.load(f) if f.exists() else None
            if have is not None and have.dtype == want.dtype and np.array_equal(have, want):
                equal += 1
            else:
                print(f"{p.name}: {'refused' if have is None else 'other pixels'}")
        if equal != len(paths):
            print(r.stderr[-2000:])
        print(f"{equal} of {len(paths)} equal Pillow {PIL.__version__}")
    return 0 if equal == len(paths) else 1


if __name__ == "__main__":
    sys.exit(main())
