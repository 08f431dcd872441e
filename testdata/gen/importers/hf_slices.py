"""Makes importer/testdata/goldens_slices.json: classes of vision-language models that cut large images into slices.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import hf_torchvision as torchvision
from hf_patches import CLIP_MEAN, CLIP_STD, HALF, MEAN, STD, hw, short
from hf_vision import ocr

warnings.simplefilter("ignore")


def unlimited_ocr():
    yield from ocr("UnlimitedOcr", 32, maximum_pad_value=640)

    def case(label, **kw):
        return label, {"image_processor_type": "UnlimitedOcrImageProcessor", "tile_size": 25, "size": hw(30), "max_patches": 3} | kw

    yield case("not square", size=hw(20, 30))
    for most in (29, 30, 31):
        yield case(f"not cut {most}", crop_to_patches=False, maximum_pad_value=most)
    yield case("cut, not stretched", maximum_pad_value=100)


WIDE = ("rgb.png", "tall.png", "wide.png", "dot.png")  # wide.png is 97 x 3 pixels, dot.png 1 x 1


def lfm2_vl():
    def case(label, **kw):
        return label, {"image_processor_type": "Lfm2VlImageProcessor"} | kw, WIDE

    yield case("absent")
    yield case("written", do_image_splitting=True, do_normalize=True, do_pad=True, do_rescale=True, do_resize=True, downsample_factor=2, encoder_patch_size=16, image_mean=HALF, image_std=HALF,
               max_image_tokens=256, max_num_patches=1024, max_pixels_tolerance=2.0, max_tiles=10, min_image_tokens=64, min_tiles=2, resample=2, rescale_factor=1 / 255,
               return_row_col_info=True, size=hw(512), tile_size=512, use_thumbnail=True)
    small = dict(encoder_patch_size=4, downsample_factor=2, max_image_tokens=9, min_image_tokens=4, tile_size=20, return_row_col_info=True)
    yield case("small", **small)
    yield case("no thumbnail", **small, use_thumbnail=False)
    yield case("not cut", **small | dict(return_row_col_info=False), do_image_splitting=False)
    yield case("not cut, not padded", **small, do_image_splitting=False, do_pad=False)
    yield case("not padded", **small | dict(max_image_tokens=6, min_image_tokens=6), do_pad=False)
    yield case("not padded, no thumbnail", **small, do_pad=False, use_thumbnail=False)
    for few, many in ((1, 1), (1, 4), (2, 4), (4, 10), (3, 2), (1, 40)):
        yield case(f"{few} to {many} tiles", **small, min_tiles=few, max_tiles=many)
    for tolerance in (0, 0.5, 1, 9.5, 1e9, -1.0):
        yield case(f"tolerance {tolerance}", **small, max_pixels_tolerance=tolerance)
    for patch, down, least, most in ((3, 1, 0, 25), (7, 1, 3, 30), (2, 4, 1, 1), (5, 3, 20, 3), (1, 1, 60, 60), (1, 8, 2, 5)):
        yield case(f"patch {patch} {down} {least} {most}", encoder_patch_size=patch, downsample_factor=down, min_image_tokens=least, max_image_tokens=most, tile_size=3 * patch, max_tiles=5)
    for side in (4, 12, 28, 48):
        yield case(f"tile {side}", **small | dict(tile_size=side))
    for s in ("do_normalize", "do_rescale", "do_resize", "do_convert_rgb"):
        yield case(f"no {s}", **small, **{s: False})
    yield case("bytes", **small, do_rescale=False, do_normalize=False)
    yield case("converted", **small, do_convert_rgb=True)
    yield case("other values", **small, rescale_factor=0.0078125, image_mean=MEAN, image_std=STD)
    yield case("another size", **small, size=short(7), do_center_crop=True, crop_size=5)
    yield case("null size", **small, size=None)
    yield case("null size, not resized", **small, size=None, do_resize=False)
    for n in (0, 1, 3, 5, None):
        yield case(f"resample {n}", **small, resample=n)
    yield case("null resample, not resized", **small, resample=None, do_resize=False)


def minicpm_v(name="MiniCPMV4_6"):
    def case(label, **kw):
        return label, {"image_processor_type": f"{name}ImageProcessor"} | kw, WIDE

    yield case("absent")
    yield case("written", do_convert_rgb=True, do_normalize=True, do_rescale=True, do_resize=True, image_mean=HALF, image_std=HALF, max_slice_nums=9, scale_resolution=448, patch_size=14,
               slice_mode=True, downsample_mode="16x", use_image_id=True, resample=3, rescale_factor=1 / 255)
    small = dict(scale_resolution=24, patch_size=3)
    yield case("small", **small)
    yield case("4x", **small, downsample_mode="4x")
    yield case("another mode", **small, downsample_mode="2x")
    yield case("null modes", **small, downsample_mode=None, slice_mode=None, use_image_id=None)
    yield case("not cut", **small, slice_mode=False)
    for n in (0, 1, 2, 3, 5, 16, 34):
        yield case(f"{n} slices", **small, max_slice_nums=n)
    for patch, scale, mode in ((1, 10, "4x"), (5, 40, "16x"), (2, 7, "4x"), (9, 11, "16x"), (4, 90, "4x")):
        yield case(f"patch {patch} {scale} {mode}", patch_size=patch, scale_resolution=scale, downsample_mode=mode)
    for s in ("do_normalize", "do_rescale", "do_convert_rgb"):
        yield case(f"no {s}", **small, **{s: False})
    yield case("bytes", **small, do_rescale=False, do_normalize=False)
    yield case("factor of one", **small, rescale_factor=3, do_normalize=False)
    yield case("other values", **small, rescale_factor=0.0078125, image_mean=MEAN, image_std=STD)
    yield case("another size", **small, size=short(7), do_center_crop=True, crop_size=5, do_pad=True, pad_size=9)
    yield case("null size", **small, size=None)
    for n in (0, 1, 2, 5, None):
        yield case(f"resample {n}", **small, resample=n)


def minicpm_ocr():
    yield from minicpm_v("MiniCPMOcr")
    for label, config, images in minicpm_v("MiniCPMOcr"):
        if label in ("small", "4x", "not cut", "2 slices") or label.startswith("patch"):
            for upsize in ("always", "never", "other") if label == "small" else ("never",):
                yield f"{label}, {upsize}", config | dict(small_image_upsize=upsize), images
    yield "null upsize", dict(image_processor_type="MiniCPMOcrImageProcessor", patch_size=3, scale_resolution=100, small_image_upsize=None), WIDE
    yield "not resized", dict(image_processor_type="MiniCPMOcrImageProcessor", do_resize=False), WIDE


def step3p7():
    def case(label, **kw):
        return label, {"image_processor_type": "Step3p7ImageProcessor"} | kw, (*WIDE, "gray.png")

    yield case("absent")
    yield case("written", do_convert_rgb=True, do_normalize=True, do_rescale=True, image_mean=CLIP_MEAN, image_std=CLIP_STD, patch_size=504, max_image_size=3024, size=hw(728), resample=2, rescale_factor=1 / 255)
    small = dict(size=hw(30), patch_size=14)
    yield case("small", **small)
    for size, side, most in ((20, 40, 3024), (300, 14, 3024), (60, 50, 61), (20, 9, 50), (90, 33, 90), (10, 7, 3), (97, 5, 96)):
        yield case(f"{size} {side} {most}", size=hw(size), patch_size=side, max_image_size=most)
    yield case("not square", **small | dict(size=hw(30, 50)))
    yield case("number", **small | dict(size=35))
    yield case("edge", **small | dict(size=short(30)))
    yield case("null size", **small | dict(size=None))
    for s in ("do_normalize", "do_rescale", "do_convert_rgb", "do_resize"):
        yield case(f"no {s}", **small, **{s: False})
    yield case("bytes", **small, do_rescale=False, do_normalize=False)
    yield case("resized", **small, do_resize=True, do_center_crop=True, crop_size=7, do_pad=True, pad_size=90)
    yield case("other values", **small, rescale_factor=0.0078125, image_mean=MEAN, image_std=STD)
    for n in (0, 1, 3, 4, None):
        yield case(f"resample {n}", **small, resample=n)
    yield case("null resample, resized", **small, resample=None, do_resize=True)


def molmo2():
    def case(label, **kw):
        return label, {"image_processor_type": "Molmo2ImageProcessor"} | kw, (*WIDE, "gray.png")

    yield case("absent")
    yield case("written", do_convert_rgb=True, do_normalize=True, do_rescale=True, do_resize=True, image_mean=HALF, image_std=HALF, max_crops=8, overlap_margins=[4, 4], patch_size=14,
               pooling_size=[2, 2], size=hw(378), resample=2, rescale_factor=1 / 255)
    small = dict(size=hw(20), patch_size=2, overlap_margins=[1, 2])
    yield case("small", **small)
    for size, patch, margins, pool, most in ((12, 3, [0, 0], [2, 2], 8), (15, 5, [0, 1], [1, 3], 4), (30, 2, [7, 7], [3, 2], 5), (40, 4, [2, 3], [5, 5], 1), (24, 1, [3, 0], [2, 4], 20), (60, 6, [4, 4], [20, 7], 8),
                                             (12, 3, [2, 2], [2, 2], 8), (12, 5, [0, 0], [2, 2], 8)):
        yield case(f"{size} {patch} {margins} {pool} {most}", size=hw(size), patch_size=patch, overlap_margins=margins, pooling_size=pool, max_crops=most)
    yield case("not square", **small | dict(size=hw(20, 22)))
    yield case("number", **small | dict(size=22))
    yield case("edge", **small | dict(size=short(20)))
    yield case("null size", **small | dict(size=None))
    for s in ("do_normalize", "do_rescale", "do_convert_rgb", "do_resize"):
        yield case(f"no {s}", **small, **{s: False})
    yield case("bytes", **small, do_rescale=False, do_normalize=False)
    yield case("cropped", **small, do_center_crop=True, crop_size=7, do_pad=True, pad_size=90)
    yield case("other values", **small, rescale_factor=0.0078125, image_mean=MEAN, image_std=STD)
    yield case("one margin", **small | dict(overlap_margins=[1]))
    yield case("pool of none", **small, pooling_size=[0, 2])
    yield case("no crops", **small, max_crops=0)
    for n in (0, 1, 3, 4, None):
        yield case(f"resample {n}", **small, resample=n)
    yield case("null resample, not resized", **small, resample=None, do_resize=False)


TORCH_ONLY = ("Molmo2", "UnlimitedOcr", "Lfm2Vl", "MiniCPMOcr", "Step3p7")


def cases():
    for make in (unlimited_ocr, lfm2_vl, minicpm_v, minicpm_ocr, step3p7, molmo2):
        for label, config, *images in make():
            name = config["image_processor_type"].removesuffix("ImageProcessor")
            for backend in ("hf",) if name in TORCH_ONLY else ("hf", "hf-pil"):
                yield backend, f"{name} {label}", json.dumps(config), *images


if __name__ == "__main__":
    torchvision.write("goldens_slices.json", cases())
