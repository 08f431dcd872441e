"""Pillow and torchvision's v2 transforms of its images, one thread."""
import io

import torch
import torchvision
from PIL import Image
from torchvision.transforms import v2

import common

torch.set_num_threads(1)
torch.set_grad_enabled(False)
transform = v2.Compose([v2.Resize(256), v2.CenterCrop(224), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(common.MEAN, common.STD)])


def convert(b):
    x = Image.open(io.BytesIO(b))
    return transform(x if x.mode == "RGB" else x.convert("RGB"))


common.single(torchvision.__version__, convert)
