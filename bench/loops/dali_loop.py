"""NVIDIA DALI's CPU operators; the resize differs from torchvision's in its values."""
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types

import common


def build(folder, workers):
    @pipeline_def(batch_size=common.BATCH, num_threads=workers, device_id=None)
    def graph():
        x, label = fn.readers.file(file_root=folder, name="files")
        x = fn.decoders.image(x, device="cpu", output_type=types.RGB, adjust_orientation=False)
        x = fn.resize(x, resize_shorter=256, interp_type=types.INTERP_LINEAR)
        x = fn.crop_mirror_normalize(
            x, dtype=types.FLOAT, output_layout="CHW", crop=(224, 224), mean=[255 * m for m in common.MEAN], std=[255 * s for s in common.STD])
        return x, label

    p = graph()
    p.build()
    batches = p.epoch_size("files") // common.BATCH

    def epoch():
        # As many batches are asked for as the epoch has; see pipelines/dali_pipeline.py.
        ahead = min(2, batches)
        for _ in range(ahead):
            p.schedule_run()
        for i in range(batches):
            images, labels = p.share_outputs()
            yield np.asarray(images.as_tensor()), np.asarray(labels.as_tensor())[:, 0]
            p.release_outputs()
            if i + ahead < batches:
                p.schedule_run()

    return epoch


common.loop(dali.__version__, build)
