"""Compares the JPEG files of codec/jpeg with those of Pillow and OpenCV.

usage: encode.py JPEGENCODE PHOTOS

Each photograph of the folder PHOTOS is encoded as RGB and gray, and with Pillow
as CMYK, at nine qualities with random options: subsampling, optimized tables,
progressive, restart markers. 200 images of noise of up to 200 pixels a side are
added. JPEGENCODE is the program of internal/tools/jpegencode. The script prints
how many files are equal, names the others, and exits with 1 if there are any.
"""

import io
import json
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


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if (PIL.__version__, cv2.__version__) != ("13.0.0", "5.0.0"):
        sys.exit(f"encode.py: Pillow {PIL.__version__}, OpenCV {cv2.__version__}: want 13.0.0 and 5.0.0")
    photos = sorted(p for p in pathlib.Path(sys.argv[2]).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    if not photos:
        sys.exit(f"encode.py: {sys.argv[2]}: no photographs, want .jpg or .png files")
    program = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    rng = np.random.default_rng(17)
    equal, count = [0, 0], [0, 0]
    for name, a in images(photos):
        for quality in QUALITIES:
            for dialect, encode in ((PILLOW, pillow), (OPENCV, opencv)):
                if dialect == OPENCV and a.shape[2] == 4:
                    continue
                o = options(rng, dialect, quality)
                request = {"Width": a.shape[1], "Height": a.shape[0], "Channels": a.shape[2], "Options": {**o, "Chroma": CHROMA[o["Chroma"]]}}
                program.stdin.write(json.dumps(request).encode() + b"\n" + np.ascontiguousarray(a).tobytes())
                program.stdin.flush()
                size = program.stdout.readline()
                if not size:
                    sys.exit("encode.py: jpegencode ended")
                have = program.stdout.read(int(size))
                count[dialect] += 1
                if have == encode(a, o):
                    equal[dialect] += 1
                else:
                    print(f"{name}, {a.shape}: another file with {o}")
    print(f"{equal[0]} of {count[0]} equal Pillow {PIL.__version__}, {equal[1]} of {count[1]} equal OpenCV {cv2.__version__}")
    return 0 if equal == count else 1


if __name__ == "__main__":
    sys.exit(main())
