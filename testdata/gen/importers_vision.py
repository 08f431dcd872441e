"""Makes importer/testdata/goldens_vision.json: classes of vision-language models that take patches, with both backends of
transformers.

Needs the packages of importers.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import importers_torchvision as torchvision
from importers_patches import CLIP_MEAN, CLIP_STD, HALF, MEAN, STD, area, hw, short

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


def cases():
    for make in (qwen,):
        for label, config in make():
            for backend in ("hf", "hf-pil"):
                yield backend, config["image_processor_type"].removesuffix("ImageProcessor") + " " + label, json.dumps(config)


if __name__ == "__main__":
    torchvision.write("goldens_vision.json", cases(), images=1)
