"""Makes importer/hf/video/clip/testdata/clips.json: what transformers' video processors return for animations, arrays and streams.

An animation is given as the list of its frames, ImageSequence.Iterator(img) converted to RGB, with fps and duration where
its delays say them; a stream of images as the list of Image.open(f).convert("RGB"). Needs the packages of goldens.py, and
codecs/animations.py run before. Running it again gives the same bytes.
"""

import base64
import copy
import hashlib
import io
import json
import warnings
from fractions import Fraction

import numpy as np
import torch
import transformers
from hf_video_sampling import OUT, classes
from PIL import Image, ImageSequence

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)

DIR = OUT.parents[1] / "clip" / "testdata"
ANIMATIONS = OUT.parents[4] / "codec" / "animation" / "testdata" / "animations.json"
CLASSES = {c.__name__.removesuffix("VideoProcessor"): c for c in classes()}
CONFIGS = [
    ("VideoMAE", {"size": 6, "crop_size": 5, "do_sample_frames": True, "fps": 4}),
    ("Qwen2VL", {"patch_size": 2, "merge_size": 2, "do_sample_frames": True, "fps": 8, "min_frames": 2, "size": {"shortest_edge": 16, "longest_edge": 900}}),
    ("InternVL", {"size": {"height": 9, "width": 7}, "do_sample_frames": True, "num_frames": 2}),
    ("LlavaOnevision", {"do_resize": False, "do_rescale": False, "do_normalize": False}),
]


def run(kind, data, video, n, fps=None, duration=None, **extra):
    runs = []
    for name, settings in CONFIGS:
        metadata = {"total_num_frames": n, "fps": fps, "duration": duration}
        cls = CLASSES[name]
        c = {"class": cls.__name__, "settings": settings, "outputs": {}}
        runs.append(c)
        try:
            got = cls(**copy.deepcopy(settings)).preprocess(video, video_metadata=[metadata], return_tensors="np")
        except Exception as e:
            c["error"] = type(e).__name__
            continue
        for k, v in got.items():
            v = np.asarray(v if name == "Qwen2VL" and k == "pixel_values_videos" else v[0])
            c["outputs"][k] = {"dtype": str(v.dtype), "shape": list(v.shape), "sha256": hashlib.sha256(v.tobytes()).hexdigest()}
    return [{"kind": kind, "file": base64.b64encode(data).decode(), "fps": fps or 0, "duration": duration or 0} | extra | {"runs": runs}]


def animations():
    seen = {}
    for a in json.loads(ANIMATIONS.read_text()):
        data = base64.b64decode(a["file"])
        if a.get("error") or min(a["size"]) < 4 or len(a["frames"]) < 3 or seen.get(a["format"], 0) == 4:
            continue
        with Image.open(io.BytesIO(data)) as im:
            if im.mode == "I;16":
                continue
            frames, delays = [], []
            for f in ImageSequence.Iterator(im):
                frames.append(f.convert("RGB"))
                delays.append(Fraction((f.info.get("duration") or 0) / 1000).limit_denominator(65535))
        seen[a["format"]] = seen.get(a["format"], 0) + 1
        known = min(delays) > 0
        fps, duration = None, None
        if known and len(set(delays)) == 1:
            fps, duration = float(1 / delays[0]), float(sum(delays))
        elif known:
            duration = 0.0
            for d in delays:
                duration += float(d)
        yield from run("animation", data, frames, len(frames), fps, duration)


def array(r, *shape):
    return r.integers(0, 256, shape, np.uint8)


def arrays(r):
    for shape in ((4, 11, 9, 3), (4, 3, 11, 9), (5, 3, 8, 3), (4, 3, 3, 7), (1, 9, 9, 3), (2, 5, 6, 4), (2, 1, 8, 8), (2, 8, 8, 1)):
        a, b = array(r, *shape), io.BytesIO()
        np.save(b, a)
        yield from run("array", b.getvalue(), a, shape[0], 8.0, shape[0] / 8)


def streams(r):
    a = array(r, 5, 10, 12, 3)
    yield from run("rawvideo", a.tobytes(), a, 5, 8.0, 5 / 8, width=12, height=10)
    kinds = {"PNG": {}, "JPEG": {"quality": 85}, "BMP": {}, "WEBP": {"lossless": True}, "mixed": {}}
    for kind, options in kinds.items():
        files = []
        for i, frame in enumerate(a):
            b = io.BytesIO()
            Image.fromarray(frame).save(b, kind if kind != "mixed" else ["PNG", "JPEG", "BMP", "WEBP", "JPEG"][i], **options | ({"progressive": True, "restart_marker_rows": 1} if kind == "JPEG" and i % 2 else {}))
            files.append(b.getvalue())
        frames = [Image.open(io.BytesIO(f)).convert("RGB") for f in files]
        yield from run("image2pipe", b"".join(files), frames, 5, 8.0, 5 / 8)


r = np.random.default_rng(39)
DIR.mkdir(parents=True, exist_ok=True)
(DIR / "clips.json").write_text("[\n" + ",\n".join(json.dumps(c) for l in (animations(), arrays(r), streams(r)) for c in l) + "\n]\n")
