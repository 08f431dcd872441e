"""Makes importer/hf/video/testdata: videos.json, what transformers' video processors return for sequences of frames.

The frames are PNG files in folders of the same folder. Needs the packages of goldens.py. Running it again gives the same
bytes. With a number, such as 300, it prints that many other cases of each class instead, for
`go test ./importer/hf/video -run TestVideos -args -videos FILE`.
"""

import copy
import hashlib
import json
import random
import sys
import warnings

import numpy as np
import torch
import transformers
from hf_video_sampling import OUT, classes
from PIL import Image

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)

DIR = OUT.parent
VIDEOS = {"wide": (7, 23, 40), "tall": (4, 37, 19), "one": (1, 16, 16), "small": (12, 9, 11), "still": (5, 24, 24)}  # frames, height, width
WHOLE = ("InstructBlipVideo", "InternVL", "LlavaNextVideo", "LlavaOnevision", "PerceptionLM", "Timesformer", "VJEPA2", "VideoLlava", "VideoMAE", "Videomt", "Vivit", "PeVideo", "Sam2Video")
PATCHES = ("CohereCompass", "Cosmos3Edge", "Glm46V", "Glm4v", "Glmga", "Qwen2VL", "Qwen3VL", "MiniMaxM3VL", "VideoLlama3", "Glm5Next", "Ernie4_5_VLMoe")
JOINED = {"pixel_values_videos", "video_compression_mask"}  # of PATCHES: they have no axis of videos
SOFT = ("Gemma4", "Gemma4Unified", "EmbeddingGemma2")
OWN = ("Kimi_K25", "SmolVLM", "MuseGlimmer")
LAST = ("Molmo2", "NemotronH_Omni_Reasoning_V3", "MiniCPMV4_6", "MiniCPMOcr")  # after the others, so that theirs keep their draws
SEPARATE = ("video_grids", "num_frames_per_video")  # outputs of LAST that have an axis of videos
PER_CLASS = 30


def frames(name):
    n, h, w = VIDEOS[name]
    for i in range(n):
        r = np.random.default_rng([39, len(name), i])
        a = r.integers(0, 256, (h, w, 3), np.uint8)
        if name == "still":  # the left part never changes, and at last nothing does
            still = np.random.default_rng(39).integers(0, 256, (h, w, 3), np.uint8)
            a = still if i > 2 else np.concatenate([still[:, : w // 2], a[:, w // 2 :]], axis=1)
        yield Image.fromarray(a, "RGB")


def write_videos():
    for name in VIDEOS:
        folder = DIR / name
        folder.mkdir(parents=True, exist_ok=True)
        for i, f in enumerate(frames(name)):
            f.save(folder / f"{i}.png")


def size(r):
    side = lambda: r.randint(5, 45)
    return r.choice([side(), [side(), side()], {"shortest_edge": side()}, {"height": side(), "width": side()}, {"shortest_edge": r.randint(5, 20), "longest_edge": r.randint(20, 60)}])


def patches(r, name, n):
    """Settings of classes that cut patches: small ones, so that frames of any size have many."""
    c = {"patch_size": r.choice([2, 3, 4, 5]), "merge_size": r.randint(1, 3), "temporal_patch_size": r.randint(1, 4)}
    if name == "Cosmos3Edge" and r.random() < 0.9:
        c["temporal_patch_size"] = 1  # the only one that it takes
    low = r.choice([1, r.randint(1, 3000)])
    c["size"] = {"shortest_edge": low, "longest_edge": r.choice([low, low + r.randint(0, 9000), 100000])}
    if name == "MiniMaxM3VL":
        del c["size"]
        c["min_pixels"], c["max_pixels"] = sorted([r.choice([1, r.randint(1, 3000)]), r.randint(1, 9000)])
        if r.random() < 0.5:
            c["vision_segment_max_frames"] = r.choice([None, 1, 2, 3])
    if name == "VideoLlama3" and r.random() < 0.3:
        c["use_token_compression"] = r.random() < 0.5
    if name in ("Qwen2VL", "VideoLlama3") and r.random() < 0.5:
        c[r.choice(["min_pixels", "max_pixels"])] = r.randint(1, 3000)
        if r.random() < 0.3:
            del c["size"]
            c["min_pixels"], c["max_pixels"] = sorted([r.randint(1, 3000), r.randint(1, 5000)])
    if name in ("Qwen2VL", "Qwen3VL", "CohereCompass"):
        if r.random() < 0.6:
            c["cap_pixels_per_frame"] = r.random() < 0.8
            c["max_video_tokens"] = r.randint(1, 60)
        if r.random() < 0.5:
            c["min_frames"], c["max_frames"] = sorted([r.randint(1, 9), r.randint(1, 9)])
    if name == "Ernie4_5_VLMoe":
        c["draw_on_frames"], c["temporal_patch_size"] = False, 2
        if r.random() < 0.5:
            c["min_frames"] = r.randint(1, 9)
    if name == "Glm5Next":
        del c["size"]
        c["min_image_tokens"], c["max_image_tokens"] = sorted([r.choice([0, r.randint(0, 40)]), r.choice([r.randint(1, 60), 5000])])
        c["max_image_tokens"] = max(c["max_image_tokens"], 1)
    if name in ("Glmga", "Glm5Next") and r.random() < 0.5:
        c["patch_expand_factor"] = r.randint(1, 3)
    if r.random() < 0.15:
        c["do_resize"] = False
        if r.random() < 0.7:
            c["patch_size"], c["merge_size"] = r.choice([(16, 1), (8, 2), (1, 1), (4, 4)])
    return c


def soft(r, name, n):
    """Settings of the Gemma classes."""
    c = {"patch_size": r.randint(1, 5), "pooling_kernel_size": r.randint(1, 3), "max_soft_tokens": 70}
    if name != "EmbeddingGemma2" and r.random() < 0.9:
        c["num_frames"] = r.choice([None, 1, 2, n])
    if name == "EmbeddingGemma2" and r.random() < 0.5:
        c["max_frames"] = r.randint(1, n)
    if r.random() < 0.1 and name != "Gemma4Unified":  # which then mixes patches of frames that are no whole squares
        c["do_resize"] = False
    return c


def own(r, name, n):
    if name == "Kimi_K25":
        c = {"patch_size": r.randint(2, 6), "merge_size": r.randint(1, 3), "max_patches": r.choice([4, 30, 100, 1000]), "temporal_patch_size": r.randint(1, 5)}
        if r.random() < 0.6:
            c["size"] = {"max_height": (side := r.randint(1, 9)), "max_width": side}
        return c
    if name == "MuseGlimmer":
        c = {"patch_size": r.randint(2, 5), "merge_size": r.randint(1, 3), "max_video_frame_tokens": r.choice([1, 4, 20, 144]), "temporal_patch_size": r.randint(1, 4)}
        if r.random() < 0.1:
            c |= {"do_resize": False, "patch_size": 4, "merge_size": 1}
        return c
    c = {"max_image_size": {"longest_edge": r.randint(4, 40)}}
    if r.random() < 0.7:
        c["size"] = r.choice([{"longest_edge": r.randint(4, 90)}, {"height": r.randint(4, 60), "width": r.randint(4, 60)}])
    if r.random() < 0.4:
        c["video_sampling"] = {"fps": r.choice([1, 2]), "max_frames": r.randint(1, 8), "video_size": {"longest_edge": r.randint(4, 90)}}
    if r.random() < 0.2:
        c["do_pad"] = r.random() < 0.5
    if r.random() < 0.2:
        c["do_resize"] = False
    if r.random() < 0.4:
        c["num_frames"], c["fps"] = r.randint(1, 9), r.choice([1, 2, 25])
    return c


def molmo2(r, name, n):
    patch, most = r.randint(1, 7), r.randint(1, 9)
    side = patch * most + (r.random() < 0.1)
    c = {"size": r.choice([side, {"height": side, "width": side}, [side, side]]), "patch_size": patch}
    if r.random() < 0.05:
        c["size"] = r.choice([{"shortest_edge": side}, {"height": side, "width": side + patch}, None])
    if r.random() < 0.7:
        c["pooling_size"] = [r.randint(1, 5), r.randint(1, 5)]
    for key in ("do_rescale", "do_normalize", "do_resize"):
        if r.random() < 0.5:
            c[key] = r.random() < 0.8
    if r.random() < 0.4:
        c["resample"] = r.choice([0, 1, 2, 3, None])
    if r.random() < 0.2:
        c["image_mean"], c["image_std"] = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]
    if r.random() < 0.2:
        c["rescale_factor"] = r.choice([1 / 127.5, 0.0039, 0.01])
    if r.random() < 0.4:
        c["do_sample_frames"] = False
    if r.random() < 0.5:
        c["num_frames"] = r.choice([1, 2, 3, n])
        if r.random() < 0.3:
            c |= {"num_frames": None, "fps": r.choice([1, 2, 3])}
    return c


def nemotron(r, name, n):
    value = lambda: round(r.uniform(0.1, 0.7), 6)
    c = {"norm_mean": [value() for _ in range(3)], "norm_std": [value() for _ in range(3)]}
    if r.random() < 0.05:
        del c[r.choice(list(c))]
    c["patch_size"] = r.randint(1, 9)
    if r.random() < 0.9:
        c["video_target_num_patches"] = r.randint(1, 90)
    if r.random() < 0.6:
        c["downsample_ratio"] = r.choice([1, 0.5, 0.3, 0.25, 0.4, 2])
    if r.random() < 0.5:
        c["video_maintain_aspect_ratio"] = r.random() < 0.5
    for key in ("do_rescale", "do_normalize", "do_resize", "do_center_crop"):
        if r.random() < 0.07:
            c[key] = r.random() < 0.5
    if r.random() < 0.3:
        c["do_sample_frames"] = True
        c[r.choice(["num_frames", "fps"])] = r.choice([1, 2, 3, n])
    return c


def minicpm(r, name, n):
    c = {"patch_size": r.randint(1, 4), "scale_resolution": r.randint(4, 40)}
    if r.random() < 0.6:
        c["stack_frames"] = r.choice([0, 1, 2, 2, 3, 3, 4, 5, 6, 9, None])
    if r.random() < 0.6:
        c["max_slice_nums"] = r.choice([0, 1, 2, 3, 5, 9, 17, 34])
    if r.random() < 0.2:
        c["slice_mode"] = r.random() < 0.5
    if r.random() < 0.4:
        c["downsample_mode"] = r.choice(["4x", "16x"])
    if r.random() < 0.5:
        c["do_sample_frames"] = r.random() < 0.3
    if r.random() < 0.3:
        c["max_num_frames"] = r.randint(1, 9)
    if r.random() < 0.3:
        c["resample"] = r.randint(0, 3)
    for key in ("do_rescale", "do_normalize", "do_resize"):
        if r.random() < 0.15:
            c[key] = r.random() < 0.3
    if r.random() < 0.2:
        c["image_mean"], c["image_std"] = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]
    return c


def config(r, name, n):
    if name in LAST:
        return {"Molmo2": molmo2, "NemotronH_Omni_Reasoning_V3": nemotron}.get(name, minicpm)(r, name, n)
    if name in PATCHES + SOFT + OWN:
        c = (patches if name in PATCHES else soft if name in SOFT else own)(r, name, n)
        if r.random() < 0.6:
            c["do_sample_frames"] = r.random() < 0.5
        for key in ("do_rescale", "do_normalize"):
            if r.random() < 0.2:
                c[key] = False
        if r.random() < 0.3:
            c["resample"] = r.randint(0, 3)
        if r.random() < 0.4 and name not in SOFT + ("SmolVLM",):
            c[r.choice(["num_frames", "fps"])] = r.choice([1, 2, 3, n])
        return c
    c = {}
    if r.random() < 0.8:
        c["size"] = size(r)
    if r.random() < 0.5 or name == "VJEPA2":
        side = lambda: r.randint(4, 50)
        c["crop_size"] = r.choice([side(), {"height": side(), "width": side()}])
        c["do_center_crop"] = r.random() < 0.8
    for key, p in {"do_resize": 0.85, "do_rescale": 0.8, "do_normalize": 0.8, "do_convert_rgb": 0.7, "default_to_square": 0.6}.items():
        if r.random() < 0.3:
            c[key] = r.random() < p
    if r.random() < 0.4:
        c["resample"] = r.randint(0, 3)
    if r.random() < 0.2:
        c["rescale_factor"] = r.choice([1 / 127.5, 0.0039, 0.01])
    if r.random() < 0.2:
        c["image_mean"] = r.choice([0.4, [0.1, 0.2, 0.3], [0.5]])
    if r.random() < 0.2:
        c["image_std"] = r.choice([0.25, [0.3, 0.2, 0.1]])
    if r.random() < 0.1:
        c[r.choice(["do_resize", "size", "resample", "do_center_crop", "crop_size", "do_rescale", "do_normalize", "image_mean", "default_to_square", "do_sample_frames"])] = None
    if r.random() < 0.5:
        c["do_sample_frames"] = True
        c[r.choice(["num_frames", "fps"])] = r.choice([1, 2, 3, n])
    return c



def arrays(cls, video, c, fps):
    """The outputs for one video, {name: (array, joined)}, where joined says that the output has no axis of videos."""
    n = VIDEOS[video][0]
    torch.set_num_threads(2 if cls.__name__.removesuffix("VideoProcessor") in LAST else 1)  # one thread has another kernel for Molmo2's resize
    tensor = torch.from_numpy(np.stack([np.asarray(f) for f in frames(video)]))
    metadata = {"total_num_frames": n, "fps": fps, "duration": n / fps if fps else None, "frames_indices": list(range(n)), "height": tensor.shape[1], "width": tensor.shape[2]}
    got = cls(**copy.deepcopy(c)).preprocess(tensor, video_metadata=[metadata], return_tensors="np")
    out, name = {}, cls.__name__.removesuffix("VideoProcessor")
    for k, v in got.items():
        if k == "video_metadata":  # of return_metadata: no tensor
            continue
        joined = name in PATCHES and k in JOINED or name in ("MiniMaxM3VL", "Kimi_K25") and k == "video_grid_thw"
        joined = joined or name in ("Kimi_K25", "MuseGlimmer") and k == "pixel_values_videos"
        joined = joined or name in SOFT and k in ("pixel_values_videos", "video_position_ids")
        joined = joined or name in LAST and k not in SEPARATE
        out[k] = np.asarray(v if joined else v[0]), joined  # of the only video
    return out


def case(cls, video, c, fps):
    l = {"class": cls.__name__, "settings": c, "video": video, "fps": fps}
    try:
        got = arrays(cls, video, c, fps)
    except Exception as e:
        return l | {"error": type(e).__name__}
    if any(v.dtype == object for v, _ in got.values()):
        return l | {"error": "an array of None"}
    return l | {"outputs": {k: {"joined": joined, "dtype": str(v.dtype), "shape": list(v.shape), "sha256": hashlib.sha256(v.tobytes()).hexdigest()} for k, (v, joined) in got.items()}}


def cases(r, count):
    name = lambda cls: cls.__name__.removesuffix("VideoProcessor")
    for cls in sorted(classes(), key=lambda cls: LAST.index(name(cls)) if name(cls) in LAST else -1):
        if name(cls) != "Ernie4_5_VLMoe":  # which draws
            yield case(cls, "wide", {}, 2)  # the defaults
        for _ in range(count):
            video = r.choice(list(VIDEOS))
            yield case(cls, video, config(r, name(cls), VIDEOS[video][0]), r.choice([None, 1, 2, 5, 25]))


def main():
    if len(sys.argv) > 1:
        print("[\n" + ",\n".join(map(json.dumps, cases(random.Random(40), int(sys.argv[1])))) + "\n]")
        return
    write_videos()
    (DIR / "videos.json").write_text("[\n" + ",\n".join(map(json.dumps, cases(random.Random(39), PER_CLASS))) + "\n]\n")


if __name__ == "__main__":
    main()
