"""Makes importer/hf/video/testdata/batches.json: what transformers' video processors return for several videos in one call.

The videos are those of hf_video.py. Needs the packages of goldens.py. Running it again gives the same bytes.
"""

import copy
import hashlib
import json
import random

import hf_video as one
import numpy as np
import torch
from hf_video_sampling import classes

BATCHES = [["wide", "wide"], ["still", "wide", "tall"], ["tall", "small", "tall"], ["one"], ["one", "still"]]
PER_CLASS = 10


def case(cls, videos, c, fps):
    name = cls.__name__.removesuffix("VideoProcessor")
    tensors = [torch.from_numpy(np.stack([np.asarray(f) for f in one.frames(v)])) for v in videos]
    metadata = [{"total_num_frames": len(t), "fps": fps, "duration": len(t) / fps, "frames_indices": list(range(len(t))), "height": t.shape[1], "width": t.shape[2]} for t in tensors]
    l = {"class": cls.__name__, "settings": c, "videos": videos, "fps": fps}
    try:
        got = cls(**copy.deepcopy(c)).preprocess(tensors, video_metadata=metadata, return_tensors="np")
    except Exception as e:
        return l | {"error": type(e).__name__}
    out = {}
    for k, v in got.items():
        if k == "video_metadata":
            continue
        v = np.asarray(v)
        if v.dtype == object:
            return l | {"error": "an array of None"}
        out[k] = {"dtype": str(v.dtype), "shape": list(v.shape), "sha256": hashlib.sha256(v.tobytes()).hexdigest()}
    return l | {"outputs": out}


r = random.Random(41)
lines = []
late = [n + "VideoProcessor" for n in one.LAST]  # after the others, so that theirs keep their draws
for cls in sorted(classes(), key=lambda c: late.index(c.__name__) if c.__name__ in late else -1):
    name = cls.__name__.removesuffix("VideoProcessor")
    if name not in one.WHOLE + one.PATCHES + one.SOFT + one.OWN + one.LAST:
        continue
    if name in one.LAST:
        torch.set_num_threads(2)  # as in hf_video.py
    kept = 0
    while kept < PER_CLASS:
        videos = BATCHES[kept % len(BATCHES)]
        c = one.config(r, name, min(one.VIDEOS[v][0] for v in videos))
        l = case(cls, videos, c, 2)
        if any(np.prod(o["shape"]) > 3e6 for o in l.get("outputs", {}).values()):
            continue  # slow
        kept += 1
        lines.append(json.dumps(l))
(one.DIR / "batches.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
