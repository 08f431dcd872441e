"""Makes importer/testdata/goldens_slices.json: classes of vision-language models that cut large images into slices.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import hf_torchvision as torchvision
from hf_patches import hw
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


def cases():
    for make in (unlimited_ocr,):
        for label, config in make():
            name = config["image_processor_type"].removesuffix("ImageProcessor")
            yield "hf", f"{name} {label}", json.dumps(config)


if __name__ == "__main__":
    torchvision.write("goldens_slices.json", cases())
