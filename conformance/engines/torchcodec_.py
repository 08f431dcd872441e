"""TorchCodec's decode_image, which transformers decodes files with. It applies the orientation."""

import common
import torch
import torchcodec
from common import want
from torchcodec.decoders import decode_image

torch.set_num_threads(1)


def decode(task, files):
    with open(files[0], "rb") as f:
        data = f.read()
    want(data[:2] == b"\xff\xd8" or data[1:4] == b"PNG" or data[:3] == b"GIF" or data[8:12] == b"WEBP", "TorchCodec reads JPEG, PNG, GIF and WebP")
    want(task["library"] == "opencv" or b"Exif" not in data and b"eXIf" not in data and b"EXIF" not in data, "TorchCodec always applies the orientation")
    t = decode_image(data, mode="RGB")
    want(t.ndim == 3, "TorchCodec decodes an animation as frames")
    return t.permute(1, 2, 0).numpy()


common.serve("TorchCodec", torchcodec.__version__, 'decode_image(mode="RGB")', {"decode": decode})
