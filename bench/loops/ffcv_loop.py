"""ffcv: images in a file of its own, encoded anew, with its own resize; so its tensors differ.
Arguments -write DIR write DIR.beton."""
import sys

import numpy as np
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import CenterCropRGBImageDecoder, IntDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, Squeeze, ToTensor, ToTorchImage

import common


def write(folder):
    from ffcv.writer import DatasetWriter
    from torchvision.datasets import ImageFolder

    fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=95), "label": IntField()}
    DatasetWriter(folder + ".beton", fields, num_workers=2).from_indexed_dataset(ImageFolder(folder))


def build(folder, workers):
    mean, std = (255 * np.array(x) for x in (common.MEAN, common.STD))
    loader = Loader(folder + ".beton", common.BATCH, num_workers=workers, order=OrderOption.SEQUENTIAL, os_cache=True, pipelines={
        "image": [CenterCropRGBImageDecoder((224, 224), 224 / 256), NormalizeImage(mean, std, np.float32), ToTensor(), ToTorchImage()],
        "label": [IntDecoder(), ToTensor(), Squeeze()],
    })
    return lambda: iter(loader)


if sys.argv[1] == "-write":
    write(sys.argv[2])
else:
    common.loop("1.0.2", build)
