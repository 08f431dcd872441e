"""transformers' image processor with its default backend, on torchvision's tensors, one thread."""
import json
import os
import pathlib
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from torchvision.io import ImageReadMode, decode_jpeg

import common

torch.set_num_threads(1)
torch.set_grad_enabled(False)


def hf_default(images, config):
    with tempfile.TemporaryDirectory() as d:
        (pathlib.Path(d) / "preprocessor_config.json").write_text(json.dumps(config))
        p = transformers.AutoImageProcessor.from_pretrained(d)
    images = [torch.frombuffer(bytearray(b), dtype=torch.uint8) for b in images]
    return common.Each(lambda i: p(images=decode_jpeg(images[i], mode=ImageReadMode.RGB), return_tensors="pt").pixel_values)


common.main(transformers.__version__, {c: hf_default for c in ("hf-default", "qwen2-vl", "llava-onevision", "internvl")})
