"""ImageProcessor without transformers: options of a call, forms of images, batches. test_transformers.py compares with transformers."""

import io
import json
import pickle

import numpy as np
import pytest
from test_graph import HF, Tensor, png

from infer_prep import Graph, ImageProcessor, InferPrepError

CLIP = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32}}
rng = np.random.default_rng(5)
A, B = rng.integers(0, 256, (50, 61, 3), np.uint8), rng.integers(0, 256, (70, 44, 3), np.uint8)


def test_options():
    """A call with options is one of a file with these values."""
    p = ImageProcessor(CLIP)
    want = Graph.from_hf(CLIP).run_batch([A, B])
    assert want.shape == (2, 3, 32, 32)
    assert list(p([A, B])) == ["pixel_values"] and np.array_equal(p([A, B])["pixel_values"], want)
    class Size:
        __dataclass_fields__ = {"height": 1, "width": 1, "shortest_edge": 1}
        height, width, shortest_edge = 20, 30, None
    class Filter:
        name, value = "NEAREST", 0
    for options, plain in [
        ({"size": {"shortest_edge": 48}}, {"size": {"shortest_edge": 48}}),
        ({"size": {"height": 20, "width": np.int64(30)}}, {"size": {"height": 20, "width": 30}}),
        ({"size": Size()}, {"size": {"height": 20, "width": 30}}),
        ({"crop_size": 24, "do_rescale": False, "do_normalize": False}, {"crop_size": 24, "do_rescale": False, "do_normalize": False}),
        ({"image_mean": (0.5, 0.25, 0.125), "image_std": np.float64([1, 0.5, 0.25])}, {"image_mean": [0.5, 0.25, 0.125], "image_std": [1, 0.5, 0.25]}),
        ({"resample": Filter()}, {"resample": 0}),
        ({"do_resize": False}, {"do_resize": False}),
        ({"do_center_crop": False, "size": {"height": 9, "width": 9}}, {"do_center_crop": False, "size": {"height": 9, "width": 9}}),
        ({"rescale_factor": 0.5}, {"rescale_factor": 0.5}),
    ]:
        got = p([A, B], **options)["pixel_values"]
        again = Graph.from_hf(CLIP | plain).run_batch([A, B])
        assert np.array_equal(got, again) and got.dtype == again.dtype, options
        assert got.shape != want.shape or not np.array_equal(got, want), options
    assert np.array_equal(p([A, B])["pixel_values"], want)
    with pytest.raises(ValueError, match="size is None: leave it out"):
        p(A, size=None)
    with pytest.raises(InferPrepError, match="unknown key"):
        p(A, sise=3)
    with pytest.raises(InferPrepError, match="size"):
        p(A, size="large")
    with pytest.raises(ValueError, match="return_tensors 'tf': want 'np', 'pt' or None"):
        p(A, return_tensors="tf")


def test_cache_is_bounded():
    p = ImageProcessor(CLIP)
    for i in range(40):
        p(A, crop_size={"height": 8 + i, "width": 8})
    assert len(p._cache) == 16
    assert p.graph() is p.graph() and p.graph(crop_size=4) is p.graph(crop_size=4)


def test_forms():
    """do_convert_rgb, of arrays: gray is repeated, RGBA put on white by the backend's rule."""
    for backend in "torchvision", "pil":
        p = ImageProcessor(CLIP, backend=backend)
        want = p(A)["pixel_values"]
        first = A.transpose(2, 0, 1)
        for same in [A], (A,), A[None], first, [[A]], Tensor(A), Tensor(first), png(A), [png(A)]:
            assert np.array_equal(p(same)["pixel_values"], want)
        assert np.array_equal(p([[A], [B]])["pixel_values"], p([A, B])["pixel_values"])
        gray = A[:, :, :1]
        for same in gray, gray[:, :, 0], gray.transpose(2, 0, 1), np.repeat(gray, 3, axis=2):
            assert np.array_equal(p(same)["pixel_values"], p(png(gray))["pixel_values"])
        opaque = np.dstack([A, np.full(A.shape[:2], 255, np.uint8)])
        assert np.array_equal(p(opaque)["pixel_values"], want)
        clear = np.dstack([A, np.zeros(A.shape[:2], np.uint8)])
        assert np.array_equal(p(clear.transpose(2, 0, 1))["pixel_values"], p(np.full_like(A, 255))["pixel_values"])
        each = p([A, B], return_tensors=None)["pixel_values"]
        assert np.array_equal(np.stack(each), p([A, B])["pixel_values"])
        for bad, kind, text in [
            (A.astype(np.float32), TypeError, "an array of float32 .* want uint8"), (A[:, :, :2], ValueError, "2 channels"), ([A, [B]], TypeError, "a list of images and of lists"),
            ("cat.jpg", TypeError, "got str"), (A[:, :, :, None, None], ValueError, "want one image with two or three axes"), ([], InferPrepError, "no images"),
        ]:
            with pytest.raises(kind, match=text):
                p(bad)
    p = ImageProcessor(HF)  # without do_convert_rgb
    for bad in gray, clear, gray[:, :, 0]:
        with pytest.raises(TypeError, match="do_convert_rgb is off: want 3"):
            p(bad)
    with pytest.warns(UserWarning, match="channels first or last"):
        p(A[:3])
    assert p(A[:3], input_data_format="channels_last")["pixel_values"].shape == (1, 3, 224, 224)


def test_sources(tmp_path):
    want = ImageProcessor(CLIP)(A)["pixel_values"]
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(CLIP))
    for same in tmp_path, str(tmp_path), tmp_path / "preprocessor_config.json":
        assert np.array_equal(ImageProcessor(same)(A)["pixel_values"], want)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(HF))
    (tmp_path / "processor_config.json").write_text(json.dumps({"processor_class": "CLIPProcessor", "image_processor": CLIP}))
    p = ImageProcessor(tmp_path)
    assert np.array_equal(p(A)["pixel_values"], want)
    again = pickle.loads(pickle.dumps(p))
    assert np.array_equal(again(A, crop_size=16)["pixel_values"], p(A, crop_size=16)["pixel_values"])
    assert "CLIPImageProcessor" in repr(p)
    for bad, kind in (tmp_path / "none", FileNotFoundError), ({"image_processor_type": "NoImageProcessor"}, InferPrepError), (3, TypeError):
        with pytest.raises(kind):
            ImageProcessor(bad)
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(ValueError, match="want an object in JSON"):
        ImageProcessor(tmp_path / "list.json")


def test_pillow():
    image = pytest.importorskip("PIL.Image")
    p = ImageProcessor(CLIP)
    for mode in "RGB", "L", "1", "P", "CMYK", "I;16":
        i = image.fromarray(A).convert(mode) if mode != "I;16" else image.fromarray(A[:, :, 0].astype(np.uint16))
        assert np.array_equal(p(i)["pixel_values"], p(np.asarray(i.convert("RGB")))["pixel_values"]), mode
    file = io.BytesIO()
    image.fromarray(A).save(file, "png", transparency=tuple(map(int, A[25, 30])))
    keyed = image.open(io.BytesIO(file.getvalue()))
    assert keyed.info["transparency"] and not np.array_equal(p(keyed)["pixel_values"], p(A)["pixel_values"])
    with pytest.raises(TypeError, match="mode L, and do_convert_rgb is off"):
        ImageProcessor(HF)(image.fromarray(A).convert("L"))
