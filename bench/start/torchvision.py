"""From a process's start to the first tensor, with torchvision on Pillow's images."""
import sys

sys.path.pop(0)  # this file is called as the library is

from PIL import Image
from torchvision import transforms as T

t = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
print(t(Image.open(sys.argv[1]).convert("RGB")).shape, flush=True)
