"""torchvision's transforms on Pillow's images, one thread."""
import io

import torch
import torchvision
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import functional as F

import common

torch.set_num_threads(1)
torch.set_grad_enabled(False)
TAIL = T.Compose([T.ToTensor(), T.Normalize(common.MEAN, common.STD)])


def rgb(b):
    x = Image.open(io.BytesIO(b))
    x.load()
    return x if x.mode == "RGB" else x.convert("RGB")  # which would copy


def imagenet(images, _):
    t = T.Compose([T.Resize(256), T.CenterCrop(224), TAIL])
    return common.Each(lambda i: t(rgb(images[i])))


def train(images, boxes):
    def f(i):
        b = boxes[i]
        x = F.resized_crop(rgb(images[i]), b["top"], b["left"], b["height"], b["width"], [224, 224])
        return TAIL(F.hflip(x) if b["flip"] else x)

    return common.Each(f)


common.main(torchvision.__version__, {"imagenet": imagenet, "train": train})
