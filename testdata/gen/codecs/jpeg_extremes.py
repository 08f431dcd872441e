"""Makes testdata/extremes and testdata/golden/jpeg_extremes.json.

testdata/extremes holds valid JPEG files at the ends of what encoders produce:
noise at quality 1 and 95 to 100, gray and colour with every common subsampling,
from 1 to 17 pixels a side, with restart markers and without, baseline and
progressive. The golden file has SHA-256 digests of the pixels:

  native, rgb            Pillow, in the file's own mode and convert("RGB")
  opencv, opencv_gray    OpenCV, in colour (as RGB) and in gray
  half, quarter, eighth  Pillow's reduced decoding, in the file's own mode

Needs Pillow 13.0.0, numpy 2.4.6 and opencv-python-headless 5.0.0.93, and cjpeg of
libjpeg-turbo 2.1.5 for 4:4:0 and 4:1:1, which Pillow does not write. Takes no
arguments; a second run writes the same bytes.
"""

import json

import numpy
from numpy import random
from PIL import features

import jpeg
import jpeg_scaled

FOLDER = jpeg.ROOT / "extremes"
QUALITIES = (1, 95, 96, 97, 98, 99, 100)
# Width and height: a block, an MCU, one pixel more, and single rows and columns.
SIZES = ((16, 8), (17, 17), (1, 17), (9, 16), (17, 1), (1, 1), (8, 9), (16, 16), (3, 2), (15, 17), (2, 15))
PILLOW = {"444": "4:4:4", "422": "4:2:2", "420": "4:2:0"}
CJPEG = {"440": "1x2", "411": "4x1"}
# Restart intervals: rows or blocks (MCUs).
RESTARTS = (("rows", 1), ("blocks", 1), ("blocks", 2), ("rows", 2), ("blocks", 3))


def noise(rng, w, h, gray):
    return rng.integers(0, 256, (h, w) if gray else (h, w, 3), dtype=numpy.uint8)


def encode(a, sampling, quality, restart=None, progressive=False):
    if sampling in CJPEG:
        args = ["-quality", quality, "-sample", CJPEG[sampling]]
        if restart:
            args += ["-restart", f"{restart[1]}B" if restart[0] == "blocks" else restart[1]]
        return jpeg.cjpeg(a, *args, *(["-progressive"] if progressive else []))
    kw = {"quality": quality, "progressive": progressive}
    if sampling != "gray":
        kw["subsampling"] = PILLOW[sampling]
    if restart:
        kw[f"restart_marker_{restart[0]}"] = restart[1]
    return jpeg.pillow(a, **kw)


def files():
    out = {}
    # The smallest file of a crash that a reader saw: padding was fetched beyond the data.
    out["padding"] = encode(noise(random.default_rng(0), 16, 8, True), "gray", 100)
    n = 0
    for sampling in ("gray", *PILLOW, *CJPEG):
        for q in QUALITIES:
            for kind in ("base", "restart", "prog", "prog_restart"):
                rng = random.default_rng([n, q])
                w, h = SIZES[n % len(SIZES)]
                if kind != "base" and n % 2:
                    w, h = w + 16, h + 16  # more than one MCU, for markers between them
                restart = RESTARTS[n % len(RESTARTS)] if "restart" in kind else None
                out[f"{sampling}_q{q}_{kind}_{w}x{h}"] = encode(noise(rng, w, h, sampling == "gray"), sampling, q, restart, "prog" in kind)
                n += 1
    # Data of more than 65,536 bytes, which Pillow hands to libjpeg in pieces.
    for kind, sampling, restart in (("base", "444", None), ("restart", "gray", ("rows", 1))):
        side = 152 if sampling == "444" else 296
        a = noise(random.default_rng(side), side, side - 11, sampling == "gray")
        out[f"{sampling}_q100_{kind}_{side}x{side - 11}"] = encode(a, sampling, 100, restart)
    return out


def main():
    jpeg.check_tools()
    FOLDER.mkdir(exist_ok=True)
    for f in FOLDER.glob("*"):
        f.unlink()
    golden = {"versions": {**jpeg.WANT, "libjpeg-turbo in Pillow": features.version("libjpeg_turbo")}, "files": {}}
    made = files()
    for name, b in sorted(made.items()):
        name = f"jpeg_{name}.jpg"
        (FOLDER / name).write_bytes(b)
        g = jpeg.by_pillow(b)
        g |= {"opencv": jpeg.by_opencv(b, False), "opencv_gray": jpeg.by_opencv(b, True)}
        for scale, s in jpeg_scaled.SCALES.items():
            g[scale] = jpeg_scaled.of_pillow(b, s, False)["native"]
        golden["files"][name] = g
    (jpeg.ROOT / "golden" / "jpeg_extremes.json").write_text(json.dumps(golden, indent=0, separators=(",", ":")) + "\n")
    print(f"{len(made)} files, {sum(map(len, made.values()))} bytes")


if __name__ == "__main__":
    main()
