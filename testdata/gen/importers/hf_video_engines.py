"""Makes importer/hf/video/testdata: engines.json, the frames that qwen-vl-utils, vLLM and SGLang choose of videos, and
qwen_vl_utils_sizes.json, the sizes to which qwen-vl-utils scales them.

Needs the packages of goldens.py, and beside them those of requirements-video-engines.txt without what these require. vLLM's
loaders run whole, with a video of numbered frames in place of OpenCV's and TorchCodec's decoders; modules that they import
and do not use here are mocked. Of the other two, the functions that choose frames are taken from their files; they run up
to the call of the decoder. Running it again gives the same bytes. With a number, such as 100000, it prints that many other
cases instead, for `go test ./importer/hf/video -run TestSamplers -args -engines FILE`; with "sizes" and a number so many
sizes, for -sizes FILE.
"""

import ast
import asyncio
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import math
import pathlib
import random
import sys
import types
from unittest import mock

import cv2
import numpy as np
import torch

OUT = pathlib.Path(__file__).parents[3] / "importer" / "hf" / "video" / "testdata" / "engines.json"
SIZES = OUT.with_name("qwen_vl_utils_sizes.json")
PER_SAMPLER = 120
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)


class Chosen(Exception):
    pass


def stop(indices, *_, **__):
    raise Chosen(indices)


def source(package, file):
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    return pathlib.Path(folder, file).read_text()


def functions(package, file, names, **more):
    """The functions and constants of that file with these names, in a namespace with what they need."""
    space = {"math": math, "np": np, "torch": torch, "logger": logging.getLogger(), "os": __import__("os"), "time": __import__("time")} | more
    for node in ast.parse(source(package, file)).body:
        targets = [getattr(t, "id", None) for t in getattr(node, "targets", [])]
        if getattr(node, "name", None) in names or set(targets) & set(names):
            for n in ast.walk(node):
                if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    n.returns = None
                    for a in n.args.args + n.args.kwonlyargs:
                        a.annotation = None
            exec(compile(ast.Module([node], []), file, "exec"), space)
    assert all(n in space for n in names), names
    return types.SimpleNamespace(**space)


class Video:
    """A video in place of a decoder's: it has no frames, and the call that asks for some ends with their numbers."""

    def __init__(self, n, fps):
        self.n, self.avg_fps, self.frame_shape = n, fps, (1, 1)

    def __len__(self):
        return self.n

    def get_avg_fps(self):
        return self.avg_fps

    get_batch = get_frames_as_tensor = get_frames_at = lambda self, indices: stop(indices)


# qwen-vl-utils

ROUNDING = ["round_by_factor", "ceil_by_factor", "floor_by_factor", "smart_nframes", "FRAME_FACTOR", "FPS", "FPS_MIN_FRAMES", "FPS_MAX_FRAMES"]


def qwen_vl_utils():
    typing = {k: __import__("typing").__dict__[k] for k in ("Dict", "Any", "Union", "Tuple")}
    f = functions("qwen_vl_utils", "vision_process.py", ROUNDING + ["calculate_video_frame_range", "_read_video_decord"], **typing)

    def run(settings, n, fps, duration):
        sys.modules["decord"] = types.SimpleNamespace(VideoReader=lambda path: Video(n, fps or 0))
        f._read_video_decord({"video": ""} | settings)

    return run


def sizes(r, count):
    """Sizes of fetch_video: [settings, patch, frames, height, width, size or the exception]."""
    torchvision = types.SimpleNamespace(functional=types.SimpleNamespace(resize=lambda video, size, **_: stop(size)))
    names = ROUNDING + ["smart_resize", "fetch_video", "MAX_RATIO", "SPATIAL_MERGE_SIZE", "IMAGE_MIN_TOKEN_NUM", "IMAGE_MAX_TOKEN_NUM", "VIDEO_MIN_TOKEN_NUM", "VIDEO_MAX_TOKEN_NUM", "MODEL_SEQ_LEN"]
    typing = {k: __import__("typing").__dict__[k] for k in ("Dict", "Any", "Union", "Tuple", "Optional")}
    f = functions("qwen_vl_utils", "vision_process.py", names, transforms=torchvision, InterpolationMode=mock.Mock(), get_video_reader_backend=lambda: "decord", **typing)
    assert f.MODEL_SEQ_LEN == 128000
    for _ in range(count):
        patch, frames = r.choice([14, 16, r.randint(1, 40)]), r.choice([r.randint(2, 12), r.randint(2, 768)])
        side = lambda: r.choice([r.randint(1, 40), r.randint(30, 500), r.randint(200, 4000)])
        h, w = side(), side()
        pixels = lambda: r.choice([r.randint(1, 9000), r.randint(1, 1 << 20), patch * patch * 4 * r.randint(1, 900), round(r.uniform(1, 1e6), 3)])
        c = {k: pixels() for k in ("min_pixels", "max_pixels") if r.random() < 0.3}
        if r.random() < 0.4:
            c["total_pixels"] = pixels() * r.choice([1, 50, 500])
        if r.random() < 0.2:
            c["resized_height"], c["resized_width"] = side(), side()
        shape = types.SimpleNamespace(shape=(frames, 3, h, w))
        vars(f)["fetch_video"].__globals__["VIDEO_READER_BACKENDS"] = {"decord": lambda ele: (shape, {}, 2.0)}
        try:
            f.fetch_video({"video": ""} | c, patch)
        except Chosen as e:
            got = e.args[0]
            if 0 in got:
                got = "ValueError"  # of the resize
        except Exception as e:
            got = type(e).__name__
        yield [c, patch, frames, h, w, got]


# vLLM

REAL = ("vllm.multimodal.video", "vllm.multimodal.video_decoders", "vllm.utils.registry")


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "vllm" or any(name == r or name.startswith(r + ".") for r in REAL):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        m = types.ModuleType(spec.name)
        m.__path__ = [str(self.root.joinpath(*spec.name.split(".")[1:]))]
        m.__getattr__ = mock.MagicMock()
        return m

    def exec_module(self, module):
        if module.__name__ == "vllm":
            module.envs = types.SimpleNamespace(VLLM_MAX_IMAGE_PIXELS=0)


class Capture:
    """cv2.VideoCapture of a video whose frames are their numbers, in base 256."""

    now = (0, 0)

    def __init__(self, *_):
        self.at, (self.n, self.fps) = 0, Capture.now

    def isOpened(self):
        return True

    def get(self, what):
        return {cv2.CAP_PROP_FRAME_COUNT: self.n, cv2.CAP_PROP_FPS: float(self.fps), cv2.CAP_PROP_POS_FRAMES: self.at}.get(what, 1)

    def set(self, what, value):
        self.at = self.n if what == cv2.CAP_PROP_POS_AVI_RATIO else int(value)
        return True

    def grab(self):
        self.at += 1
        return self.at <= self.n

    def retrieve(self):
        i = self.at - 1
        return True, np.array([[[i >> 16, i >> 8 & 255, i & 255]]], np.uint8)

    def read(self):
        return self.retrieve() if self.grab() else (False, None)


class Codec:
    """TorchCodec's VideoDecoder of such a video."""

    def __init__(self, n, fps, duration):
        self.metadata = types.SimpleNamespace(num_frames=n, average_fps=fps, duration_seconds=duration, width=1, height=1)

    def get_frames_at(self, indices):
        if any(not 0 <= i < self.metadata.num_frames for i in indices):
            raise IndexError
        return types.SimpleNamespace(data=np.array([[[[i & 255, i >> 8 & 255, i >> 16]]] for i in indices], np.uint8))


VLLM = ("opencv", "opencv_dynamic", "nemotron_vl", "qwen2_vl", "qwen3_vl", "embedding_gemma2", "glm46v", "glm5next", "glmga", "molmo2", "openpangu", "clef_omni")


def vllm():
    stubs = Stubs()
    stubs.root = pathlib.Path(importlib.util.find_spec("vllm").submodule_search_locations[0])
    sys.meta_path.insert(0, stubs)
    video = importlib.import_module("vllm.multimodal.video")
    opencv = importlib.import_module("vllm.multimodal.video_decoders.opencv")
    codec = importlib.import_module("vllm.multimodal.video_decoders.torchcodec")
    opencv.cv2 = video.cv2 = types.SimpleNamespace(**{k: v for k, v in vars(cv2).items() if k.isupper()}, VideoCapture=Capture, cvtColor=cv2.cvtColor)
    opencv.vr = types.SimpleNamespace(getStreamBufferedBackends=list)

    def run(name, settings, n, fps, duration):
        Capture.now = n, fps or 0
        codec.VideoDecoder = lambda *_, **__: Codec(n, fps, duration)
        # VideoMediaIO, which calls the loader, has a default of its own for num_frames.
        frames, _ = video.VIDEO_LOADER_REGISTRY.name2class[name].load_bytes(b"", **{"num_frames": 32} | settings)
        rgb = np.asarray(frames).reshape(-1, 3).astype(int)
        raise Chosen(rgb[:, 0] + 256 * rgb[:, 1] + 65536 * rgb[:, 2])

    assert set(VLLM) < set(video.VIDEO_LOADER_REGISTRY.name2class), "a loader is missing"
    return {"vllm/" + name: lambda *a, name=name: run(name, *a) for name in VLLM}


# SGLang

PROCESSORS = "srt/multimodal/processors/"


def sglang():
    of = lambda file, names, **more: functions("sglang", PROCESSORS + file, names, VideoDecoderWrapper=Video, **more)
    qwen = of("qwen_vl.py", ROUNDING + ["preprocess_video"], IMAGE_FACTOR=28)
    ernie = of("ernie45_vl.py", ROUNDING + ["preprocess_video"], IMAGE_FACTOR=28)
    mimo = of("mimo_v2.py", ["_decode_frames_and_timestamps"], smart_nframes=qwen.smart_nframes)
    common = functions("sglang", "srt/utils/common.py", ["sample_video_frames"])
    constants = of("nano_nemotron_vl.py", ["DESIRED_FPS", "MAX_FRAMES"])
    glm = of("glm4v.py", ["GLM_VIDEO_DEFAULT_FPS", "GLM_VIDEO_DEFAULT_MAX_FRAMES", "_hf_sample_frame_indices", "glm_sample_frame_indices", "glm_sample_and_decode_sync"], glm_decode_frames_at=lambda vr, indices, config: stop(indices))
    types_ = {k: __import__("typing").__dict__[k] for k in ("List", "Optional", "Tuple")}
    minimax = of("minimax_m3_vl.py", ["_compute_sampled_frame_indices", "sample_video_frames"], _check_video_pixels=lambda *a: None, _compute_aligned_size=lambda *a: (1, 1), **types_)
    cosmos = of("cosmos3_edge.py", ["DEFAULT_SOURCE_VIDEO_FPS", "DEFAULT_TARGET_VIDEO_FPS", "DEFAULT_MIN_FRAMES", "DEFAULT_MAX_FRAMES"])
    for node in ast.walk(ast.parse(source("sglang", PROCESSORS + "cosmos3_edge.py"))):
        if getattr(node, "name", None) == "_select_frame_indices":
            space = vars(cosmos)
            exec(compile(ast.Module([node], []), "cosmos3_edge.py", "exec"), space)
    gemma = {"torch": types.SimpleNamespace(Tensor=torch.Tensor, arange=torch.arange), "VideoDecoderWrapper": Video}
    for node in ast.walk(ast.parse(source("sglang", PROCESSORS + "gemma4.py"))):
        if getattr(node, "name", None) == "_video_decoder_to_tensor":
            exec(compile(ast.Module([node], []), "gemma4.py", "exec"), gemma)
    ns = types.SimpleNamespace

    def gemma4(settings, n, fps, duration):
        gemma["_video_decoder_to_tensor"](ns(_processor=ns(video_processor=ns(**settings))), Video(n, fps or 0))

    def cosmos3(settings, n, fps, duration):
        stop(space["_select_frame_indices"](ns(video_config=settings), n, fps or 0))

    return {
        "sglang/qwen_vl": lambda s, n, fps, d: asyncio.run(qwen.preprocess_video(Video(n, fps or 0), video_config=s)),
        "sglang/ernie45_vl": lambda s, n, fps, d: asyncio.run(ernie.preprocess_video(Video(n, fps or 0))),
        "sglang/mimo_v2": lambda s, n, fps, d: mimo._decode_frames_and_timestamps(Video(n, fps or 0), s),
        "sglang/nano_nemotron_vl": lambda s, n, fps, d: stop(common.sample_video_frames(Video(n, fps or 0), desired_fps=constants.DESIRED_FPS, max_frames=constants.MAX_FRAMES)),
        "sglang/glm4v": lambda s, n, fps, d: glm.glm_sample_and_decode_sync(Video(n, fps or 0), s),
        "sglang/minimax_m3_vl": lambda s, n, fps, d: minimax.sample_video_frames(Video(n, fps or 0), image_factor=1, max_size=(1, 1), **s),
        "sglang/cosmos3_edge": cosmos3,
        "sglang/gemma4": gemma4,
    }


def config(r, name, n):
    few = lambda: r.choice([r.randint(1, max(n, 1)), r.randint(1, 40), r.randint(1, 800)])
    rate = lambda: r.choice([1, 2, 0.5, 3, 4, r.randint(1, 60), round(r.uniform(0.1, 30), r.randint(1, 12))])
    maybe = lambda p, key, value: {key: value} if r.random() < p else {}
    engine, _, model = name.partition("/")
    if model in ("ernie45_vl", "nano_nemotron_vl"):
        return {}
    if model == "gemma4":
        return maybe(0.8, "num_frames", few())
    c = maybe(0.6, "fps", rate())
    if engine == "vllm":
        c |= maybe(0.3, "backend", r.choice(["opencv", "torchcodec"])) if model not in ("molmo2", "openpangu") else {}
        if model in ("opencv", "nemotron_vl", "openpangu", "molmo2"):
            c |= maybe(0.7, "num_frames", r.choice([-1, few(), few()]))
            c |= maybe(0.1, "fps", -1)
        if model == "opencv_dynamic":
            c |= maybe(0.5, "max_duration", r.choice([r.randint(1, 200), round(r.uniform(1, 99), 2)]))
        if model in ("qwen2_vl", "glm46v", "glm5next"):
            c |= maybe(0.4, "temporal_patch_size", r.randint(1, 5))
        if model in ("qwen2_vl", "qwen3_vl"):
            c |= maybe(0.4, "min_frames", r.randint(1, 30))
        if model in ("qwen2_vl", "qwen3_vl", "glm5next", "glmga"):
            c |= maybe(0.4, "max_frames", few())
        if model == "embedding_gemma2":
            c |= maybe(0.4, "max_frames", r.choice([None, r.randint(1, 140)])) | maybe(0.5, "overflow_strategy", r.choice(["uniform", "truncate", None]))
        if model == "glm46v":
            c.pop("fps", None)
        if model == "molmo2":
            c.pop("fps", None)
            c |= maybe(0.7, "frame_sample_mode", r.choice(["uniform_last_frame", "fps"])) | maybe(0.4, "max_fps", r.choice([None, 1, 2, 3, 0.5])) | maybe(0.4, "sampling_fps", r.choice([r.randint(1, 4), r.randint(1, 12)]))
        return c
    if model == "minimax_m3_vl" or model == "glm4v":
        return c | maybe(0.5, "max_frames", few())
    if r.random() < 0.3:
        if r.random() < 0.9:
            c.pop("fps", None)
        c[r.choice(["num_frames", "nframes"]) if model == "cosmos3_edge" else "nframes"] = few()
    c |= maybe(0.4, "min_frames", r.randint(1, 30)) | maybe(0.4, "max_frames", few())
    if engine == "qwen-vl-utils" and r.random() < 0.4:
        c |= maybe(0.7, "video_start", round(r.uniform(0, n / 25), 2)) | maybe(0.7, "video_end", round(r.uniform(0, n / 12), 2))
    return c


def case(r, name, run):
    n = r.choice([r.randint(1, 20), r.randint(1, 300), r.randint(1, 3000)])
    fps = r.choice([24, 25, 30, 60, 29.97, 30000 / 1001, 24000 / 1001, 1, r.randint(1, 60), round(r.uniform(0.5, 90), r.randint(1, 12)), None])
    duration = r.choice([None, n / fps if fps else 7.5, n / fps if fps else None, round(r.uniform(0.1, 400), r.randint(0, 9)), r.randint(1, 400)])
    c = config(r, name, n)
    try:
        run(dict(c), n, fps, duration)
    except Chosen as e:
        got = np.asarray(e.args[0]).astype(int).tolist()
        if any(not 0 <= i < n for i in got):
            got = "IndexError"  # of the decoder
    except Exception as e:
        got = type(e).__name__
    l = [name, c, n, fps, duration]
    if isinstance(got, str) or len(got) <= 8:
        return l + [got]
    return l + [len(got), hashlib.sha256(np.asarray(got, "<i8").tobytes()).hexdigest()[:16]]


def main():
    if sys.argv[1:2] == ["sizes"]:
        for l in sizes(random.Random(41), int(sys.argv[2])):
            print(json.dumps(l))
        return
    samplers = {"qwen-vl-utils": qwen_vl_utils()} | vllm() | sglang()
    if len(sys.argv) > 1:
        r = random.Random(40)
        names = list(samplers)
        for i in range(int(sys.argv[1])):
            name = names[i % len(names)]
            print(json.dumps(case(r, name, samplers[name])))
        return
    r = random.Random(39)
    lines = [json.dumps(case(r, name, run)) for name, run in samplers.items() for _ in range(PER_SAMPLER)]
    OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    lines = [json.dumps(l) for l in sizes(random.Random(42), 600)]
    SIZES.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
