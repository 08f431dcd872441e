"""Writes the goldens of height_ratio.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0 and transformers 5.23.0 (with torch 2.15.0 and
torchvision 0.29.2, which it imports). Every run gives the same bytes.
"""

import numpy as np
from PIL import Image
from transformers.models.fuyu.image_processing_fuyu import FuyuImageProcessor

from golden import Golden, chw, image

g = Golden("height_ratio", "transformers 5.23.0 FuyuImageProcessor")
for h, w, oh, ow in ((30, 40, 20, 40), (7, 3, 5, 9), (99, 10, 40, 40), (1, 1, 8, 8), (13, 50, 10, 11), (64, 64, 31, 90), (5, 40, 40, 9), (101, 37, 33, 30)):
    out = FuyuImageProcessor(size=dict(height=oh, width=ow), do_pad=False)(images=Image.fromarray(image(h, w, 3)), return_tensors="np")
    scaled = out["images"][0, 0]
    size, ratio = np.array(out["image_sizes"][0], np.int64), np.asarray(out["image_scale_factors"])[0, 0]
    assert ratio.dtype == np.float64 and size.tolist() == [h, w]
    for c in (3, 1):
        a = image(*scaled.shape[1:], c)
        g.columns_case(f"{h}x{w} in {oh}x{ow} {c}", {}, [(a, "HWC") if c == 3 else (chw(a), "CHW"), size], [np.array(ratio)])
g.write()
