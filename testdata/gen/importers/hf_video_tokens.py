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


# By processor: the settings of the video processor and of the processor, further attributes of the tokenizer, and the counted token.
CLASSES = {
    "Qwen2VL": (areas, VIDEO, "<vid>"),
    "Qwen2_5_VL": (areas, VIDEO, "<vid>"),
    "Exaone4_5_": (areas, VIDEO, "<vid>"),
    "Qwen2_5Omni": (areas, VIDEO, "<video>"),
    "Qwen3OmniMoe": (areas, VIDEO, "<video>"),
    "Qwen3VL": (areas, VISION, "<vid>"),
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
    """The texts of the real call."""
    texts, replace = [], p.replace_video_token

    def record(*args, **kwargs):
        texts.append(replace(*args, **kwargs))
        return texts[-1]

    p.replace_video_token = record
    pixels = [torch.zeros(n, h, w, 3, dtype=torch.uint8) for n, _, _, h, w in videos]
    metadata = [
        VideoMetadata(total_num_frames=n, fps=fps, duration=duration, frames_indices=list(range(n)), height=h, width=w) for n, fps, duration, h, w in videos
    ]
    p(text=[p.video_token * len(videos)], videos=pixels, video_metadata=metadata)
    assert len(texts) == len(videos)
    return texts


def case(r, name):
    settings, more, counted = CLASSES[name]
    video = images.CLASSES[name][1]
    n = r.randint(1, 24)
    video_args, args = settings(r, name)
    video_args |= sampling.config(r, video, n)
    if r.random() < 0.4:
        video_args["do_sample_frames"] = r.random() < 0.7
    videos = []
    for _ in range(r.choice([1, 1, 2])):
        fps = r.choice([None, 24, 30, 1, 2, 29.97, round(r.uniform(0.2, 60), 3)])
        duration = r.choice([None, r.randint(1, 100), round(r.uniform(0.1, 400), 2), fps and n / fps])
        side = r.randint(8, 200)
        videos.append([n, fps, duration, side, max(1, round(side * r.uniform(0.4, 2.5)))])
        n = r.randint(1, 24)
    try:
        p, saved, tokenizer, tokens = processor(name, video_args, args, more)
    except (ValueError, TypeError):
        return None
    try:
        texts = call(p, videos)
    except (ValueError, RuntimeError, ZeroDivisionError, IndexError, TypeError, KeyError, AttributeError) as e:
        texts, error = None, f"{type(e).__name__}: {e}"[:100]
    c = {"class": name, "processor": saved, "tokenizer": tokenizer, "videos": videos}
    if texts is None:
        return c | {"texts": None, "error": error}
    c["texts"] = [[t.count(counted), hashlib.sha256(t.encode()).hexdigest()[:16]] for t in texts]
    sample = images.runs(texts[0], sorted(tokens, key=len, reverse=True))
    return c | ({"sample": sample} if len(sample) <= 40 else {})


def main():
    OUT.mkdir(exist_ok=True)
    for name in sys.argv[1:] or CLASSES:
        r, cases, refused = random.Random(name), [], 0
        while len(cases) - refused < CASES:
            if (c := case(r, name)) is None or c["texts"] is None and refused >= CASES // 4:
                continue
            refused += c["texts"] is None
            cases.append(json.dumps(c, separators=(",", ":")))
        (OUT / f"{name}.json").write_text("[\n" + ",\n".join(cases) + "\n]\n")
        print(name, len(cases), "cases", refused, "refused", flush=True)


main()
