"""Makes importer/testdata/goldens_special.json: classes of transformers with steps of their own, with both backends.

Needs the packages of goldens.py, and x86-64 with AVX-512 for Owlv2's blur. Takes no arguments; running it again gives
the same bytes.
"""

import json
import random

import hf_torchvision as torchvision

CLIP_MEAN, CLIP_STD, HALF, MEAN, STD, hw, short = (
    getattr(torchvision.patches, n) for n in ("CLIP_MEAN", "CLIP_STD", "HALF", "MEAN", "STD", "hw", "short"))

PAIRS = ("EfficientLoFTR", "LightGlue", "SuperGlue")
OTHERS = {"rgb.png": "tall.png", "tall.png": "gray.png", "gray.png": "gray.png", "key.png": "rgb.png"}
SAME = {n: n for n in OTHERS}
SECONDS = {n + "ImageProcessor": OTHERS for n in PAIRS} | {"VitMatteImageProcessor": SAME}

ONE_BACKEND = ("PPFormulaNet", "Emu3", "PPOCRV5ServerRec", "PPOCRV6SmallRec", "PPOCRV5ServerDet", "SLANeXt", "UVDoc", "Inkling2", "Sapiens2", "TimmWrapper", "Owlv2")
FLAGS = dict(do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True)


def flava(backend):
    small = dict(size=40, crop_size=37, codebook_size=20, codebook_crop_size=18)
    code = dict(return_codebook_pixels=True, **small)
    yield "absent", {}
    yield "written", FLAGS | dict(
        crop_size=hw(224), do_center_crop=True, size=hw(224), image_mean=CLIP_MEAN, image_std=CLIP_STD, resample=3, return_image_mask=False,
        input_size_patches=14, total_mask_patches=75, mask_group_max_aspect_ratio=None, mask_group_max_patches=None, mask_group_min_aspect_ratio=0.3,
        mask_group_min_patches=16, codebook_crop_size=hw(112), codebook_do_center_crop=True, codebook_do_map_pixels=True, codebook_do_normalize=True,
        codebook_do_rescale=True, codebook_do_resize=True, codebook_image_mean=[0.0, 0.0, 0.0], codebook_image_std=[1.0, 1.0, 1.0], codebook_resample=1,
        codebook_rescale_factor=1 / 255, codebook_size=hw(112), return_codebook_pixels=True)
    yield "codebook", code
    for key in ("do_resize", "do_center_crop", "do_rescale", "do_normalize", "codebook_do_resize", "codebook_do_center_crop", "codebook_do_rescale",
                "codebook_do_normalize", "codebook_do_map_pixels"):
        yield f"no {key}", code | {key: False}
    yield "bytes", code | dict(codebook_do_rescale=False, codebook_do_normalize=False, codebook_do_map_pixels=False, do_rescale=False, do_normalize=False)
    if backend == "hf":  # PIL returns float64
        yield "bytes that are mapped", code | dict(codebook_do_rescale=False, codebook_do_normalize=False)
    for n in (0, 2, 3, None):
        yield f"codebook resample {n}", code | dict(codebook_resample=n)
    yield "other values", code | dict(codebook_image_mean=0.4, codebook_image_std=[0.1, 0.2, 0.3], codebook_rescale_factor=0.01, codebook_size=[21, 40], image_mean=0.3)
    yield "edge", code | dict(codebook_size=short(24), size=short(50))
    yield "codebook ignored", small | dict(codebook_resample=3, codebook_image_mean=0.3)
    for label, kw in (("size null", dict(codebook_size=None)), ("factor null", dict(codebook_rescale_factor=None)),
                      ("crop null", dict(codebook_crop_size=None)), ("std null", dict(image_std=None))):
        yield label, code | kw


def keypoints(name):
    small = dict(size=hw(30, 40))
    yield "absent", dict(do_rescale=True) if name != "SuperPoint" else {}
    yield "written", dict(do_resize=True, size=hw(48, 64), resample=2, do_rescale=True, rescale_factor=1 / 255, do_grayscale=True)
    for gray in (True, False):
        yield f"small {gray}", small | dict(do_grayscale=gray)
        yield f"factor {gray}", small | dict(do_grayscale=gray, rescale_factor=0.017)
        yield f"whole factor {gray}", small | dict(do_grayscale=gray, rescale_factor=1)
        for n in (0, 1, 3):
            yield f"resample {n} {gray}", small | dict(do_grayscale=gray, resample=n)
        yield f"ignored {gray}", small | dict(do_grayscale=gray, do_normalize=True, image_mean=0.5, image_std=0.2, do_center_crop=True, crop_size=9, do_pad=True, pad_size=9)
        yield f"null {gray}", small | dict(do_grayscale=gray, do_normalize=None, do_convert_rgb=None, image_mean=None)
    yield "bytes", small | dict(do_rescale=False, do_grayscale=False)
    yield "converted", small | dict(do_convert_rgb=True)
    yield "edge", dict(size=37) if name == "SuperPoint" else dict(size=[37, 21])
    for label, kw in (("size null", dict(size=None)), ("resample null", dict(resample=None)), ("mean null", dict(do_normalize=True)), ("factor null", dict(rescale_factor=None))):
        yield label, small | kw


def nougat(name):
    yield "absent", dict() if name == "Nougat" else dict(size=hw(90))
    yield "written", FLAGS | dict(do_crop_margin=True, do_thumbnail=True, do_align_long_axis=False, do_pad=True, size=hw(112, 84), resample=2, image_mean=MEAN, image_std=STD)
    for h, w in ((50, 41), (41, 50), (33, 33), (20, 60), (120, 90)):
        if name != "Nougat" or h > w:  # else PIL scales tall.png in two steps
            yield f"{h}x{w}", dict(size=hw(h, w))
            yield f"{h}x{w} no margin", dict(size=hw(h, w), do_crop_margin=False)
    small = dict(size=hw(60, 45))
    for key in ("do_resize", "do_rescale", "do_normalize", "do_thumbnail", "do_pad", "do_crop_margin"):
        yield f"no {key}", small | {key: False}
        yield f"null {key}", small | {key: None}
    yield "no thumbnail, no resize", small | dict(do_thumbnail=False, do_resize=False)
    yield "margin alone", dict(do_thumbnail=False, do_resize=False, do_pad=False, do_rescale=False, do_normalize=False)
    yield "bytes", small | dict(do_rescale=False, do_normalize=False)
    for n in (0, 1, 3):
        yield f"resample {n}", small | dict(resample=n)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7], do_convert_rgb=True)
    yield "ignored", small | dict(pad_size=hw(9), do_center_crop=True, crop_size=3)
    yield "number", dict(size=40)
    for label, kw in (("size edge", dict(size=short(30))), ("resample null", dict(resample=None)), ("mean null", dict(image_mean=None)), ("list", dict(size=[9]))):
        yield label, small | kw


def vitmatte(_):
    yield "absent", {}
    yield "written", dict(do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=HALF, image_std=HALF, do_pad=True, size_divisibility=32)
    yield "divisor", dict(size_divisor=7)
    yield "both divisors", dict(size_divisor=7, size_divisibility=5)
    yield "old divisor null", dict(size_divisibility=None)
    for key in ("do_rescale", "do_normalize", "do_pad"):
        yield f"no {key}", {key: False}
        yield f"null {key}", {key: None}
    yield "bytes", dict(do_rescale=False, do_normalize=False)
    yield "other values", dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7], do_convert_rgb=True, size_divisor=1)
    yield "ignored", dict(do_resize=True, size=9, resample=3, do_center_crop=True, crop_size=3, pad_size=9)
    yield "whole factor", dict(rescale_factor=1)
    for label, kw in (("divisor null", dict(size_divisor=None)), ("mean null", dict(image_mean=None)), ("size missing", dict(do_resize=True)),
                      ("resample missing", dict(do_resize=True, size=9))):
        yield label, kw


def emu3(_):
    small = dict(min_pixels=900, max_pixels=2000)
    yield "absent", {}
    yield "written", FLAGS | dict(resample=3, do_convert_rgb=True, do_pad=True, min_pixels=3000, max_pixels=5000, spatial_factor=8, image_mean=CLIP_MEAN, image_std=CLIP_STD)
    for key in ("do_resize", "do_rescale", "do_normalize", "do_convert_rgb", "do_pad"):
        yield f"no {key}", small | {key: False}
    for n in range(6):
        yield f"resample {n}", small | dict(resample=n)
    yield "factor", small | dict(spatial_factor=5)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=[0.1, 0.2, 0.3], image_std=[0.1, 0.2, 0.7])
    yield "nulls", small | dict(image_mean=None, image_std=None)
    yield "bytes", small | dict(do_rescale=False, do_normalize=False)
    yield "size", small | dict(size=dict(min_pixels=1, max_pixels=2))
    for label, kw in (("resample null", dict(resample=None)), ("factor null", dict(rescale_factor=None))):
        yield label, small | kw


def pixtral(backend):
    small = dict(size=dict(longest_edge=50), patch_size=7)
    yield "absent", dict(size=dict(longest_edge=1024))
    yield "written", FLAGS | dict(size=dict(longest_edge=80), patch_size=hw(16), resample=3, do_convert_rgb=True, image_mean=CLIP_MEAN, image_std=CLIP_STD)
    for key in ("do_resize", "do_rescale", "do_normalize", "do_convert_rgb", "do_pad"):
        yield f"no {key}", small | {key: False}
    for n in (0, 1, 2):
        yield f"resample {n}", small | dict(resample=n)
    yield "box", dict(size=hw(40, 61), patch_size=5)
    yield "number", dict(size=33, patch_size=dict(height=4, width=4))
    yield "one", dict(size=dict(longest_edge=1), patch_size=3)
    yield "whole", dict(size=dict(longest_edge=90), patch_size=1)
    yield "patch null", dict(size=dict(longest_edge=50), patch_size=None)
    yield "bytes", small | dict(do_rescale=False, do_normalize=False)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7])
    yield "cropped", small | dict(do_center_crop=True, crop_size=[20, 51])
    yield "ignored", small | dict(pad_size=3)
    for label, kw in (("edge", dict(size=short(9))), ("size null", dict(size=None)), ("resample null", dict(resample=None)), ("patch edge", dict(patch_size=short(3)))):
        yield label, small | kw


def lines(_):
    small = dict(size=hw(20, 70), pad_size=hw(20, 70))
    yield "absent", {}
    yield "written", FLAGS | dict(size=hw(48, 320), pad_size=hw(48, 320), do_pad=True, resample=2, do_convert_rgb=True, image_mean=HALF, image_std=HALF, max_image_width=3200,
                                  character_list=["a", "b"])
    for w in (5, 20, 26, 27, 33):
        yield f"width {w}", dict(size=hw(20, w), pad_size=hw(20, w))
        yield f"width {w} at most 25", dict(size=hw(20, w), pad_size=hw(20, 30), max_image_width=25)
    for key in ("do_rescale", "do_normalize", "do_convert_rgb", "do_pad"):
        yield f"no {key}", small | {key: False}
    yield "not resized", dict(do_resize=False, do_pad=False)
    for n in (0, 3):
        yield f"resample {n}", small | dict(resample=n)
    yield "floats", small | dict(do_rescale=False, do_normalize=False)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7])
    yield "whole factor", small | dict(rescale_factor=1, do_normalize=False)
    yield "cropped", small | dict(do_center_crop=True, crop_size=[18, 31], do_pad=False)
    for label, kw in (("edge", dict(size=short(9))), ("size null", dict(size=None)), ("resample null", dict(resample=None)), ("pad edge", dict(pad_size=short(3)))):
        yield label, small | kw


def det(_):
    small = dict(limit_side_len=50)
    yield "absent", {}
    yield "written", FLAGS | dict(size=hw(960), resample=2, image_mean=[0.406, 0.456, 0.485], image_std=[0.225, 0.224, 0.229], limit_side_len=64, limit_type="max", max_side_limit=4000)
    for kind in ("max", "min", "resize_long"):
        for limit in (30, 80, 130):
            yield f"{kind} {limit}", dict(limit_type=kind, limit_side_len=limit)
            yield f"{kind} {limit} at most 70", dict(limit_type=kind, limit_side_len=limit, max_side_limit=70)
    yield "no limit", small | dict(max_side_limit=None)
    for key in ("do_rescale", "do_normalize", "do_resize"):
        yield f"no {key}", small | {key: False}
    for n in (0, 1, 3):
        yield f"resample {n}", small | dict(resample=n)
    yield "floats", small | dict(do_rescale=False, do_normalize=False)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7], do_convert_rgb=True)
    yield "ignored", small | dict(size=short(9), do_center_crop=True, crop_size=3, do_pad=True, pad_size=9)
    for label, kw in (("kind", dict(limit_type="most")), ("limit null", dict(limit_side_len=None)), ("resample null", dict(resample=None)), ("size null", dict(size=None))):
        yield label, small | kw


def slanext(_):
    small = dict(size=hw(40, 50), pad_size=hw(60))
    yield "absent", {}
    yield "written", FLAGS | dict(size=hw(88), pad_size=hw(96), do_pad=True, resample=2, do_convert_rgb=True, image_mean=MEAN, image_std=STD)
    for n in (9, 33, 61, 90, 150):
        yield f"size {n}", dict(size=n, pad_size=160)
    for key in ("do_resize", "do_rescale", "do_normalize", "do_convert_rgb", "do_pad"):
        yield f"no {key}", small | {key: False} | (dict(pad_size=100) if key == "do_resize" else {})
    yield "no pad size", small | dict(pad_size=None)
    yield "bytes", small | dict(do_rescale=False, do_normalize=False)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7], resample=3)
    yield "cropped", small | dict(do_center_crop=True, crop_size=[20, 51])
    for label, kw in (("edge", dict(size=short(9))), ("size null", dict(size=None)), ("resample null", dict(resample=None)), ("mean null", dict(image_mean=None))):
        yield label, small | kw


def uvdoc(_):
    small = dict(size=hw(40, 31))
    yield "absent", {}
    yield "written", dict(do_resize=True, size=hw(112, 88), do_rescale=True, rescale_factor=1 / 255, resample=2)
    for size in ([1, 1], [1, 9], [200, 3], [47, 61], [90, 20], [100, 100]):
        yield f"size {size}", dict(size=size)
    yield "no do_resize", dict(do_resize=False)
    yield "bytes", dict(do_resize=False, do_rescale=False)
    yield "resized bytes", small | dict(do_rescale=False)
    yield "normalised", small | dict(do_normalize=True, image_mean=0.3, image_std=[0.1, 0.2, 0.7])
    yield "normalised bytes", small | dict(do_normalize=True, image_mean=[3, 90, 177.5], image_std=[0.5, 2, 71], do_rescale=False)
    yield "factor", small | dict(rescale_factor=0.01, do_convert_rgb=True)
    yield "ignored", small | dict(do_center_crop=True, crop_size=3, do_pad=True, pad_size=9, resample=3)
    for label, kw in (("edge", dict(size=short(9))), ("size null", dict(size=None)), ("resample null", dict(resample=None)), ("mean null", dict(do_normalize=True))):
        yield label, small | kw


def clusters(n, lo=-1.0, hi=1.0):
    r = random.Random(n)
    return [[r.uniform(lo, hi) for _ in range(3)] for _ in range(n)]


def imagegpt(_):
    small = dict(size=20, clusters=clusters(24))
    yield "absent but clusters", dict(clusters=clusters(16), size=hw(32))
    yield "not quantized", dict(do_color_quantize=False, size=30)
    yield "no clusters, not quantized", dict(do_color_quantize=False, size=30, clusters=None)
    yield "written", FLAGS | dict(size=hw(32), resample=2, clusters=clusters(64), do_color_quantize=True, image_mean=HALF, image_std=HALF)
    yield "no do_normalize", small | dict(do_normalize=False, clusters=clusters(24, 0, 1))
    yield "no do_rescale", small | dict(do_rescale=False, image_mean=100, image_std=90)
    yield "not resized", small | dict(do_resize=False)
    yield "whole clusters", dict(size=21, do_rescale=False, image_mean=1, image_std=2, clusters=[[i * 4, 127 - i, i % 7 * 16] for i in range(32)])
    yield "resample 3", small | dict(resample=3)
    yield "edge", small | dict(size=short(17))
    yield "cropped", small | dict(do_center_crop=True, crop_size=9)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.4, 0.5, 0.7], do_convert_rgb=True)
    for label, kw in (("clusters null", dict(clusters=None)), ("size null", dict(size=None)), ("resample null", dict(resample=None))):
        yield label, small | kw


def hybrid(backend):
    small = dict(size=hw(30), high_res_size=hw(50), min_size=5)
    yield "absent", dict(high_res_size=hw(100), size=hw(90))
    yield "written", FLAGS | dict(size=hw(48), high_res_size=hw(96), min_size=14, resample=3, high_res_resample=3, image_mean=HALF, image_std=HALF, high_res_image_mean=CLIP_MEAN,
                                  high_res_image_std=CLIP_STD, do_pad=True)
    for key in ("do_rescale", "do_normalize") + (() if backend == "hf" else ("do_pad", "do_resize")):
        yield f"no {key}", small | {key: False}
    for n in (0, 2, None):
        yield f"high resample {n}", small | dict(high_res_resample=n)
        if n is not None:
            yield f"resample {n}", small | dict(resample=n)
    yield "min", small | dict(min_size=27)
    yield "no min", small | dict(min_size=0)
    yield "larger", dict(size=hw(70), high_res_size=hw(40))
    yield "numbers", dict(size=40, high_res_size=60)
    yield "bytes", small | dict(do_rescale=False, do_normalize=False)
    yield "other values", small | dict(rescale_factor=0.01, high_res_image_mean=[0.1, 0.2, 0.3], high_res_image_std=[0.1, 0.2, 0.7], image_mean=[0.9, 0.5, 0.1], image_std=0.5)
    yield "ignored", small | dict(do_center_crop=True, crop_size=9, pad_size=9)
    for label, kw in (("size", dict(size=hw(30, 31))), ("high size", dict(high_res_size=hw(30, 31))), ("mean", dict(high_res_image_mean=0.5)), ("resample null", dict(resample=None))):
        yield label, small | kw


def inkling2(_):
    small = dict(size=hw(9))
    yield "absent", {}
    yield "written", dict(do_convert_rgb=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=HALF, image_std=HALF, size=hw(40))
    for n in (1, 7, 20, 30, 47, 90, 100):
        yield f"size {n}", dict(size=n)
    for key in ("do_rescale", "do_normalize", "do_convert_rgb"):
        yield f"no {key}", small | {key: False}
    yield "floats", small | dict(do_rescale=False, do_normalize=False)
    yield "other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7])
    yield "whole factor", small | dict(rescale_factor=2, do_normalize=False)
    yield "ignored", small | dict(do_resize=True, resample=3, do_center_crop=True, crop_size=3, do_pad=True, pad_size=9)
    for label, kw in (("edge", dict(size=short(9))), ("size null", dict(size=None)), ("mean null", dict(image_mean=None)), ("resample missing", dict(do_resize=True))):
        yield label, small | kw


def sapiens2(_):
    small = dict(size=hw(40, 31), crop_size=29)
    yield "absent", dict(size=hw(100, 75))
    yield "written", FLAGS | dict(size=hw(96, 72), resample=2, image_mean=MEAN, image_std=STD, do_pad=False, do_center_crop=False, do_reduce_labels=False,
                                  keypoint_heatmap_downscale_factor=4, keypoint_heatmap_sigma=6.0)
    for pad in (True, False):
        for key in ("do_resize", "do_rescale", "do_normalize"):
            yield f"no {key} {pad}", small | {key: False, "do_pad": pad}
        for n in (0, 1, 3):
            yield f"resample {n} {pad}", small | dict(resample=n, do_pad=pad)
        yield f"cropped {pad}", small | dict(do_center_crop=True, do_pad=pad)
        yield f"bytes {pad}", small | dict(do_rescale=False, do_normalize=False, do_pad=pad)
        yield f"labels {pad}", small | dict(do_reduce_labels=True, do_pad=pad)
        yield f"wide {pad}", dict(size=hw(31, 90), do_pad=pad)
        yield f"other values {pad}", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7], do_convert_rgb=True, do_pad=pad, pad_size=300)
    yield "edge", dict(size=short(30))
    for label, kw in (("padded edge", dict(size=short(9), do_pad=True)), ("size null", dict(size=None)), ("resample null", dict(resample=None))):
        yield label, small | kw


def timm_wrapper(_):
    def case(label, args=None, **cfg):
        return label, dict(architecture="resnet18", num_classes=9, pretrained_cfg=cfg, **(args or {}))

    yield case("tag alone", tag="a")
    yield case("nulls", interpolation=None, crop_pct=None, crop_mode=None, mean=None, std=None, input_size=None)
    yield case("written", dict(num_features=512, global_pool="avg", model_args={}, label_names=["a"], model_type="timm_wrapper", do_pooling=True, initializer_range=0.02, transformers_version="5.23.0"),
               tag="a1_in1k", custom_load=False, input_size=[3, 60, 60], test_input_size=[3, 80, 80], fixed_input_size=True, interpolation="bicubic", crop_pct=0.95, test_crop_pct=1.0, crop_mode="center",
               mean=MEAN, std=STD, num_classes=1000, pool_size=[7, 7], first_conv="conv1", classifier="fc", license="mit", origin_url="x", paper_ids="y")
    for mode in ("center", "squash", "border"):
        for h, w in ((64, 64), (33, 47), (50, 21), (1, 1)):
            yield case(f"{mode} {h}x{w}", input_size=[3, h, w], crop_mode=mode, crop_pct=0.9, mean=CLIP_MEAN, std=HALF)
    for i in ("nearest", "bilinear", "bicubic", "box", "hamming", "lanczos", "random", "cubic"):
        yield case(i, input_size=[3, 40, 40], interpolation=i)
    for pct in (0, 1, 1.3, 0.33):
        yield case(f"crop {pct}", input_size=[3, 40, 40], crop_pct=pct)
    yield case("one mean", input_size=[3, 30, 30], mean=[0.4], std=[0.3])
    yield case("mean of two", input_size=[3, 30, 30], mean=[0.4, 0.5])
    yield case("std of 0", input_size=[3, 30, 30], std=[0.4, 0, 0.5])
    yield case("model_args are not read", dict(model_args={"img_size": 48}), input_size=[3, 64, 64], fixed_input_size=True)
    yield case("img_size", img_size=50, chans=3)
    yield case("img_size beside input_size", img_size=50, input_size=[3, 20, 30])
    yield case("img_size of two", img_size=[50, 40])
    yield case("in_chans", in_chans=3, mean=HALF)
    yield case("another number of channels", in_chans=4, mean=HALF)
    yield case("input_size of two", input_size=[40, 40])
    yield case("empty")
    yield "null", dict(architecture="resnet18", pretrained_cfg=None)


def owlv2(_):
    small = dict(size=hw(30))
    yield "absent", {}
    yield "written", FLAGS | dict(do_convert_rgb=True, do_pad=True, image_mean=CLIP_MEAN, image_std=CLIP_STD, resample=2, size=hw(960))
    yield "small", small
    for h, w in ((7, 7), (20, 31), (50, 21), (100, 90), (61, 61), (3, 2)):
        for p in (True, False):
            yield f"{h} {w} {p}", dict(size=hw(h, w), do_pad=p)
    for s in ("do_normalize", "do_rescale", "do_resize", "do_convert_rgb"):
        yield f"no {s}", small | {s: False}
    yield "bytes", small | dict(do_rescale=False, do_normalize=False)
    yield "bytes not padded", small | dict(do_rescale=False, do_normalize=False, do_pad=False)
    yield "other values", small | dict(rescale_factor=0.0078125, image_mean=MEAN, image_std=STD)
    yield "factor of one", small | dict(rescale_factor=1)
    yield "cropped", small | dict(do_center_crop=True, crop_size=7, pad_size=90)
    yield "old rescale", small | dict(rescale=False)
    yield "number", dict(size=40)
    yield "edge", dict(size=short(20))
    for n in (0, 1, 3, 4, None):
        yield f"resample {n}", small | dict(resample=n)
    yield "bytes nearest", small | dict(do_rescale=False, do_normalize=False, resample=0)
    yield "bytes bicubic", small | dict(do_rescale=False, do_normalize=False, resample=3)
    yield "size null", dict(size=None)


CLASSES = {"Flava": flava, "SuperPoint": lambda _: keypoints("SuperPoint"), "EfficientLoFTR": lambda _: keypoints("EfficientLoFTR"),
           "LightGlue": lambda _: list(keypoints("LightGlue"))[:5], "SuperGlue": lambda _: list(keypoints("SuperGlue"))[:5],
           "Nougat": lambda _: nougat("Nougat"), "PPFormulaNet": lambda _: nougat("PPFormulaNet"), "VitMatte": vitmatte, "Emu3": emu3,
           "Pixtral": pixtral, "PPOCRV5ServerRec": lines, "PPOCRV6SmallRec": lines, "PPOCRV5ServerDet": det, "SLANeXt": slanext, "UVDoc": uvdoc,
           "ImageGPT": imagegpt, "DeepseekVLHybrid": hybrid, "Inkling2": inkling2, "Sapiens2": sapiens2, "TimmWrapper": timm_wrapper, "Owlv2": owlv2}

# Keys of older versions, which these classes ignore.
FORMER = {"Fuyu": dict(size=hw(40, 60), target_height=1000, target_width=7), "Vivit": dict(size=short(40), crop_size=30, do_zero_centering=False, offset=True),
          "PoolFormer": dict(size=short(50), crop_size=41, do_resize_and_center_crop=False)}


def cases():
    for name, make in CLASSES.items():
        for backend in ("hf",) if name in ONE_BACKEND else ("hf", "hf-pil"):
            for label, config in make(backend):
                # Inkling2's checkerboard below transparent pixels is not in the graph.
                own = (("rgb.png", "tall.png"),) if name == "Inkling2" else ()
                yield backend, f"{name} {label}", json.dumps({"image_processor_type": name + "ImageProcessor"} | config), *own
    for name, config in FORMER.items():
        for backend in ("hf", "hf-pil"):
            yield backend, f"{name} old keys", json.dumps({"image_processor_type": name + "ImageProcessor"} | config)


if __name__ == "__main__":
    torchvision.write("goldens_special.json", cases(), seconds=SECONDS)
