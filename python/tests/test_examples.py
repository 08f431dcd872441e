"""The notebooks and the Python blocks of the documentation."""

import json
import os
import re

import conftest
import numpy as np
import pytest

NOTEBOOKS = sorted((conftest.ROOT / "python" / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook(path, tmp_path, monkeypatch):
    """Runs the cells one after another, as plain Python."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    assert not any(c["outputs"] for c in cells), "the notebook has outputs: clear them"
    names = {}
    for c in cells:
        exec(compile("".join(c["source"]), f"{path.name} {c['id']}", "exec"), names)
    assert names["accuracy"] > 0.95


def test_documentation(tmp_path, jpeg, folder, monkeypatch):
    """Runs the blocks of docs/python.md and of the package's README, but those that need torch or transformers."""
    from test_graph import HF

    monkeypatch.chdir(tmp_path)
    (tmp_path / "cat.jpg").write_bytes(jpeg)
    (tmp_path / "speech.wav").write_bytes((conftest.ROOT / "testdata/speech/sounds/speech.wav").read_bytes())
    (tmp_path / "model").mkdir()
    for name in "model/preprocessor_config.json", "preprocessor_config.json":
        (tmp_path / name).write_text(json.dumps(HF))
    (tmp_path / "model" / "video_preprocessor_config.json").write_text(json.dumps({"video_processor_type": "Qwen2VLVideoProcessor"}))
    (tmp_path / "augment.json").write_text(json.dumps(conftest.SMALL))
    os.symlink(folder, tmp_path / "train")
    blocks = 0
    for page in "docs/python.md", "python/README.md":
        steps = []
        names = {"step": lambda images, labels: steps.append(len(labels)), "images": [jpeg], "pixels": np.zeros((20, 30, 3), np.uint8),
                 "frames": np.zeros((4, 60, 90, 3), np.uint8), "samples": np.zeros(16000, np.float32)}
        for block in re.findall(r"```python\n(.*?)```", (conftest.ROOT / page).read_text(), re.DOTALL):
            if "torch" not in block and "infer_prep.transformers" not in block:
                block = re.sub(r"open\((.*?)\)\.read\(\)", r"__import__('pathlib').Path(\1).read_bytes()", block).replace(', "rb")', ")")
                exec(compile(block, page, "exec"), names)
                if "from_generator" in block:
                    names["functions"] = list(names["pipeline"])
                blocks += 1
        assert names["tensor"].shape == (3, 224, 224)
        if page == "docs/python.md":
            assert sum(steps) == 60
            (b,) = names["functions"]
            assert b["image"].shape == (2, 3, 8, 12) and b["odd"].tolist() == [False, True]
    assert blocks == 9
    assert list((tmp_path / "tensors").rglob("*.npy"))
