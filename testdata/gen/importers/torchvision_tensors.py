"""Makes importer/testdata/goldens_tensors.json: torchvision's transforms as Python prints them, with the dtypes and the
antialias of presets that it does not print, applied to Pillow images (torchvision) and to the tensors of decode_image
(torchvision-tensor), and what timm's loader gives.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import hf_patches as patches
import torch
from hf_torchvision import write
from torch import nn
from torchvision.io import decode_image
from torchvision.transforms import InterpolationMode as Mode
from torchvision.transforms import _presets, v2
from torchvision import transforms as v1

pil = patches._gen
MEAN, STD = pil.MEAN, pil.STD

warnings.simplefilter("ignore")


def cases():
    """Transforms, with their names."""
    tail = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    old = [v1.ToTensor(), v1.Normalize(MEAN, STD)]
    yield "v2 classification", v2.Compose([v2.Resize(40), v2.CenterCrop(32), *tail])
    yield "v2 tensors first", v2.Compose([v2.ToImage(), v2.Resize(40), v2.CenterCrop(32), *tail[1:]])
    yield "v2 sequential", nn.Sequential(v2.ToImage(), v2.Resize((30, 41)), v2.CenterCrop((28, 70)), *tail[1:])
    yield "v2 nested", v2.Compose([v2.Compose([v2.ToImage(), v2.Compose([v2.Resize(33)])]), v2.Identity(), v2.Compose(tail), v2.ToPureTensor()])
    yield "v1 classification", v1.Compose([v1.Resize(40), v1.CenterCrop(32), *old])
    yield "v1 tensors first", v1.Compose([v1.PILToTensor(), v1.Resize([40]), v1.CenterCrop(32), v1.ConvertImageDtype(torch.float), v1.Normalize(MEAN, STD)])
    yield "v1 tensors", v1.Compose([v1.Resize(40), v1.CenterCrop(32), v1.ConvertImageDtype(torch.float), v1.Normalize(MEAN, STD)])
    yield "v2 without values", v2.Compose([v2.Resize((21, 34)), v2.PILToTensor()])
    yield "v2 ToTensor", v2.Compose([v2.Resize((21, 34)), v2.ToTensor(), v2.Normalize([0.5], [0.25])])
    yield "v2 old dtype", v2.Compose([v2.ToImage(), v2.ConvertImageDtype(torch.float32), v2.Normalize(MEAN, STD)])
    yield "v2 only a dtype", v2.Compose([v2.ConvertImageDtype(torch.float32)])
    yield "v2 not scaled", v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32), v2.Normalize([100.0, 3.5, 7], [2, 3, 70.5], inplace=True)])
    yield "v2 resized floats", v2.Compose([*tail[:2], v2.Resize((37, 20)), v2.CenterCrop(22), tail[2]])
    yield "v1 resized floats", v1.Compose([v1.ToTensor(), v1.Resize((37, 20), interpolation=Mode.BICUBIC), v1.CenterCrop(25), old[1]])
    yield "max_size", v2.Compose([v2.ToImage(), v2.Resize(40, max_size=50), *tail[1:]])
    yield "v1 max_size", v1.Compose([v1.PILToTensor(), v1.Resize(40, max_size=50), v1.ConvertImageDtype(torch.float)])
    yield "longest", v2.Compose([v2.ToImage(), v2.Resize(None, max_size=45), *tail[1:]])
    yield "gray", v2.Compose([v2.ToImage(), v2.Grayscale(3), *tail[1:]])
    yield "gray one", v2.Compose([v2.ToImage(), v2.Grayscale(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.4], [0.3])])
    yield "gray and back", v2.Compose([v2.Grayscale(), v2.RGB(), v2.Resize(20), *tail])
    yield "v1 gray", v1.Compose([v1.Grayscale(3), *old])
    yield "v1 gray tensor", v1.Compose([v1.PILToTensor(), v1.Grayscale(1), v1.ConvertImageDtype(torch.float)])
    yield "padded", v2.Compose([v2.ToImage(), v2.Pad(3, fill=9), *tail[1:]])
    yield "padded twice", v2.Compose([v2.Pad([2, 5], padding_mode="edge"), v2.Pad([1, 2, 3, 4], fill=(1, 2, 3)), *tail])
    yield "reflected", v2.Compose([v2.Pad((7, 2), padding_mode="reflect"), v2.ToImage(), v2.Pad([4], padding_mode="symmetric"), v2.Resize(33), *tail[1:]])
    for size in (35, (44, 23), 200, 1):
        for mode in (Mode.NEAREST, Mode.NEAREST_EXACT, Mode.BILINEAR, Mode.BICUBIC, Mode.BOX, Mode.HAMMING, Mode.LANCZOS):
            for antialias in (True, False):
                if size in (200, 1) and (mode not in (Mode.BILINEAR, Mode.BICUBIC) or not antialias):
                    continue
                name = f"{mode.value} {size} {antialias}"
                yield "v2 " + name, v2.Compose([v2.Resize(size, interpolation=mode, antialias=antialias), *tail])
                yield "v2 first " + name, v2.Compose([v2.ToImage(), v2.Resize(size, interpolation=mode, antialias=antialias), *tail[1:]])
                yield "v1 " + name, v1.Compose([v1.Resize(size, interpolation=mode, antialias=antialias), *old])
                yield "v1 first " + name, v1.Compose([v1.PILToTensor(), v1.Resize(size, interpolation=mode, antialias=antialias), v1.ConvertImageDtype(torch.float)])
    for size in ((31, 31), (30, 31), (90, 25), (25, 90), (47, 61), (48, 62), (46, 60), (99, 98)):
        yield f"cropped {size}", v2.Compose([v2.ToImage(), v2.CenterCrop(size)])
    yield "preset", _presets.ImageClassification(crop_size=33, resize_size=40)
    yield "preset bicubic", _presets.ImageClassification(crop_size=40, resize_size=37, interpolation=Mode.BICUBIC, mean=(0.5, 0.5, 0.5), std=(0.1, 0.2, 0.3))
    yield "segmentation", _presets.SemanticSegmentation(resize_size=50)
    yield "segmentation, not resized", _presets.SemanticSegmentation(resize_size=None)
    yield "detection", _presets.ObjectDetection()
    # What the reference refuses, for Pillow images, tensors or both.
    yield "no conversion", v2.Compose([v2.Resize(3), v2.Normalize(MEAN, STD)])
    yield "normalized bytes", v2.Compose([v2.ToImage(), v2.Normalize(MEAN, STD)])
    yield "v1 converted twice", v1.Compose([v1.PILToTensor(), v1.ToTensor()])


def timm_cases():
    for label, keys in (("prefetcher", {"use_prefetcher": True}), ("not normalized", {"normalize": False}),
                        ("neither", {"use_prefetcher": False, "normalize": True}), ("both", {"use_prefetcher": True, "normalize": False})):
        yield label, {"architecture": "x", "input_size": [3, 40, 48], "crop_mode": "border", "mean": [0.5, 0.0, 1.0]} | keys
        yield label + " in a cfg", {"pretrained_cfg": {"input_size": [3, 33, 33], "std": [0.3], "mean": [0.7]} | keys}


def array(x):
    if not isinstance(x, torch.Tensor):
        raise TypeError("the result is an image of Pillow's")
    return x.contiguous().numpy()


# What torchvision does not print.
v2.ToDtype.extra_repr = lambda self: f"dtype={self.dtype}, scale={self.scale}"
v1.ConvertImageDtype.extra_repr = v2.ConvertImageDtype.extra_repr = lambda self: f"dtype={self.dtype}"


def printed(t):
    text = repr(t)
    return text.replace("\n)", f"\n    antialias={t.antialias}\n)") if hasattr(t, "antialias") else text


REFERENCES = {}  # by backend and configuration


def all_cases():
    """Cases as importers_torchvision.write takes them; the text of a transform is a JSON string."""
    for n, (name, t) in enumerate([*cases(), *timm_cases()]):
        backends = {
            "torchvision": lambda p, t=t: {"image": array(t(pil.importers.rgb(p)))},
            "torchvision-tensor": lambda p, t=t: {"image": array(t(decode_image(str(p), mode="RGB")))},
        }
        if isinstance(t, dict):
            backends = {"timm": pil.importers.timm(t)}
        text = json.dumps(t if isinstance(t, dict) else printed(t))
        for backend, run in backends.items():
            REFERENCES[backend, text] = run
            yield backend, name, text, ("rgb.png", "tall.png", "gray.png", "key.png")[n % 4 :][:2]


if __name__ == "__main__":
    torch.set_num_threads(2)
    write("goldens_tensors.json", all_cases(), reference=lambda backend, text: REFERENCES[backend, text])
