"""Writes importer/hf/testdata/decoders.json: what image processors make of testdata/images, read by the programs of importer/hf/decoder.go.

Needs transformers 5.23.0, torch 2.15.0, torchvision 0.29.2, torchcodec 0.17.0, numpy 2.4.6 and Pillow 13.0.0, and downloads the wheel of vLLM 0.33.0
for one file. Takes no arguments; running it again gives the same bytes.

For each decoder, with and without do_convert_rgb, and each file: the size and the first 16 digits of the SHA-256 of pixel_values, or null if the
file is refused or the values have other than three axes of three channels.
"""

import hashlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
from PIL import Image
from transformers import CLIPImageProcessor, CLIPImageProcessorPil

ROOT = pathlib.Path(__file__).resolve().parents[3]
OFF = {"do_resize": False, "do_center_crop": False, "do_rescale": False, "do_normalize": False}


def vllm_image():
    """vLLM's vllm/multimodal/image.py, which needs Pillow only."""
    folder = pathlib.Path(tempfile.mkdtemp())
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "vllm==0.33.0"], check=True)
    (wheel,) = folder.glob("*.whl")
    file = zipfile.ZipFile(wheel).extract("vllm/multimodal/image.py", folder)
    wheel.unlink()
    spec = importlib.util.spec_from_file_location("vllm_image", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VLLM = vllm_image()


def vllm(path):
    # As ImageMediaIO.load_bytes of vllm/multimodal/media/image.py.
    image = VLLM.normalize_image(VLLM.open_image(path))
    image.load()
    return VLLM.convert_image_mode(image, "RGB")


def sglang(path):
    # As sglang/srt/multimodal/processors/base_processor.py, _load_single_item.
    image = Image.open(path)
    image.load()
    return image if image.mode == "RGB" else image.convert("RGB")


READERS = {
    "load_image": (CLIPImageProcessorPil, str),
    "torchcodec": (CLIPImageProcessor, str),
    "vllm": (CLIPImageProcessor, vllm),
    "sglang": (CLIPImageProcessor, sglang),
}


def digest(processor, read, path):
    try:
        image = read(path)
        if isinstance(image, str):
            image = processor.fetch_images(image)
        values = np.ascontiguousarray(processor(image, return_tensors="np")["pixel_values"])
    except (OSError, RuntimeError, ValueError, SyntaxError):
        return None
    if values.ndim != 4 or len(values) != 1 or values.shape[1] != 3:
        return None
    return f"{values.shape[3]}x{values.shape[2]} {hashlib.sha256(values.tobytes()).hexdigest()[:16]}"


def main():
    files = [p for p in sorted((ROOT / "testdata" / "images").iterdir()) if p.suffix in (".gif", ".jpg", ".png", ".webp")]
    lines = []
    for name, (make, read) in READERS.items():
        for convert in (True, False):
            processor = make(do_convert_rgb=convert, **OFF)
            entries = [f"{json.dumps(p.name)}:{json.dumps(digest(processor, read, p))}" for p in files]
            lines.append(f'{{"decoder":{json.dumps(name)},"do_convert_rgb":{json.dumps(convert)},"files":{{\n' + ",\n".join(entries) + "\n}}")
    (ROOT / "importer" / "hf" / "testdata" / "decoders.json").write_text("[" + ",\n".join(lines) + "]\n")


if __name__ == "__main__":
    main()
