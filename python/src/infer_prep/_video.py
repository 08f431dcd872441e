"""Video processors of Hugging Face, called as in transformers, without it."""

from __future__ import annotations

import json
import os
import weakref
from ctypes import byref, c_void_p
from typing import Any, Sequence

from . import _images, _native, _processor
from ._graph import Path, path_of
from ._native import Array


class Prepared:
    """A configuration that the library has read. It is safe for use by several threads."""

    def __init__(self, config: str) -> None:
        error = c_void_p()
        b = config.encode()
        handle = _native.lib().ip_video_open(b, len(b), byref(error))
        _native.check(error)
        self._handle = handle
        self._finish = weakref.finalize(self, _native.close, handle)

    def run(self, videos: Sequence[Sequence[Any]], data_format: Any = None, rates: Sequence[tuple[float, float]] = ()) -> dict[str, Array]:
        """The outputs of a batch of videos by name. rates has the rate and the duration of each; 0 is unknown."""
        frames, n, keep = _images.images([f for v in videos for f in v], data_format)
        l = (_native.Video * len(videos))()
        for to, v, rate in zip(l, videos, rates or [(0, 0)] * len(videos)):
            to.frames, (to.fps, to.duration) = len(v), rate
        out = _native.tensors(_native.MAX_OUTPUTS)
        error, names = c_void_p(), c_void_p()
        info = _native.BatchInfo()
        lease = _native.Lease(info)
        info.lease = _native.lib().ip_video_run(self._handle, frames, l, len(l), out, byref(names), byref(error))
        del keep
        _native.check(error)
        return {name: _native.array(t, lease) for name, t in zip(json.loads(_native.text(names)), out)}


class VideoProcessor:
    """A video processor of Hugging Face's video_preprocessor_config.json.

        processor = VideoProcessor("model/")  # a folder, the file, or a dict
        inputs = processor(video, video_metadata={"fps": 25.0})

    A call takes frames, since infer_prep decodes no video files: an array or a CPU tensor of uint8 (T, H, W, 3) or
    (T, 3, H, W), a list of frames as ImageProcessor takes images, or a list of such videos. It chooses frames as the
    class does, and returns a dict of arrays with the bytes that transformers 5.23.0 returns.

    A VideoProcessor is safe for use by several threads, and can be pickled.
    """

    def __init__(self, config: Path | dict[str, Any]) -> None:
        self.config = config if isinstance(config, dict) else _read(path_of("VideoProcessor", config))
        self._cache = _processor.Cache(Prepared)
        self._cache.get(json.dumps(self.config))

    def __call__(self, videos: Any, *, video_metadata: Any = None, input_data_format: Any = None, return_tensors: str = "np", **options: Any) -> dict[str, Any]:
        """Processes a video or a list of videos: a batch, also of one.

        video_metadata is a dict, or one for each video, with what is known of a video: fps, frames a second, and
        duration, seconds. A class that needs what is missing raises an InferPrepError that names it. Options are keys of
        the configuration (num_frames, fps, do_sample_frames, size and those of the class) for this call.
        return_tensors is "np", or "pt" for tensors of torch that share the arrays' memory.
        """
        if return_tensors not in ("np", "pt"):
            raise ValueError(f"infer_prep: VideoProcessor: return_tensors {return_tensors!r}: want 'np' or 'pt'")
        l = batched(videos)
        known = list(video_metadata) if isinstance(video_metadata, (list, tuple)) else [video_metadata] * len(l)
        if len(known) != len(l):
            raise ValueError(f"infer_prep: VideoProcessor: video_metadata of {len(known)} videos, want {len(l)}")
        p = self._cache.get(json.dumps(self.config | {k: _processor.plain(v) for k, v in options.items()}))
        out: dict[str, Any] = p.run(l, input_data_format, [_rate(m) for m in known])
        return out if return_tensors == "np" else tensors(out)

    def __repr__(self) -> str:
        return f"<infer_prep.VideoProcessor {self.config.get('video_processor_type', '')}>"

    def __reduce__(self) -> Any:
        return VideoProcessor, (self.config,)


def _rate(metadata: Any) -> tuple[float, float]:
    """The rate and the duration of a dict or of transformers' VideoMetadata; 0 is unknown."""
    if metadata is None:
        return 0, 0
    found = [metadata.get(k) if isinstance(metadata, dict) else getattr(metadata, k, None) for k in ("fps", "duration")]
    return float(found[0] or 0), float(found[1] or 0)


def batched(videos: Any) -> list[Any]:
    """The videos of a call, as make_batched_videos finds them."""
    if getattr(videos, "ndim", 0) == 5:
        return list(videos)
    if getattr(videos, "ndim", 0) == 4:
        return [videos]
    if not isinstance(videos, (list, tuple)) or not len(videos):
        raise TypeError(f"infer_prep: VideoProcessor: got {'no frames' if isinstance(videos, (list, tuple)) else type(videos).__name__}: want frames, an array (T, H, W, 3) or (T, 3, H, W), or a list of them")
    if isinstance(videos[0], (list, tuple)) or getattr(videos[0], "ndim", 0) == 4:
        return list(videos)
    return [videos]


def tensors(out: dict[str, Array]) -> dict[str, Any]:
    """The outputs as tensors of torch, without a copy."""
    import torch  # type: ignore[import-not-found, unused-ignore]

    return {k: torch.from_numpy(a) for k, a in out.items()}


def _read(path: str) -> dict[str, Any]:
    """The configuration of a file, or of a model's folder as AutoVideoProcessor chooses it."""
    if os.path.isdir(path):
        error = c_void_p()
        p = _native.lib().ip_video_config(os.fsencode(path), byref(error))
        _native.check(error)
        content = _native.text(p)
    else:
        with open(path, encoding="utf-8") as f:
            content = f.read()
    config = json.loads(content)
    if not isinstance(config, dict):
        raise ValueError(f"infer_prep: VideoProcessor: {path}: want an object in JSON")
    nested = config.get("video_processor")
    return nested if isinstance(nested, dict) else config
