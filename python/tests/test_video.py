"""VideoProcessor without transformers: the goldens of its classes, forms of frames, wrong calls. test_transformers.py compares with transformers."""

import hashlib
import json
import pickle
import threading

import numpy as np
import pytest
from conftest import ROOT

from infer_prep import Graph, InferPrepError, VideoProcessor

DATA = ROOT / "importer" / "hf" / "video" / "testdata"
FRAMES = np.random.default_rng(6).integers(0, 256, (5, 40, 50, 3), np.uint8)


def test_goldens():
    """Every case of transformers' goldens: encoded frames."""
    cases = json.loads((DATA / "videos.json").read_text())
    made = 0
    for c in cases:
        config = {"video_processor_type": c["class"]} | c["settings"]
        names = sorted((DATA / c["video"]).glob("*.png"), key=lambda p: int(p.stem))
        frames = [p.read_bytes() for p in names]
        known = {"fps": c["fps"], "duration": len(frames) / c["fps"]} if c.get("fps") else {}
        nothing = any(o["shape"][:1] == [0] for o in c.get("outputs", {}).values())  # of no frames, which infer_prep refuses
        if c.get("error") or nothing:
            with pytest.raises(InferPrepError):
                VideoProcessor(config)(frames, video_metadata=known)
            continue
        out = VideoProcessor(config)(frames, video_metadata=known)
        assert out.keys() == c["outputs"].keys()
        for k, want in c["outputs"].items():
            shape = list(out[k].shape if want["joined"] else out[k].shape[1:])
            assert (str(out[k].dtype), shape, hashlib.sha256(out[k].tobytes()).hexdigest()) == (want["dtype"], want["shape"], want["sha256"]), (c, k)
        made += 1
    assert made > 600


def test_forms(tmp_path):
    """Arrays, lists and batches are the same video; each frame is that of the image graph."""
    config = {"video_processor_type": "VideoMAEVideoProcessor", "do_sample_frames": False}
    p = VideoProcessor(config)
    want = p(FRAMES)["pixel_values"]
    image = Graph.from_hf({"image_processor_type": "CLIPImageProcessor"} | {k: v for k, v in p.config.items() if k.startswith("image_")})
    assert want.shape[:3] == (1, 5, 3) and want.dtype == np.float32 and len(image.columns) == 1
    for form in list(FRAMES), FRAMES.transpose(0, 3, 1, 2), FRAMES[None], [FRAMES], [list(FRAMES)]:
        assert np.array_equal(p(form)["pixel_values"], want)
    two = p([FRAMES, FRAMES[::-1]])["pixel_values"]
    assert np.array_equal(two, np.concatenate([want, want[:, ::-1]]))
    assert np.array_equal(pickle.loads(pickle.dumps(p))(FRAMES)["pixel_values"], want)
    # An option of a call, and the files of a folder.
    assert p(FRAMES, do_sample_frames=True, num_frames=2)["pixel_values"].shape[1] == 2
    (tmp_path / "video_preprocessor_config.json").write_text(json.dumps(config))
    assert np.array_equal(VideoProcessor(tmp_path)(FRAMES)["pixel_values"], want)
    # A folder whose file names no class: that of config.json's model_type.
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "preprocessor_config.json").write_text('{"do_sample_frames": false}')
    (tmp_path / "old" / "config.json").write_text('{"model_type": "qwen2_vl"}')
    assert VideoProcessor(tmp_path / "old").config["video_processor_type"] == "Qwen2VLVideoProcessor"
    with pytest.raises(InferPrepError, match="want video_preprocessor_config.json"):
        VideoProcessor(tmp_path.parent)
    (tmp_path / "processor_config.json").write_text(json.dumps({"video_processor": config | {"do_normalize": False}}))
    assert not np.array_equal(VideoProcessor(tmp_path)(FRAMES)["pixel_values"], want)


def test_threads():
    """Results of several threads, which are used after later calls, are their own."""
    p = VideoProcessor({"video_processor_type": "Qwen2VLVideoProcessor"})
    videos = [np.roll(FRAMES, i, axis=1) for i in range(8)]
    wants = [{k: a.copy() for k, a in p(v).items()} for v in videos]
    got = [None] * len(videos)

    def work(i):
        got[i] = [p(videos[i]) for _ in range(4)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(videos))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for want, runs in zip(wants, got):
        for out in runs:
            assert all(np.array_equal(out[k], want[k]) for k in want)


def test_errors():
    p = VideoProcessor({"video_processor_type": "Qwen2VLVideoProcessor", "do_sample_frames": True})
    with pytest.raises(InferPrepError, match="fps"):
        p(FRAMES)
    with pytest.raises(InferPrepError, match="want one size"):
        p([FRAMES[0], FRAMES[1][:20], FRAMES[2]], do_sample_frames=False)
    with pytest.raises(TypeError, match="got str: want frames"):
        p("movie.mp4")
    with pytest.raises(TypeError, match="float32"):
        p(FRAMES.astype(np.float32), video_metadata={"fps": 5})
    with pytest.raises(ValueError, match="video_metadata of 1 videos, want 2"):
        p([FRAMES, FRAMES], video_metadata=[{"fps": 5}])
    with pytest.raises(InferPrepError, match="NoSuchVideoProcessor"):
        VideoProcessor({"video_processor_type": "NoSuchVideoProcessor"})
    with pytest.raises(ValueError, match="return_tensors 'tf'"):
        p(FRAMES, return_tensors="tf")
    with pytest.raises(InferPrepError, match="a batch needs equal shapes"):
        VideoProcessor({"video_processor_type": "VideoMAEVideoProcessor", "do_sample_frames": False})([FRAMES, FRAMES[:3]])
    with pytest.raises(InferPrepError, match="video 1: .*want one size"):
        p([list(FRAMES), [FRAMES[0], FRAMES[1][:20]]], do_sample_frames=False)
    with pytest.raises(TypeError, match="got no frames"):
        p([])
