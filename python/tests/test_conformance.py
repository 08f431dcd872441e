"""The runner of the conformance pack, and infer-prep on the part of the pack that is committed."""

import importlib.util
import json
import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2] / "conformance"
PROGRAM = os.environ.get("INFER_PREP", "")

spec = importlib.util.spec_from_file_location("conformance_run", ROOT / "run.py")
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)

pytestmark = pytest.mark.skipif(not PROGRAM, reason="INFER_PREP does not name the program")
OURS = [sys.executable, str(ROOT / "engines" / "infer_prep.py")]


@pytest.fixture(scope="module")
def pack():
    with run.Pack(ROOT / "testdata" / "small.tar.gz") as p:
        yield p


@pytest.fixture(scope="module")
def outputs(pack, tmp_path_factory):
    """Returns a function from a case's id to the case and infer-prep's arrays."""
    engine = run.Engine(OURS, None)
    folder = tmp_path_factory.mktemp("outputs")

    def get(id):
        (case,) = [c for c in pack.cases if c["id"] == id]
        answer = engine.ask(run.request(case, pack.root) | {"out": str(folder / "out")})
        return case, run.read(answer["file"], [o["name"] for o in case["outputs"]])

    yield get
    engine.stop()


def test_infer_prep_is_exact(pack):
    report = run.run(pack, OURS)
    assert len(report["results"]) >= 100
    # Without the program for sampling; and OpenCV's CMYK, which infer-prep refuses by name.
    skipped = [r["id"] for r in report["results"] if r["level"] == "not supported"]
    assert [i for i in skipped if not i.startswith("sampling/")] == ["decode/opencv/jpeg_cmyk.jpg"]
    assert [r for r in report["results"] if r["level"] not in ("exact", "not supported")] == []
    assert {r["area"] for r in report["results"]} == {
        "decode", "decode, rare forms", "resize", "crop and pad", "normalise", "pipelines", "image processors", "sizes and tokens", "video sampling", "videos"}
    assert "0 failed" not in run.badge(report) and f"{len(report['results']) - len(skipped)} of {len(report['results']) - len(skipped)} exact" in run.badge(report)
    assert run.families(report).count("<rect") > 20
    assert "image processors" in run.text(report)


def nudge(a, by):
    """Changes a value that the pack holds: the first."""
    a = a.copy()
    a.reshape(-1)[0] += by if a.reshape(-1)[0] < 128 else -by
    return a


CLIP, VIT = (f"transformers/torchvision/{n}/rgb.png" for n in ("clip-vit-base-patch32", "vit-base-patch16-224"))
GRADIENT = "resize/pillow/bilinear/gradient/24x32"
NOISE = "resize/pillow/bilinear/noise/30x41"


@pytest.mark.parametrize("id, change, level, note", [
    (GRADIENT, lambda a: nudge(a, 1), "within 1", "at most 1 of 255"),
    (GRADIENT, lambda a: nudge(a, 2), "failed", "small differences in a resize"),
    (NOISE, lambda a: a[..., ::-1], "failed", "RGB and BGR swapped"),
    (NOISE, lambda a: a[:, ::-1], "failed", "the image is mirrored"),
    (NOISE, lambda a: a[::-1], "failed", "the image is upside down"),
    (NOISE, lambda a: a.transpose(2, 0, 1), "failed", "the layout"),
    (NOISE, lambda a: a.astype(np.float32), "failed", "dtype float32, want uint8"),
    (NOISE, lambda a: a.astype(np.int32), "failed", "dtype int32, want uint8"),
    (NOISE, lambda a: a[:-1], "failed", "the rounding of the size"),
    (NOISE, lambda a: a.transpose(1, 0, 2), "failed", "height and width swapped"),
    ("crop/torchvision/noise/25x32", lambda a: np.roll(a, 1, 1), "failed", "off by one (0 rows, 1 columns)"),
    ("crop/torchvision/noise/25x32", lambda a: np.roll(a, -1, 0), "failed", "off by one (-1 rows, 0 columns)"),
    (CLIP, lambda a: a[::-1], "failed", "RGB and BGR swapped"),
    (CLIP, lambda a: a * np.float32([0.27, 0.26, 0.276]).reshape(3, 1, 1) + np.float32([0.48, 0.46, 0.41]).reshape(3, 1, 1), "failed", "normalisation"),
    (VIT, lambda a: (a + 1) * np.float32(127.5), "failed", "normalisation"),
    (VIT, lambda a: np.nextafter(a, np.float32(9)), "tolerance", "of 255"),
    (VIT, lambda a: a.astype(np.float64), "tolerance", "dtype float64, want float32"),
    (VIT, lambda a: a + np.float32(2 / 255), "within 1", "at most 1 of 255"),
    (VIT, lambda a: a[None], "failed", "an axis of one image"),
    (VIT, lambda a: np.where(a == a.max(), np.float32("nan"), a), "failed", "not finite"),
])
def test_planted_errors(pack, outputs, id, change, level, note):
    case, arrays = outputs(id)
    (out,) = [o for o in case["outputs"] if o["name"] in ("image", "pixel_values")]
    right = arrays[out["name"]]
    assert run.compare(pack, out, right, case["area"])[0] == "exact"
    got, said = run.compare(pack, out, np.ascontiguousarray(change(right)), case["area"])
    assert (got, note in said) == (level, True), said


def test_another_image_is_told(pack, outputs):
    """The outputs of one case as those of another."""
    for id, other, note in (
        ("decode/opencv/jpeg_exif_mm_6.jpg", "decode/pillow/jpeg_exif_mm_6.jpg", "the EXIF orientation"),
        ("decode/opencv/png_exif6.png", "decode/pillow/png_exif6.png", "the EXIF orientation"),
        ("resize/pillow/bilinear/gradient/24x32", "resize/pillow/lanczos/gradient/24x32", "kernel, or antialiasing"),
        ("resize/torchvision/bilinear/noise/30x41", "resize/torchvision/bilinear, no antialias/noise/30x41", "likely cause"),
    ):
        case, _ = outputs(id)
        _, wrong = outputs(other)
        level, said = run.compare(pack, case["outputs"][0], wrong["image"], case["area"])
        assert level == "failed" and note in said, (id, said)


ENGINE = """
import json, sys
import numpy as np
for line in sys.stdin:
    r = json.loads(line)
    if "pillow" in r["id"]:
        print("no JSON", flush=True)
    elif "opencv" in r["id"]:
        sys.exit(3)
    elif "crop" in r["id"]:
        print(json.dumps({"skip": "no crops"}), flush=True)
    elif "normalise" in r["id"]:
        print(json.dumps({"error": "out of paper"}), flush=True)
    else:
        open(r["out"], "wb").write(b"no npy")
        print(json.dumps({"file": r["out"]}), flush=True)
"""


def test_engines_that_misbehave(pack, tmp_path):
    file = tmp_path / "engine.py"
    file.write_text(ENGINE)
    report = run.run(pack, [sys.executable, str(file)], "bad")
    for r in report["results"]:
        want = ("not supported", "no crops")
        if "pillow" in r["id"]:
            want = ("failed", "error: Expecting value")
        elif "opencv" in r["id"]:
            want = ("failed", "the engine ended")
        elif "normalise" in r["id"]:
            want = ("failed", "error: out of paper")
        elif "crop" not in r["id"]:
            want = ("failed", "unreadable output")
        assert r["level"] == want[0] and want[1] in r["note"], r
    with pytest.raises(SystemExit, match="--describe"):
        run.run(pack, [sys.executable, "-c", "raise SystemExit(1)"])


def test_engine_that_hangs(pack, monkeypatch):
    monkeypatch.setattr(run, "TIMEOUT", 0.3)
    report = run.run(pack, [sys.executable, "-c", "import time; time.sleep(60)"], "slow", only="crop/torchvision/noise/2")
    assert [r["note"] for r in report["results"]] == ["error: no answer in 0.3 s"] * 2


def test_one_case_a_process(pack):
    report = run.run(pack, OURS, only="crop/torchvision/noise", per_case=True)
    assert [r["level"] for r in report["results"]] == ["exact"] * 5


def test_command_line(pack, tmp_path, capfd, monkeypatch):
    args = ["run.py", str(ROOT / "testdata" / "small.tar.gz"), "--engine", " ".join(OURS), "--only", "pad/edge", "--json", str(tmp_path / "r.json"), "--svg", str(tmp_path / "r.svg"),
            "--badge", str(tmp_path / "b.svg")]
    monkeypatch.setattr(sys, "argv", args)
    assert run.main() == 0
    assert "crop and pad" in capfd.readouterr().out
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["references"]["transformers"] == "5.23.0" and report["results"][0]["level"] == "exact"
    assert (tmp_path / "r.svg").read_text().startswith("<svg") and "transformers 5.23.0" in (tmp_path / "b.svg").read_text()


def test_damaged_packs(tmp_path):
    with pytest.raises((OSError, ValueError)):
        run.Pack(tmp_path)
    (tmp_path / "pack.json").write_text('{"format": 2}')
    with pytest.raises(ValueError, match="format 2: this runner reads 1"):
        run.Pack(tmp_path)
