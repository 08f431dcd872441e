"""Makes the files of importer/hf/tokens/testdata/videos: the texts of videos by the processors of transformers.

A case has a processor's files, the videos of a call as [frames, fps, duration, height, width], and the texts that the real call puts in place
of the placeholders: [number of tokens, digest] of each, and the first text as runs if it is short. Null is a refused call. Needs the packages of
goldens.py. Arguments: names of classes, such as Qwen2VL, to make alone. Without arguments it makes all.
"""

import functools
import hashlib
import json
import pathlib
import random
import sys
import tempfile

import hf_tokens as images
import hf_video_sampling as sampling
import torch
import transformers
from transformers.video_utils import VideoMetadata

OUT = images.OUT / "videos"
CASES = 24  # accepted ones of a class
METADATA = ("Cosmos3Edge", "MuseGlimmer")  # which need return_metadata, and whose processors do not set it
VIDEO = {"video_token": "<vid>"}
VISION = VIDEO | {"vision_start_token": "<vs>", "vision_end_token": "<ve>"}


def areas(r, name):
    """Settings of the classes that cut frames into patches."""
    c = {}
    if r.random() < 0.8:
        least = r.randint(1, 200) * 100
        c["size"] = {"shortest_edge": least, "longest_edge": least * r.randint(1, 40)}
    if r.random() < 0.4:
        c["patch_size"] = r.choice([7, 8, 10, 14, 16])
    if r.random() < 0.4:
        c["merge_size"] = r.choice([1, 2, 3])
    if r.random() < 0.4:
        c["temporal_patch_size"] = r.choice([1, 2, 3])
    if r.random() < 0.1:
        c["do_resize"] = False
    return c, {}


def pixels(r, name):
    """Settings of a class that the processor's own size replaces."""
    c, args = areas(r, name)
    if r.random() < 0.3:
        c["min_pixels"] = r.randint(1, 200) * 100
    if r.random() < 0.3:
        c["max_pixels"] = r.randint(200, 4000) * 100
    return c, args


def plain_areas(r, name):
    c, args = areas(r, name)
    c.pop("temporal_patch_size", None)
    return c, args


def ernie(r, name):
    c, args = plain_areas(r, name)
    return c | {"draw_on_frames": False}, args


def minimax(r, name):
    """The class does not resize, so that few sizes fit: sides of the videos are multiples of 12 then."""
    c, args = areas(r, name)
    c |= {"patch_size": r.choice([2, 3, 4, 6]), "merge_size": r.choice([1, 2])}
    if r.random() < 0.5:
        c["vision_segment_max_frames"] = r.choice([1, 2, 5, None])
    return c, args


def frames(r, name):
    """Settings of the classes that resize each frame."""
    c = {}
    if r.random() < 0.7:
        c["size"] = images.hw(r.randint(20, 120), r.randint(20, 120))
    if r.random() < 0.15:
        c["do_resize"] = False
    return c, {}


def onevision(r, name):
    return frames(r, name)[0], {"num_image_tokens": r.choice([729, 576, 50, r.randint(1, 900)])}


def perception(r, name):
    return frames(r, name)[0], {"patch_size": r.choice([14, 7, 5]), "pooling_ratio": r.choice([1, 2, 3])}


def internvl(r, name):
    return frames(r, name)[0], {"image_seq_length": r.choice([256, 17, 3])}


def gemma4(r, name):
    c = {}
    if r.random() < 0.6:
        c["max_soft_tokens"] = r.choice([70, 140, 280])
    if r.random() < 0.3:
        c["pooling_kernel_size"], c["patch_size"] = r.choice([1, 2]), r.choice([8, 14, 16])
    if r.random() < 0.1:
        c["do_resize"] = False
    return c, {}


def kimi(r, name):
    c = {}
    if r.random() < 0.5:
        c["max_patches"] = r.randint(4, 400)
    if r.random() < 0.4:
        c["patch_size"], c["merge_size"] = r.choice([7, 10, 14]), r.choice([1, 2, 3])
    if r.random() < 0.3:
        side = r.randint(4, 60)
        c["size"] = {"max_height": side, "max_width": side}
    if r.random() < 0.5:
        c["temporal_patch_size"] = r.randint(1, 6)
    return c, {}


def muse(r, name):
    c = {}
    if r.random() < 0.7:
        c["max_video_frame_tokens"] = r.randint(1, 200)
    if r.random() < 0.4:
        c["patch_size"], c["merge_size"] = r.choice([7, 10, 14]), r.choice([1, 2, 3])
    if r.random() < 0.5:
        c["temporal_patch_size"] = r.randint(1, 5)
    if r.random() < 0.3:
        c["frame_timestamp_format"] = r.choice(["{timestamp:.2f}", "at {timestamp:.0f} s ", "{timestamp:.1f}s"])
    return c, {}


def video_llama(r, name):
    c, args = areas(r, name)
    if "size" in c:  # which the frames share
        c["size"]["longest_edge"] *= 20
    if r.random() < 0.5:
        c["use_token_compression"] = False
    return c, args


def llava_next(r, name):
    c = {}
    if r.random() < 0.7:
        side = r.randint(30, 120)
        c["size"] = r.choice([{"shortest_edge": side}, images.hw(side, r.randint(20, 120))])
    if r.random() < 0.7:
        c["crop_size"] = images.hw(r.randint(20, 120), r.randint(20, 120))
    if r.random() < 0.4:
        c["do_center_crop"] = r.random() < 0.5
    return c, {"patch_size": r.choice([14, 7, 5])}


def nemotron(r, name):
    c, args = {"norm_mean": [0.5, 0.5, 0.5], "norm_std": [0.5, 0.5, 0.5]}, {}
    if r.random() < 0.6:
        c["video_target_num_patches"] = r.randint(1, 300)
    if r.random() < 0.4:
        c["patch_size"] = r.choice([8, 14])
    if r.random() < 0.3:
        c["video_maintain_aspect_ratio"] = False
    if r.random() < 0.3:
        c["downsample_ratio"] = r.choice([1.0, 0.34, 0.25])
    if r.random() < 0.5:
        args["video_temporal_patch_dim"] = r.choice([1, 2, 3])
    return c, args


def molmo2(r, name):
    c, args = {}, {}
    if r.random() < 0.6:
        patch = r.choice([7, 10, 14])
        side = patch * r.randint(1, 12)
        c["patch_size"], c["size"] = patch, images.hw(side, side)
    if r.random() < 0.6:
        c["pooling_size"] = [r.randint(1, 5), r.randint(1, 5)]
    for key in ("video_use_col_tokens", "use_frame_special_tokens"):
        if r.random() < 0.4:
            args[key] = r.random() < 0.5
    return c, args


# By processor: the settings of the video processor and of the processor, further attributes of the tokenizer, and the counted token.
CLASSES = {
    "Qwen2VL": (areas, VIDEO, "<vid>"),
    "Qwen2_5_VL": (areas, VIDEO, "<vid>"),
    "Exaone4_5_": (areas, VIDEO, "<vid>"),
    "Qwen2_5Omni": (pixels, VIDEO, "<video>"),
    "Qwen3OmniMoe": (pixels, VIDEO, "<video>"),
    "Qwen3VL": (areas, VISION, "<vid>"),
    "Cosmos3Edge": (plain_areas, VISION, "<vid>"),
    "CohereCompass": (areas, {}, "<|VIDEO_PAD|>"),
    "Ernie4_5_VLMoe": (ernie, {}, "<video>"),
    "Glm4v": (areas, VIDEO, "<im>"),
    "Glm46V": (areas, VIDEO, "<|image|>"),
    "LlavaOnevision": (onevision, {}, "<video>"),
    "PerceptionLM": (perception, {}, "<video>"),
    "InternVL": (internvl, {}, "<ctx>"),
    "Gemma4": (gemma4, {f"{a}_token": f"<{a}>" for a in ("audio", "boa", "eoa")}, "<|video|>"),
    "Gemma4Unified": (gemma4, {f"{a}_token": f"<{a}>" for a in ("audio", "boa", "eoa")}, "<|video|>"),
    "Kimi_K25": (kimi, {}, "<|kimi_k25_video_placeholder|>"),
    "MuseGlimmer": (muse, {}, "<|video|>"),
    "VideoLlama3": (video_llama, VIDEO, "<vid>"),
    "LlavaNextVideo": (llava_next, {}, "<video>"),
    "NemotronH_Omni_Reasoning_V3": (nemotron, {}, "<im>"),
    "Molmo2": (molmo2, {}, "<im_patch>"),
    "MiniMaxM3VL": (minimax, {}, "]<]video[>["),
}


@functools.cache
def first_settings(name):
    """The arguments of the first case of images: those of the image processor and of the processor."""
    _, image_args, args, _ = next(iter(images.CLASSES[name][2]))
    return image_args, args


def processor(name, video_args, args, more):
    image, video, _, attributes, tokens, _ = images.CLASSES[name]
    image_args, first = first_settings(name)
    attributes = more | attributes
    tokens = [*tokens, CLASSES[name][2]]
    t = images.tokenizer(tokens, attributes)
    parts = {"image_processor": getattr(transformers, image + "ImageProcessor")(**image_args), "tokenizer": t}
    parts["video_processor"] = getattr(transformers, video + "VideoProcessor")(**video_args)
    if name in images.AUDIO:
        parts["feature_extractor"] = getattr(transformers, images.AUDIO[name] + "FeatureExtractor")()
    p = getattr(transformers, name + "Processor")(**parts, **first | args)
    with tempfile.TemporaryDirectory() as folder:
        p.save_pretrained(folder)
        saved = json.loads((pathlib.Path(folder) / "processor_config.json").read_text())
        names = json.loads((pathlib.Path(folder) / "tokenizer_config.json").read_text())
    saved |= first | args
    saved.pop("feature_extractor", None)
    for part in ("image_processor", "video_processor"):
        for key in ("image_mean", "image_std", "rescale_factor", "resample", "do_rescale", "do_normalize"):
            if part == "image_processor" or key in ("image_mean", "image_std"):
                saved[part].pop(key, None)
    return p, saved, {k: v for k, v in names.items() if k.endswith("_token")}, [*tokens, *attributes.values()]


def call(p, videos):
    """The texts of the real call, and the mask of VideoLLaMA 3."""
    texts, masks, replace = [], [], p.replace_video_token

    def record(*args, **kwargs):
        masks[:] = args[0].get("video_compression_mask", []) if args else []
        texts.append(replace(*args, **kwargs))
        return texts[-1]

    p.replace_video_token = record
    pixels = [torch.zeros(n, h, w, 3, dtype=torch.uint8) for n, _, _, h, w in videos]
    for v in pixels:  # for the mask: half of the frames have a bright corner
        v[::2, : v.shape[1] // 2, : v.shape[2] // 3] = 200
    metadata = [
        VideoMetadata(total_num_frames=n, fps=fps, duration=duration, frames_indices=list(range(n)), height=h, width=w) for n, fps, duration, h, w in videos
    ]
    more = {"return_metadata": True} if type(p).__name__.removesuffix("Processor") in METADATA else {}
    if isinstance(p, transformers.SmolVLMProcessor):  # which fails without
        more["return_tensors"] = "pt"
    if isinstance(p, transformers.NemotronH_Omni_Reasoning_V3Processor):  # which takes one video and its metadata
        metadata = metadata[0]
    p(text=[p.video_token * len(videos)], videos=pixels, video_metadata=metadata, **more)
    assert len(texts) == len(videos)
    return texts, masks


def case(r, name):
    settings, more, counted = CLASSES[name]
    video = images.CLASSES[name][1]
    n = r.randint(1, 24)
    video_args, args = settings(r, name)
    video_args |= sampling.config(r, video, n)
    if r.random() < 0.4:
        video_args["do_sample_frames"] = r.random() < 0.7
    videos, one = [], settings is nemotron  # which samples, but does not follow it in the text
    if one:
        video_args["do_sample_frames"] = False
    for _ in range(r.choice([1, 1, 2])):
        fps = r.choice([None, 24, 30, 1, 2, 29.97, round(r.uniform(0.2, 60), 3)])
        duration = r.choice([None, r.randint(1, 100), round(r.uniform(0.1, 400), 2), fps and n / fps])
        side, other = r.randint(8, 200), r.uniform(0.4, 2.5)
        step = 12 if settings is minimax and r.random() < 0.9 else 1
        videos.append([n, fps, duration, max(1, side // step) * step, max(1, round(side * other / step)) * step])
        n = r.randint(1, 24)
    videos = videos[:1] if one else videos
    try:
        p, saved, tokenizer, tokens = processor(name, video_args, args, more)
    except (ValueError, TypeError):
        return None
    try:
        texts, masks = call(p, videos)
    except (ValueError, RuntimeError, ZeroDivisionError, IndexError, TypeError, KeyError, AttributeError) as e:
        texts, error = None, f"{type(e).__name__}: {e}"[:100]
    c = {"class": name, "processor": saved, "tokenizer": tokenizer, "videos": videos}
    if texts is None:
        return c | {"texts": None, "error": error}
    c["texts"] = [[t.count(counted), hashlib.sha256(t.encode()).hexdigest()[:16]] for t in texts]
    if len(masks):
        c["mask"] = "".join(str(int(m)) for m in masks)
    sample = images.runs(texts[0], sorted(tokens, key=len, reverse=True))
    return c | ({"sample": sample} if len(sample) <= 40 else {})


def main(names):
    OUT.mkdir(exist_ok=True)
    for name in names:
        r, cases, refused = random.Random(name), [], 0
        tries = 0
        while len(cases) - refused < CASES:
            tries += 1
            assert tries < 12 * CASES, (name, len(cases), refused, cases[:1])
            if (c := case(r, name)) is None or c["texts"] is None and refused >= CASES // 4:
                continue
            refused += c["texts"] is None
            cases.append(json.dumps(c, separators=(",", ":")))
        (OUT / f"{name}.json").write_text("[\n" + ",\n".join(cases) + "\n]\n")
        print(name, len(cases), "cases", refused, "refused", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or CLASSES)
