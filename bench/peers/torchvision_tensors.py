"""torchvision's own decoder and its transforms on tensors, one thread."""
import torch
import torchvision
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms import v2

import common

torch.set_num_threads(1)
torch.set_grad_enabled(False)


def tensors(images):
    return [torch.frombuffer(bytearray(b), dtype=torch.uint8) for b in images]


class Permuted(common.Each):
    """Outputs as the others have them: rows, columns, channels."""

    def outputs(self, n):
        return (self.f(i).permute(1, 2, 0).numpy() for i in range(n))


def decode(images, _):
    images = tensors(images)
    return Permuted(lambda i: decode_jpeg(images[i], mode=ImageReadMode.RGB))


def imagenet(images, _):
    images = tensors(images)
    t = v2.Compose([
        v2.Resize(256, antialias=True), v2.CenterCrop(224), v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(common.MEAN, common.STD),
    ])
    return common.Each(lambda i: t(decode_jpeg(images[i], mode=ImageReadMode.RGB)))


common.main(torchvision.__version__, {"decode": decode, "imagenet": imagenet})
