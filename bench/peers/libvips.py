"""libvips through pyvips, one thread. Its kernels are near Pillow's, not the same."""
import os

os.environ["VIPS_CONCURRENCY"] = "1"

import numpy as np
import pyvips

import common

pyvips.cache_set_max(0)  # which would remember the results


def rgb(b):
    x = pyvips.Image.new_from_buffer(b, "", access="sequential")
    return x if x.bands == 3 else x.colourspace("srgb")


class Memory(common.Each):
    def outputs(self, n):
        return (np.frombuffer(self.f(i), np.uint8) for i in range(n))


def decode(images, _):
    return Memory(lambda i: rgb(images[i]).write_to_memory())


def resize(kernel):
    def case(images, _):
        decoded = []
        for b in images:
            x = rgb(b)
            decoded.append((x.write_to_memory(), x.width, x.height))

        def f(i):
            data, w, h = decoded[i]
            x = pyvips.Image.new_from_memory(data, w, h, 3, "uchar")
            nw, nh = common.resized(w, h)
            return x.resize(nw / w, vscale=nh / h, kernel=kernel).write_to_memory()

        return Memory(f)

    return case


common.main(
    ".".join(str(pyvips.version(i)) for i in range(3)),
    {"decode": decode, "resize-bilinear": resize("linear"), "resize-bicubic": resize("cubic")})
