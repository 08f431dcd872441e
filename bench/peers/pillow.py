"""Pillow, with NumPy for what it has not."""
import io

import numpy as np
import PIL
from PIL import Image

import common

MEAN, STD = (np.float32(x).reshape(3, 1, 1) for x in (common.MEAN, common.STD))


def rgb(b):
    x = Image.open(io.BytesIO(b))
    x.load()
    return x if x.mode == "RGB" else x.convert("RGB")  # which would copy


def decode(images, _):
    return common.Each(lambda i: rgb(images[i]))


def imagenet(images, _):
    def f(i):
        x = rgb(images[i])
        x = x.resize(common.resized(*x.size), Image.Resampling.BILINEAR)
        left, top = common.centred(x.width), common.centred(x.height)
        x = np.asarray(x.crop((left, top, left + 224, top + 224)))
        x = np.ascontiguousarray(x.transpose(2, 0, 1)).astype(np.float32)
        x /= 255
        x -= MEAN
        x /= STD
        return x

    return common.Each(f)


def resize(filter):
    def case(images, _):
        decoded = [rgb(b) for b in images]
        sizes = [common.resized(*x.size) for x in decoded]
        return common.Each(lambda i: decoded[i].resize(sizes[i], filter))

    return case


def encode(quality):
    def case(images, _):
        decoded = [rgb(b) for b in images]
        for x in decoded:
            x.info.clear()  # save would copy the comment of the file

        def f(i):
            out = io.BytesIO()
            decoded[i].save(out, "JPEG", quality=quality)
            return np.frombuffer(out.getbuffer(), np.uint8)

        return common.Each(f)

    return case


common.main(PIL.__version__, {
    "decode": decode, "imagenet": imagenet,
    "resize-bilinear": resize(Image.Resampling.BILINEAR), "resize-bicubic": resize(Image.Resampling.BICUBIC),
    "encode": encode(95), "encode-75": encode(75),
})
