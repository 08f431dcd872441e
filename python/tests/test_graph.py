import array
import gc
import importlib.metadata
import io
import json
import pickle
import struct
import threading
import zlib

import conftest
import numpy as np
import pytest

import infer_prep
from infer_prep import Graph, InferPrepError

HF = {"image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": 224, "width": 224}, "resample": 2, "do_rescale": True,
      "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}


def test_run(jpeg):
    g = Graph.from_preset("imagenet")
    assert g.columns == (("image", "float32", "CHW", (3, 224, 224), "stack"),)
    a = g.run(jpeg)
    assert a.shape == (3, 224, 224) and a.dtype == np.float32 and a.flags.c_contiguous and a.flags.writeable and not a.flags.owndata
    for other in bytearray(jpeg), memoryview(jpeg), np.frombuffer(jpeg, np.uint8):
        assert np.array_equal(g.run(other), a)
    out = np.empty((3, 224, 224), np.float32)
    g.run_into(jpeg, out)
    assert np.array_equal(out, a)
    assert "float32 (3, 224, 224)" in repr(g)


def test_sizes(jpeg):
    qwen = {"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14, "temporal_patch_size": 2, "merge_size": 2, "min_pixels": 3136, "max_pixels": 12845056}
    for g in Graph.from_preset("imagenet"), Graph.from_preset("yolo"), Graph.from_hf(qwen):
        for height, width in (97, 300), (301, 58):
            out = g.run(np.zeros((height, width, 3), np.uint8))
            out = out if isinstance(out, dict) else {g.columns[0].name: out}
            assert g.sizes(height, width) == {name: a.shape for name, a in out.items()}
    assert Graph.from_preset("decode").sizes(7, np.int64(9)) == {"image": (7, 9, 3)}
    with pytest.raises(InferPrepError, match="aspect ratio") as e:
        g.sizes(1, 3000)
    assert e.value.code == "input"
    for bad in (0, 5), (-1, 5), (5, 1 << 24 | 1), (5, -(1 << 70)):
        with pytest.raises(ValueError, match="want sides of 1 to 16777216 pixels"):
            g.sizes(*bad)
    with pytest.raises(TypeError):
        g.sizes(1.5, 2)
    g.close()
    with pytest.raises(InferPrepError, match="closed"):
        g.sizes(20, 20)


def test_memory_is_not_reused_while_referred_to(jpeg):
    g = Graph.from_preset("imagenet")
    first = g.run(jpeg)
    want = first.copy()
    view = first[1:]
    del first
    for i in range(20):
        other = g.run(conftest.png(300, 300, i))
        assert not np.shares_memory(view, other)
        del other
    assert np.array_equal(view, want[1:])
    address = view.__array_interface__["data"][0] - view.strides[0] * 0
    del view
    gc.collect()
    again = [g.run(jpeg).__array_interface__["data"][0] for _ in range(4)]
    assert len(set(again)) <= 2, (address, again)  # released memory is reused
    g.close()
    g.close()
    with pytest.raises(InferPrepError, match="the graph is closed") as e:
        g.run(jpeg)
    assert e.value.code == "closed"


def test_sources(tmp_path, jpeg):
    import os

    g = Graph.from_json(conftest.SMALL)
    want = g.run(jpeg)
    text = json.dumps(conftest.SMALL)
    (tmp_path / "g.json").write_text(text)
    for same in Graph.from_json(tmp_path / "g.json"), Graph.from_json(str(tmp_path / "g.json")), Graph.from_json(text.encode()), Graph.from_json(g.to_json()):
        assert np.array_equal(same.run(jpeg), want)
    assert np.array_equal(pickle.loads(pickle.dumps(g)).run(jpeg), want)
    hf = Graph.from_hf(HF)
    assert "ViT" in hf.reference or "transformers" in hf.reference
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(HF))
    for same in tmp_path, tmp_path / "preprocessor_config.json":
        assert np.array_equal(Graph.from_hf(same).run(jpeg), hf.run(jpeg))
    assert not np.array_equal(Graph.from_hf(HF, backend="pil").run(jpeg), hf.run(jpeg))
    with pytest.raises(InferPrepError, match="unknown_key"):
        Graph.from_hf(HF | {"unknown_key": 1})
    assert Graph.from_hf(HF, decoder="vllm").reference == hf.reference + ", decoder vllm"
    assert np.array_equal(Graph.from_hf(HF | {"unknown_key": 1}, ignore_keys=["unknown_key"]).run(jpeg), hf.run(jpeg))
    bundle = Graph.from_bundle(conftest.ROOT / "testdata" / "bundle" / "torchvision.bundle")
    assert bundle.run(jpeg).dtype == np.float32
    assert os.path.exists(tmp_path)


def test_several_outputs(jpeg):
    d = json.loads(json.dumps(conftest.SMALL))
    flip = {"op": "horizontal_flip", "version": 1, "in": ["image"], "out": ["flipped"], "params": {}}
    d["steps"].append(flip)
    d["outputs"] = ["image", "flipped"]
    g = Graph.from_json(d)
    out = g.run(jpeg)
    assert list(out) == ["image", "flipped"]
    one = Graph.from_json(conftest.SMALL)
    for f, x in (one.run, jpeg), (one.run_batch, [jpeg]):
        assert np.array_equal(f(x, as_dict=True)["image"], f(x)) and np.array_equal(f(x, as_dict=False), f(x))
    with pytest.raises(ValueError, match="as_dict=False: the graph has the outputs .*, want one"):
        g.run(jpeg, as_dict=False)
    assert np.array_equal(out["flipped"], out["image"][:, ::-1])
    into = {k: np.empty_like(v) for k, v in out.items()}
    g.run_into(jpeg, into)
    assert all(np.array_equal(into[k], out[k]) for k in out)
    with pytest.raises(ValueError, match="want a dict with arrays"):
        g.run_into(jpeg, into["image"])


def test_errors(jpeg, tmp_path):
    g = Graph.from_preset("imagenet")
    for call, code, text in [
        (lambda: g.run(b"text"), "format", "decode"),
        (lambda: g.run(b""), "format", "decode"),
        (lambda: g.run(jpeg[:100]), "format", "decode"),
        (lambda: Graph.from_preset("imagnet"), "input", 'did you mean "imagenet"'),
        (lambda: Graph.from_json(b"{"), "graph", "graph"),
        (lambda: Graph.from_json(b"\xc1"), "graph", ""),
        (lambda: Graph.from_hf(HF, backend="pli"), "input", 'did you mean "pil"'),
        (lambda: Graph.from_importer("torchvison", b""), "input", "torchvision"),
    ]:
        with pytest.raises(InferPrepError) as e:
            call()
        assert (e.value.code, text in str(e.value)) == (code, True), str(e.value)
    for call in lambda: Graph.from_json(tmp_path / "none.json"), lambda: Graph.from_bundle(tmp_path / "none"), lambda: Graph.from_hf(tmp_path / "none"):
        with pytest.raises(FileNotFoundError, match="none"):
            call()
    copy = pickle.loads(pickle.dumps(e.value))
    assert (str(copy), copy.code) == (str(e.value), e.value.code)
    for call, kind in [
        (lambda: g.run("cat.jpg"), TypeError),
        (lambda: g.run(None), TypeError),
        (lambda: g.run(memoryview(jpeg)[::2]), ValueError),
        (lambda: Graph.from_json(3), TypeError),
        (lambda: Graph("model", b""), TypeError),
        (lambda: Graph.from_json(json.dumps(conftest.SMALL)), ValueError),
        (lambda: g.run_into(jpeg, np.empty((3, 224, 224))), ValueError),
        (lambda: g.run_into(jpeg, np.empty((224, 224, 3), np.float32)), ValueError),
        (lambda: g.run_into(jpeg, np.empty((3, 224, 448), np.float32)[:, :, ::2]), ValueError),
    ]:
        with pytest.raises(kind, match="infer_prep"):
            call()
    small = Graph.from_json(conftest.SMALL)
    with pytest.raises(InferPrepError):
        small.run_into(jpeg, np.empty((1, 1, 3), np.uint8))
    assert g.run(jpeg).shape == (3, 224, 224)  # the errors above did no harm


class PillowImage:
    """What run uses of an image of Pillow."""

    def __init__(self, mode, array, palette=None):
        self.mode = mode
        self.palette = palette
        self.__array_interface__ = array.__array_interface__
        self.array = array

    def getbands(self):
        return tuple(self.mode)

    def getpalette(self):
        return self.palette


def png(array):
    """A PNG file of an array (H, W, C) of uint8."""
    height, width, channels = array.shape
    raw = b"".join(b"\0" + row.tobytes() for row in array)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def test_pixels(jpeg):
    decoded = Graph.from_json(conftest.SMALL).run(jpeg)
    graphs = [Graph.from_preset("imagenet"), Graph.from_preset("clip"), Graph.from_hf(HF)]
    rng = np.random.default_rng(1)
    for g in graphs:
        want = g.run(jpeg)
        for same in decoded, memoryview(decoded), decoded.copy(order="F"), np.ascontiguousarray(decoded[:, :, ::-1])[:, :, ::-1], PillowImage("RGB", decoded):
            assert np.array_equal(g.run(same), want)
        out = np.empty_like(want)
        g.run_into(decoded, out)
        assert np.array_equal(out, want)
        for channels, mode in (1, "L"), (2, "LA"), (3, "RGB"), (4, "RGBA"):
            a = rng.integers(0, 256, (37, 53, channels), np.uint8)
            want = g.run(png(a))
            assert np.array_equal(g.run(a), want), channels
            assert np.array_equal(g.run(PillowImage(mode, a)), want), mode
        assert np.array_equal(g.run(a[:, :, 0]), g.run(png(a[:, :, :1])))
    for bad, kind, text in [
        (decoded.astype(np.float32), TypeError, r"got an array of float32 \(\d+, \d+, 3\); want an encoded image .* decoded pixels as an array or a CPU tensor of uint8"),
        (decoded.astype(np.int8), TypeError, "got an array of int8"),
        (memoryview(decoded.astype(np.int8)), TypeError, "got a buffer of int8"),
        (decoded.astype(object), TypeError, "got an array of object"),
        (np.array([jpeg], object), TypeError, r"got an array of object \(1,\); want an encoded image"),
        (np.array(["2020-01-01"], "datetime64[D]"), TypeError, r"got an array of datetime64\[D\]"),
        (np.zeros(3, "u1,u1"), TypeError, "got an array of"),
        (array.array("f", [1, 2]), TypeError, "got a buffer of elements of 4 bytes"),
        ([1, 2], TypeError, "got list; want an encoded image"),
        (PillowImage("P", decoded[:, :, 0]), TypeError, r"Pillow's mode P: want one of L, LA, RGB, RGBA, such as image.convert\('RGB'\)"),
        (PillowImage("L", decoded[:, :, 0], [1, 2, 3]), TypeError, "Pillow's mode L with a palette: want one of"),
        (PillowImage("CMYK", np.zeros((3, 3, 4), np.uint8)), TypeError, "Pillow's mode CMYK"),
        (np.zeros((7, 3, 5), np.uint8), ValueError, r"got an array of uint8 \(7, 3, 5\); want pixels"),
        (np.zeros((1, 3, 3, 3), np.uint8), ValueError, r"got an array of uint8 \(1, 3, 3, 3\); want pixels"),
        (np.zeros((0, 3, 3), np.uint8), ValueError, "at least one pixel"),
    ]:
        for call in lambda: graphs[0].run(bad), lambda: graphs[0].run_into(bad, out):
            with pytest.raises(kind, match=text) as e:
                call()
            assert len(str(e.value)) < 300
    with pytest.raises(InferPrepError, match="16777217x1 pixels, want 1 to 16777216 a side") as e:
        graphs[0].run(np.broadcast_to(np.uint8(0), (1, (1 << 24) + 1)))
    assert e.value.code == "input"


class Tensor:
    """What run uses of a tensor of torch."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_layouts(jpeg):
    """Channels first and last, strides of all kinds, without a copy: equal to a PNG file of the pixels."""
    g = Graph.from_hf(HF)
    rng = np.random.default_rng(2)
    big = rng.integers(0, 256, (80, 90, 6), np.uint8)
    for a in big[:37, :53, :3], big[5:42, 7:60, 2:5], big[::2, ::-1, :3], big[::-1, ::3, 5:2:-1], np.asfortranarray(big[:, :, :3]), big[:, :, ::2]:
        want = g.run(png(np.ascontiguousarray(a)))
        first = a.transpose(2, 0, 1)
        for same in a, first, np.ascontiguousarray(first), Tensor(a.copy()), Tensor(first):
            assert np.array_equal(g.run(same), want), (same, a.strides)
        assert np.array_equal(g.run(a, input_data_format="channels_last"), want)
        assert np.array_equal(g.run(first, input_data_format="channels_first"), want)
        out = np.empty_like(want)
        g.run_into(first, out)
        assert np.array_equal(out, want)
    one = np.broadcast_to(np.uint8([1, 2, 3]), (9, 8, 3))  # strides of 0
    assert np.array_equal(g.run(one), g.run(png(one.copy())))
    gray = big[:, :, 0]
    assert np.array_equal(g.run(gray), g.run(gray[None])) and np.array_equal(g.run(gray), g.run(gray[:, :, None]))
    # 3 x n x 3: the first axis, with a warning, as in transformers.
    both = rng.integers(0, 256, (3, 30, 3), np.uint8)
    with pytest.warns(UserWarning, match=r"\(3, 30, 3\) may have its channels first or last"):
        assert np.array_equal(g.run(both), g.run(both, input_data_format="channels_first"))
    assert not np.array_equal(g.run(both, input_data_format="channels_last"), g.run(both, input_data_format="channels_first"))
    with pytest.raises(ValueError, match="input_data_format 'last': want 'channels_first' or 'channels_last'"):
        g.run(both, input_data_format="last")
    with pytest.raises(TypeError, match="a tensor on the device"):
        g.run(Tensor(big, device=2))


def test_batch(jpeg):
    rng = np.random.default_rng(3)
    images = [rng.integers(0, 256, (20 + 7 * i, 60 - 9 * i, 3), np.uint8) for i in range(5)]
    g = Graph.from_hf(HF)
    batch = g.run_batch([jpeg, *images])
    assert batch.shape == (6, 3, 224, 224)
    for one, image in zip(batch, [jpeg, *images]):
        assert np.array_equal(one, g.run(image))
    four = rng.integers(0, 256, (3, 20, 30, 3), np.uint8)
    for same in four, list(four), four.transpose(0, 3, 1, 2), Tensor(four):
        assert np.array_equal(g.run_batch(same), np.stack([g.run(i) for i in four]))
    qwen = Graph.from_hf({"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14, "temporal_patch_size": 2, "merge_size": 2, "min_pixels": 3136, "max_pixels": 12845056})
    assert [c.batch for c in qwen.columns] == ["concat", "stack"]
    out, each = qwen.run_batch(images), [qwen.run(i) for i in images]
    assert np.array_equal(out["pixel_values"], np.concatenate([e["pixel_values"] for e in each]))
    assert np.array_equal(out["image_grid_thw"], np.stack([e["image_grid_thw"] for e in each]))
    detr = Graph.from_hf({"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 40, "longest_edge": 60}})
    assert [c.batch for c in detr.columns] == ["pad", "pad"]
    out, each = detr.run_batch(images), [detr.run(i) for i in images]
    for values, mask, e in zip(out["pixel_values"], out["pixel_mask"], each):
        _, h, w = e["pixel_values"].shape
        assert np.array_equal(values[:, :h, :w], e["pixel_values"]) and values[:, h:].sum() == values[:, :, w:].sum() == 0
        assert mask[:h, :w].all() and mask.sum() == h * w
    decode = Graph.from_json(conftest.SMALL)
    for bad, kind, text in [
        ([], InferPrepError, "no images"), ([jpeg, jpeg[:100], b""], InferPrepError, "image 1: "), (images, InferPrepError, "sample 1 is .* needs equal sizes"),
        (jpeg, TypeError, "run_batch: got bytes, want a list of images"), (images[0], TypeError, "run_batch: got ndarray"), ([[jpeg]], TypeError, "got list"),
    ]:
        with pytest.raises(kind, match=text):
            decode.run_batch(bad)
    g.close()
    with pytest.raises(InferPrepError, match="closed"):
        g.run_batch(images)


def test_pillow(jpeg):
    image = pytest.importorskip("PIL.Image")
    g = Graph.from_preset("imagenet")
    for mode in "L", "RGB", "RGBA":
        file = io.BytesIO()
        opened = image.open(io.BytesIO(jpeg)).convert(mode)
        opened.save(file, "png")
        assert np.array_equal(g.run(opened), g.run(file.getvalue()))
    with pytest.raises(TypeError, match="Pillow's mode P"):
        g.run(opened.convert("P"))


def test_run_into_types(jpeg):
    g = Graph.from_preset("imagenet")
    for out, text in [
        ([0.0], r"image is list, want a NumPy array of float32 \(3, 224, 224\)"),
        (None, "image is NoneType, want a NumPy array"),
        ({"image": None}, "image is NoneType, want a NumPy array"),
        (memoryview(bytearray(9)), "image is memoryview"),
        (np.empty((3, 224, 224), object), "image is an array of object, want one of float32"),
    ]:
        with pytest.raises(TypeError, match="infer_prep: run_into: " + text):
            g.run_into(jpeg, out)
    with pytest.raises(ValueError, match="want a dict with arrays"):
        g.run_into(jpeg, {None: None, "b": 1})
    for call in [
        lambda: Graph.from_preset(None),
        lambda: Graph.from_importer(None, b""),
        lambda: infer_prep.Dataset(3),
        lambda: infer_prep.Dataset("mix", 3),
        lambda: infer_prep.Dataset("mix", {"node": 3}),
        lambda: infer_prep.Pipeline({}, rank="0", world=1),
    ]:
        with pytest.raises(TypeError, match="infer_prep"):
            call()


def test_threads(jpeg):
    g = Graph.from_preset("imagenet")
    want = g.run(jpeg)
    errors = []

    def work():
        for _ in range(10):
            if not np.array_equal(g.run(jpeg), want):
                errors.append("other values")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_import_loads_nothing(child):
    assert child("import infer_prep._native as n; print(n._lib)").strip() == "None"
    assert "torch" not in child("import infer_prep, sys; print('torch' in sys.modules and 'torch')")


def test_write(tmp_path, jpeg):
    """A run over a folder, interrupted runs that go on, batches, shards and errors."""
    photos = tmp_path / "photos"
    photos.mkdir()
    for i in range(5):
        (photos / f"{i}.jpg").write_bytes(jpeg)
    (photos / "note.txt").write_text("no image")
    g = Graph.from_preset("imagenet")
    want = g.run(jpeg).copy()
    out = tmp_path / "out"
    assert g.write(photos, out, report=tmp_path / "report") == (5, 0, 1, 0, 0, "")
    for i in range(5):
        assert np.array_equal(np.load(out / f"{i}.jpg.npy"), want)
    assert len((tmp_path / "report").read_text().splitlines()) == 7  # one for each input, and the end
    (out / "3.jpg.npy").unlink()
    assert g.write([photos], out, existing="name") == (1, 0, 1, 4, 0, "")
    (photos / "5.jpg").write_bytes(jpeg[:100])
    w = g.write(photos, tmp_path / "batches", batch_size=2, last_batch="drop")
    assert w[:5] == (4, 1, 1, 0, 1) and "5.jpg" in w.first
    batches = sorted((tmp_path / "batches").glob("*.npy"))
    assert [np.load(b).shape for b in batches] == [(2, 3, 224, 224)] * 2
    assert g.write(photos / "0.jpg", tmp_path / "shards", format="webdataset").done == 1
    assert list((tmp_path / "shards").glob("*.tar"))
    for kwargs, text in ({"format": "jpeg"}, "format"), ({"batch_size": -1}, "batch_size"), ({"existing": "date"}, "existing"):
        with pytest.raises(InferPrepError, match=text) as e:
            g.write(photos, tmp_path / "none", **kwargs)
        assert e.value.code == "input"
    with pytest.raises(InferPrepError, match="no images found"):
        g.write(tmp_path / "missing", tmp_path / "none")
    with pytest.raises(TypeError, match="want a path"):
        g.write(7, out)
    g.close()
    with pytest.raises(InferPrepError, match="closed"):
        g.write(photos, out)


def test_version():
    assert infer_prep.__version__ == (conftest.ROOT / "internal" / "version" / "VERSION").read_text().strip()
    assert importlib.metadata.version("infer-prep") == infer_prep.__version__
