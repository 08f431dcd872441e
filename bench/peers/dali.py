"""NVIDIA DALI's CPU operators, one thread, eight images a batch."""
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types

import common

BATCH = 8


class Pipeline:
    """A case that is a pipeline. per_image are further inputs, by name: an array
    for each image."""

    def __init__(self, images, build, **per_image):
        self.columns = {"jpegs": [np.frombuffer(b, np.uint8) for b in images]} | per_image

        @pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=1, exec_async=False, exec_pipelined=False)
        def graph():
            return build(*(fn.external_source(name=c, batch=True, no_copy=True) for c in self.columns))

        self.pipeline = graph()
        self.pipeline.build()

    def batches(self, n):
        for i in range(0, n, BATCH):
            for name, values in self.columns.items():
                self.pipeline.feed_input(name, values[i:i + BATCH])
            yield self.pipeline.run()[0]

    def run(self, n):
        for _ in self.batches(n):
            pass

    def outputs(self, n):
        for b in self.batches(n):
            for i in range(len(b)):
                yield np.array(b[i])


def tail(x, **crop):
    return fn.crop_mirror_normalize(
        x, dtype=types.FLOAT, output_layout="CHW", mean=[255 * m for m in common.MEAN], std=[255 * s for s in common.STD], **crop)


def decode(images, _):
    return Pipeline(images, lambda x: fn.decoders.image(x, device="cpu", output_type=types.RGB, adjust_orientation=False))


def imagenet(images, _):
    def build(x):
        x = fn.decoders.image(x, device="cpu", output_type=types.RGB, adjust_orientation=False)
        return tail(fn.resize(x, resize_shorter=256, interp_type=types.INTERP_LINEAR, antialias=True), crop=(224, 224))

    return Pipeline(images, build)


def train(images, boxes):
    def build(x, start, shape, flip):
        x = fn.decoders.image_slice(x, start, shape, device="cpu", output_type=types.RGB, adjust_orientation=False, axis_names="HW",
                                    normalized_anchor=False, normalized_shape=False)
        return tail(fn.resize(x, resize_x=224, resize_y=224, interp_type=types.INTERP_LINEAR, antialias=True), mirror=flip)

    return Pipeline(
        images, build, start=[np.float32([b["top"], b["left"]]) for b in boxes],
        shape=[np.float32([b["height"], b["width"]]) for b in boxes], flip=[np.int32(b["flip"]) for b in boxes])


common.main(dali.__version__, {"decode": decode, "imagenet": imagenet, "train": train})
