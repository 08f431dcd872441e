"""Makes the images and goldens.json in importer/testdata.

Needs Pillow 13.0.0, numpy 2.4.6, opencv-python-headless 5.0.0.93, torch 2.15.0, torchvision 0.29.2,
transformers 5.23.0, timm 1.0.31 and, installed with --no-deps, ultralytics 8.4.190. The references are
those of parity/importers.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "importer" / "testdata"
sys.path.insert(0, str(ROOT / "parity"))

import importers  # noqa: E402

warnings.simplefilter("ignore")

rng = np.random.default_rng(20260115)


def picture(h, w, c=3):
    """Smooth colours with noise on top, so that every filter and rounding shows."""
    y, x = np.mgrid[:h, :w]
    planes = [127 + 90 * np.sin(x / (7 + 3 * i) + i) * np.cos(y / (11 - 2 * i)) for i in range(c)]
    a = np.stack(planes, -1) + rng.normal(0, 25, (h, w, c))
    return np.clip(a.round(), 0, 255).astype(np.uint8)


def images():
    OUT.mkdir(exist_ok=True)
    Image.fromarray(picture(47, 61)).save(OUT / "rgb.png")
    Image.fromarray(picture(33, 50, 1)[..., 0]).save(OUT / "gray.png")
    key = picture(40, 40)
    key[5:25, 8:30] = (10, 200, 30)
    Image.fromarray(key).save(OUT / "key.png", transparency=(10, 200, 30))
    Image.fromarray(picture(90, 20)).save(OUT / "tall.png")
    Image.fromarray(picture(130, 171)).quantize(32).save(OUT / "palette.png")
    rgba = np.concatenate([picture(25, 36), picture(25, 36, 1)], -1)
    Image.fromarray(rgba).save(OUT / "rgba.png")
    Image.fromarray(picture(3, 97)).save(OUT / "wide.png")
    Image.fromarray(picture(1, 1)).save(OUT / "dot.png")


HALF, MEAN, STD = [0.5, 0.5, 0.5], [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
CLIP_MEAN, CLIP_STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]


def hw(h, w=None):
    return {"height": h, "width": w or h}


def short(n):
    return {"shortest_edge": n}


# Every class with its defaults written out; extra are keys of its own.
WRITTEN = {
    "ViT": dict(resample=2, size=hw(224), image_mean=HALF, image_std=HALF),
    "DeiT": dict(resample=3, size=hw(256), crop_size=hw(224), do_center_crop=True, image_mean=HALF, image_std=HALF),
    "Beit": dict(resample=3, size=hw(224), crop_size=hw(224), do_center_crop=False, image_mean=HALF, image_std=HALF, do_reduce_labels=False),
    "CLIP": dict(resample=3, size=short(224), crop_size=hw(224), do_center_crop=True, image_mean=CLIP_MEAN, image_std=CLIP_STD, do_convert_rgb=True),
    "Siglip": dict(resample=3, size=hw(224), image_mean=HALF, image_std=HALF, do_convert_rgb=True),
    "Bit": dict(resample=3, size=short(224), crop_size=hw(224), do_center_crop=True, image_mean=CLIP_MEAN, image_std=CLIP_STD, do_convert_rgb=True),
    "ConvNext": dict(resample=3, size=short(384), crop_pct=0.875, image_mean=HALF, image_std=HALF),
    "EfficientNet": dict(resample=3, size=hw(346), crop_size=hw(289), do_center_crop=False, rescale_offset=False, include_top=True, image_mean=HALF, image_std=HALF),
    "MobileNetV1": dict(resample=2, size=short(256), crop_size=hw(224), do_center_crop=True, image_mean=HALF, image_std=HALF),
    "MobileNetV2": dict(resample=2, size=short(256), crop_size=hw(224), do_center_crop=True, image_mean=HALF, image_std=HALF),
    "MobileViT": dict(resample=3, size=short(224), crop_size=hw(256), do_center_crop=True, do_flip_channel_order=True, do_normalize=None),
    "Levit": dict(resample=3, size=short(224), crop_size=hw(224), do_center_crop=True, image_mean=MEAN, image_std=STD),
    "Segformer": dict(resample=2, size=hw(512), do_reduce_labels=False, image_mean=MEAN, image_std=STD),
    "LayoutLMv3": dict(resample=2, size=hw(224), image_mean=HALF, image_std=HALF, ocr_lang=None, tesseract_config=""),
}
SWITCHES = ("do_resize", "do_rescale", "do_normalize")


def hf_cases():
    for name, written in WRITTEN.items():
        def case(label, _name=name, **kw):
            c = {"image_processor_type": _name + "ImageProcessor"} | kw
            if _name == "LayoutLMv3":
                c.setdefault("apply_ocr", False)
            return "hf", f"{_name} {label}", c

        yield case("absent")
        yield case("written", **{"do_resize": True, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, **written})
        for s in SWITCHES:
            yield case(f"no {s}", **{s: False})
        yield case("only resized", size=40 if name != "ConvNext" else 384, do_rescale=False, do_normalize=False)
        yield case("nothing", do_resize=False, do_rescale=False, do_normalize=False, do_center_crop=False)
        yield case("old numbers", size=65, crop_size=50)
        yield case("crop and pad", size=48, do_center_crop=name != "LayoutLMv3", crop_size=[37, 64], do_pad=True, pad_size=hw(90, 101))
        yield case("other values", size=31, crop_size=29, resample=1, rescale_factor=0.0078125, image_mean=[0.1, 0.2, 0.3], image_std=0.7)
        yield case("converted", size=33, crop_size=hw(33), do_convert_rgb=True)
        yield case("not converted", size=33, crop_size=hw(33), do_convert_rgb=False)
        if name not in ("ConvNext", "Levit"):
            yield case("list", size=[21, 55], crop_size=[30, 40])
            yield case("both edges", size={"shortest_edge": 40, "longest_edge": 57}, crop_size=hw(40))
            yield case("within", size={"max_height": 50, "max_width": 70}, crop_size=hw(40))
        yield case("longest without bound", size={"shortest_edge": 41, "longest_edge": None}, crop_size=hw(40))
        if name != "ConvNext":
            yield case("square switched", size=52, default_to_square=not written["size"].get("shortest_edge") is None, crop_size=52)

    def vit(label, **kw):
        return "hf", f"ViT {label}", {"image_processor_type": "ViTImageProcessor", "size": 45} | kw

    for n in range(6):
        yield vit(f"resample {n}", resample=n)
        yield "hf", f"CLIP resample {n}", {"feature_extractor_type": "CLIPFeatureExtractor", "size": 30, "crop_size": 35, "resample": n}
    yield vit("fast", image_processor_type="ViTImageProcessorFast")
    yield vit("pil", image_processor_type="ViTImageProcessorPil")
    yield "hf", "ViT extractor", {"feature_extractor_type": "ViTFeatureExtractor", "size": 20}
    yield vit("both types", feature_extractor_type="CLIPFeatureExtractor")
    yield vit("channels last is ignored", data_format="channels_last")
    yield vit("scalars", image_mean=0.4, image_std=0.3)
    yield vit("rescale by 1", rescale_factor=1)
    yield vit("nulls", do_center_crop=None, crop_size=None, do_pad=None, pad_size=None, do_convert_rgb=None, data_format=None,
              input_data_format=None, device=None, return_tensors=None, disable_grouping=None, image_seq_length=None)
    yield vit("null switches", do_rescale=None, do_normalize=None, rescale_factor=None, image_mean=None)
    yield vit("pad to itself", do_pad=True)
    yield vit("inert", processor_class="X", format="pt", ocr_lang="eng", do_reduce_labels=True, _valid_processor_keys=["images"])
    for n in (3, 4, 7, 8, 99):
        yield "hf", f"CLIP crop {n}", {"image_processor_type": "CLIPImageProcessor", "size": 6, "crop_size": hw(n, 2 * n)}
    yield "hf", "CLIP square", {"image_processor_type": "CLIPImageProcessor", "size": 50, "use_square_size": True, "crop_size": 120}
    yield "hf", "CLIP not square", {"image_processor_type": "CLIPImageProcessor", "size": 50, "use_square_size": False, "crop_size": 60}
    for n in (1, 7, 160, 223, 224, 383, 384, 385):
        yield "hf", f"ConvNext {n}", {"image_processor_type": "ConvNextImageProcessor", "size": short(n)}
    for pct in (0.95, 0.9, 1, 1.25):
        yield "hf", f"ConvNext pct {pct}", {"image_processor_type": "ConvNextImageProcessor", "size": short(95), "crop_pct": pct}
    yield "hf", "ConvNext full without pct", {"image_processor_type": "ConvNextImageProcessor", "size": 400, "crop_pct": None}
    yield "hf", "ConvNext edges", {"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 60, "longest_edge": 61}}
    for top in (True, False):
        for offset in (True, False):
            for normalize in (True, False):
                yield "hf", f"EfficientNet {top} {offset} {normalize}", {
                    "image_processor_type": "EfficientNetImageProcessor", "size": hw(33, 44), "include_top": top, "rescale_offset": offset,
                    "do_normalize": normalize, "resample": 0, "image_mean": MEAN, "image_std": [0.47853944, 0.4732864, 0.47434163],
                    "rescale_factor": 1 / 127.5 if offset else 1 / 255}
    yield "hf", "EfficientNet top alone", {"image_processor_type": "EfficientNetImageProcessor", "size": 20, "do_rescale": False, "do_normalize": False}
    yield "hf", "MobileViT unflipped", {"image_processor_type": "MobileViTImageProcessor", "size": 30, "crop_size": 35, "do_flip_channel_order": False}
    yield "hf", "MobileViT bytes", {"image_processor_type": "MobileViTImageProcessor", "size": 30, "crop_size": 35, "do_rescale": False}
    yield "hf", "MobileViT normalize is ignored", {"image_processor_type": "MobileViTImageProcessor", "size": 30, "crop_size": 35, "do_normalize": True}
    for n in (1, 7, 13, 100, 223):
        yield "hf", f"Levit {n}", {"image_processor_type": "LevitImageProcessor", "size": n, "crop_size": n}
    yield "hf", "Levit squashed", {"image_processor_type": "LevitImageProcessor", "size": hw(30, 61), "crop_size": 25}
    yield "hf", "Segformer crop is ignored", {"image_processor_type": "SegformerImageProcessor", "size": 31, "do_center_crop": True, "crop_size": 10}

    # What the class refuses, when it is made or when it is used.
    def bad(label, **kw):
        return "hf", f"refused: {label}", {"image_processor_type": "ViTImageProcessor"} | kw

    yield bad("size null", size=None)
    yield bad("resample null", resample=None)
    yield bad("size float", size=224.0)
    yield bad("size string", size="224")
    yield bad("size of one", size=[10])
    yield bad("size keys", size={"height": 10})
    yield bad("longest edge", size={"longest_edge": 10})
    yield bad("pixels", size={"min_pixels": 10, "max_pixels": 100})
    yield bad("no crop size", do_center_crop=True)
    yield bad("crop size edge", do_center_crop=True, crop_size=short(10))
    yield bad("mean of one", image_mean=[0.5])
    yield bad("mean null", image_mean=None)
    yield bad("std of four", image_std=[1, 1, 1, 1])
    yield bad("factor null", rescale_factor=None)
    yield bad("class", image_processor_type="FooImageProcessor")
    yield bad("pad edge", do_pad=True, pad_size=short(300))
    yield bad("ConvNext size", image_processor_type="ConvNextImageProcessor", size=hw(224))
    yield bad("ConvNext pct", image_processor_type="ConvNextImageProcessor", size=short(224), crop_pct=None)
    yield bad("Levit size", image_processor_type="LevitImageProcessor", size={"max_height": 3, "max_width": 4})
    yield bad("LayoutLMv3 crop", image_processor_type="LayoutLMv3ImageProcessor", apply_ocr=False, do_center_crop=True, crop_size=3)
    yield bad("Segformer crop", image_processor_type="SegformerImageProcessor", do_center_crop=True)


def edges(short, long):
    return {"shortest_edge": short, "longest_edge": long}


TWINS = ("ConditionalDetr", "DeformableDetr", "GroundingDino")  # of Detr, whose code they have
DETR = ("Detr", *TWINS, "Yolos")


def detection_cases():
    """DETR and those with its code, YOLOS, SAM and DPT: what they have that the others do not."""

    def case(name, label, **kw):
        return "hf", f"{name} {label}", {"image_processor_type": name + "ImageProcessor"} | kw

    common = dict(do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True)
    for name in (*DETR, "Sam", "DPT"):
        sam, dpt = name == "Sam", name == "DPT"
        small = dict(size={"longest_edge": 64}, pad_size=hw(70, 64)) if sam else dict(size=hw(50)) if dpt else dict(size=edges(48, 64))
        if name not in TWINS:
            yield case(name, "absent")
        yield case(name, "written", **common, resample=3 if dpt else 2, do_pad=not dpt, image_mean=HALF if dpt else MEAN, image_std=HALF if dpt else STD,
                   **(small | dict(pad_size=hw(80, 90)) if not dpt else small | dict(ensure_multiple_of=14, keep_aspect_ratio=True, size_divisor=None)))
        for s in SWITCHES:
            yield case(name, f"no {s}", **small | ({s: False} if s != "do_resize" else dict(do_resize=False, pad_size=hw(200, 180))))
        if name in TWINS:
            continue
        yield case(name, "only resized", **small, do_rescale=False, do_normalize=False)
        yield case(name, "nothing", do_resize=False, do_rescale=False, do_normalize=False, do_pad=False)
        yield case(name, "not padded", **small | dict(do_pad=False))
        yield case(name, "padding null", **small | dict(do_pad=None))
        yield case(name, "padded to itself", **small | dict(do_pad=True, pad_size=None))
        yield case(name, "centre crop", **small, do_center_crop=True, crop_size=hw(33, 60))
        yield case(name, "other values", **small, resample=1, rescale_factor=0.0078125, image_mean=[0.1, 0.2, 0.3], image_std=0.7)
        yield case(name, "converted", **small, do_convert_rgb=True)
        yield case(name, "not converted", **small, do_convert_rgb=False)
        for n in range(6):
            yield case(name, f"resample {n}", **small, resample=n)
    for name in DETR:
        old = {"feature_extractor_type": name + "FeatureExtractor", "format": "coco_detection"}
        yield "hf", f"{name} old", old | {"size": 60, "max_size": 77}
        yield "hf", f"{name} old without max_size", old | {"size": 60}
        if name in TWINS:
            continue
        yield case(name, "exact", size=hw(40, 52), pad_size=[50, 60])
        yield case(name, "list", size=[41, 30], pad_size=64)
        yield case(name, "within", size={"max_height": 50, "max_width": 70})
        yield case(name, "edges that swap", size=edges(60, 40))
        yield case(name, "panoptic", size=edges(33, 40), format="coco_panoptic", do_convert_annotations=False)
        yield case(name, "old padding off", size=edges(33, 40), pad_and_return_pixel_mask=False)
        yield case(name, "old padding on", size=edges(33, 40), pad_and_return_pixel_mask=True)
        yield case(name, "old padding null", size=edges(33, 40), pad_and_return_pixel_mask=None)
        yield case(name, "both paddings", size=edges(33, 40), pad_and_return_pixel_mask=False, do_pad=True)
        yield case(name, "unused size", size=short(800), do_resize=False)
        yield case(name, "unused longest", size={"longest_edge": 9}, do_resize=False)
    for s, l in ((47, 61), (47, 60), (40, 40), (33, 50), (34, 50), (16, 20), (20, 90), (21, 90), (19, 31), (37, 48)):
        yield case("Detr", f"{s} {l}", size=edges(s, l))
        if s > 16:  # a side of 0 for all images
            yield case("Yolos", f"{s} {l}", size=edges(s, l))
    yield case("Detr", "null size", size=None, max_size=100)
    yield case("Detr", "max_size alone", max_size=100)
    yield case("Detr", "unused max_size", size=edges(50, 60), max_size=10)
    for n in (1, 20, 61, 63, 90, 100):
        yield case("Sam", f"longest {n}", size={"longest_edge": n}, pad_size=n)
    yield case("Sam", "both edges", size=edges(7, 50), pad_size=hw(50, 51))
    yield case("Sam", "masks", size={"longest_edge": 40}, pad_size=40, mask_size=256, mask_pad_size={"height": 256, "width": 256})
    yield case("Sam", "masks null", size={"longest_edge": 40}, pad_size=[40, 41], mask_size=None, mask_pad_size=None)
    yield case("Sam", "unused size", size=hw(9), do_resize=False, pad_size=200)
    for h, w in ((50, 50), (50, 65), (28, 42), (63, 21), (47, 61), (90, 20)):
        for multiple in (1, 7, 14, 32):
            for keep in (False, True):
                if max(h, w) * (1 if not keep else 0.4) > multiple / 2 and not (multiple == 32 and (h, w) in ((28, 42), (63, 21), (90, 20), (50, 50), (50, 65))):
                    yield case("DPT", f"{h}x{w} {multiple} {keep}", size=hw(h, w), ensure_multiple_of=multiple, keep_aspect_ratio=keep)
    for n in (1, 4, 14, 32):
        yield case("DPT", f"divisor {n}", size=hw(45, 50), do_pad=True, size_divisor=n)
    yield case("DPT", "divisor alone", do_resize=False, do_rescale=False, do_pad=True, size_divisor=14, image_mean=[123.675, 116.28, 103.53], image_std=[58.395, 57.12, 57.375])
    yield case("DPT", "unused divisor", size=30, size_divisor=7)
    yield case("DPT", "unused multiple", do_resize=False, ensure_multiple_of=None, keep_aspect_ratio=None)
    yield "hf", "DPT old", {"feature_extractor_type": "DPTFeatureExtractor", "size": 44, "ensure_multiple_of": 4, "do_reduce_labels": False}

    for name in DETR[:1] + DETR[-1:]:
        def bad(label, _name=name, **kw):
            return case(_name, label, **kw)[0], f"refused: {_name} {label}", case(_name, label, **kw)[2]

        yield bad("one edge", size=short(10))
        yield bad("longest edge", size={"longest_edge": 10})
        yield bad("edge without bound", size=edges(10, None))
        yield bad("pixels", size={"min_pixels": 10, "max_pixels": 100})
        yield bad("max_size null", size=10, max_size=None)
        yield bad("format", format="voc")
        yield bad("format null", format=None)
        yield bad("pad edge", pad_size=short(10))
        yield bad("mean null", image_mean=None)
        yield bad("crop size", do_center_crop=True)
        yield bad("resample null", resample=None)
    yield "hf", "refused: Sam number", {"image_processor_type": "SamImageProcessor", "size": 100}
    yield "hf", "refused: Sam list", {"image_processor_type": "SamImageProcessor", "size": [100, 100]}
    yield "hf", "refused: Sam shortest", {"image_processor_type": "SamImageProcessor", "size": short(100)}
    yield "hf", "refused: Sam null", {"image_processor_type": "SamImageProcessor", "size": None}
    yield "hf", "refused: Sam mask", {"image_processor_type": "SamImageProcessor", "size": {"longest_edge": 30}, "mask_size": {"edge": 3}}
    yield "hf", "refused: Sam mask pad", {"image_processor_type": "SamImageProcessor", "size": {"longest_edge": 30}, "mask_pad_size": "x"}
    yield "hf", "refused: Sam pad edge", {"image_processor_type": "SamImageProcessor", "pad_size": short(2000)}
    yield "hf", "refused: DPT edge", {"image_processor_type": "DPTImageProcessor", "size": short(100)}
    yield "hf", "refused: DPT edges", {"image_processor_type": "DPTImageProcessor", "size": edges(100, 120)}
    yield "hf", "refused: DPT within", {"image_processor_type": "DPTImageProcessor", "size": {"max_height": 40, "max_width": 40}}
    yield "hf", "refused: DPT multiple null", {"image_processor_type": "DPTImageProcessor", "ensure_multiple_of": None}
    yield "hf", "refused: DPT multiple 0", {"image_processor_type": "DPTImageProcessor", "ensure_multiple_of": 0}
    yield "hf", "refused: DPT divisor 0", {"image_processor_type": "DPTImageProcessor", "size_divisor": 0, "do_pad": True}


def timm_cases():
    yield "timm", "defaults", {"architecture": "x", "pretrained_cfg": {"tag": "a"}}
    yield "timm", "nulls", {"architecture": "x", "pretrained_cfg": {"interpolation": None, "crop_pct": None, "crop_mode": None, "mean": None, "std": None, "input_size": None}}
    sizes = [(64, 64), (33, 47), (50, 21), (65, 64)]
    for mode in ("center", "squash", "border"):
        for h, w in sizes:
            for pct in (0.875, 0.9, 1.0, 1.3):
                yield "timm", f"{mode} {h}x{w} {pct}", {"pretrained_cfg": {"input_size": [3, h, w], "crop_mode": mode, "crop_pct": pct, "mean": HALF, "std": HALF}}
    for i in ("nearest", "bilinear", "bicubic", "box", "hamming", "lanczos"):
        yield "timm", i, {"architecture": "x", "input_size": [3, 40, 40], "interpolation": i}
    for mean in (MEAN, CLIP_MEAN, [0.5, 0.0, 1.0], [0.49803921568627, 0.5019607843137, 0.0980392156862]):
        yield "timm", f"border {mean[0]}", {"architecture": "x", "input_size": [3, 40, 48], "crop_mode": "border", "mean": mean}
    yield "timm", "one mean", {"architecture": "x", "input_size": [3, 30, 30], "mean": [0.4], "std": [0.3]}
    yield "timm", "zero pct", {"architecture": "x", "input_size": [3, 30, 30], "crop_pct": 0}
    yield "timm", "fixed size", {"model_args": {"img_size": 48}, "pretrained_cfg": {"input_size": [3, 64, 64], "fixed_input_size": True}}
    yield "timm", "fixed sizes", {"model_args": {"img_size": [48, 32]}, "pretrained_cfg": {"input_size": [3, 64, 64], "fixed_input_size": True}}
    yield "timm", "free size", {"model_args": {"img_size": 48}, "pretrained_cfg": {"input_size": [3, 64, 64]}}
    yield "timm", "dynamic size", {"model_args": {"img_size": 48, "dynamic_img_size": True}, "pretrained_cfg": {"input_size": [3, 64, 64], "fixed_input_size": True}}
    yield "timm", "refused: empty", {"architecture": "x"}
    yield "timm", "refused: empty cfg", {"architecture": "x", "pretrained_cfg": {}}
    yield "timm", "refused: random", {"architecture": "x", "interpolation": "random"}
    yield "timm", "refused: std 0", {"architecture": "x", "std": [0.5, 0, 0.5]}
    yield "timm", "refused: mean of two", {"architecture": "x", "mean": [0.5, 0.5]}


def torchvision_cases():
    def tv(label, **kw):
        return "torchvision", label, {"torchvision": kw}

    yield tv("defaults", crop_size=224)
    for i in ("nearest", "nearest-exact", "bilinear", "bicubic", "box", "hamming", "lanczos"):
        yield tv(i, crop_size=30, resize_size=37, interpolation=i)
    for crop, size in ((5, 20), (6, 20), (7, 20), (8, 20), (33, 20), (34, 20), (91, 20), (48, 48), (47, 47)):
        yield tv(f"{crop} of {size}", crop_size=crop, resize_size=size, mean=HALF, std=HALF)
    yield tv("antialias is PIL's", crop_size=24, resize_size=24, antialias=False)
    yield tv("refused: no crop", resize_size=24)
    yield tv("refused: interpolation", crop_size=24, interpolation="cubic")
    yield tv("refused: std 0", crop_size=24, std=[0, 1, 1])


def ultralytics_cases():
    def yolo(label, **kw):
        return "ultralytics", label, {"ultralytics": kw}

    for size in (64, [64, 64], [48, 96], [33, 57], [96, 48]):
        for auto in (False, True):
            yield yolo(f"{size} {auto}", imgsz=size, stride=32, auto=auto)
    yield yolo("stride", imgsz=[80, 80], stride=16, auto=True)
    yield yolo("stride default", imgsz=[80, 80], auto=True)
    for k in ("scale_fill", "scaleup", "center"):
        for auto in (False, True):
            yield yolo(f"{k} {auto}", imgsz=[70, 81], auto=auto, **{k: k == "scale_fill"})
    yield yolo("fill and top left", imgsz=96, center=False, padding_value=7)
    for i in range(5):
        yield yolo(f"interpolation {i}", imgsz=[60, 60], interpolation=i)
    meta = {"author": "Ultralytics", "task": "detect", "head": "Detect", "batch": 1, "stride": 32, "imgsz": [64, 64], "names": {"0": "a"}, "args": {"batch": 1}, "channels": 3}
    yield "ultralytics", "metadata", meta
    yield "ultralytics", "metadata dynamic", meta | {"imgsz": [640, 640], "args": {"dynamic": True, "batch": 1}}
    strings = {"stride": "32", "task": "segment", "imgsz": "[64, 96]", "names": "{0: 'a \"b\"', 1: \"it's\"}", "batch": "1", "channels": "3", "end2end": "False",
               "args": "{'batch': 1, 'half': False}"}
    yield "ultralytics", "metadata strings", strings
    yield "ultralytics", "metadata strings dynamic", strings | {"imgsz": "[640, 640]", "args": "{'batch': 1, 'dynamic': True, 'opset': None, 'fraction': 1.0, 'data': \"it's\"}"}


def sample(a):
    """A few values, rounded, for people to see what a failing test got instead."""
    flat = a.reshape(-1)
    return [float(f"{flat[i]:.6g}") for i in (0, flat.size // 3) if flat.size]


def write(file, makers):
    """Writes a golden file of the makers' cases: what the reference gives for some images, or that it refuses."""
    pictures = ("gray.png", "key.png", "palette.png", "rgb.png", "rgba.png", "tall.png")
    cases, refused = [], []
    for make in makers:
        for ecosystem, name, config in make():
            # hf_torchvision.py makes those of transformers' other backend.
            case = {"importer": "hf-pil" if ecosystem == "hf" else ecosystem, "name": name, "config": config}
            text = json.dumps(config)
            try:
                run = importers.hf_pil(json.loads(text)) if ecosystem == "hf" else importers.reference_of(ecosystem, json.loads(text))
                results = []
                # All images for a sixth of the cases, one or two for the others, keyed ones where white matters.
                some = pictures if len(cases) % 6 == 0 or "convert" in name or name.endswith(" all") else ["rgb.png", "tall.png", "gray.png"][len(cases) % 3:][:2]
                for p in some:
                    try:
                        arrays = run(OUT / p)
                    except ValueError:
                        if name.startswith("refused"):
                            raise
                        results.append({"image": p, "refused": True})  # as too narrow to be scaled so
                        continue
                    outputs = {k: {"dtype": str(a.dtype), "shape": list(a.shape), "sha256": importers.digest(a), "values": sample(a)}
                               for k, a in arrays.items()}
                    results.append({"image": p, "outputs": outputs})
                if all("refused" in r for r in results):
                    raise ValueError("every image is refused")
            except Exception as e:
                if not name.startswith("refused"):
                    raise RuntimeError(f"{ecosystem} {name}: {config}") from e
                refused.append(case)
                continue
            if name.startswith("refused"):
                raise RuntimeError(f"{ecosystem} {name}: not refused")
            cases.append(case | {"results": results})
    lines = [json.dumps(c, separators=(",", ":")) for c in cases]
    bad = [json.dumps(c, separators=(",", ":")) for c in refused]
    (OUT / file).write_text('{"cases":[\n' + ",\n".join(lines) + '\n],"refused":[\n' + ",\n".join(bad) + "\n]}\n")


def main():
    images()
    write("goldens.json", (hf_cases, timm_cases, torchvision_cases, ultralytics_cases, detection_cases))


if __name__ == "__main__":
    main()
