"""NVIDIA DALI's CPU operators."""
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types

import common


def build(folder, workers):
    @pipeline_def(batch_size=common.BATCH, num_threads=workers, device_id=None)
    def graph():
        x, label = fn.readers.file(file_root=folder, random_shuffle=True, name="files")
        x = fn.decoders.image_random_crop(x, device="cpu", output_type=types.RGB, adjust_orientation=False,
                                           random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
        x = fn.resize(x, resize_x=224, resize_y=224, interp_type=types.INTERP_LINEAR)
        x = fn.crop_mirror_normalize(
            x, dtype=types.FLOAT, output_layout="CHW", mean=[255 * m for m in common.MEAN], std=[255 * s for s in common.STD],
            mirror=fn.random.coin_flip(probability=0.5))
        return x, label

    p = graph()
    p.build()
    batches = p.epoch_size("files") // common.BATCH

    def epoch():
        # run() would leave batches of the next epoch to be computed while others
        # are timed; so as many are asked for as the epoch has.
        ahead = min(2, batches)
        for _ in range(ahead):
            p.schedule_run()
        for i in range(batches):
            images, _ = p.share_outputs()
            yield np.asarray(images.as_tensor())
            p.release_outputs()
            if i + ahead < batches:
                p.schedule_run()

    return epoch


common.main(dali.__version__, build)
