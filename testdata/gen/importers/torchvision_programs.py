"""Makes importer/torchvision/testdata/programs.json: transforms of the kinds that public programs have, as source and as
Python prints them, and digests of what they return for images; and decoded.json: digests of what decode_image returns.

Needs torchvision 0.29.2. Takes no arguments; running it again gives the same bytes.
"""

import ast
import hashlib
import json
import pathlib
import warnings

import numpy as np
import torch
from PIL import Image
from torchvision.io import decode_image

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "importer" / "torchvision" / "testdata"
IMAGES = ["importer/testdata/" + n for n in ("rgb.png", "tall.png", "gray.png", "key.png", "palette.png", "rgba.png", "wide.png", "dot.png")] + [
    "testdata/images/" + n for n in ("jpeg_exif_ii_6.jpg", "png_gray16.png", "png_rgb16.png", "png_gray1.png", "png_la8.png", "gif_8bit.gif", "gif_animated.gif", "gif_8bit_transparent.gif")
]

V1 = "from torchvision import transforms\n"
T1 = "import torchvision.transforms as T\n"
V2 = "import torch\nfrom torchvision.transforms import v2\n"
T2 = "import torch\nimport torchvision.transforms.v2 as T\n"
N = "[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]"
CLIP = "(0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)"

# The kinds of transforms were found in public programs; the sizes are small ones.
SOURCES = {
    # v1 on Pillow images
    "classification": V1 + f"t = transforms.Compose([transforms.Resize(40), transforms.CenterCrop(32), transforms.ToTensor(), transforms.Normalize({N})])",
    "halves": T1 + "T.Compose([T.Resize(36), T.CenterCrop(36), T.ToTensor(), T.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])",
    "square": V1 + f"transforms.Compose([transforms.Resize(size=(28, 28)), transforms.ToTensor(), transforms.Normalize(mean={N.replace('], [', '], std=[')})])",
    "only a tensor": V1 + "transforms.Compose([transforms.ToTensor()])",
    "to a square": V1 + "preprocess = transforms.Compose([\n    transforms.Resize((41, 30)),  # height, width\n    transforms.ToTensor(),\n])",
    "one statistic": T1 + "T.Compose([T.Resize((24, 24)), T.ToTensor(), T.Normalize([0.5], [0.5])])",
    "parentheses without comma": T1 + "T.Compose([T.Resize((30)), T.ToTensor(), T.Normalize((0.5), (0.25))])",
    "numbers as statistics": T1 + "T.Compose([T.ToTensor(), T.Normalize(mean=0.5, std=0.25)])",
    "digits": V1 + "transforms.Compose([transforms.Grayscale(num_output_channels=1), transforms.Resize((28, 28)), transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])",
    "gray last": V1 + "transforms.Compose([transforms.Resize((34, 42)), transforms.Grayscale(3), transforms.ToTensor(), transforms.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])",
    "gray default": T1 + "T.Compose([T.Resize((16, 16)), T.Grayscale(), T.ToTensor()])",
    "padded digits": V1 + "transforms.Compose([transforms.Pad(2), transforms.ToTensor(), transforms.Normalize((0.13,), (0.31,))])",
    "padded with a colour": V1 + "transforms.Compose([transforms.Pad(padding=3, fill=(150, 152, 228), padding_mode='constant'), transforms.Resize((33, 33)), transforms.ToTensor()])",
    "padded by reflection": T1 + "T.Compose([T.Resize(20), T.Pad(padding=(4, 2), padding_mode='reflect'), T.ToTensor()])",
    "padded by the edge": T1 + "T.Compose([T.Pad([1, 2, 3, 4], padding_mode='edge'), T.CenterCrop(30), T.ToTensor()])",
    "bicubic": T1 + f"T.Compose([T.Resize(38, interpolation=T.InterpolationMode.BICUBIC), T.CenterCrop((32, 32)), T.ToTensor(), T.Normalize({N})])",
    "Pillow's number": V1 + "transforms.Compose([transforms.Resize(29, interpolation=3), transforms.CenterCrop(29), transforms.ToTensor()])",
    "Pillow's filter": "import PIL.Image\nimport torchvision.transforms as T\nT.Compose([T.Resize(31, interpolation=PIL.Image.BILINEAR), T.CenterCrop(31), T.ToTensor()])",
    "lanczos": "from PIL import Image\n" + V1 + "transforms.Compose([transforms.Resize((26, 27), Image.LANCZOS), transforms.ToTensor()])",
    "nearest for masks": T1 + "T.Compose([T.Resize((25, 26), interpolation=T.InterpolationMode.NEAREST), T.PILToTensor()])",
    "antialias None": V1 + "transforms.Compose([transforms.Resize(size=(22, 22), max_size=None, antialias=None), transforms.ToTensor()])",
    "tensor first": V1 + "transforms.Compose([transforms.ToTensor(), transforms.Resize((28, 28)), transforms.Normalize((0.1307,), (0.3081,))])",
    "tensor first, no antialias": T1 + "T.Compose([T.ToTensor(), T.Resize((23, 24), interpolation=T.InterpolationMode.BICUBIC, antialias=None), T.Normalize(mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))])",
    "typed": V1 + "import torch\ntransforms.Compose([transforms.Resize(33), transforms.CenterCrop(30), transforms.PILToTensor(), transforms.ConvertImageDtype(torch.float), transforms.Normalize(mean=[0.5, 0.5, 0.5], std=[0.5, 0.5, 0.5])])",
    "typed first": V1 + "import torch\ntransforms.Compose([transforms.PILToTensor(), transforms.ConvertImageDtype(torch.float), transforms.Resize((19, 19)), transforms.Normalize(mean=(.5, .5, .5), std=(.5, .5, .5))])",
    "converted by Lambda": V1 + f"transforms.Compose([transforms.Lambda(lambda img: img.convert(\"RGB\")), transforms.Resize((24, 24)), transforms.ToTensor(), transforms.Normalize({N})])",
    "converted after scaling": V1 + "transforms.Compose([\n    transforms.Resize((24, 24)),\n    transforms.Lambda(lambda x: x.convert('RGB')),\n    transforms.ToTensor(),\n])",
    "CLIP": "from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Normalize, Resize, ToTensor\nCompose([Resize(24, interpolation=InterpolationMode.BICUBIC), CenterCrop(24), _convert_image_to_rgb, ToTensor(), Normalize(" + CLIP + ")])",
    "CLIP by lambda": V1 + f"transforms.Compose([transforms.Resize(24, interpolation=transforms.InterpolationMode.BICUBIC), transforms.CenterCrop(24), lambda image: image.convert(\"RGB\"), transforms.ToTensor(), transforms.Normalize({CLIP})])",
    "OpenCLIP": T1 + f"T.Compose([T.Resize((30, 30), interpolation=T.InterpolationMode.BICUBIC), _convert_to_rgb, T.ToTensor(), T.Normalize(mean={CLIP})])".replace("), (", "), std=("),
    "nested": V1 + f"transforms.Compose([transforms.Compose([transforms.Resize(40), transforms.CenterCrop(32)]), transforms.Compose([transforms.ToTensor(), transforms.Normalize({N})])])",
    "by module": f"import torchvision\ntorchvision.transforms.Compose([torchvision.transforms.Resize(size=(32, 31)), torchvision.transforms.ToTensor(), torchvision.transforms.Normalize({N})])",
    "mirrored": T1 + "T.Compose([T.Resize(32), T.RandomHorizontalFlip(p=0.5), T.ToTensor()])",
    "cropped at random": V1 + "transforms.Compose([transforms.Pad(4), transforms.RandomCrop(16), transforms.ToTensor()])",
    "inverted": V1 + "transforms.Compose([transforms.Grayscale(), transforms.ToTensor(), transforms.Lambda(lambda x: 1 - x)])",
    "from arrays": V1 + f"transforms.Compose([transforms.ToPILImage(), transforms.Resize(size=(24, 24)), transforms.ToTensor(), transforms.Normalize({N})])",
    "v2 from arrays": V2 + "v2.Compose([v2.ToPILImage(), v2.Resize((24, 20), interpolation=v2.InterpolationMode.BICUBIC), v2.ToImage()])",
    "back to Pillow": V2 + "v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Resize((24, 24)), v2.ToPILImage()])",
    "gray of floats": T1 + "T.Compose([T.ToTensor(), T.Grayscale(num_output_channels=3)])",
    # v1 on tensors
    "v1 tensors": "import torch\n" + V1 + "transforms.Compose([transforms.Resize(33), transforms.CenterCrop(31), transforms.ConvertImageDtype(torch.float32), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])",
    "v1 gray tensors": "import torch\n" + V1 + "transforms.Compose([transforms.Resize((32, 32)), transforms.Grayscale(), transforms.ConvertImageDtype(torch.float)])",
    "v1 gray tensor of three channels": V1 + "transforms.Compose([transforms.PILToTensor(), transforms.Grayscale(1), transforms.Grayscale(3)])",
    "v2 gray tensor of three channels": V2 + "v2.Compose([v2.ToImage(), v2.Grayscale(1), v2.Grayscale(3)])",
    "v1 half": "import torch\n" + V1 + "transforms.Compose([transforms.PILToTensor(), transforms.ConvertImageDtype(torch.float16)])",
    # v2
    "v2 documented": V2 + "v2.Compose([v2.ToImage(), v2.ToDtype(torch.uint8, scale=True), v2.Resize(size=(32, 32), antialias=True), v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])])",
    "v2 gray": V2 + "v2.Compose([v2.ToImage(), v2.ToDtype(torch.uint8, scale=True), v2.Resize(size=[24, 24], antialias=True), v2.Grayscale(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean=[0.5], std=[0.5])])",
    "v2 large crop": V2 + "v2.Compose([v2.ToImage(), v2.CenterCrop(100), v2.ToDtype(torch.uint8, scale=True), v2.Resize((32, 32), antialias=True), v2.ToDtype(torch.float32, scale=True), v2.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])",
    "v2 scaled first": V2 + f"v2.Compose([v2.Resize((28, 28)), v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize({N})])",
    "v2 floats first": V2 + f"v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Resize(30, antialias=True), v2.CenterCrop(28), v2.Normalize({N})])",
    "v2 tensors": V2 + "v2.Compose([v2.Resize(size=(28, 28), antialias=True), v2.CenterCrop(size=(28, 28)), v2.ToDtype(torch.float32, scale=True), v2.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])",
    "v2 old type": T2 + f"T.Compose([T.Resize(size=27, antialias=True), T.ConvertImageDtype(torch.float32), T.Normalize({N})])",
    "v2 half": T2 + "T.Compose([T.ToImage(), T.Resize(24), T.CenterCrop(24), T.ToDtype(torch.float16, scale=True)])",
    "v2 bfloat16": T2 + "T.Compose([T.ToImage(), T.ToDtype(torch.float32, scale=True), T.Normalize([0.5], [0.5]), T.ToDtype(torch.bfloat16)])",
    "v2 half normalized": T2 + "T.Compose([T.ToImage(), T.ConvertImageDtype(torch.float16), T.Normalize(mean=[0.36], std=[0.2])])",
    "v2 double": V2 + "v2.Compose([v2.ToImage(), v2.ToDtype(torch.float64, scale=True)])",
    "v2 not scaled": V2 + "v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32)])",
    "v2 labels": V2 + "v2.Compose([v2.ToImage(), v2.ToDtype(torch.int64, scale=False)])",
    "v2 back to bytes": V2 + f"v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize({N}), v2.ToDtype(torch.uint8, scale=True)])",
    "v2 type of a Pillow image": T2 + f"T.Compose([T.ToDtype(dtype=torch.float32, scale=True), T.ToTensor(), T.Normalize({N}), T.Resize(size=(20, 20))])",
    "v2 crop, bicubic": V2 + f"v2.Compose([v2.CenterCrop((60, 60)), v2.Resize((32, 32), interpolation=v2.InterpolationMode.BICUBIC), v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize({N})])",
    "v2 nearest": T2 + "T.Compose([T.Resize((21, 21), interpolation=T.InterpolationMode.NEAREST_EXACT), T.ToImage()])",
    "v2 no antialias": V2 + "v2.Compose([v2.ToImage(), v2.Resize(16, antialias=None), v2.ToDtype(torch.float32, scale=True)])",
    "v2 Pillow's number": V2 + "v2.Compose([v2.ToImage(), v2.Resize(26, interpolation=2), v2.ToDtype(torch.float32, scale=True)])",
    "v2 longest": V2 + "v2.Compose([v2.ToImage(), v2.Resize(size=None, max_size=30), v2.ToDtype(torch.float32, scale=True)])",
    "v2 at most": V2 + "v2.Compose([v2.ToImage(), v2.Resize(40, max_size=50), v2.ToDtype(torch.float32, scale=True)])",
    "v2 padded": V2 + "v2.Compose([v2.ToImage(), v2.Pad(4, fill=127), v2.ToDtype(torch.float32, scale=True)])",
    "v2 padded by None": V2 + "v2.Compose([v2.Pad((1, 5), fill=None), v2.ToImage()])",
    "v2 padded by type": V2 + "from torchvision import tv_tensors\nv2.Compose([v2.ToImage(), v2.Pad(4, fill={tv_tensors.Image: 127, 'others': 0}), v2.ToDtype(torch.float32, scale=True)])",
    "v2 typed by type": V2 + "from torchvision import tv_tensors\nv2.Compose([v2.ToImage(), v2.ToDtype({tv_tensors.Image: torch.float32, 'others': None}, scale=True)])",
    "v2 colour": V2 + "v2.Compose([v2.RGB(), v2.ToImage(), v2.Resize((18, 19)), v2.ToDtype(torch.float32, scale=True)])",
    "v2 colour last": V2 + "v2.Compose([v2.Resize((18, 19)), v2.RGB(), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])",
    "v2 colour of tensors": V2 + "v2.Compose([v2.ToImage(), v2.RGB(), v2.Resize((18, 19)), v2.ToDtype(torch.float32, scale=True)])",
    "v2 mixed": "import torch\n" + T1 + "from torchvision.transforms import v2\nv2.Compose([T.ToTensor(), T.Resize(size=(22, 22)), v2.ToDtype(torch.float32, scale=True), T.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])])",
    "v2 identity": V2 + "v2.Compose([v2.ToImage(), v2.Identity(), v2.ToPureTensor()])",
    "v2 sequential": "import torch\nfrom torch import nn\nfrom torchvision.transforms import v2\nnn.Sequential(v2.ToImage(), v2.Resize([20], antialias=True), v2.CenterCrop(18), v2.ToDtype(torch.float32, scale=True))",
    "v2 of the module": "import torch\nfrom torchvision import transforms\nfrom torchvision.transforms import v2\ntransforms.v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.CenterCrop(33)])",
    # presets
    "preset": "from torchvision.transforms._presets import ImageClassification\nImageClassification(crop_size=32, resize_size=40)",
    "preset of swag": "from torchvision.transforms import InterpolationMode\nfrom torchvision.transforms._presets import ImageClassification\nImageClassification(crop_size=44, resize_size=44, interpolation=InterpolationMode.BICUBIC)",
    "preset for segmentation": "from torchvision.transforms._presets import SemanticSegmentation\nSemanticSegmentation(resize_size=40)",
    "preset for detection": "from torchvision.transforms._presets import ObjectDetection\nObjectDetection()",
}

ADDRESS = "0x7f8616295630"

# Prints of older versions, as they stand in READMEs and issues, and the name of the source with the same values in 0.29.2.
PRINTED = {
    "CLIP, 0.15": ("CLIP", f"Compose(\n    Resize(size=24, interpolation=bicubic, max_size=None, antialias=warn)\n    CenterCrop(size=(24, 24))\n    <function _convert_image_to_rgb at {ADDRESS}>\n    ToTensor()\n    Normalize(mean=(0.48145466, 0.4578275, 0.40821073), std=(0.26862954, 0.26130258, 0.27577711))\n)"),
    "CLIP, 0.12, indented": ("CLIP", f"    Compose(\n        Resize(size=24, interpolation=bicubic, max_size=None, antialias=None)\n        CenterCrop(size=(24, 24))\n        <function _convert_image_to_rgb at {ADDRESS}>\n        ToTensor()\n        Normalize(mean=(0.48145466, 0.4578275, 0.40821073), std=(0.26862954, 0.26130258, 0.27577711))\n    )"),
    "CLIP, 0.9, on Windows": ("CLIP", "Compose(\n\tResize(size=24, interpolation=bicubic)\n\tCenterCrop(size=(24, 24))\n\t<function _convert_image_to_rgb at 0x000002364D1EE430>\n\tToTensor()\n\tNormalize(mean=(0.48145466, 0.4578275, 0.40821073), std=(0.26862954, 0.26130258, 0.27577711))\n)"),
    "CLIP, first version": ("CLIP by lambda", f"Compose(\n    Resize(size=24, interpolation=PIL.Image.BICUBIC)\n    CenterCrop(size=(24, 24))\n    <function _transform.<locals>.<lambda> at {ADDRESS}>\n    ToTensor()\n    Normalize(mean=(0.48145466, 0.4578275, 0.40821073), std=(0.26862954, 0.26130258, 0.27577711))\n)"),
    "classification, 0.8": ("classification", "Compose(\n    Resize(size=40, interpolation=PIL.Image.BILINEAR)\n    CenterCrop(size=(32, 32))\n    ToTensor()\n    Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])\n)"),
    "v1 tensors, 0.10, with the type": ("v1 tensors", "Compose(\n    Resize(size=33, interpolation=bilinear, max_size=None)\n    CenterCrop(size=(31, 31))\n    ConvertImageDtype(dtype=torch.float32)\n    Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))\n)"),
    "v1 gray tensors, indented, with the type": ("v1 gray tensors", "  Compose(\n      Resize(size=(32, 32), interpolation=bilinear, max_size=None, antialias=True)\n      Grayscale(num_output_channels=1)\n      ConvertImageDtype(dtype=torch.float32)\n  )"),
    "v2 documented, with the types": ("v2 documented", "Compose(\n      ToImage()\n      ToDtype(dtype=torch.uint8, scale=True)\n      Resize(size=[32, 32], interpolation=InterpolationMode.BILINEAR, antialias=True)\n      ToDtype(dtype=torch.float32, scale=True)\n      Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225], inplace=False)\n)"),
    "v2 mixed, with the type": ("v2 mixed", "Compose(\n      ToTensor()\n      Resize(size=(22, 22), interpolation=bilinear, max_size=None, antialias=True)\n      ToDtype(dtype=torch.float32, scale=True)\n      Normalize(mean=[0.5, 0.5, 0.5], std=[0.5, 0.5, 0.5])\n)"),
    "square, tensors of statistics": ("square", "Compose(\n    Resize(size=(28, 28), interpolation=bilinear, max_size=None, antialias=True)\n    ToTensor()\n    Normalize(mean=tensor([0.4850, 0.4560, 0.4060]), std=tensor([0.2290, 0.2240, 0.2250]))\n)"),
    "square, arrays of statistics": ("square", "Compose(\n    Resize(size=(28, 28), interpolation=bilinear, max_size=None, antialias=True)\n    ToTensor()\n    Normalize(mean=[0.485 0.456 0.406], std=[0.229 0.224 0.225])\n)"),
    "preset, with antialias": ("preset", "ImageClassification(\n    crop_size=[32]\n    resize_size=[40]\n    mean=[0.485, 0.456, 0.406]\n    std=[0.229, 0.224, 0.225]\n    interpolation=InterpolationMode.BILINEAR\n    antialias=True\n)"),
}


def _convert_image_to_rgb(image):
    return image.convert("RGB")


def _convert_to_rgb(image):
    return image.convert("RGB")


def transform(source):
    body = ast.parse(source).body
    scope = {"_convert_image_to_rgb": _convert_image_to_rgb, "_convert_to_rgb": _convert_to_rgb}
    exec(compile(ast.Module(body[:-1], []), "", "exec"), scope)
    return eval(compile(ast.Expression(body[-1].value), "", "eval"), scope)


def digest(x):
    """96 bits of the digest of the type, the shape and the bytes, "" of what is no tensor."""
    if not isinstance(x, torch.Tensor):
        return ""
    head = f"{str(x.dtype).removeprefix('torch.')} {'x'.join(map(str, x.shape))}\n".encode()
    return hashlib.sha256(head + x.reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:24]


def results(t, whole):
    """Digests by backend and image, "" where the reference refuses. A random transform has none.

    Programs that convert images themselves open them as they are (whole).
    """
    pil = {}
    tensors = {}
    for n in IMAGES:
        for made, read in ((pil, lambda p: Image.open(p) if whole else Image.open(p).convert("RGB")), (tensors, lambda p: decode_image(str(p), mode="RGB"))):
            try:
                made[n] = digest(t(read(ROOT / n)))
            except Exception:
                made[n] = ""
    return {"pil": pil, "tensor": tensors}


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(2)
    lines = []
    for name, source in SOURCES.items():
        t = transform(source)
        printed = repr(t)
        for at in {word for word in printed.split() if word.startswith("0x")}:  # differs from run to run
            printed = printed.replace(at, ADDRESS + ">")
        whole = any(word in source for word in (".convert(", "_to_rgb", "RGB()"))
        lines.append({"name": name, "source": source, "printed": printed, "results": {} if "Random" in source else results(t, whole)})
    for name, (of, printed) in PRINTED.items():
        lines.append({"name": name, "printed": printed, "of": of})
    (OUT / "programs.json").write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in lines) + "\n]\n")

    decoded = {}
    for p in sorted((ROOT / "testdata" / "images").iterdir()):
        if p.suffix in (".jpg", ".png", ".gif", ".webp"):
            try:
                decoded[p.name] = digest(decode_image(str(p), mode="RGB"))
            except RuntimeError:
                decoded[p.name] = ""
    (OUT / "decoded.json").write_text(json.dumps(decoded, indent=0) + "\n")


if __name__ == "__main__":
    main()
