"""Makes importer/hf/video/testdata/sampling.json: the frames that transformers' video processors choose.

Needs the packages of goldens.py. Running it again gives the same bytes. With a number, such as 100000, it prints that many
cases instead, one a line, for `go test ./importer/hf/video -run TestSampling -args -cases FILE`.
"""

import hashlib
import importlib
import json
import pathlib
import random
import sys
import warnings

import numpy as np
import torch
import transformers

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).parents[3] / "importer" / "hf" / "video" / "testdata" / "sampling.json"
PER_CLASS = 100


def classes():
    for file in sorted((pathlib.Path(transformers.__path__[0]) / "models").glob("*/video_processing_*.py")):
        module = importlib.import_module(f"transformers.models.{file.parent.name}.{file.stem}")
        yield from (getattr(module, n) for n in module.__all__ if n.endswith("VideoProcessor") and n != "AutoVideoProcessor")


class Chosen(Exception):
    pass


def chosen(cls, config, n, fps, duration):
    """The indices that preprocess chooses of a video of n frames: it stops before the pixels."""
    processor = cls(**config)

    def stop(videos, **_):
        raise Chosen(videos[0])

    processor._prepare_input_videos = stop
    # A frame's only pixel is its number, so that the frames tell the indices, whatever type these have.
    # A tensor, since torch's numbers of a single frame take an axis from an array.
    video = torch.arange(n)[:, None, None, None].expand(n, 1, 1, 3)
    metadata = {"total_num_frames": n, "fps": fps, "duration": duration, "frames_indices": list(range(n)), "height": 1, "width": 1}
    try:
        processor.preprocess(video, video_metadata=[metadata], do_sample_frames=True)
    except Chosen as e:
        return np.asarray(e.args[0])[:, 0, 0, 0].tolist()
    except Exception as e:
        return type(e).__name__
    raise AssertionError("preprocess did not read frames")


def pick(r, *choices):
    return r.choice(choices)


def config(r, name, n):
    c = {}
    few = lambda: pick(r, r.randint(1, max(n, 1)), r.randint(1, 40), 2 * r.randint(1, 40))
    rate = lambda: pick(r, 1, 2, 0.5, 3, 4, r.randint(1, 60), round(r.uniform(0.1, 30), r.randint(1, 12)))
    how = r.random()
    if how < 0.35:
        c["num_frames"] = few()
        if r.random() < 0.9:
            c["fps"] = None
    elif how < 0.8:
        c["fps"] = rate()
        if r.random() < 0.9:
            c["num_frames"] = None
    if name in ("SmolVLM", "MuseGlimmer") and r.random() < 0.8:
        c["num_frames"], c["fps"] = few(), rate()
    if name == "EmbeddingGemma2":
        if r.random() < 0.9:
            c.pop("num_frames", None)
        if r.random() < 0.6:
            c["max_frames"], c["overflow_strategy"] = few(), pick(r, "uniform", "truncate", None)
    if name in ("Qwen2VL", "VideoLlama3", "Qwen3VL", "CohereCompass", "Cosmos3Edge", "Ernie4_5_VLMoe", "Glmga", "Glm5Next") and r.random() < 0.5:
        if not name.startswith("Glm"):
            c["min_frames"] = r.randint(1, 30)
        c["max_frames"] = r.randint(1, 800)
    if name in ("Qwen2VL", "VideoLlama3", "Glm46V", "MuseGlimmer") and r.random() < 0.5:
        c["temporal_patch_size"] = r.randint(1, 5)
    if name in ("Glm4v", "Glm5Next") and r.random() < 0.5:
        c["max_duration"] = r.randint(1, 200)
    if name == "InternVL" and r.random() < 0.5:
        c["initial_shift"] = pick(r, True, False, r.randint(0, 9), round(r.uniform(0, 9), 3), n, n + 1)
    if name == "Molmo2" and r.random() < 0.5:
        c["max_fps"] = pick(r, 1, 2, 0.5, None, round(r.uniform(0.5, 60), 3))
    if name.startswith("MiniCPM") and r.random() < 0.6:
        c["max_num_frames"], c["stack_frames"] = r.randint(1, 90), pick(r, 0, 1, 2, 3, 5, None)
    return c


def case(r, cls):
    name = cls.__name__.removesuffix("VideoProcessor")
    n = pick(r, r.randint(1, 20), r.randint(1, 300), r.randint(1, 3000))
    fps = pick(r, 24, 25, 30, 60, 29.97, 30000 / 1001, 24000 / 1001, 1, r.randint(1, 60), round(r.uniform(0.5, 90), r.randint(1, 12)), None)
    duration = pick(r, None, n / fps if fps else None, n / fps if fps else 7.5, round(r.uniform(0.1, 400), r.randint(0, 9)), r.randint(1, 400))
    c = config(r, name, n)
    got = chosen(cls, c, n, fps, duration)
    l = [cls.__name__, c, n, fps, duration]
    if isinstance(got, str):
        return l + [got]
    if len(got) <= 8:
        return l + [got]
    return l + [len(got), hashlib.sha256(np.asarray(got, "<i8").tobytes()).hexdigest()[:16]]


def main():
    r = random.Random(39)
    everything = list(classes())
    assert len(everything) == 34, len(everything)
    if len(sys.argv) > 1:
        for i in range(int(sys.argv[1])):
            print(json.dumps(case(r, everything[i % len(everything)])))
        return
    lines = [json.dumps(case(r, cls)) for cls in everything for _ in range(PER_CLASS)]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
