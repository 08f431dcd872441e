"""Compares the JPEG files of codec/jpeg with those of Pillow and OpenCV.

usage: [PART=I/N] encode.py JPEGENCODE PHOTOS

The first comparison encodes each photograph of the folder PHOTOS as RGB and
gray, and with Pillow as CMYK, at nine qualities with random options:
subsampling, optimized tables, progressive, restart markers. 200 images of noise
of up to 200 pixels a side are added.

The second comparison encodes 600 images: the photographs, and crops and scaled
copies of them, half of which have added noise. Each is encoded at six qualities,
with four subsamplings, plain, optimized and progressive. OpenCV's subsamplings
are 4:2:0, 4:2:2, 4:4:4 and 4:1:1. Pillow cannot write 4:1:1; gray stands for it.

The third comparison rewrites the photographs, and the files of the first
comparison that are Pillow's, and compares the pixels that Pillow, with
libjpeg-turbo, decodes before and after. It prints the change in size.

JPEGENCODE is the program of tools/jpegencode. The script prints how
many files are equal, names the others, and exits with 1 if there are any. With
PART, it takes every Nth image of the second comparison from number I on (0 to
N-1), and makes the first comparison only if I is 0.
"""

import io
import json
import os
import pathlib
import subprocess
import sys

import cv2
import numpy as np
import PIL
from PIL import Image, ImageFile

# Pillow writes an optimised or progressive file only if it fits one buffer.
ImageFile.MAXBLOCK = 1 << 26
QUALITIES = (1, 10, 30, 50, 75, 85, 90, 95, 100)
PILLOW, OPENCV = 0, 1
# Chroma of codec/jpeg, and its values in Pillow and OpenCV.
CHROMA = ("default", "420", "422", "444", "440", "411")
SUBSAMPLING = (None, 2, 1, 0)
FACTORS = (None, 0x221111, 0x211111, 0x111111, 0x121111, 0x411111)
MODES = {1: "L", 3: "RGB", 4: "CMYK"}


def pillow(a, o):
    """Returns Pillow's file."""
    chroma = {"subsampling": SUBSAMPLING[o["Chroma"]]} if o["Chroma"] else {}
    f = io.BytesIO()
    Image.fromarray(a[..., 0] if a.shape[2] == 1 else a, MODES[a.shape[2]]).save(
        f, "JPEG", quality=o["Quality"], optimize=o["Optimize"], progressive=o["Progressive"],
        restart_marker_blocks=o["RestartBlocks"], restart_marker_rows=o["RestartRows"], **chroma)
    return f.getvalue()


def opencv(a, o):
    """Returns OpenCV's file."""
    flags = [cv2.IMWRITE_JPEG_OPTIMIZE, int(o["Optimize"]), cv2.IMWRITE_JPEG_PROGRESSIVE, int(o["Progressive"]),
             cv2.IMWRITE_JPEG_RST_INTERVAL, o["RestartBlocks"]]
    if o["ChromaQuality"]:
        flags += [cv2.IMWRITE_JPEG_LUMA_QUALITY, o["Quality"], cv2.IMWRITE_JPEG_CHROMA_QUALITY, o["ChromaQuality"]]
    else:
        flags += [cv2.IMWRITE_JPEG_QUALITY, o["Quality"]]
    if o["Chroma"]:
        flags += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, FACTORS[o["Chroma"]]]
    ok, b = cv2.imencode(".jpg", np.ascontiguousarray(a[..., ::-1]), flags)
    if not ok:
        sys.exit("encode.py: cv2.imencode failed")
    return b.tobytes()


def images(photos):
    """Yields names and arrays of 1, 3 and 4 channels."""
    for p in photos:
        with Image.open(p) as im:
            rgb = im.convert("RGB")
        yield p.name, np.asarray(rgb)
        yield p.name, np.asarray(rgb.convert("L"))[..., np.newaxis]
        yield p.name, np.asarray(rgb.convert("CMYK"))
    rng = np.random.default_rng(5)
    for i in range(200):
        h, w = rng.integers(1, 18 if i % 2 else 201, 2)
        yield f"noise {i}", rng.integers(0, 256, (h, w, (1, 3, 4)[i % 3]), dtype=np.uint8)


def options(rng, dialect, quality):
    o = {"Quality": quality, "ChromaQuality": 0, "Dialect": dialect, "Chroma": int(rng.integers(4 if dialect == PILLOW else 6)),
         "Optimize": bool(rng.integers(2)), "Progressive": bool(rng.integers(3) == 0), "RestartBlocks": 0, "RestartRows": 0}
    if rng.integers(3) == 0:
        o["RestartBlocks"] = int(rng.choice((1, 2, 7, 50, 65535)))
        if dialect == PILLOW and rng.integers(2):
            o["RestartRows"] = int(rng.choice((1, 3)))
    if dialect == OPENCV and rng.integers(5) == 0:
        o["ChromaQuality"] = int(rng.choice(QUALITIES))
    return o


GRID_IMAGES = 600
GRID_QUALITIES = (1, 30, 75, 90, 95, 100)
GRID_CHROMA = {PILLOW: ("420", "422", "444", "gray"), OPENCV: ("420", "422", "444", "411")}
GRID_MODES = ({}, {"Optimize": True}, {"Progressive": True})


def variant(a, k, rng):
    """Returns variant k of a photograph, which is variant 0."""
    if k == 0:
        return a
    h, w = a.shape[:2]
    if k % 2:  # a crop
        ch, cw = int(rng.integers(h // 4, h)), int(rng.integers(w // 4, w))
        y, x = int(rng.integers(h - ch + 1)), int(rng.integers(w - cw + 1))
        a = a[y:y + ch, x:x + cw]
    else:
        size = [max(1, int(v * rng.uniform(0.2, 1.2))) for v in (w, h)]
        a = np.asarray(Image.fromarray(a).resize(size, Image.Resampling.BICUBIC))
    if k % 4 >= 2:
        a = np.clip(a + rng.normal(0, 12, a.shape), 0, 255).astype(np.uint8)
    return np.ascontiguousarray(a)


def grid_images(photos, part, parts):
    """Yields every parts-th name and array of the second comparison."""
    for i in range(part, GRID_IMAGES, parts):
        p, k = photos[i % len(photos)], i // len(photos)
        with Image.open(p) as im:
            a = np.asarray(im.convert("RGB"))
        yield f"{p.name} {k}", variant(a, k, np.random.default_rng([11, i]))


class Comparison:
    """Counts equal files of both dialects."""

    def __init__(self, path):
        self.program = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.equal, self.count = [0, 0], [0, 0]
        self.right = True
        self.rewritten, self.refused, self.sizes = 0, 0, [0, 0]

    def rewrite(self, name, file):
        """Compares the pixels of a file with those of the rewritten file."""
        self.program.stdin.write(json.dumps({"Rewrite": len(file)}).encode() + b"\n" + file)
        self.program.stdin.flush()
        out = self.program.stdout.read(int(self.program.stdout.readline() or sys.exit("encode.py: jpegencode ended")))
        if not out:
            self.refused += 1
            return
        a, b = Image.open(io.BytesIO(file)), Image.open(io.BytesIO(out))
        self.rewritten += 1
        self.sizes[0] += len(file)
        self.sizes[1] += len(out)
        if (a.mode, a.size, a.tobytes()) != (b.mode, b.size, b.tobytes()) or a.info.get("exif") != b.info.get("exif"):
            print(f"{name}: other pixels when rewritten")
            self.right = False

    def add(self, name, a, o):
        request = {"Width": a.shape[1], "Height": a.shape[0], "Channels": a.shape[2], "Options": {**o, "Chroma": CHROMA[o["Chroma"]]}}
        self.program.stdin.write(json.dumps(request).encode() + b"\n" + np.ascontiguousarray(a).tobytes())
        self.program.stdin.flush()
        want = (pillow, opencv)[o["Dialect"]](a, o)
        size = self.program.stdout.readline()
        if not size:
            sys.exit("encode.py: jpegencode ended")
        self.count[o["Dialect"]] += 1
        if self.program.stdout.read(int(size)) == want:
            self.equal[o["Dialect"]] += 1
        else:
            print(f"{name}, {a.shape}: another file with {o}")

    def report(self, what):
        """Prints the counts, and starts again at 0."""
        print(f"{what}: {self.equal[0]} of {self.count[0]} equal Pillow {PIL.__version__}, "
              f"{self.equal[1]} of {self.count[1]} equal OpenCV {cv2.__version__}", flush=True)
        self.right = self.right and self.equal == self.count
        self.equal, self.count = [0, 0], [0, 0]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if (PIL.__version__, cv2.__version__) != ("13.0.0", "5.0.0"):
        sys.exit(f"encode.py: Pillow {PIL.__version__}, OpenCV {cv2.__version__}: want 13.0.0 and 5.0.0")
    try:
        part, parts = map(int, os.environ.get("PART", "0/1").split("/"))
    except ValueError:
        part, parts = 0, 0
    if not 0 <= part < parts:
        sys.exit(f"encode.py: PART is {os.environ['PART']!r}: want I/N, I from 0 to N-1")
    photos = sorted(p for p in pathlib.Path(sys.argv[2]).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    if not photos:
        sys.exit(f"encode.py: {sys.argv[2]}: no photographs, want .jpg or .png files")
    c = Comparison(sys.argv[1])
    if part == 0:
        rng = np.random.default_rng(17)
        for name, a in images(photos):
            for quality in QUALITIES:
                for dialect in PILLOW, OPENCV:
                    if dialect == PILLOW or a.shape[2] != 4:
                        o = options(rng, dialect, quality)
                        c.add(name, a, o)
                        if dialect == PILLOW:
                            c.rewrite(f"{name} with {o}", pillow(a, o))
        c.report("random options")
        for p in photos:
            if p.suffix.lower() != ".png":
                c.rewrite(p.name, p.read_bytes())
        print(f"rewritten: {c.rewritten} files, {c.refused} refused, "
              f"{c.sizes[1] / max(1, c.sizes[0]):.4f} times the bytes", flush=True)
    seen = 0
    for name, a in grid_images(photos, part, parts):
        gray = np.asarray(Image.fromarray(a).convert("L"))[..., np.newaxis]
        for dialect, chromas in GRID_CHROMA.items():
            for chroma in chromas:
                for quality in GRID_QUALITIES:
                    for mode in GRID_MODES:
                        o = {"Quality": quality, "ChromaQuality": 0, "Dialect": dialect, "Chroma": 0 if chroma == "gray" else CHROMA.index(chroma),
                             "Optimize": False, "Progressive": False, "RestartBlocks": 0, "RestartRows": 0, **mode}
                        c.add(name, gray if chroma == "gray" else a, o)
        seen += 1
    c.report(f"{seen} images x {len(GRID_QUALITIES)} qualities x 4 subsamplings x {len(GRID_MODES)} modes")
    return 0 if c.right else 1


if __name__ == "__main__":
    sys.exit(main())
