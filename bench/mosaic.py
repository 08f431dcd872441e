"""Writes photographs of several sizes that cost the same for every pixel, for the
case linear: mosaic.py PHOTOS OUT. All are 64 x 64 pieces of the photographs, side
by side, in baseline JPEG of one quality: the highest of which the largest image
stays within 12 MB. Prints the quality, then pixels and file of each size."""
import glob
import io
import os
import sys

from PIL import Image

SIZES = [(320, 320), (832, 600), (1632, 1224), (3264, 2448), (8192, 6144)]  # 0.1, 0.5, 2, 8, 50 megapixels
LIMIT = 12_000_000
TILE = 64

photos = []
for name in sorted(glob.glob(os.path.join(glob.escape(sys.argv[1]), "*.jpg"))):
    x = Image.open(name).convert("RGB")
    if min(x.size) >= TILE:
        photos.append(x)
    if len(photos) == 400:
        break
if not photos:
    sys.exit("mosaic.py: no photograph has 64 x 64 pixels")


def mosaic(w, h):
    x, k = Image.new("RGB", (w, h)), 0
    for top in range(0, h, TILE):
        for left in range(0, w, TILE):
            p = photos[k % len(photos)]
            across, down = p.width // TILE, p.height // TILE
            n = (k // len(photos) * 7 + k) % (across * down)
            px, py = n % across * TILE, n // across * TILE
            x.paste(p.crop((px, py, px + TILE, py + TILE)), (left, top))
            k += 1
    return x


def encode(x, quality):
    b = io.BytesIO()
    x.save(b, "JPEG", quality=quality)
    return b.getvalue()


largest = mosaic(*SIZES[-1])
for quality in range(90, 4, -5):
    data = encode(largest, quality)
    if len(data) <= LIMIT:
        break
print(quality)
for w, h in SIZES:
    b = data if (w, h) == SIZES[-1] else encode(mosaic(w, h), quality)
    name = os.path.join(sys.argv[2], f"{w}x{h}.jpg")
    with open(name, "wb") as f:
        f.write(b)
    print(w * h, name)
