"""torchvision's own decoder and its transforms on tensors, one thread."""
import torch
import torchvision
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

import common

torch.set_num_threads(1)
torch.set_grad_enabled(False)


def tensors(images):
    return [torch.frombuffer(bytearray(b), dtype=torch.uint8) for b in images]


def decode(images, _):
    images = tensors(images)
    return common.Permuted(lambda i: decode_jpeg(images[i], mode=ImageReadMode.RGB))


def imagenet(images, _):
    images = tensors(images)
    t = v2.Compose([
        v2.Resize(256, antialias=True), v2.CenterCrop(224), v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(common.MEAN, common.STD),
    ])
    return common.Each(lambda i: t(decode_jpeg(images[i], mode=ImageReadMode.RGB)))


def hf_default(images, config):
    """The steps of transformers' default backend, without transformers: bytes are scaled and cropped, and one
    normalization has the multiplication by rescale_factor in its mean and deviation."""
    images = tensors(images)
    edge, crop = config["size"], config["crop_size"]
    size = [edge] if isinstance(edge, int) else [edge["shortest_edge"]]
    side = crop if isinstance(crop, int) else crop["height"]
    mean, std = (torch.tensor(config[k]) * (1.0 / config.get("rescale_factor", 1 / 255)) for k in ("image_mean", "image_std"))
    mean, std = mean.view(3, 1, 1), std.view(3, 1, 1)

    def f(i):
        x = F.resize(decode_jpeg(images[i], mode=ImageReadMode.RGB), size, F.InterpolationMode.BICUBIC, antialias=True)
        top, left = ((x.shape[k] - side) // 2 for k in (1, 2))
        return x[:, top : top + side, left : left + side].to(torch.float32).sub_(mean).div_(std)

    return common.Each(f)


def resize(mode):
    def case(images, _):
        decoded = [decode_jpeg(x, mode=ImageReadMode.RGB) for x in tensors(images)]
        return common.Permuted(lambda i: F.resize(decoded[i], [256], mode, antialias=True))

    return case


common.main(torchvision.__version__, {
    "decode": decode, "imagenet": imagenet, "v2-tensors": imagenet, "hf-default": hf_default,
    "resize-u8-bilinear": resize(F.InterpolationMode.BILINEAR), "resize-u8-bicubic": resize(F.InterpolationMode.BICUBIC),
})
