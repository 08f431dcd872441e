"""MindSpore's ImageFolderDataset with its crop-decoding op, as its tutorials have it."""
import mindspore
import mindspore.dataset as ds
import mindspore.dataset.vision as V

import common


def build(folder, workers):
    ds.config.set_num_parallel_workers(workers)  # of the source and of batch too, which have two by default
    d = ds.ImageFolderDataset(folder, shuffle=True)
    d = d.map([
        V.RandomCropDecodeResize(224, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3)), V.RandomHorizontalFlip(0.5),
        V.Normalize([255 * x for x in common.MEAN], [255 * x for x in common.STD]), V.HWC2CHW(),
    ], "image", num_parallel_workers=workers)
    d = d.batch(common.BATCH)

    def epoch():
        # An iterator of one epoch, since one of several would compute the next
        # epoch's first batches while others are timed.
        for image, _ in d.create_tuple_iterator(num_epochs=1, output_numpy=True):
            yield image

    return epoch


common.main(mindspore.__version__, build)
