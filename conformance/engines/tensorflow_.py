"""TensorFlow: tf.io.decode_image, and tf.image.resize with antialias, in float32 and rounded to bytes."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import common
import numpy as np
import tensorflow as tf
from common import want

tf.config.threading.set_intra_op_parallelism_threads(1)


def read(path):
    data = tf.io.read_file(path)
    b = data.numpy()
    want(b[:2] in (b"\xff\xd8", b"BM") or b[1:4] == b"PNG" or b[:3] == b"GIF" or b[8:12] == b"WEBP", "decode_image reads JPEG, PNG, BMP, GIF and WebP")
    if b[:2] == b"\xff\xd8":  # the accurate inverse DCT, which is libjpeg's default
        return tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE")
    channels = 0 if b[:2] == b"BM" or b[8:12] == b"WEBP" else 3
    x = tf.io.decode_image(data, channels=channels, expand_animations=False)
    want(x.shape[-1] in (3, 4), "gray stays gray")
    return x[..., :3]


def decode(task, files):
    with open(files[0], "rb") as f:
        data = f.read()
    want(task["library"] == "pillow" or b"Exif" not in data and b"eXIf" not in data and b"EXIF" not in data, "decode_image does not apply the orientation")
    return read(files[0]).numpy()


def resize(task, files):
    """bicubic is Keys' with -0.5, as Pillow's; without antialiasing the other libraries' is another."""
    name, library = task["filter"], task["library"]
    method = {"nearest": "nearest", "nearest_exact": "nearest", "bilinear": "bilinear", "bicubic": "bicubic", "area": "area", "lanczos": "lanczos3"}.get(name)
    want(method, f"no {name}")
    want(name not in ("lanczos", "bicubic") or task["antialias"], f"no {name} of this library")
    want(name != "nearest" or library == "pillow", "nearest takes the pixel at the centre")
    x = tf.image.resize(read(files[0]), (task["height"], task["width"]), method=method, antialias=task["antialias"] and method != "nearest")
    return np.clip(np.rint(x.numpy()), 0, 255).astype(np.uint8)


def crop(task, files):
    x, t, l, h, w = read(files[0]), task["top"], task["left"], task["height"], task["width"]
    want(t >= 0 <= l and t + h <= x.shape[0] and l + w <= x.shape[1], "the crop exceeds the image")
    return tf.image.crop_to_bounding_box(x, t, l, h, w).numpy()


def center_crop(task, files):
    return tf.image.resize_with_crop_or_pad(read(files[0]), task["height"], task["width"]).numpy()


def pad(task, files):
    want(task["mode"] != "edge", "no edge")
    sides = [[task["top"], task["bottom"]], [task["left"], task["right"]], [0, 0]]
    return tf.pad(read(files[0]), sides, task["mode"].upper(), task["fill"]).numpy()


def normalise(task, files):
    x = tf.image.convert_image_dtype(read(files[0]), tf.float32)
    return ((x - tf.constant(task["mean"])) / tf.constant(task["std"])).numpy().transpose(2, 0, 1)


common.serve("TensorFlow", tf.__version__, "io.decode_image, decode_jpeg with INTEGER_ACCURATE; image.resize(antialias=…), resize_with_crop_or_pad, pad",
             {"decode": decode, "resize": resize, "crop": crop, "center_crop": center_crop, "pad": pad, "normalise": normalise})
