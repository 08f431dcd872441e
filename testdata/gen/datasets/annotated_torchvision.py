"""Writes what torchvision and pycocotools read from testdata/datasets/{coco,voc}, which annotated.py makes: torchvision.json.

Needs Python 3.11, torchvision 0.29.2 with torch 2.15.0, Pillow 13.0.0 and pycocotools 2.0.11
(requirements-datasets.txt). Takes no arguments; running it again gives the same bytes.
"""

import contextlib
import io
import json
import pathlib
import random

from pycocotools import mask
from torchvision.datasets import CocoDetection, VOCDetection, VOCSegmentation

ROOT = pathlib.Path(__file__).resolve().parents[2] / "datasets"


def write(name, value):
    lines = ",\n".join(" " + json.dumps(c) for c in value)
    (ROOT / name / "torchvision.json").write_text(f'{{"reference": "torchvision 0.29.2", "cases": [\n{lines}\n]}}\n')


def coco():
    cases = []
    for file in ("instances", "keypoints", "stuff"):
        with contextlib.redirect_stdout(io.StringIO()):
            d = CocoDetection(ROOT / "coco" / "images", ROOT / "coco" / f"{file}.json")
        images = []
        for i, n in enumerate(d.ids):
            keys = {"instances": ("bbox", "category_id", "iscrowd"), "keypoints": ("keypoints", "num_keypoints"), "stuff": ("segmentation", "iscrowd")}[file]
            images.append({"file": d.coco.loadImgs(n)[0]["file_name"], "annotations": [{k: a.get(k, 0) for k in keys} for a in d[i][1]]})
        cases.append({"name": file, "images": images})
    # Run-length encodings and their compressed form.
    rng = random.Random(5)
    rle = []
    for k in range(40):
        counts = [rng.choice((0, 1, 15, 16, 17, 31, 32, 511, 512, rng.randrange(1 << rng.randrange(1, 22)))) for _ in range(rng.randrange(1, 9))]
        n = sum(counts)
        rle.append({"counts": counts, "string": mask.frPyObjects({"counts": counts, "size": [n, 1]}, n, 1)["counts"].decode()})
    write("coco", [*cases, {"name": "rle", "rle": rle}])


def voc():
    cases = []
    for image_set in ("train", "val", "trainval"):
        d = VOCDetection(ROOT / "voc", year="2012", image_set=image_set)
        images = []
        for i, p in enumerate(d.images):
            objects = []
            for o in d[i][1]["annotation"]["object"]:
                if "name" in o:
                    # torchvision has a list if there are several.
                    b = o["bndbox"][0] if isinstance(o["bndbox"], list) else o["bndbox"]
                    box = [float(b[k]) for k in ("xmin", "ymin", "xmax", "ymax")]
                    objects.append({"name": o["name"], "box": box, "difficult": int(o.get("difficult", 0)), "truncated": int(o.get("truncated", 0))})
            images.append({"file": pathlib.Path(p).stem, "objects": objects})
        cases.append({"name": image_set, "images": images})
    d = VOCSegmentation(ROOT / "voc", year="2012", image_set="train")
    cases.append({"name": "segmentation", "images": [{"file": pathlib.Path(p).stem, "target": pathlib.Path(t).stem} for p, t in zip(d.images, d.masks)]})
    write("voc", cases)


if __name__ == "__main__":
    coco()
    voc()
