"""What the scripts from_*.py share: images, and the golden files of importer/<name>/testdata.

A case has a name, the importer's input (config for JSON, a file's name for others) and results; cases that the
reference refuses are listed by themselves.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "parity"))

import importers_more  # noqa: E402

# Those of importer/testdata, which goldens.py makes, and some of testdata/images.
PNG = ["importer/testdata/" + n for n in ("rgb.png", "tall.png", "gray.png", "key.png", "palette.png", "rgba.png")]
JPEG = ["testdata/images/" + n for n in ("jpeg_base_420.jpg", "jpeg_exif_ii_6.jpg")]


def folder(importer):
    d = ROOT / "importer" / importer / "testdata"
    d.mkdir(parents=True, exist_ok=True)
    return d


def write(importer, cases, refused=()):
    """cases: (name, {key: value}, function from a path to {output: array}, images); refused: (name, {key: value})."""
    lines = []
    for name, given, run, images in cases:
        results = []
        for image in images:
            try:
                results.append({"image": image, "outputs": importers_more.result(run(ROOT / image))})
            except Exception as e:  # what the reference does not take of this size is left out
                print(f"{importer} {name}: refuses {image}: {(str(e).splitlines() or [type(e).__name__])[0]}")
        if not results:
            raise RuntimeError(f"{importer} {name}: no image was taken")
        lines.append(json.dumps({"name": name} | given | {"results": results}, separators=(",", ":")))
    bad = [json.dumps({"name": name} | given, separators=(",", ":")) for name, given in refused]
    text = '{"cases":[\n' + ",\n".join(lines) + '\n],"refused":[\n' + ",\n".join(bad) + "\n]}\n"
    (folder(importer) / "goldens.json").write_text(text)
