"""webdataset's shards in torch's DataLoader, with torchvision's decoder and its
transforms on tensors, as torch_loader.py has them."""
import glob
import os

import torch
import webdataset as wds
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2

import common


def build(folder, workers):
    t = v2.Compose([
        v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(common.MEAN, common.STD),
    ])

    def image(b):
        return t(decode_image(torch.frombuffer(bytearray(b), dtype=torch.uint8), ImageReadMode.RGB))

    shards = sorted(glob.glob(os.path.join(glob.escape(folder), "*.tar")))
    # The loader makes the batches: webdataset's own batched() takes longer and twice the memory.
    d = wds.WebDataset(shards, shardshuffle=100).shuffle(1000).to_tuple("jpg", "cls").map_tuple(image, int)
    loader = wds.WebLoader(d, batch_size=common.BATCH, num_workers=workers, persistent_workers=True)
    return lambda: (image for image, _ in loader)


common.main(wds.__version__, build)
