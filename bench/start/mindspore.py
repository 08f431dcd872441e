"""From a process's start to the first tensor, with MindSpore's ops one by one."""
import sys

sys.path.pop(0)  # this file is called as the library is

import numpy as np
import mindspore.dataset.vision as V

x = np.fromfile(sys.argv[1], np.uint8)
mean, std = [255 * m for m in (0.485, 0.456, 0.406)], [255 * s for s in (0.229, 0.224, 0.225)]
for op in V.Decode(), V.Resize(256), V.CenterCrop(224), V.Normalize(mean, std), V.HWC2CHW():
    x = op(x)
print(x.shape, flush=True)
