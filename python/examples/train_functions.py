"""A training loop with a source, a function and a callback of Python. Kill it and start it again: it goes on
with the batches of a run without the interruption.

usage: train_functions.py FOLDER STATE   (FOLDER has a subfolder of PNG files for each class)
"""
import json
import pathlib
import sys
import zlib

import numpy as np

from infer_prep import Callback, Dataset, Graph, Pipeline


def read():
    """A source: called for each epoch."""
    classes = sorted(d for d in folder.iterdir() if d.is_dir())
    for label, d in enumerate(classes):
        for file in sorted(d.glob("*.png")):
            yield {"image": file.read_bytes(), "label": label}


def noise(image, call):
    """A function: call.seed is the sample's, so its noise is equal after a resume."""
    return image + np.random.default_rng(call.seed).normal(0, 0.1, image.shape).astype(np.float32)


class Follow(Callback):
    """A callback: each epoch flips more images than the one before."""

    def epoch_end(self, at):
        at.pipeline.set_weights("aug", [1, at.epoch + 2])


if __name__ == "__main__":
    folder, place = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    augment = Graph.from_ops("decode", ("feedback_policy", {"name": "aug"}), "to_tensor")
    definition = (Dataset.from_generator(read, {"image": bytes, "label": "int64"}).shuffle_buffer(8).map(augment)
                  .map(noise, inputs=["image"], outputs={"image": ("float32", (3, -1, -1))}).batch(3).watch(Follow()))
    with Pipeline(definition, seed=1) as pipeline:
        if place.exists():
            pipeline.load_state_dict(json.loads(place.read_text()))
        while True:
            for batch in pipeline:
                print(batch.epoch, batch.step, zlib.crc32(batch["image"]), batch["label"].tolist(), flush=True)  # a step of the training
                place.with_suffix(".new").write_text(json.dumps(pipeline.state_dict()))
                place.with_suffix(".new").replace(place)
            if batch.epoch == 2:
                break
