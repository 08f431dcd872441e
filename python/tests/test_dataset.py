"""Definitions of datasets, and graphs of ops."""

import json
import pathlib
import pickle
import subprocess
import os

import numpy as np
import pytest

import conftest
import infer_prep
from infer_prep import Dataset, Graph, InferPrepError, Pipeline


def test_made(folder, definition):
    graph = Graph.from_json(conftest.SMALL)
    d = Dataset("image_folder", dir=folder).then("shuffle").map(graph).then("batch", size=3)
    assert d.definition == definition
    assert repr(d) == "<infer_prep.Dataset batch/map/shuffle/image_folder>"
    assert pickle.loads(pickle.dumps(d)).definition == definition
    for a, b in zip(Pipeline(d, seed=4), Pipeline(definition, seed=4), strict=True):
        assert a.key == b.key and np.array_equal(a["image"], b["image"])
    # As the command line makes it.
    out = subprocess.run([os.environ["INFER_PREP"], "dataset", "make", "image_folder", f"dir={folder}", "shuffle", "map", "graph=@-",
                          "batch", "size=3"], input=json.dumps(conftest.SMALL), capture_output=True, text=True, check=True).stdout
    assert json.loads(out) == definition
    e = d.then("map", graph={**conftest.SMALL, "steps": [], "inputs": [{"name": "x", "dtype": "uint8", "layout": "none", "shape": [-1, -1, -1, 3]}], "outputs": ["x"]}, out=["y"])
    assert e.definition["top"]["params"]["out"] == ["y"]
    assert d.map(graph, inputs=["image"], outputs=("pixels",)).definition["top"]["params"]["in"] == ["image"]


def test_several_inputs(folder):
    one = Dataset("image_folder", dir=pathlib.Path(folder), extensions=(".png",)).then("take", count=np.int64(4))
    d = Dataset("concat", one, one.definition).then("batch", size=8)
    assert repr(d) == "<infer_prep.Dataset batch/concat(take/image_folder, take/image_folder)>"
    d = Dataset("concat", one, one.definition).map(Graph.from_ops("decode")).then("batch", size=8)
    (b,) = Pipeline(d)
    assert b["image"].shape == (8, 16, 24, 3) and np.array_equal(b["image"][:4], b["image"][4:])


def test_from_ops(jpeg):
    a = Graph.from_ops("decode", ("resize", {"fit": "shortest", "edge": 256}), ("center_crop", {"height": 224, "width": 224}), "to_tensor",
                       ("normalize", {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}))
    b = Graph.from_preset("imagenet")
    assert np.array_equal(a.run(jpeg), b.run(jpeg))
    assert Graph.from_ops("decode").to_json() == conftest.SMALL


def test_errors(tmp_path):
    for call, kind, text in [
        (lambda: Dataset("image_foldr"), InferPrepError, 'unknown dataset node "image_foldr"; did you mean "image_folder"?'),
        (lambda: Dataset("image_folder", dri="x"), InferPrepError, 'image_folder: invalid parameter: unknown parameter "dri"; did you mean "dir"?'),
        (lambda: Dataset("image_folder", dir=3), InferPrepError, "dir"),
        (lambda: Dataset("image_folder", dir=None), InferPrepError, '"dir" is missing'),
        (lambda: Dataset("image_folder", dir=object()), TypeError, "got object, want a string"),
        (lambda: Dataset("image_folder").then("batch", size=0), InferPrepError, "batch: "),
        (lambda: Dataset("image_folder").then("batch", size=1.5), InferPrepError, "size"),
        (lambda: Dataset("image_folder").then("map"), InferPrepError, "map: "),
        (lambda: Pipeline(Dataset("batch", size=2)), InferPrepError, "batch"),
        (lambda: Pipeline(Dataset("image_folder", dir=tmp_path / "none")), InferPrepError, "none"),
        (lambda: Graph.from_ops(), InferPrepError, "want at least one op"),
        (lambda: Graph.from_ops("decod"), InferPrepError, 'did you mean "decode"?'),
        (lambda: Graph.from_ops(("decode", {"colour": "rgb"})), InferPrepError, 'decode: invalid parameter: unknown parameter "colour"'),
        (lambda: Graph.from_ops("decode", ("resize", {"height": 0})), InferPrepError, "resize: "),
        (lambda: Graph.from_ops(7), InferPrepError, ""),
    ]:
        with pytest.raises(kind) as e:
            call()
        assert text in str(e.value), str(e.value)
