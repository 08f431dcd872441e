"""Writes the goldens of the decode op: images of every format with its policies.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0, opencv-python-headless
5.0.0.93 and transformers 5.23.0. Every run gives the same bytes. The formats
have goldens of their own beside the images (testdata/golden).
"""

import io
import pathlib

import cv2
import numpy as np
from PIL import Image, ImageOps
from transformers.image_transforms import convert_to_rgb

from golden import Golden
from jpeg_scaled import SCALES, draft

ALLOCATES = {".png": "compress/zlib: checksum and Huffman tables", ".tif": "compress/zlib: checksum and Huffman tables",
             ".webp": "x/image: planes"}
COLOR = ["jpeg_base_420.jpg", "jpeg_prog_444.jpg", "jpeg_rgb.jpg", "jpeg_exif_mm_6.jpg"]
LUMA = ["jpeg_base_420.jpg", "jpeg_gray.jpg"]
OTHERS = ["jpeg_ycck.jpg", "png_rgb8.png", "png_rgba8.png", "png_la8.png", "png_p4_many.png", "png_p8_one.png", "png_gray16.png",
          "png_rgb8_key.png", "png_gray8_key1.png", "gif_animated.gif", "bmp_24.bmp", "tiff_orientation6.tif", "webp_lossy_37x23.webp",
          "webp_alpha_37x23.webp"]
ORIENTED = [f"jpeg_exif_mm_{i}.jpg" for i in range(1, 9)] + ["png_exif5.png", "webp_exif6.webp", "tiff_orientation5.tif"]
SCALED = ["jpeg_base_420.jpg", "jpeg_prog_444.jpg", "jpeg_gray.jpg", "jpeg_ycck.jpg", "jpeg_size_2x2_3x3.jpg"]
IMAGES = pathlib.Path(__file__).resolve().parents[2] / "images"


def main():
    g = Golden("decode", "Pillow 13.0.0 convert, ImageOps.exif_transpose, Image.draft; transformers 5.23.0 convert_to_rgb; OpenCV 5.0.0 imdecode")

    def case(file, want, **policies):
        params = dict(color="rgb", alpha="drop", gray16="clip", refuse=[], orientation="ignore", damage="pillow", scale="full") | policies
        data = (IMAGES / file).read_bytes()
        a = np.asarray(want(Image.open(io.BytesIO(data)), data))
        name = "_".join([file, *(str(v) for v in policies.values())])
        g.encoded_case(name, params, data, a if a.ndim == 3 else a[..., None], ALLOCATES.get(pathlib.Path(file).suffix, ""))

    def rgb(im, _):
        return im.convert("RGB")

    def cv(flag, order=slice(None)):
        return lambda im, data: cv2.imdecode(np.frombuffer(data, np.uint8), flag | cv2.IMREAD_IGNORE_ORIENTATION)[..., order]

    for f in COLOR + OTHERS:
        case(f, rgb)
    for f in COLOR:
        case(f, cv(cv2.IMREAD_COLOR), color="bgr")
    for f in LUMA:
        case(f, lambda im, data: cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION), color="luma")
    for f in COLOR[:1] + OTHERS:
        case(f, lambda im, _: im.convert("L"), color="gray")
        case(f, lambda im, _: im.convert("RGBA"), color="rgba")
        case(f, lambda im, _: convert_to_rgb(im), alpha="white")
        case(f, lambda im, _: convert_to_rgb(im.convert("RGB")), alpha="key_white")
    for f in ORIENTED:
        case(f, lambda im, _: ImageOps.exif_transpose(im).convert("RGB"), orientation="apply")
    case("png_gray16.png", lambda im, _: np.stack([(np.asarray(im).astype(np.int64) >> 8).astype(np.uint8)] * 3, -1), gray16="high")
    for damage in ("strict", "lenient"):
        case(COLOR[0], rgb, damage=damage)
    for f in SCALED:
        for scale, n in SCALES.items():
            case(f, lambda im, data: draft(data, n).convert("RGB"), scale=scale)
    for f in SCALED[:2]:
        for scale, n in SCALES.items():
            flag = getattr(cv2, f"IMREAD_REDUCED_COLOR_{n}")
            case(f, cv(flag), color="bgr", scale=scale)
            flag = getattr(cv2, f"IMREAD_REDUCED_GRAYSCALE_{n}")
            case(f, cv(flag), color="luma", scale=scale)
    for f in ORIENTED[:8]:
        case(f, lambda im, data: ImageOps.exif_transpose(draft(data, 2)).convert("RGB"), orientation="apply", scale="half")
    g.write()


main()
