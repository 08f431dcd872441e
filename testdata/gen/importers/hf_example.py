"""Writes the model of examples/vlm, the frames of examples/video, and what transformers makes of them: examples/vlm/expected.json
and examples/chat/testdata/expected.json.

Needs transformers 5.23.0, torch 2.15.0, torchvision 0.29.2, numpy 2.4.6 and Pillow 13.0.0. Takes no arguments; running it again gives the same bytes.

The model is Qwen2-VL's processor with a tokenizer that has its special tokens alone. expected.json has, for an image of testdata and for the video,
the SHA-256 of the pixel values, their shape, the grid, and the text of the prompt in which the placeholder is replaced.
examples/chat's has the same for conversations with several images, in the chat template of the model's repository, and the average color of each image
that the pixel values have.
"""

import hashlib
import json
import pathlib

import numpy as np
import torch
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2VLImageProcessor, Qwen2VLProcessor, Qwen2VLVideoProcessor

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "examples" / "vlm" / "model"
FRAMES = ROOT / "examples" / "video" / "frames"
CHAT = ROOT / "examples" / "chat" / "testdata"
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


# chat_template.json of Qwen/Qwen2-VL-2B-Instruct, without add_vision_id.
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n{% if message['content'] is string %}{{ message['content'] }}<|im_end|>\n{% else %}"
    "{% for content in message['content'] %}{% if content['type'] == 'image' or 'image' in content or 'image_url' in content %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TURNS = ["<|im_start|>", "<|im_end|>"]


def lossless():
    """Returns a tokenizer of bytes, whose decode returns the text that the processor made."""
    bytes_ = sorted(pre_tokenizers.ByteLevel.alphabet())
    t = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(bytes_)}, merges=[]))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=t, additional_special_tokens=SPECIAL + TURNS)


def picture(name):
    return {"type": "image_url", "image_url": {"url": name}}


CHATS = {
    "one image": [{"role": "user", "content": [{"type": "text", "text": "Which color?"}, picture("jpeg_large.jpg")]}],
    "four images": [
        {"role": "system", "content": "Answer in one word – kurz & bündig."},
        {"role": "user", "content": [picture("png_rgb8.png"), {"type": "text", "text": "and\n "}, picture("jpeg_exif_after_jfif.jpg"), picture("jpeg_base_420.jpg")]},
        {"role": "assistant", "content": "Red."},
        {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": " this?"}, picture("gif_full_table.gif"), {"type": "text", "text": ""}]},
    ],
    "no images": [{"role": "user", "content": "Hello 😀"}],
}


def chats(processor):
    for name, messages in CHATS.items():
        names = [p["image_url"]["url"] for m in messages if not isinstance(m["content"], str) for p in m["content"] if p["type"] == "image_url"]
        images = [Image.open(PHOTO.parent / n).convert("RGB") for n in names]
        text = processor.apply_chat_template(messages, chat_template=TEMPLATE, tokenize=False, add_generation_prompt=True)
        out = processor(images=images or None, text=[text], return_tensors="pt")
        decoded = processor.tokenizer.decode(out["input_ids"][0], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        case = {"name": name, "messages": messages, "text": decoded}
        if images:
            a = np.ascontiguousarray(out["pixel_values"].numpy())
            grid = out["image_grid_thw"].numpy()
            case |= {"shape": list(a.shape), "sha256": hashlib.sha256(a.tobytes()).hexdigest(), "grid": grid.tolist(), "colors": []}
            mean, std = np.float64(processor.image_processor.image_mean), np.float64(processor.image_processor.image_std)
            for rows in np.split(a.astype(np.float64), np.cumsum(grid.prod(1))[:-1]):
                c = 255 * (rows.reshape(len(rows), 3, -1).mean((0, 2)) * std + mean)
                case["colors"].append("#%02x%02x%02x" % tuple(int(v) for v in np.rint(c.clip(0, 255))))
        yield case


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

    processor = Qwen2VLProcessor(image_processor=Qwen2VLImageProcessor(), tokenizer=lossless(), video_processor=Qwen2VLVideoProcessor())
    CHAT.mkdir(parents=True, exist_ok=True)
    (CHAT / "expected.json").write_text(json.dumps(list(chats(processor)), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
