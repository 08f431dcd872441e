"""Makes importer/testdata/batches.json: transformers' image processors, with both backends, on lists of images of
different sizes.

Needs the packages of importers.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import pathlib
import tempfile
import warnings

import importers_torchvision as common  # finds the modules of parity
import importers_more
import numpy as np
from transformers import AutoImageProcessor

warnings.simplefilter("ignore")

IMAGES = common.pil.ROOT / "importer" / "testdata"
MIXED = ["rgb.png", "gray.png", "tall.png", "palette.png"]
FULL = [MIXED, MIXED[:2], ["tall.png", "key.png", "rgb.png"], ["rgb.png"], ["rgb.png", "rgb.png"]]
SHORT = [MIXED]

hw = common.pil.hw
EDGES = {"size": {"shortest_edge": 40, "longest_edge": 60}}


def cases():
    for name in ("Detr", "ConditionalDetr", "DeformableDetr", "GroundingDino", "Yolos"):
        edges, large = EDGES, hw(70, 90)
        if name == "Yolos":  # its sides are multiples of 16, not 0
            edges, large = {"size": {"shortest_edge": 60, "longest_edge": 200}}, hw(210, 220)
        yield name, edges, FULL
        yield name, {"size": [32, 48]}, SHORT
        yield name, {"do_resize": False}, SHORT
        yield name, edges | {"do_normalize": False, "do_rescale": False}, SHORT
        yield name, edges | {"pad_size": large}, FULL
        yield name, edges | {"pad_size": hw(70, 50)}, SHORT  # smaller than an image
        yield name, edges | {"do_pad": False}, FULL  # fails for sizes that differ
        yield name, {"size": [32, 48], "do_pad": False}, SHORT
    for name, small in (
        ("MaskFormer", {"size": 40, "max_size": 60}), ("Mask2Former", EDGES), ("OneFormer", EDGES), ("Vilt", {"size": 50, "size_divisor": 6}),
        ("BridgeTower", {"size": 50, "size_divisor": 6, "do_center_crop": False}),
    ):
        yield name, small, FULL
        yield name, small | {"do_pad": False}, SHORT
    for name in ("Qwen2VL", "CohereCompass"):
        yield name, {}, SHORT
        yield name, {"min_pixels": 56 * 56, "max_pixels": 100 * 100}, FULL[:2] + FULL[3:]
        yield name, {"patch_size": 8, "merge_size": 1, "temporal_patch_size": 1}, SHORT
    yield "Siglip2", {"max_num_patches": 64}, FULL[:2] + FULL[3:]
    yield "Sam", {"size": {"longest_edge": 64}, "pad_size": hw(64, 64)}, FULL
    yield "Sam", {"size": {"longest_edge": 64}, "do_pad": False}, SHORT
    yield "ViT", {"size": [30, 20]}, FULL
    yield "ViT", {"do_resize": False, "do_pad": True}, FULL
    yield "ViT", {"do_resize": False}, SHORT
    yield "LayoutLMv3", {"apply_ocr": False, "size": [30, 20]}, SHORT


def processor(config, backend):
    with tempfile.TemporaryDirectory() as d:
        (pathlib.Path(d) / "preprocessor_config.json").write_text(json.dumps(config))
        return AutoImageProcessor.from_pretrained(d, backend=backend)


def main():
    lines = []
    for name, config, lists in cases():
        config = {"image_processor_type": name + "ImageProcessor"} | config
        for importer, backend in (("hf", "torchvision"), ("hf-pil", "pil")):
            p = processor(config, backend)
            results = []
            for images in lists:
                try:
                    out = p([common.pil.importers.rgb(IMAGES / n) for n in images], return_tensors="pt")  # some classes fail with "np"
                except (ValueError, RuntimeError) as e:
                    print(f"{name} {backend}: refuses {len(images)} images: {str(e).splitlines()[0][:80]}")
                    results.append({"images": images, "refused": True})
                    continue
                out = {k: np.asarray(v) for k, v in out.items()}
                out = {k: v for k, v in out.items() if v.dtype.kind in "biuf"}
                results.append({"images": images, "outputs": importers_more.result(out)})
            lines.append(json.dumps({"importer": importer, "config": config, "results": results}, separators=(",", ":")))
    (IMAGES / "batches.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
