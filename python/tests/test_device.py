"""Graphs and pipelines on ONNX Runtime's devices, with the Python package onnxruntime."""

import importlib.util
import json
import pickle
import threading

import conftest
import numpy as np
import pytest

import infer_prep
from infer_prep import Graph, InferPrepError, Pipeline

installed = pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="the package onnxruntime is not installed")


@installed
def test_graph(jpeg, tmp_path):
    host = Graph.from_preset("imagenet")
    device = host.on("ort:cpu")
    want = host.run(jpeg)
    assert np.array_equal(device.run(jpeg), want) and device.columns == host.columns
    out = np.zeros_like(want)
    device.run_into(jpeg, out)
    assert np.array_equal(out, want)
    assert np.array_equal(pickle.loads(pickle.dumps(device)).run(jpeg), want)
    for wrong, code in (b"no image", "format"), (b"", "format"):
        with pytest.raises(InferPrepError) as e:
            device.run(wrong)
        assert e.value.code == code
    results = []
    threads = [threading.Thread(target=lambda: results.extend(np.array_equal(device.run(jpeg), want) for _ in range(5))) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 15
    kept = device.run(jpeg)
    device.close()
    device.close()
    with pytest.raises(InferPrepError, match="is closed"):
        device.run(jpeg)
    assert np.array_equal(kept, want)
    assert np.array_equal(host.on("cpu").run(jpeg), want)
    (tmp_path / "a.jpg").write_bytes(jpeg)
    for name, graph in ("host", host), ("device", host.on("ort:cpu")):
        assert graph.write(tmp_path / "a.jpg", tmp_path / name).done == 1
    assert (tmp_path / "host" / "a.jpg.npy").read_bytes() == (tmp_path / "device" / "a.jpg.npy").read_bytes()


@installed
def test_pipeline(folder):
    definition = conftest.images(folder, Graph.from_preset("imagenet"), batch=3, shuffle=True)
    want = [b["image"].copy() for b in Pipeline(definition, seed=1)]
    p = Pipeline(definition, seed=1, device="ort:cpu")
    got = [b["image"].copy() for b in p]
    p.close()
    assert len(got) == 7 and all(np.array_equal(a, b) for a, b in zip(got, want))
    decoded = conftest.images(folder, batch=3)
    with pytest.raises(InferPrepError, match="runs no step of any map"):
        Pipeline(decoded, device="ort:cpu")


TOGETHER = """
import sys
if sys.argv[2] == "before":
    import onnxruntime
import infer_prep
g = infer_prep.Graph.from_preset("imagenet")
data = open(sys.argv[1], "rb").read()
want = g.run(data)
assert (g.on("ort:cpu").run(data) == want).all()
import onnxruntime
import numpy as np
print(onnxruntime.get_available_providers()[-1], (g.on("ort:cpu").run(data) == want).all())
"""


@installed
@pytest.mark.parametrize("when", ["before", "after"])
def test_beside_onnxruntime(child, when):
    """The module onnxruntime may be imported in the same process, in any order."""
    assert child(TOGETHER, conftest.IMAGES / "jpeg_large.jpg", when) == "CPUExecutionProvider True\n"


def test_errors(tmp_path):
    g = Graph.from_preset("imagenet")
    for spec, code, text in [
        ("ort:cpuu", "device", "ort:cpu"),
        (f"ort:cpu,lib={tmp_path}/none", "device", "none"),
        ("ort:cpu,fro=1", "input", "fro"),
    ]:
        with pytest.raises(InferPrepError, match=text) as e:
            g.on(spec)
        assert e.value.code == code, e.value
    with pytest.raises(InferPrepError, match='least "equal"'):
        g.on("ort:cpu", least="equal")
    with pytest.raises(TypeError, match="want a name"):
        g.on(0)
    if importlib.util.find_spec("onnxruntime") is not None:
        with pytest.raises(InferPrepError) as e:
            g.on("ort:cuda")  # the package for the CPU has no such provider
        assert e.value.code == "device", e.value
    assert json.dumps(g.to_json())
