"""Trains the small classifier of this folder with torchvision's transforms, exports it with
torch.onnx, and notes what the Python program gives for every test image.

Writes model.onnx, transforms.json (the arguments of torchvision's ImageClassification preset that it was
trained with), labels.txt, images/ and, for each of these, tensors/NAME.npy and expected.json; skewed/ has the
tensors of two programs that are almost right: OpenCV's resize, and blue and red exchanged. Takes no arguments.
On the same machine, running it again gives the same bytes; elsewhere training may round otherwise.

Needs torch 2.15.0, torchvision 0.29.2, pillow 13.0.0, numpy 2.4.6, opencv-python-headless 5.0.0.93, onnx 1.23.2
and onnxscript 0.7.2.
"""

import hashlib
import io
import json
import os
import shutil

import cv2
import numpy as np
import onnx
import torch
from PIL import Image, ImageDraw
from torch import nn
from torchvision.transforms import InterpolationMode
from torchvision.transforms._presets import ImageClassification

HERE = os.path.dirname(os.path.abspath(__file__))
LABELS = ["red circle", "blue circle", "red square", "blue square"]
TRANSFORMS = {"crop_size": 40, "resize_size": 48, "interpolation": "bilinear", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
TEST = 12

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
cv2.setNumThreads(1)


def draw(rng, label):
    """A JPEG file of one shape before a noisy background."""
    w, h = (int(n) for n in rng.integers(60, 200, 2))
    a = rng.normal(128, 40, (h, w, 3)) + np.linspace(-60, 60, w)[None, :, None] * rng.uniform(-1, 1, 3)
    im = Image.fromarray(a.clip(0, 255).astype(np.uint8))
    r = int(min(w, h) * rng.uniform(0.22, 0.4))
    x, y = w // 2 + int(rng.integers(-5, 6)), h // 2 + int(rng.integers(-5, 6))
    low = rng.integers(0, 60, 2)
    colour = (int(rng.integers(180, 256)), int(low[0]), int(low[1]))
    shape = ImageDraw.Draw(im).ellipse if label < 2 else ImageDraw.Draw(im).rectangle
    shape((x - r, y - r, x + r, y + r), fill=colour if label % 2 == 0 else colour[::-1])
    b = io.BytesIO()
    im.save(b, "JPEG", quality=int(rng.integers(70, 96)))
    return b.getvalue()


preprocess = ImageClassification(**(TRANSFORMS | {"interpolation": InterpolationMode(TRANSFORMS["interpolation"])}))


def tensor(data):
    return preprocess(Image.open(io.BytesIO(data)).convert("RGB"))


def skewed(data):
    """What the same pipeline gives with OpenCV's resize, and with blue and red exchanged."""
    a = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    h, w = a.shape[:2]
    size, crop = TRANSFORMS["resize_size"], TRANSFORMS["crop_size"]
    nh, nw = (size, int(size * w / h)) if h <= w else (int(size * h / w), size)
    b = cv2.resize(a, (nw, nh), interpolation=cv2.INTER_LINEAR)
    top, left = round((nh - crop) / 2), round((nw - crop) / 2)
    b = torch.from_numpy(b[top : top + crop, left : left + crop].transpose(2, 0, 1).copy()).float() / 255
    mean, std = (torch.tensor(TRANSFORMS[k])[:, None, None] for k in ("mean", "std"))
    bgr = preprocess(Image.fromarray(a[:, :, ::-1].copy()))
    return {"opencv": (b - mean) / std, "bgr": bgr}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 2, 1), nn.ReLU(),
        )
        self.head = nn.Linear(32 * 25, len(LABELS))

    def forward(self, image):
        return self.head(self.features(image).flatten(1))


def train():
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    labels = torch.arange(800) % len(LABELS)
    x = torch.stack([tensor(draw(rng, int(k))) for k in labels])
    net = Net()
    best = torch.optim.Adam(net.parameters(), 2e-3)
    for epoch in range(12):
        for i in torch.randperm(len(x)).split(32):
            best.zero_grad()
            nn.functional.cross_entropy(net(x[i]), labels[i]).backward()
            best.step()
    return net.eval()


def fresh(name):
    path = os.path.join(HERE, name)
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    return path


def write(name, text):
    with open(os.path.join(HERE, name), "w") as f:
        f.write(text)


def export(net):
    program = torch.onnx.export(
        net, (torch.zeros(1, 3, 40, 40),), input_names=["image"], output_names=["logits"], opset_version=18, dynamo=True, verbose=False,
    )
    model = program.model_proto
    # torch notes where in which files the nodes come from.
    del model.metadata_props[:], model.graph.metadata_props[:]
    for n in [*model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output]:
        del n.metadata_props[:]
    onnx.save(model, os.path.join(HERE, "model.onnx"))


def main():
    net = train()
    export(net)
    write("transforms.json", json.dumps({"torchvision": TRANSFORMS}, indent=1) + "\n")
    write("labels.txt", "".join(l + "\n" for l in LABELS))
    images, tensors, wrong = fresh("images"), fresh("tensors"), fresh("skewed")
    rng = np.random.default_rng(2)
    expected = {}
    for i in range(TEST):
        label = i % len(LABELS)
        data, name = draw(rng, label), f"{i:02d}"
        with open(os.path.join(images, name + ".jpg"), "wb") as f:
            f.write(data)
        x = tensor(data)
        np.save(os.path.join(tensors, name + ".npy"), x.numpy())
        if i < 2:
            for k, t in skewed(data).items():
                np.save(os.path.join(wrong, f"{name}.{k}.npy"), t.numpy())
        with torch.no_grad():
            logits = net(x[None])[0]
        expected[name + ".jpg"] = {
            "sha256": hashlib.sha256(x.numpy().tobytes()).hexdigest(),
            "logits": [float(v) for v in logits],
            "label": LABELS[int(logits.argmax())],
            "drawn": LABELS[label],
        }
    write("expected.json", json.dumps(expected, indent=1) + "\n")
    right = sum(e["label"] == e["drawn"] for e in expected.values())
    print(f"{right} of {TEST} test images are recognised")


main()
