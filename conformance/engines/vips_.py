"""libvips: new_from_file with autorotation where the task asks for it, resize by kernels, which widen when they reduce."""

import common
import numpy as np
import pyvips
from common import want

pyvips.cache_set_max(0)


def read(path, orientation=False):
    try:
        x = pyvips.Image.new_from_file(path, access="random")
    except pyvips.Error as e:
        want(False, str(e).splitlines()[0])
    if orientation:
        x = x.autorot()
    x = x.colourspace("srgb")
    if x.hasalpha():
        x = x[:x.bands - 1]
    return x.cast("uchar")


def array(x):
    return np.frombuffer(x.write_to_memory(), np.uint8).reshape(x.height, x.width, x.bands)


def decode(task, files):
    return array(read(files[0], task["library"] == "opencv"))


def resize(task, files):
    want(task["library"] == "pillow" or task["antialias"], "resize always antialiases")
    kernel = {"nearest": "nearest", "bilinear": "linear", "bicubic": "cubic", "lanczos": "lanczos3"}.get(task["filter"])
    want(kernel, f"no {task['filter']}")
    x = read(files[0])
    return array(x.resize(task["width"] / x.width, vscale=task["height"] / x.height, kernel=kernel))


def crop(task, files):
    x, t, l, h, w = read(files[0]), task["top"], task["left"], task["height"], task["width"]
    want(t >= 0 <= l and t + h <= x.height and l + w <= x.width, "the crop exceeds the image")
    return array(x.crop(l, t, w, h))


def pad(task, files):
    extend = {"constant": "background", "edge": "copy", "symmetric": "mirror"}.get(task["mode"])
    want(extend, "no reflection without the edge")
    x = read(files[0])
    return array(x.embed(task["left"], task["top"], x.width + task["left"] + task["right"], x.height + task["top"] + task["bottom"], extend=extend, background=[task["fill"]] * 3))


common.serve("libvips", ".".join(str(pyvips.version(i)) for i in range(3)), "new_from_file, autorot, colourspace, resize(kernel=…), crop, embed",
             {"decode": decode, "resize": resize, "crop": crop, "pad": pad})
