"""Writes the goldens of decode_native: what torchvision's decode_image and OpenCV's IMREAD_UNCHANGED read of PNG and TIFF files.

Run with Python 3.11, NumPy 2.4.6, opencv-python-headless 5.0.0.93, Pillow 13.0.0, torch 2.15.0 and torchvision 0.29.2. Every run gives the same
bytes. codecs/tiff_windows.py has goldens of GDAL and tifffile for more kinds of TIFF. OpenCV's red and blue are exchanged.
"""

import io

import cv2
import numpy as np
import torch
from PIL import Image
from torchvision.io import ImageReadMode, decode_image

from golden import Golden

cv2.setNumThreads(1)
ALLOCATES = "the directory of a TIFF; buffers of PNG and JPEG rows"


def scene(h, w, c, dtype):
    y, x, k = np.mgrid[:h, :w, :c]
    v = (np.sin(x / (3 + k)) + np.cos(y / 4) + 2) / 4
    if dtype == "float32":
        return ((v - 0.5) * 1000).astype(np.float32)
    top = np.iinfo(dtype).max
    return (v * top).astype(dtype)


def swapped(a):
    a = a if a.ndim == 3 else a[:, :, None]
    return np.ascontiguousarray(a[..., [2, 1, 0, 3][: a.shape[2]]] if a.shape[2] > 2 else a)


def by_cv(data):
    return swapped(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED))


def by_torchvision(data, mode=ImageReadMode.UNCHANGED):
    a = decode_image(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode)
    return np.ascontiguousarray(a.permute(1, 2, 0).numpy())


def cv_file(ext, a, *flags):
    ok, data = cv2.imencode(ext, swapped(a), list(flags))
    assert ok
    return data.tobytes()


def pillow(im, kind, **options):
    f = io.BytesIO()
    im.save(f, kind, **options)
    return f.getvalue()


def decode_native():
    g = Golden("decode_native", "torchvision 0.29.2 decode_image, OpenCV 5.0.0.93 IMREAD_UNCHANGED")

    def case(name, data, *readers, frame=0, expand=False):
        want = [r(data) for r in readers]
        assert all(w.dtype == want[0].dtype and (w == want[0]).all() for w in want), name
        g.encoded_case(name, {"dtype": want[0].dtype.name, "channels": want[0].shape[2], "frame": frame, "expand": expand}, data, want[0], ALLOCATES)

    for dtype in ("uint8", "uint16"):
        for c in (1, 3, 4):
            for h, w in ((11, 17), (1, 1), (40, 23)):
                a = scene(h, w, c, dtype)
                case(f"png_{dtype}_{c}_{w}x{h}", cv_file(".png", a), by_torchvision, by_cv)
    case("png_uint8_la", pillow(Image.fromarray(scene(9, 7, 2, "uint8"), "LA"), "PNG"), by_torchvision)
    for dtype in ("uint8", "uint16", "float32"):
        for c in (1, 3, 4):
            for name, compression in (("none", 1), ("lzw", 5), ("deflate", 8)):
                a = scene(21, 30, c, dtype)
                case(f"tiff_{dtype}_{c}_{name}", cv_file(".tiff", a, cv2.IMWRITE_TIFF_COMPRESSION, compression), by_cv)
    case("tiff_uint16_big_endian", pillow(Image.fromarray(scene(9, 14, 1, "uint16")[..., 0].astype(">u2")), "TIFF", compression="tiff_lzw"), by_cv)
    for c in (1, 3):
        case(f"jpeg_{c}", cv_file(".jpg", scene(33, 45, c, "uint8"), cv2.IMWRITE_JPEG_QUALITY, 90), by_torchvision)
    for dtype in ("uint8", "uint16"):
        for c in (1, 3):
            case(f"png_{dtype}_{c}_expanded", cv_file(".png", scene(19, 11, c, dtype)), lambda data: by_torchvision(data, ImageReadMode.RGB), expand=True)
    pages = [Image.fromarray(scene(9 + i, 14 - i, 1, "uint16")[..., 0]) for i in range(3)]
    data = pillow(pages[0], "TIFF", compression="tiff_lzw", save_all=True, append_images=pages[1:])
    for i in range(3):
        case(f"tiff_frame_{i}", data, lambda data, i=i: swapped(cv2.imdecodemulti(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)[1][i]), frame=i)
    g.write()


if __name__ == "__main__":
    decode_native()
