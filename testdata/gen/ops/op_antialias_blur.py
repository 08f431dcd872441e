"""Writes the goldens of antialias_blur.

Run with Python 3.11, NumPy 2.4.6 and transformers 5.23.0 (with torch 2.15.0 and torchvision
0.29.2, which it imports), on x86-64 with AVX-512. Every run gives the same bytes.
"""

from unittest import mock

import numpy as np
import torch
from transformers.image_processing_backends import TorchvisionBackend
from transformers.image_utils import SizeDict
from transformers.models.owlv2.image_processing_owlv2 import Owlv2ImageProcessor

from golden import Golden, chw, image

torch.set_num_threads(1)
assert torch.backends.cpu.get_cpu_capability() == "AVX512"


def blurred(a, h, w):
    """What the class passes to the backend's resize. The image's memory is that of one from Pillow."""
    t = torch.from_numpy(np.ascontiguousarray(a)).permute(2, 0, 1)[None]
    with mock.patch.object(TorchvisionBackend, "resize", lambda self, image, **_: image):
        return np.ascontiguousarray(Owlv2ImageProcessor().resize(t, SizeDict(height=h, width=w), resample=2)[0].permute(1, 2, 0).numpy())


g = Golden("antialias_blur", "transformers 5.23.0 Owlv2ImageProcessor.resize (torchvision 0.29.2, torch 2.15.0)")
for h, w, oh, ow in ((20, 20, 10, 10), (21, 21, 20, 20), (30, 30, 7, 7), (40, 24, 11, 9), (24, 40, 9, 11), (20, 20, 20, 20), (20, 20, 30, 5), (19, 50, 18, 9), (64, 64, 5, 5), (80, 60, 16, 16), (301, 33, 300, 32), (160, 100, 48, 30), (50, 90, 4, 3)):
    for c in (3, 1, 2, 4):
        for dtype in ("uint8", "float32"):
            if c != 3 and (dtype == "uint8" or h > 64):
                continue
            a = image(h, w, c, dtype)
            want = blurred(a, oh, ow)
            if h % 4:
                g.case(f"{dtype} CHW {h}x{w}x{c} to {oh}x{ow}", dict(height=oh, width=ow), chw(a), chw(want), "CHW")
            else:
                g.case(f"{dtype} {h}x{w}x{c} to {oh}x{ow}", dict(height=oh, width=ow), a, want)
g.write()
