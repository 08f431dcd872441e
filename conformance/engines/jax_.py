"""JAX: jax.image.resize, which antialiases unless told not to, in float32 and rounded to bytes. Pillow reads the files."""

import common
import jax
import jax.numpy as jnp
import numpy as np
from common import want
from PIL import Image


def read(path):
    return np.asarray(Image.open(path).convert("RGB"))


def resize(task, files):
    """jax.image's cubic is that of Pillow; OpenCV's and torch's without antialiasing are others."""
    method = {"nearest": "nearest", "nearest_exact": "nearest", "bilinear": "linear", "bicubic": "cubic", "lanczos": "lanczos3"}.get(task["filter"])
    want(method and (task["library"] != "opencv" or method in ("linear", "nearest")), f"no {task['filter']} of this library")
    want(task["filter"] != "bicubic" or task["antialias"], "torch's bicubic without antialiasing is another")
    want(task["filter"] != "nearest" or task["library"] == "pillow", "nearest takes the pixel at the centre")
    x = jax.image.resize(jnp.asarray(read(files[0]), jnp.float32), (task["height"], task["width"], 3), method, antialias=task["antialias"])
    return np.asarray(jnp.clip(jnp.round(x), 0, 255).astype(jnp.uint8))


def pad(task, files):
    mode = task["mode"]
    more = {"constant_values": task["fill"]} if mode == "constant" else {}
    return np.asarray(jnp.pad(read(files[0]), ((task["top"], task["bottom"]), (task["left"], task["right"]), (0, 0)), mode, **more))


def normalise(task, files):
    """As Flax's examples do."""
    x = jnp.asarray(read(files[0]), jnp.float32) / 255
    return np.asarray((x - jnp.asarray(task["mean"], jnp.float32)) / jnp.asarray(task["std"], jnp.float32)).transpose(2, 0, 1)


common.serve("JAX", jax.__version__, "jax.image.resize(antialias=True), jnp.pad; the CPU", {"resize": resize, "pad": pad, "normalise": normalise})
