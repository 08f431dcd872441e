"""Makes testdata/golden/jpeg_scaled.json: what Pillow's draft mode and OpenCV's
reduced modes make of the JPEG files of testdata/images and testdata/damaged at a
half, a quarter and an eighth of their size.

Digests (SHA-256) of the samples: Pillow's in the file's own mode (native) and of
draft("L") (luma, of whole files of three components), OpenCV's as RGB and gray;
null where Pillow refuses, as it does for lossless files, which cannot be reduced.

Needs Pillow 13.0.0, numpy 2.4.6 and opencv-python-headless 5.0.0.93. Takes no
arguments; running it again gives the same bytes.
"""

import hashlib
import io
import json
import pathlib
import sys
import warnings

import cv2
import numpy
import PIL
from PIL import Image, features

WANT = {"Pillow": "13.0.0", "numpy": "2.4.6", "OpenCV": "5.0.0"}
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCALES = {"half": 2, "quarter": 4, "eighth": 8}
# Files whose OpenCV digests are kept. OpenCV's CMYK is its own.
OPENCV = ["arith", "base_410", "base_420", "base_422", "base_440", "base_444", "exif_mm_6", "gray", "gray_prog", "large", "large_restart",
          "partial_some_ac_2x2", "prog_420", "prog_444", "rgb", "size_2x1_5x4", "size_2x2_1x1", "size_2x2_17x33"]
warnings.simplefilter("ignore")


def sha(b):
    return hashlib.sha256(b).hexdigest()


def draft(data, s, mode=None):
    """The image at 1/s of its size, reduced by libjpeg alone."""
    im = Image.open(io.BytesIO(data))
    w, h = -(-im.width // s), -(-im.height // s)
    im.draft(mode, None)
    # draft would choose the scale by whole parts of the sides, and so less than s
    # for small images.
    im.decoderconfig = (s, 0)
    im._size = (w, h)
    im.tile = [im.tile[0]._replace(extents=(0, 0, w, h))]
    im.load()
    return im


def of_pillow(data, s, luma):
    """None if Pillow refuses it."""
    try:
        im = draft(data, s)
        g = {"width": im.width, "height": im.height, "native": sha(im.tobytes())}
        if luma and im.mode == "RGB":
            g["luma"] = sha(draft(data, s, "L").tobytes())
    except Exception:
        return None
    return g


def of_opencv(data, s, gray):
    flags = getattr(cv2, f"IMREAD_REDUCED_{'GRAYSCALE' if gray else 'COLOR'}_{s}")
    a = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION)
    return a if a is None else sha((a if gray else a[..., ::-1]).tobytes())


def main():
    have = {"Pillow": PIL.__version__, "numpy": numpy.__version__, "OpenCV": cv2.__version__}
    if have != WANT:
        sys.exit(f"have {have}, want {WANT}")
    golden = {"versions": {**WANT, "libjpeg-turbo in Pillow": features.version("libjpeg_turbo")}}
    for kind in ("images", "damaged"):
        golden[kind] = {}
        for f in sorted((ROOT / kind).glob("jpeg_*")):
            data = f.read_bytes()
            g = {name: of_pillow(data, s, kind == "images") for name, s in SCALES.items()}
            if f.stem.removeprefix("jpeg_") in OPENCV:
                for name, s in SCALES.items():
                    g[name] |= {"opencv": of_opencv(data, s, False), "opencv_gray": of_opencv(data, s, True)}
            if kind == "images" and not all(g.values()) and "lossless" not in f.name:
                sys.exit(f"Pillow refuses {f.name}")
            golden[kind][f.name] = g
    (ROOT / "golden" / "jpeg_scaled.json").write_text(json.dumps(golden, indent=0, separators=(",", ":")) + "\n")
    print({k: (len(golden[k]), sum(all(g.values()) for g in golden[k].values())) for k in ("images", "damaged")})


if __name__ == "__main__":
    main()
