"""infer_prep's Graph.run."""
import infer_prep

import common

# What Python prints for the transforms of torchvision_single.py.
COMPOSE = b"""Compose(
      Resize(size=[256], interpolation=bilinear, antialias=True)
      CenterCrop(size=(224, 224))
      PILToTensor()
      ToDtype(dtype=torch.float32, scale=True)
      Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225], inplace=False)
)"""

common.single(infer_prep.__version__, infer_prep.Graph.from_importer("torchvision", COMPOSE, backend="pil").run)
