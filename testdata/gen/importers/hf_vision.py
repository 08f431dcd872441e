"""Makes importer/testdata/goldens_vision.json: classes of vision-language models that take patches, with both backends of
transformers.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import hf_torchvision as torchvision
from hf_patches import CLIP_MEAN, CLIP_STD, HALF, MEAN, STD, area, hw, short

warnings.simplefilter("ignore")

# Keys that a file of the class's newest models has, and sizes of small outputs.
QWEN = {
    "GlmImage": (dict(size=area(512 * 512, 2048 * 2048), patch_size=16, temporal_patch_size=1, merge_size=1), dict(size=area(900, 5000), patch_size=4)),
    "PaddleOCRVL": (dict(size=area(384 * 384, 1536 * 1536), temporal_patch_size=1), dict(size=area(1000, 1500), patch_size=5)),
    "Glm4v": (dict(size=area(112 * 112, 47040000), temporal_patch_size=2), dict(size=area(2000, 6000), patch_size=7)),
    "Glm46V": (dict(size=area(12544, 9633792), temporal_patch_size=2), dict(size=area(2000, 6000), patch_size=7)),
    "Glmga": (dict(size=area(12544, 9633792), temporal_patch_size=2, patch_expand_factor=1), dict(size=area(2000, 6000), patch_size=4, patch_expand_factor=2)),
    "Cosmos3Edge": (dict(size=area(65536, 16777216), patch_size=16, temporal_patch_size=1), dict(size=area(1000, 1700), patch_size=6)),
    "HunYuanVL": (dict(size=area(512 * 512, 2048 * 2048), patch_size=16, temporal_patch_size=1), dict(size=area(1000, 1700), patch_size=6)),
    "Ernie4_5_VLMoe": (dict(size=area(56 * 56, 28 * 28 * 6177), temporal_patch_size=1), dict(size=area(1000, 1700), patch_size=7)),
    "VideoLlama3": (dict(size=area(56 * 56, 28 * 28 * 1280), merge_size=1, temporal_patch_size=1), dict(size=area(1000, 1700), patch_size=7)),
}


def qwen():
    for name, (written, small) in QWEN.items():
        def case(label, **kw):
            return label, {"image_processor_type": name + "ImageProcessor"} | kw

        yield case("absent")
        yield case("written", **{"do_convert_rgb": True, "do_resize": True, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, "resample": 3,
                                 "patch_size": 14, "merge_size": 2, "image_mean": CLIP_MEAN, "image_std": CLIP_STD} | written)
        yield case("no do_normalize", **small, do_normalize=False)
        if name not in ("GlmImage", "Glm4v", "VideoLlama3"):  # the others share their code
            yield case("area", patch_size=3, size=area(4000, 4000))
            yield case("patch", patch_size=4, merge_size=3, temporal_patch_size=2, size=area(300, 2500))
            yield case("not resized", do_resize=False, patch_size=5, merge_size=2)
            yield case("old keys", patch_size=3, min_pixels=700, max_pixels=2000)
            yield case("nearest", **small, resample=0)
            continue
        for s in ("do_rescale", "do_convert_rgb"):
            yield case(f"no {s}", **small, **{s: False})
        yield case("bytes", **small, do_rescale=False, do_normalize=False)
        for n in (0, 1, 2, 5, None):
            yield case(f"resample {n}", **small, resample=n)
        yield case("other values", **small, rescale_factor=0.0078125, image_mean=MEAN, image_std=STD)
        yield case("scalars", **small, image_mean=0.4, image_std=0.7)
        for patch, merge, temporal in ((4, 1, 1), (5, 3, 1), (3, 1, 3), (7, 2, 5), (20, 1, 1)):
            yield case(f"patch {patch} {merge} {temporal}", patch_size=patch, merge_size=merge, temporal_patch_size=temporal, size=area(300, 2500))
        for least, most in ((4000, 4000), (9000, 1), (1, 1)):
            yield case(f"area {least} {most}", patch_size=3, size=area(least, most))
        for patch, merge in ((1, 1), (5, 2), (10, 1)):
            yield case(f"{patch} {merge} not resized", do_resize=False, patch_size=patch, merge_size=merge)
        yield case("resample unused, not resized", do_resize=False, resample=None, patch_size=1, merge_size=1)
        yield case("other size, not resized", do_resize=False, size=hw(7), patch_size=1, merge_size=1)
        yield case("number, not resized", do_resize=False, size=7, patch_size=1, merge_size=1)
        yield case("null, not resized", do_resize=False, size=None, patch_size=1, merge_size=1)
        yield case("old keys", patch_size=3, min_pixels=700, max_pixels=2000)
        yield case("old keys and new", patch_size=3, min_pixels=700, max_pixels=2000, size=area(1000, 1500))
        yield case("size null", size=None, patch_size=4)
        for label, kw in (
            ("height", dict(size=hw(60))), ("number", dict(size=60)), ("list", dict(size=[60, 60])), ("one edge", dict(size=short(3000))), ("zero", dict(size=area(0, 3000))),
            ("null edge", dict(size=area(None, 3000))), ("patch 0", dict(patch_size=0)), ("merge null", dict(merge_size=None)), ("temporal null", dict(temporal_patch_size=None)),
            ("mean", dict(image_mean=None)), ("crop", dict(do_center_crop=True)),
        ):
            yield case(label, **(small | kw))
    yield "Ernie alias", {"image_processor_type": "Ernie4_5_VL_MoeImageProcessor", "size": area(1000, 3000), "patch_size": 7}


PATCHES = {
    "Glm5Next": (dict(size={"longest_edge": 1}, patch_size=14, temporal_patch_size=2, merge_size=2, min_image_tokens=16, max_image_tokens=8000, patch_expand_factor=1, image_mean=CLIP_MEAN, image_std=CLIP_STD),
                 dict(patch_size=3, min_image_tokens=10, max_image_tokens=60)),
    "Gemma4": (dict(max_soft_tokens=280, patch_size=16, pooling_kernel_size=3, image_mean=[0.0] * 3, image_std=[1.0] * 3, do_normalize=False),
               dict(max_soft_tokens=70, patch_size=2, pooling_kernel_size=2)),
    "Gemma4Unified": (dict(max_soft_tokens=280, patch_size=16, pooling_kernel_size=3, do_normalize=False), dict(max_soft_tokens=70, patch_size=3, pooling_kernel_size=2)),
    "Kimi_K25": (dict(size={"max_height": 512, "max_width": 512}, max_patches=16384, patch_size=14, merge_size=2), dict(max_patches=30, patch_size=5)),
    "MuseGlimmer": (dict(patch_size=14, merge_size=2, temporal_patch_size=2, max_image_tokens=4096, resample=1), dict(patch_size=4, max_image_tokens=20)),
    "NemotronH_Omni_Reasoning_V3": (dict(norm_mean=CLIP_MEAN, norm_std=CLIP_STD, min_num_patches=1024, max_num_patches=13312, max_model_len=16384, patch_size=16, downsample_ratio=0.5),
                                    dict(min_num_patches=20, max_num_patches=40, patch_size=5)),
    "NeoMME": (dict(size={"min_pixels": 65536, "max_pixels": 1048576}, patch_size=32), dict(size={"min_pixels": 700, "max_pixels": 1500}, patch_size=6)),
    "Fuyu": (dict(size=hw(1080, 1920), do_pad=True, padding_value=1.0, padding_mode="constant", patch_size=hw(30), image_mean=0.5, image_std=0.5), dict(size=hw(33, 44))),
}


def patch_classes():
    for name, (written, small) in PATCHES.items():
        def case(label, **kw):
            return label, {"image_processor_type": name + "ImageProcessor"} | small | kw

        if name != "Fuyu":
            yield "absent", {"image_processor_type": name + "ImageProcessor"}
        yield "written", {"image_processor_type": name + "ImageProcessor", "do_convert_rgb": True, "do_resize": name != "NemotronH_Omni_Reasoning_V3", "do_rescale": True,
                          "rescale_factor": 1 / 255, **written}
        for s in ("do_rescale", "do_convert_rgb", "do_normalize") + (("do_pad",) if name == "Fuyu" else ()):
            yield case(f"no {s}", **{s: False})
        yield case("normalized", do_normalize=True, image_mean=MEAN, image_std=STD, rescale_factor=0.0078125)
        yield case("scalars", do_normalize=True, image_mean=0.4, image_std=0.7)
        yield case("bytes", do_rescale=False, do_normalize=False)
        for n in (0, 1, 2, 3, None) if name == "Glm5Next" else (0, 1, 2, 3, 4, None):  # it keeps the size of tall.png
            yield case(f"resample {n}", resample=n)
        unpadded = dict(do_pad=False) if name == "Fuyu" else {}  # else with PIL it is refused
        own = {k: 1 for k in ("merge_size", "pooling_kernel_size") if k in written}
        for patch in (1, 5, 10):
            yield case(f"{patch} not resized", do_resize=False, patch_size=hw(patch) if name == "Fuyu" else patch, **own, **unpadded)
        yield case("resample unused, not resized", do_resize=False, resample=None, patch_size=hw(1) if name == "Fuyu" else 1, **unpadded)
        for label, value in (("height", hw(60, 40)), ("number", 60), ("list", [60, 41]), ("null", None), ("edge", short(30)), ("max", {"max_height": 9, "max_width": 9}),
                             ("max unequal", {"max_height": 9, "max_width": 8}), ("pixels", {"min_pixels": 900, "max_pixels": 1000}), ("one pixels", {"min_pixels": 900})):
            yield case(f"size {label}", size=value)
            if label in ("number", "null", "edge"):
                yield case(f"size {label}, not resized", size=value, do_resize=False, patch_size=1, **unpadded)
        for label, kw in (() if name == "Fuyu" else (("patch 0", dict(patch_size=0)), ("patch null", dict(patch_size=None)))) + (("mean", dict(do_normalize=True, image_mean=None)), ("crop", dict(do_center_crop=True))):
            yield case(label, **kw)
    for name, l in {
        "Glm5Next": (dict(patch_size=4, min_image_tokens=80, max_image_tokens=200), dict(patch_size=5, min_image_tokens=1, max_image_tokens=9, temporal_patch_size=1), dict(patch_size=7, patch_expand_factor=2),
                     dict(patch_size=4, merge_size=3, min_image_tokens=30, max_image_tokens=20, temporal_patch_size=3), dict(min_image_tokens=0, max_image_tokens=2), dict(max_image_tokens=0)),
        "Gemma4": (dict(max_soft_tokens=140, patch_size=3), dict(max_soft_tokens=70, pooling_kernel_size=1, patch_size=20), dict(max_soft_tokens=71), dict(pooling_kernel_size=0)),
        "Gemma4Unified": (dict(max_soft_tokens=140, patch_size=3), dict(max_soft_tokens=70, pooling_kernel_size=1, patch_size=20), dict(max_soft_tokens=71)),
        "Kimi_K25": (dict(size={"max_height": 3, "max_width": 3}, patch_size=9), dict(merge_size=3, patch_size=4, max_patches=12), dict(max_patches=1), dict(max_patches=0), dict(merge_size=None)),
        "MuseGlimmer": (dict(max_image_tokens=4, patch_size=9), dict(max_image_tokens=9, merge_size=1, temporal_patch_size=3), dict(max_image_tokens=1), dict(temporal_patch_size=1, max_image_tokens=7),
                        dict(merge_size=0)),
        "NemotronH_Omni_Reasoning_V3": (dict(max_num_patches=None, max_model_len=9, min_num_patches=9, patch_size=7), dict(downsample_ratio=0.3, min_num_patches=9, max_num_patches=50, patch_size=8),
                                        dict(downsample_ratio=1, min_num_patches=9, max_num_patches=9, patch_size=8), dict(norm_mean=MEAN, norm_std=STD, min_num_patches=9, max_num_patches=20),
                                        dict(norm_mean=MEAN, image_mean=0.4, min_num_patches=9, max_num_patches=20), dict(do_resize=True, min_num_patches=9, max_num_patches=20),
                                        dict(do_resize=True, size=4, min_num_patches=9, max_num_patches=20), dict(_downsample_factor=2, min_num_patches=9, max_num_patches=20),
                                        dict(downsample_ratio=0), dict(downsample_ratio=3), dict(min_num_patches=None)),
        "NeoMME": (dict(max_side=30), dict(max_side=50, size={"min_pixels": 3000, "max_pixels": 4000}), dict(max_side=None, size={"min_pixels": 3000, "max_pixels": 4000}),
                   dict(patch_size=7, resample=None), dict(max_side=20, resample=None, patch_size=7), dict(max_side=0), dict(patch_size=100)),
        "Fuyu": (dict(size=hw(30, 90), padding_value=7.0), dict(size=hw(100, 90), padding_value=0), dict(size=hw(47, 61)), dict(size=hw(200, 300), image_mean=[0.1, 0.2, 0.3])),
    }.items():
        for n, kw in enumerate(l):
            yield f"more {n}", {"image_processor_type": name + "ImageProcessor"} | kw


def flattened():
    for name in ("Pix2Struct", "Kosmos2_5"):
        def case(label, **kw):
            return label, {"image_processor_type": name + "ImageProcessor"} | kw

        small = dict(max_patches=30, patch_size=hw(6))
        yield case("absent")
        yield case("written", do_convert_rgb=True, do_normalize=True, is_vqa=False, max_patches=2048, patch_size=hw(16)) if name == "Pix2Struct" else case(
            "written", do_convert_rgb=True, do_normalize=True, max_patches=4096, patch_size=hw(16))
        for normalize in (True, False):
            for patch, most in ((6, 30), (16, 7), (3, 200), (1, 60), (9, 1), (5, 100)):
                yield case(f"{patch} {most} {normalize}", patch_size=hw(patch), max_patches=most, do_normalize=normalize)
        yield case("not converted", **small, do_convert_rgb=False)
        yield case("number", max_patches=9, patch_size=5)
        yield case("list", max_patches=9, patch_size=[5, 5])
        yield case("ignored", **small, do_resize=True, size=hw(9), resample=0, do_rescale=True, rescale_factor=0.3, image_mean=0.3, do_center_crop=True, crop_size=3, do_pad=True)
        yield case("ignored, not normalized", **small, do_normalize=False, do_resize=True, size=hw(9), resample=0, do_rescale=True, rescale_factor=0.3)
        yield case("patch edge", max_patches=9, patch_size=short(5), do_normalize=False)
        yield case("patch null", max_patches=9, patch_size=None, do_normalize=False)
        yield case("patches null", max_patches=None, do_normalize=False)
        if name == "Pix2Struct":
            yield case("vqa", **small, is_vqa=True, do_normalize=False)


def perception_lm():
    def case(label, **kw):
        return label, {"image_processor_type": "PerceptionLMImageProcessor"} | kw

    yield case("absent", max_num_tiles=1)
    yield case("written", do_convert_rgb=True, do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=HALF, image_std=HALF, max_num_tiles=2, resample=3,
               size=hw(448), tile_size=448, vision_input_type="thumb+tile")
    for side, most in ((9, 36), (20, 36), (25, 8), (30, 4), (12, 5), (40, 9)):
        yield case(f"{side} {most}", tile_size=side, max_num_tiles=most)
    for n in (0, 1, 2, 4, None):
        yield case(f"resample {n}", resample=n, tile_size=20)
    yield case("bytes", do_rescale=False, do_normalize=False, tile_size=20)
    yield case("not normalized", do_normalize=False, tile_size=20)
    yield case("other values", image_mean=MEAN, image_std=STD, rescale_factor=0.01, tile_size=20, do_convert_rgb=False)
    yield case("vanilla", vision_input_type="vanilla", tile_size=20)
    yield case("null", vision_input_type=None, tile_size=20)
    yield case("off", do_resize=False)
    yield case("ignored", tile_size=20, do_center_crop=True, crop_size=9, do_pad=True, size=hw(7), pad_size=3)
    yield case("size null", tile_size=20, size=None)
    yield case("tile 0", tile_size=0)
    yield case("tiles null", max_num_tiles=None, tile_size=20)


def eomt():
    def case(label, **kw):
        return label, {"image_processor_type": "EomtImageProcessor"} | kw

    both = {"shortest_edge": 45, "longest_edge": 45}
    yield case("absent")
    yield case("written", do_normalize=True, do_pad=True, do_rescale=True, do_resize=True, do_split_image=False, ignore_index=None, image_mean=MEAN, image_std=STD, num_labels=None,
               resample=2, rescale_factor=1 / 255, size={"shortest_edge": 640, "longest_edge": 640})
    yield case("semantic", do_split_image=True, do_pad=False, size={"shortest_edge": 30, "longest_edge": None}, ignore_index=255)
    for size in (both, short(25), {"shortest_edge": 20, "longest_edge": 33}, hw(30, 20), 23, [20, 31], {"max_height": 20, "max_width": 30}, {"longest_edge": 30}, None):
        for split, pad in ((False, False), (False, True), (True, False), (True, True)):
            if not pad or size in (both, short(25), 23) or not isinstance(size, dict) or "shortest_edge" not in size:
                yield case(f"{split} {pad} {size}", size=size, do_split_image=split, do_pad=pad)
    for n in (0, 1, 3, 4, None):
        yield case(f"resample {n}", size=both, resample=n)
    for size in (15, 50):
        yield case(f"split {size}, unscaled", size=short(size), do_split_image=True, do_resize=False)
    yield case("bytes", do_rescale=False, do_normalize=False, size=short(20), do_split_image=True)
    yield case("other values", image_mean=0.4, image_std=[0.1, 0.2, 0.3], rescale_factor=0.01, size=short(20))
    yield case("ignored", size=short(20), do_center_crop=True, crop_size=9, pad_size=3, do_convert_rgb=True)


def ultra_v_bert():
    def case(label, **kw):
        return label, {"image_processor_type": "UltraVBertImageProcessor"} | kw

    def edge(n):
        return {"longest_edge": n}

    yield case("written", do_convert_rgb=True, do_image_splitting=True, do_normalize=True, do_pad=True, do_rescale=True, do_resize=True, image_mean=HALF, image_std=HALF,
               max_image_size=edge(512), max_image_tiles=1, resample=1, rescale_factor=1 / 255, size=edge(512))
    for tile, most, longest in ((16, 27, 96), (16, 5, 96), (20, 9, 110), (30, 1, 25), (9, 12, 60)):
        yield case(f"{tile} {most} {longest}", max_image_size=edge(tile), max_image_tiles=most, size=edge(longest))
    small = dict(max_image_size=edge(16), max_image_tiles=6, size=edge(80))
    yield case("unsplit", **small, do_image_splitting=False)
    for s in ("do_pad", "do_resize", "do_normalize", "do_rescale"):
        yield case(f"no {s}", **small, **{s: False})
    yield case("bytes", **small, do_rescale=False, do_normalize=False)
    yield case("bicubic", **small, resample=3)
    yield case("height", **(small | dict(size=hw(40))))
    yield case("tiles null", **(small | dict(max_image_tiles=None)))


def inkling():
    def case(label, **kw):
        return label, {"image_processor_type": "InklingImageProcessor"} | kw

    yield case("absent")
    yield case("written", do_convert_rgb=True, do_normalize=True, do_rescale=True, do_resize=None, image_mean=CLIP_MEAN, image_std=CLIP_STD, resample=1, rescale_factor=1 / 255,
               rescale_image_frac=None, rescale_image_max_upscaled_long_edge=2048, size=hw(40))
    for n in (10, 20, 7, 1, 100):
        yield case(f"size {n}", size=hw(n))
    for s in ("do_normalize", "do_rescale", "do_convert_rgb", "do_resize"):
        yield case(f"no {s}", size=hw(20), **{s: False})
    yield case("bytes", do_rescale=False, do_normalize=False, size=hw(15))
    yield case("resized", do_resize=True, size=hw(15))
    yield case("resample null", resample=None, size=hw(15))
    yield case("resized, resample null", do_resize=True, resample=None, size=hw(15))
    yield case("list", size=[15, 15])
    yield case("not square", size=[15, 16])
    yield case("number", size=15)
    yield case("null", size=None)


def ocr(name, most, **written):
    """Gives configurations of DeepSeek-OCR 2 and its kin; most is the most tiles of the first, written are further keys of a saved file."""

    def case(label, **kw):
        return label, {"image_processor_type": name + "ImageProcessor"} | kw

    for side, size, least, most in ((20, 30, 2, most), (40, 25, 1, 3), (48, 24, 2, 4), (61, 10, 2, 2), (100, 20, 2, 6)):
        yield case(f"{side} {size} {least} {most}", tile_size=side, size=hw(size), min_patches=least, max_patches=most)
    small = dict(tile_size=25, size=hw(30), max_patches=3)
    yield case("written", **small, do_convert_rgb=True, do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=HALF, image_std=HALF, resample=3,
               crop_to_patches=True, min_patches=2, background_color=[127, 127, 127], **written)
    yield case("colour", **small, background_color=[1, 2, 250])
    yield case("not cut", **small, crop_to_patches=False)
    for s in ("do_normalize", "do_rescale", "do_resize", "do_convert_rgb"):
        yield case(f"no {s}", **small, **{s: False})
    yield case("bytes", **small, do_rescale=False, do_normalize=False)
    for n in (0, 1, 2, None):
        yield case(f"resample {n}", **small, resample=n)


def deepseek_ocr2():
    yield from ocr("DeepseekOcr2", 6)


TORCH_ONLY = ("Inkling", "UltraVBert", "PerceptionLM", "Gemma4Unified", "Kimi_K25", "MuseGlimmer", "NemotronH_Omni_Reasoning_V3", "NeoMME")


def cases():
    for make in (qwen, patch_classes, flattened, perception_lm, eomt, ultra_v_bert, inkling, deepseek_ocr2):
        for label, config in make():
            name = config["image_processor_type"].removesuffix("ImageProcessor")
            for backend in ("hf", "hf-pil") if name not in TORCH_ONLY or label == "written" else ("hf",):
                # torch's mean depends on the number of threads.
                if backend == "hf-pil" or name not in ("Pix2Struct", "Kosmos2_5") or config.get("do_normalize", True) is False:
                    yield backend, f"{name} {label}", json.dumps(config)


if __name__ == "__main__":
    torchvision.write("goldens_vision.json", cases(), images=1)
