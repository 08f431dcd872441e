"""torchvision's resize of uint8 tensors whose memory is channels first, as transformers makes them, one thread."""
import torch
import torchvision
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms.v2 import functional as F

import common

torch.set_num_threads(1)
torch.set_grad_enabled(False)


def resize(mode):
    def case(images, _):
        files = [torch.frombuffer(bytearray(b), dtype=torch.uint8) for b in images]
        decoded = [decode_jpeg(f, mode=ImageReadMode.RGB).contiguous() for f in files]
        return common.Permuted(lambda i: F.resize(decoded[i], [256], mode, antialias=True))

    return case


common.main(torchvision.__version__, {
    "resize-u8-bilinear": resize(F.InterpolationMode.BILINEAR), "resize-u8-bicubic": resize(F.InterpolationMode.BICUBIC),
})
