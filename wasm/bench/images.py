"""Writes the images of the benchmark: photographs of the folder PHOTOS at five sizes.

usage: images.py PHOTOS OUT
"""

import pathlib
import sys

from PIL import Image

photos, out = map(pathlib.Path, sys.argv[1:])
files = sorted(f for f in photos.iterdir() if f.suffix.lower() in (".jpg", ".jpeg"))
if not files:
    sys.exit(f"images.py: {photos}: no JPEG files")
out.mkdir(parents=True, exist_ok=True)
for width, height in (512, 384), (1024, 768), (1920, 1440), (2592, 1944), (4000, 3000):
    # A mosaic of photographs at about their own size has the detail of a photograph of this size.
    image = Image.new("RGB", (width, height))
    columns = max(1, round(width / 512))
    side = -(-width // columns)
    for i in range(columns * -(-height // side)):
        with Image.open(files[i % len(files)]) as f:
            tile = f.convert("RGB").resize((side, side), Image.Resampling.LANCZOS)
        image.paste(tile, (i % columns * side, i // columns * side))
    image.save(out / f"{width}x{height}.jpg", quality=90)
