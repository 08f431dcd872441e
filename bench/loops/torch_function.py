"""The DataLoader of torch_loader.py with a function of Python on every sample."""
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2

import common


def build(folder, workers):
    d = ImageFolder(folder, v2.Compose([
        v2.Resize(256, antialias=True), v2.CenterCrop(224), v2.ToDtype(torch.float32, scale=True), v2.Normalize(common.MEAN, common.STD),
        v2.Lambda(lambda x: torch.from_numpy(common.function(x.numpy()))),
    ]), loader=lambda path: decode_image(path, ImageReadMode.RGB))
    loader = DataLoader(d, common.BATCH, num_workers=workers, persistent_workers=True)
    return lambda: iter(loader)


common.loop(torch.__version__, build)
