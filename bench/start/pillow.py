"""From a process's start to the first tensor, with Pillow and NumPy."""
import sys

import numpy as np
from PIL import Image

x = Image.open(sys.argv[1]).convert("RGB")
w, h = x.size
x = x.resize((256, 256 * h // w) if w <= h else (256 * w // h, 256), Image.Resampling.BILINEAR)
left, top = round((x.width - 224) / 2), round((x.height - 224) / 2)
x = np.asarray(x.crop((left, top, left + 224, top + 224)), dtype=np.float32).transpose(2, 0, 1) / np.float32(255)
x = (x - np.float32([0.485, 0.456, 0.406]).reshape(3, 1, 1)) / np.float32([0.229, 0.224, 0.225]).reshape(3, 1, 1)
print(x.shape, flush=True)
