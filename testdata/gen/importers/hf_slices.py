"""Makes importer/testdata/goldens_slices.json: classes of vision-language models that cut large images into slices.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import hf_torchvision as torchvision
from hf_patches import HALF, hw

warnings.simplefilter("ignore")


def unlimited_ocr():
    def case(label, **kw):
        return label, {"image_processor_type": "UnlimitedOcrImageProcessor"} | kw

    for side, size, least, most in ((20, 30, 2, 32), (40, 25, 1, 3), (48, 24, 2, 4), (61, 10, 2, 2), (100, 20, 2, 6)):
        yield case(f"{side} {size} {least} {most}", tile_size=side, size=hw(size), min_patches=least, max_patches=most)
    small = dict(tile_size=25, size=hw(30), max_patches=3)
    yield case("written", **small, do_convert_rgb=True, do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=HALF, image_std=HALF, resample=3,
               crop_to_patches=True, min_patches=2, background_color=[127, 127, 127], maximum_pad_value=640)
    yield case("colour", **small, background_color=[1, 2, 250])
    yield case("not square", **small | dict(size=hw(20, 30)))
    for most in (29, 30, 31):
        yield case(f"not cut {most}", **small, crop_to_patches=False, maximum_pad_value=most)
    yield case("cut, not stretched", **small, maximum_pad_value=100)
    for s in ("do_normalize", "do_rescale", "do_resize", "do_convert_rgb"):
        yield case(f"no {s}", **small, **{s: False})
    yield case("bytes", **small, do_rescale=False, do_normalize=False)
    for n in (0, 1, 2, None):
        yield case(f"resample {n}", **small, resample=n)


def cases():
    for make in (unlimited_ocr,):
        for label, config in make():
            name = config["image_processor_type"].removesuffix("ImageProcessor")
            yield "hf", f"{name} {label}", json.dumps(config)


if __name__ == "__main__":
    torchvision.write("goldens_slices.json", cases())
