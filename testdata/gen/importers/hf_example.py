"""Writes the model of examples/vlm, the frames of examples/video, and what transformers makes of them: examples/vlm/expected.json.

Needs transformers 5.23.0, torch 2.15.0, torchvision 0.29.2, numpy 2.4.6 and Pillow 13.0.0. Takes no arguments; running it again gives the same bytes.

The model is Qwen2-VL's processor with a tokenizer that has its special tokens alone. expected.json has, for an image of testdata and for the video,
the SHA-256 of the pixel values, their shape, the grid, and the text of the prompt in which the placeholder is replaced.
"""

import hashlib
import json
import pathlib

import numpy as np
import torch
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2VLImageProcessor, Qwen2VLProcessor, Qwen2VLVideoProcessor

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "examples" / "vlm" / "model"
FRAMES = ROOT / "examples" / "video" / "frames"
PHOTO = ROOT / "testdata" / "images" / "jpeg_large.jpg"
METADATA = {"fps": 8.0, "duration": 1.5, "total_num_frames": 12}
SPECIAL = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]


def tokenizer():
    t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["[UNK]", *SPECIAL])}, unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=t, unk_token="[UNK]", additional_special_tokens=SPECIAL)


def frames():
    y, x = np.mgrid[:60, :88]
    for i in range(METADATA["total_num_frames"]):
        yield Image.fromarray(np.stack([(x * 2 + i * 9) % 256, (y * 4 - i * 5) % 256, (x + y + i * 16) % 256], -1).astype(np.uint8))


def described(processor, out, values, grid):
    a = np.ascontiguousarray(out[values].numpy())
    text = processor.tokenizer.decode(out["input_ids"][0]).replace(" ", "")
    return {"shape": list(a.shape), "sha256": hashlib.sha256(a.tobytes()).hexdigest(), "grid": out[grid][0].tolist(), "text": text}


def main():
    processor = Qwen2VLProcessor(
        image_processor=Qwen2VLImageProcessor(), tokenizer=tokenizer(), video_processor=Qwen2VLVideoProcessor(do_sample_frames=True, fps=4.0)
    )
    MODEL.mkdir(parents=True, exist_ok=True)
    FRAMES.mkdir(parents=True, exist_ok=True)
    config = json.loads(processor.to_json_string())
    (MODEL / "processor_config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    (MODEL / "tokenizer_config.json").write_text(json.dumps({"additional_special_tokens": SPECIAL, "unk_token": "[UNK]"}, indent=2) + "\n")
    for i, f in enumerate(frames()):
        f.save(FRAMES / f"{i}.png", optimize=True)
    (FRAMES / "metadata.json").write_text(json.dumps(METADATA) + "\n")

    with Image.open(PHOTO) as f:
        image = f.convert("RGB")
    out = processor(images=[image], text=["<|image_pad|>"], return_tensors="pt")
    expected = {"image": described(processor, out, "pixel_values", "image_grid_thw")}
    video = torch.from_numpy(np.stack([np.asarray(f) for f in frames()]))
    out = processor(videos=[video], text=["<|video_pad|>"], video_metadata=[METADATA], return_tensors="pt")
    expected["video"] = described(processor, out, "pixel_values_videos", "video_grid_thw")
    (ROOT / "examples" / "vlm" / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
