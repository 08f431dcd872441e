"""From a process's start to the first tensor, with OpenCV."""
import sys

import cv2
import numpy as np

cv2.setNumThreads(1)
x = cv2.imread(sys.argv[1], cv2.IMREAD_COLOR_RGB)
h, w = x.shape[:2]
x = cv2.resize(x, (256, 256 * h // w) if w <= h else (256 * w // h, 256))
top, left = round((x.shape[0] - 224) / 2), round((x.shape[1] - 224) / 2)
x = x[top:top + 224, left:left + 224].transpose(2, 0, 1) / np.float32(255)
x = (x - np.float32([0.485, 0.456, 0.406]).reshape(3, 1, 1)) / np.float32([0.229, 0.224, 0.225]).reshape(3, 1, 1)
print(x.shape, flush=True)
