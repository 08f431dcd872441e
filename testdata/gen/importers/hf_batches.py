"""Makes importer/testdata/batches.json: transformers' image processors, with both backends, on lists of images of
different sizes.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import pathlib
import tempfile
import warnings

import hf_torchvision as common  # finds the modules of parity
import importers_more
import numpy as np
import torch
from transformers import AutoImageProcessor

warnings.simplefilter("ignore")
torch.set_num_threads(2)

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
    pinpoints = {"size": 20, "crop_size": 20, "image_grid_pinpoints": [[20, 40], [40, 20], [40, 40], [60, 20], [20, 60], [60, 80]]}
    for name in ("LlavaNext", "LlavaOnevision"):
        yield name, pinpoints, FULL
        yield name, pinpoints | {"do_pad": False}, SHORT  # fails for numbers of tiles that differ
    for split in (False, True):
        yield "Idefics2", {"size": {"shortest_edge": 18, "longest_edge": 47}, "do_image_splitting": split}, FULL
    yield "Phi4Multimodal", {"size": hw(28, 28), "patch_size": 7, "dynamic_hd": 9}, FULL
    yield "Lfm2Vl", {"encoder_patch_size": 4, "max_image_tokens": 9, "min_image_tokens": 4, "tile_size": 20, "return_row_col_info": True}, FULL
    yield "Step3p7", {"size": hw(30, 30), "patch_size": 14}, FULL
    yield "LayoutLMv3", {"apply_ocr": False, "size": [30, 20]}, SHORT


# The real configurations whose graphs have several outputs or batch rules, and a few others. PP-OCRv5's recognition scales
# all images of a batch by the widest, Aria returns the largest num_crops, and Fuyu lists of lists: no rule has that.
CONFIGS = """
    bridgetower-base cohere2-vision cosmos3-edge deepseek-vl-7b-chat detr-resnet-50 emu3-chat flava-full
    gemma-3-4b gemma-3-pan-and-scan gemma-4-e4b-it glm-4.1v-9b-thinking glm-image got-ocr2 granite-docling
    grounding-dino-tiny hunyuan-ocr idefics2-8b idefics3-8b inkling2 internvl3-1b kimi-k2.5 lfm2-vl
    llama-3.2-11b-vision llama-4-scout llava-onevision-0.5b llava-v1.6-mistral-7b mask2former-swin-tiny-coco
    maskformer-swin-base-ade nemotron-h-omni neomme oneformer-ade20k-swin-tiny ovis2-1b paddleocr-vl
    pixtral-12b pp-ocrv5-server-det qwen2-vl-2b-instruct qwen2.5-vl-saved qwen3-vl-2b-instruct rf-detr-base
    sam-vit-base siglip2-base-patch16-naflex smolvlm-256m smolvlm2-500m tvp-base videollama3-image
    videomae-base vilt-b32-finetuned-vqa vit-base-patch16-224 vivit-b-16x2 yolos-small-padded yolos-tiny
""".split()


def configs():
    for name in CONFIGS:
        path = common.pil.ROOT / "testdata" / "configs" / "hf" / f"{name}.json"
        yield json.loads(path.read_text()), [["tall.png", "rgb.png"], ["gray.png"]]


def processor(config, backend):
    with tempfile.TemporaryDirectory() as d:
        (pathlib.Path(d) / "preprocessor_config.json").write_text(json.dumps(config))
        return AutoImageProcessor.from_pretrained(d, backend=backend)


def numbers(v):
    return common.pil.importers.array(v) if isinstance(v, torch.Tensor) else np.asarray(v)


# These classes take a list of images as those of one text or video. A batch of them is a list of lists.
NESTED = ("Idefics2", "Idefics3", "SmolVLM", "GraniteDocling", "Mllama", "Tvp", "VideoMAE", "Vivit")


def main():
    lines = []
    named = (({"image_processor_type": name + "ImageProcessor"} | config, lists) for name, config, lists in cases())
    for config, lists in (*named, *configs()):
        for importer, backend in (("hf", "torchvision"), ("hf-pil", "pil")):
            p = processor(config, backend)
            if getattr(p, "backend", backend) != backend:
                continue  # the class has one backend
            name, results = type(p).__name__, []
            for images in lists:
                try:
                    given = [common.pil.importers.rgb(IMAGES / n) for n in images]
                    out = p([[i] for i in given] if name.startswith(NESTED) else given, return_tensors="pt")  # some classes fail with "np"
                    if not isinstance(out, dict) and not hasattr(out, "items"):  # Idefics
                        out = {"pixel_values": out}
                    out = {k: numbers(v) for k, v in out.items()}
                    out.pop("num_img_tokens", None)  # Phi-4's, for the text
                    if name.startswith("Mllama"):  # without the axis of the images of one text
                        out = {k: v[:, 0] for k, v in out.items()}
                except (ValueError, RuntimeError, TypeError) as e:
                    print(f"{name} {backend}: refuses {len(images)} images: {(str(e).splitlines() or [''])[0][:80]}")
                    results.append({"images": images, "refused": True})
                    continue
                out = {k: v for k, v in out.items() if v.dtype.kind in "biuf"}
                result = importers_more.result(out)
                for k, v in out.items():
                    result[k] = {n: result[k][n] for n in ("shape", "sha256")} | {"dtype": common.pil.importers.dtype_of(v)}
                results.append({"images": images, "outputs": result})
            lines.append(json.dumps({"importer": importer, "config": config, "results": results}, separators=(",", ":")))
    (IMAGES / "batches.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
