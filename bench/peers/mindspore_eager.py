"""MindSpore's vision ops, called one by one."""
import numpy as np
import mindspore
import mindspore.dataset as ds
import mindspore.dataset.vision as V

import common

ds.config.set_num_parallel_workers(1)
ds.config.set_seed(1)
NORMALIZE = [V.Normalize([255 * x for x in common.MEAN], [255 * x for x in common.STD]), V.HWC2CHW()]


def chain(*ops):
    def f(x):
        for op in ops:
            x = op(x)
        return x

    return f


def arrays(images):
    return [np.frombuffer(b, np.uint8) for b in images]


def decode(images, _):
    images, op = arrays(images), V.Decode()
    return common.Each(lambda i: op(images[i]))


def imagenet(images, _):
    images, f = arrays(images), chain(V.Decode(), V.Resize(256), V.CenterCrop(224), *NORMALIZE)
    return common.Each(lambda i: f(images[i]))


def train(images, boxes):
    """RandomCropDecodeResize draws its boxes itself, from the distribution that
    the others' boxes are from."""
    images = arrays(images)
    crop = V.RandomCropDecodeResize(224, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3))
    plain, flipped = chain(crop, *NORMALIZE), chain(crop, V.HorizontalFlip(), *NORMALIZE)
    return common.Each(lambda i: (flipped if boxes[i]["flip"] else plain)(images[i]))


common.main(mindspore.__version__, {"decode": decode, "imagenet": imagenet, "train": train})
