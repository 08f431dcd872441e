"""Writes testdata/golden/opencv.json: what OpenCV's imread and imdecode give for testdata/images and testdata/damaged, and where they find an
orientation.

Needs numpy 2.4.6, opencv-python-headless 5.0.0.93 and Pillow 13.0.0. Takes no arguments; running it again gives the same bytes.

images and damaged: for each file the size and the first 16 digits of the SHA-256 of the BGR bytes, or null if the file is refused; imread's and
imdecode's, or one entry if both are the same. exif: for each block of EXIF whether JPEG, PNG and WebP are turned by its orientation 6.
"""

import hashlib
import os
import tempfile

os.environ["OPENCV_LOG_LEVEL"] = "SILENT"

import cv2
import numpy as np
from exif_blocks import write

cv2.setNumThreads(1)


def digest(read):
    try:
        a = read()
    except cv2.error:
        a = None
    if a is None:
        return None
    return f"{a.shape[1]}x{a.shape[0]} {hashlib.sha256(a.tobytes()).hexdigest()[:16]}"


# imdecode gives memory that it does not write for these files: other bytes in each run.
UNDEFINED = {"png_unsupported_frame.png"}


def both(path):
    data = np.fromfile(path, np.uint8)
    r = [digest(lambda: cv2.imread(str(path), cv2.IMREAD_COLOR)), digest(lambda: cv2.imdecode(data, cv2.IMREAD_COLOR))]
    if path.name in UNDEFINED:
        r[1] = r[1].split()[0] + " undefined"
    return r[:1] if r[0] == r[1] else r


def turned(data):
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        shapes = {cv2.imread(f.name, cv2.IMREAD_COLOR).shape, cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR).shape}
    (h, w, _), = shapes
    return h > w


if __name__ == "__main__":
    write("opencv.json", both, turned)
