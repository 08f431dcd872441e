"""Makes importer/hf/video/testdata/metadata.json: the VideoMetadata that return_metadata gives, for each class.

A line is [class, settings, total_num_frames, fps, duration, result], the latter either the name of an exception or fps,
duration, frames_indices, timestamps (null if the property raises), sampled_fps and, for Qwen2VL, the second_per_grid_ts that
Qwen2.5-VL's processor makes of it. Needs the packages of goldens.py. Running it again gives the same bytes.
"""

import json
import random
from types import SimpleNamespace

import hf_video_sampling as sampling
import numpy as np
import torch
import transformers
from transformers import Qwen2_5_VLProcessor
from transformers.processing_utils import ProcessorMixin
from transformers.video_utils import VideoMetadata

PER_CLASS = 14


class Seconds(Qwen2_5_VLProcessor):
    """The processor without a tokenizer, whose parent has already processed a video."""

    def __init__(self, video_processor):
        self.video_processor = video_processor


def seconds(processor, metadata):
    """second_per_grid_ts of one video."""
    given = {"video_grid_thw": [None], "video_metadata": [metadata]}
    before = ProcessorMixin._process_videos
    ProcessorMixin._process_videos = lambda self, videos, **_: (given, None)
    try:
        return Seconds(processor)._process_videos(None)[0]["second_per_grid_ts"][0]
    finally:
        ProcessorMixin._process_videos = before


def number(v):
    return v.item() if isinstance(v, (np.generic, torch.Tensor)) else v


def case(r, cls):
    l = sampling.case(r, cls)[:5]
    _, c, n, fps, duration = l
    processor = cls(**c)

    def stop(videos, **_):
        raise sampling.Chosen

    processor._prepare_input_videos = stop
    m = VideoMetadata(total_num_frames=n, fps=fps, duration=duration, frames_indices=list(range(n)), height=1, width=1)
    video = torch.zeros(1, 1, 1, 1, dtype=torch.uint8).expand(n, 1, 1, 3)
    sample = r.random() < 0.9
    l[1] = c | {"do_sample_frames": sample}
    try:
        processor.preprocess(video, video_metadata=[m], do_sample_frames=sample, return_metadata=True)
    except sampling.Chosen:
        pass
    except Exception as e:
        return l + [type(e).__name__]
    indices = [int(i) for i in m.frames_indices]
    out = {"fps": number(m.fps), "duration": number(m.duration), "frames_indices": indices, "sampled_fps": number(m.sampled_fps)}
    try:
        out["timestamps"] = [number(t) for t in m.timestamps]
    except ValueError:
        out["timestamps"] = None
    if cls.__name__ == "Qwen2VLVideoProcessor":
        out["second_per_grid_ts"] = number(seconds(processor, m))
    return l + [out]


r = random.Random(40)
lines = []
for cls in sampling.classes():
    kept = 0
    while kept < PER_CLASS:
        l = case(r, cls)
        if isinstance(l[5], dict) and len(l[5]["frames_indices"]) > 40:
            continue  # a long line
        kept += 1
        lines.append(json.dumps(l))
(sampling.OUT.parent / "metadata.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
