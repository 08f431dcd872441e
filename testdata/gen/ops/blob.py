"""Writes the goldens of the ops that dnn.blobFromImage needs: blob_crop and multiply.

Run with requirements.txt's packages, on x86-64. Every run gives the same bytes.
"""

import cv2
import numpy as np

from golden import Golden, chw, image

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)


def blob_crop():
    g = Golden("blob_crop", "OpenCV 5.0.0.93 dnn.blobFromImage(crop=True)")
    for h, w, c in ((23, 37, 3), (8, 8, 1), (3, 5, 1), (1, 1, 3), (7, 2, 4), (14, 22, 3), (13, 9, 1)):
        for oh, ow in ((8, 8), (7, 11), (20, 25), (3, 1), (7, 5), (1, 1), (2, 9), (30, 4)):
            for dtype in ("uint8", "float32"):
                a = image(h, w, c, dtype)
                def blob(a):
                    return cv2.dnn.blobFromImage(a, 1.0, (ow, oh), (0, 0, 0), swapRB=False, crop=True,
                                                 ddepth=cv2.CV_8U if dtype == "uint8" else cv2.CV_32F)[0]

                q = {"height": oh, "width": ow}
                name = f"{h}x{w}x{c} to {oh}x{ow} {dtype}"
                g.case(name, q, a, blob(a).transpose(1, 2, 0))
                if (oh, ow) == (7, 11):
                    planes = [blob(np.ascontiguousarray(a[..., i:i + 1])) for i in range(c)]
                    g.case(name + " chw", q, chw(a), np.concatenate(planes), "CHW")
    g.write()


def multiply():
    g = Golden("multiply", "OpenCV 5.0.0.93 dnn.blobFromImageWithParams")
    for h, w in ((23, 37), (1, 1), (3, 5)):
        a = image(h, w, 3, "float32")
        for f in ([1 / 58.395, 1 / 57.12, 1 / 57.375], [1 / 255], [0.017, 0.017, 1.0], [-2.5, 0.0, 3e-7], [1.0], [2 / 255], [1 / 127.5, 1 / 127.5, 0.5], [1e6]):
            p = cv2.dnn.Image2BlobParams()
            p.scalefactor = tuple(f * 3)[:3] + (1.0,)
            want = cv2.dnn.blobFromImageWithParams(a, p)[0]
            g.case(f"{h}x{w} {f[0]:.5f} {len(f)}", {"factor": f}, chw(a), want, "CHW")
            g.case(f"{h}x{w} {f[0]:.5f} {len(f)} hwc", {"factor": f}, a, want.transpose(1, 2, 0))
    g.write()


if __name__ == "__main__":
    blob_crop()
    multiply()
