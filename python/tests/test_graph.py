import gc
import json
import pickle
import threading

import conftest
import numpy as np
import pytest

import infer_prep
from infer_prep import Graph, InferPrepError

HF = {"image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": 224, "width": 224}, "resample": 2, "do_rescale": True,
      "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}


def test_run(jpeg):
    g = Graph.from_preset("imagenet")
    assert g.columns == (("image", "float32", "CHW", (3, 224, 224)),)
    a = g.run(jpeg)
    assert a.shape == (3, 224, 224) and a.dtype == np.float32 and a.flags.c_contiguous and a.flags.writeable and not a.flags.owndata
    for other in bytearray(jpeg), memoryview(jpeg), np.frombuffer(jpeg, np.uint8):
        assert np.array_equal(g.run(other), a)
    out = np.empty((3, 224, 224), np.float32)
    g.run_into(jpeg, out)
    assert np.array_equal(out, a)
    assert "float32 (3, 224, 224)" in repr(g)


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


def test_version():
    assert infer_prep.__version__
