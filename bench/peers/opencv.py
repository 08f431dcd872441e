"""OpenCV, one thread."""
import cv2
import numpy as np

import common

cv2.setNumThreads(1)
FLAGS = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
# x/255, minus the mean, by the deviation, as one product and one sum: channels
# apart, since that is where NumPy is fast.
SCALE = (1 / (255 * np.float32(common.STD))).reshape(3, 1, 1)
SHIFT = (-np.float32(common.MEAN) / np.float32(common.STD)).reshape(3, 1, 1)


def decode(images, _):
    images = [np.frombuffer(b, np.uint8) for b in images]
    return common.Each(lambda i: cv2.imdecode(images[i], FLAGS))


def imagenet(images, _):
    """Bilinear without antialiasing, which is what cv2.resize does by default."""
    images = [np.frombuffer(b, np.uint8) for b in images]

    def f(i):
        x = cv2.imdecode(images[i], FLAGS)
        h, w = x.shape[:2]
        x = cv2.resize(x, common.resized(w, h), interpolation=cv2.INTER_LINEAR)
        top, left = common.centred(x.shape[0]), common.centred(x.shape[1])
        x = np.ascontiguousarray(x[top:top + 224, left:left + 224].transpose(2, 0, 1)).astype(np.float32)
        x *= SCALE
        x += SHIFT
        return x

    return common.Each(f)


def area(images, _):
    """OpenCV's only antialiased interpolation."""
    decoded = [cv2.imdecode(np.frombuffer(b, np.uint8), FLAGS) for b in images]
    sizes = [common.resized(x.shape[1], x.shape[0]) for x in decoded]
    return common.Each(lambda i: cv2.resize(decoded[i], sizes[i], interpolation=cv2.INTER_AREA))


def encode(quality):
    def case(images, _):
        decoded = [cv2.imdecode(np.frombuffer(b, np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION) for b in images]
        return common.Each(lambda i: cv2.imencode(".jpg", decoded[i], [cv2.IMWRITE_JPEG_QUALITY, quality])[1])

    return case


common.main(cv2.__version__, {"decode": decode, "imagenet": imagenet, "resize-bilinear": area, "encode": encode(95), "encode-75": encode(75)})
