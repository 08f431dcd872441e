"""Makes importer/torchvision/testdata/source.json: source of transforms, and what Python prints for them. Needs torchvision 0.29.2."""

import json
import pathlib

OUT = pathlib.Path(__file__).resolve().parents[3] / "importer" / "torchvision" / "testdata" / "source.json"

SOURCES = [
    """from torchvision import transforms

transform = transforms.Compose([
    transforms.Resize(256),
    transforms.CenterCrop(224),
    transforms.ToTensor(),
    transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
])
""",
    """import torchvision.transforms as T
from torchvision.transforms import InterpolationMode
t = T.Compose([T.Resize((224, 240), interpolation=InterpolationMode.BICUBIC), T.ToTensor(), T.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])
""",
    """from torchvision.transforms import Compose, Resize, CenterCrop, ToTensor, Normalize, InterpolationMode
Compose([
    Resize(224, interpolation=InterpolationMode.BICUBIC, max_size=None, antialias=True),  # CLIP
    CenterCrop((224, 224)),
    ToTensor(),
    Normalize((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
])""",
    """import torch
from torchvision.transforms import v2
v2.Compose([
    v2.ToImage(),
    v2.Resize(size=(224, 224), antialias=True),
    v2.ToDtype(torch.float32, scale=True),
    v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
])""",
    """import torch
import torchvision.transforms.v2 as T
tf = T.Compose([T.Resize(256, max_size=512), T.ToImage(), T.ToDtype(torch.float32, scale=True)])""",
    """from torchvision import transforms as tt
tt.Compose([tt.Resize(256, max_size=300), tt.Pad((1, 2), fill=3, padding_mode='constant'), tt.Grayscale(3), tt.PILToTensor(), tt.ConvertImageDtype(torch.float32)])""",
    """from torch import nn
from torchvision.transforms import v2 as transforms
nn.Sequential(transforms.ToImage(), transforms.Resize([64], transforms.InterpolationMode.NEAREST_EXACT), transforms.CenterCrop(60))""",
    """import torchvision
torchvision.transforms.Compose([torchvision.transforms.Resize(32, 3), torchvision.transforms.ToTensor()])""",
]


def main():
    found = []
    for source in SOURCES:
        lines = source.strip().split("\n")
        imports = [line for line in lines if line.startswith(("import", "from"))]
        body = "\n".join(line for line in lines if line not in imports)
        scope = {}
        exec("\n".join(["import torch", *imports]), scope)
        head, _, rest = body.strip().partition("=")
        expression = rest if head.strip().isidentifier() and "(" not in head else body
        found.append({"source": source, "printed": repr(eval(expression.strip(), scope))})
    OUT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
