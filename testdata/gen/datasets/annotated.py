"""Makes testdata/datasets/{coco,voc,manifest,csv,textfile}, and beside each what MindSpore reads from it: mindspore.json.

Needs Python 3.11, MindSpore 2.10.0, NumPy 2.4.6 and Pillow 13.0.0 (requirements-mindspore.txt). Takes no arguments;
running it again gives the same bytes. annotated_torchvision.py and lmdb_hdf5.py add what torchvision reads.
"""

import hashlib
import io
import json
import os
import pathlib
import shutil

os.environ["GLOG_v"] = "4"

import mindspore.dataset as ds  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2] / "datasets"


def picture(seed, kind):
    """A small image file that depends on its arguments alone."""
    a = np.random.RandomState(seed).randint(0, 256, (6, 8, 3)).astype(np.uint8)
    im = Image.fromarray(a)
    if kind == "PNG":
        im = im.quantize(4)
    b = io.BytesIO()
    im.save(b, kind)
    return b.getvalue()


class Folder:
    """A dataset's folder, and the cases that are read from it."""

    def __init__(self, name):
        self.dir = ROOT / name
        # All but what torchvision read, which annotated_torchvision.py and lmdb_hdf5.py write.
        for p in self.dir.glob("*"):
            if p.is_dir():
                shutil.rmtree(p)
            elif not p.name.startswith("torchvision"):
                p.unlink()
        self.dir.mkdir(parents=True, exist_ok=True)
        os.chdir(self.dir)
        self.cases = []

    def write(self, name, data):
        p = self.dir / name
        p.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(data, (bytes, str)):
            data = json.dumps(data, indent=0)
        p.write_bytes(data if isinstance(data, bytes) else data.encode())

    def case(self, name, params, data, classes=False):
        """Reads a dataset in its order with one worker. params are those of the Go source."""
        rows = []
        for r in data.create_dict_iterator(num_epochs=1, output_numpy=True):
            rows.append({k: value(k, v) for k, v in r.items()})
        c = {"name": name, "params": params, "columns": data.get_col_names(), "rows": rows}
        if classes:
            # Panoptic's have a second number, isthing.
            c["class_indexing"] = {k: int(np.ravel(v)[0]) for k, v in data.get_class_indexing().items()}
        self.cases.append(c)

    def done(self):
        lines = []
        for c in self.cases:
            rows = ",\n  ".join(json.dumps(r) for r in c.pop("rows"))
            lines.append(" " + json.dumps(c)[:-1] + ', "rows": [\n  ' + rows + "]}")
        text = '{"reference": "MindSpore 2.10.0", "cases": [\n' + ",\n".join(lines) + "\n]}\n"
        json.loads(text)
        (self.dir / "mindspore.json").write_text(text)


def value(name, a):
    if name in ("image", "target"):
        b = a.tobytes()
        return {"dtype": "bytes", "size": len(b), "sha256": hashlib.sha256(b).hexdigest()}
    if a.dtype.kind == "U":
        # The source joins the captions of an image by newlines.
        return {"dtype": "bytes", "hex": "\n".join(a.ravel().tolist()).encode().hex()}
    # As strings, since JSON has no NaN.
    return {"dtype": str(a.dtype), "shape": list(a.shape), "data": [repr(v) for v in a.ravel().tolist()]}


def coco():
    f = Folder("coco")
    for i in range(6):
        f.write(f"images/{i}.jpg", picture(i, "JPEG"))
    # Not in the order of their ids; 5.jpg is never annotated.
    images = [{"id": n, "file_name": f"{i}.jpg", "width": 8, "height": 6} for n, i in ((30, 2), (7, 0), (11, 5), (12, 1), (3, 4), (4, 3))]
    categories = [{"id": 18, "name": "dog", "supercategory": "animal"}, {"id": 1, "name": "person"}, {"id": 90, "name": "tooth \"brush\" \u00e9\n"}]
    info = {"info": {"year": 2017, "deep": [[[{"a": [1, 2.5e-3, None, True, False, "x\\\"\u2028\U0001f600"]}]]]}, "licenses": []}

    def boxes(k, more):
        r = np.random.RandomState(k)
        return [{"id": 100 + i, "image_id": n, "bbox": [round(float(x), 2) for x in r.rand(4) * 8], **more(i)} for i, n in enumerate((7, 30, 7, 3, 12, 30, 7, 4))]

    ann = boxes(1, lambda i: {"category_id": (18, 1, 90)[i % 3], "area": 1.5 * i, "segmentation": [[1, 2, 3, 4, 5, 6]]} | ({"iscrowd": i % 2} if i != 4 else {}))
    ann[1]["bbox"] = [0, 1e-3, 16777217, 123456789012]
    f.write("instances.json", {**info, "images": images, "annotations": ann, "categories": categories})
    # The same with the annotations first, as a stream must also read it.
    f.write("instances_reversed.json", json.dumps({"categories": categories, "annotations": ann, "images": images, **info}))
    f.write("instances_big.json", {"images": [{"id": 2**31 - 2, "file_name": "1.jpg"}], "categories": categories,
                                   "annotations": [{"id": 2**40, "image_id": 2**31 - 2, "bbox": [1, 2, 3, 4], "category_id": 1}]})

    # As Notepad and PowerShell save it.
    f.write("instances_bom.json", b"\xef\xbb\xbf" + (f.dir / "instances.json").read_bytes())

    kp = []
    for i, (n, k) in enumerate(((7, 3), (30, 0), (7, 1), (12, 17), (4, 2), (4, 2))):
        pts = [[j % 8, round(j * 0.37, 3), j % 3] for j in range(k)]
        kp.append({"id": i, "image_id": n, "category_id": 1, "keypoints": sum(pts, []), "num_keypoints": k, "iscrowd": 0, "bbox": [0, 0, 1, 1]})
    f.write("keypoints.json", {**info, "images": images, "annotations": kp, "categories": categories})

    polygon = [[1, 2, 3.5, 4, 5, 6.25], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]]
    stuff = [
        {"id": 1, "image_id": 7, "iscrowd": 0, "segmentation": polygon},
        {"id": 2, "image_id": 7, "iscrowd": 1, "segmentation": {"counts": [5, 10, 3, 30], "size": [6, 8]}},
        {"id": 3, "image_id": 12, "segmentation": {"size": [6, 8], "counts": [0, 48]}, "iscrowd": 1},
        {"id": 4, "image_id": 30, "segmentation": polygon[:1], "iscrowd": 0},
        {"id": 5, "image_id": 4, "segmentation": [], "iscrowd": 0},
    ]
    for a in stuff:
        a["category_id"] = 18
    f.write("stuff.json", {**info, "images": images, "annotations": stuff, "categories": categories})

    things = [{**c, "isthing": i % 2} for i, c in enumerate(categories)]
    panoptic = []
    for n, k in ((30, 2), (7, 3), (12, 0), (3, 1), (7, 1)):
        segments = [{"id": 1000 * n + j, "category_id": (1, 18, 90)[j], "bbox": [j, 2 * j, 3, 4.5], "iscrowd": j % 2, "area": 37 * j + n} for j in range(k)]
        panoptic.append({"image_id": n, "file_name": f"{n}.png", "segments_info": segments})
    f.write("panoptic.json", {**info, "images": images, "annotations": panoptic, "categories": things})

    texts = ("A dog on a \"red\" mat.", "Café \u65e5\u672c \U0001f600", " spaces kept  ", "", "the same", "the same", "a tail")
    captions = [{"id": 7 - i, "image_id": n, "caption": t} for i, (n, t) in enumerate(zip((7, 30, 7, 3, 7, 30, 4), texts, strict=True))]
    f.write("captions.json", {**info, "images": images, "annotations": captions})

    for file, task, theirs in (("instances", "detection", "Detection"), ("instances_reversed", "detection", "Detection"), ("instances_big", "detection", "Detection"), ("instances_bom", "detection", "Detection"),
                               ("keypoints", "keypoints", "Keypoint"), ("stuff", "segmentation", "Stuff"), ("panoptic", "panoptic", "Panoptic"), ("captions", "captioning", "Captioning")):
        d = ds.CocoDataset("images", file + ".json", task=theirs, shuffle=False, num_parallel_workers=1)
        f.case(file, {"dir": "images", "annotations": file + ".json", "task": task}, d, classes=task in ("detection", "panoptic"))
    f.done()


def voc():
    f = Folder("voc")
    base = "VOCdevkit/VOC2012/"

    def box(v):
        return "".join(f"<{n}>{x}</{n}>" for n, x in zip(("xmin", "ymin", "xmax", "ymax"), v))

    def obj(name, v, more="", before=""):
        return f"\t<object>\n\t\t{before}<name>{name}</name>{more}\n\t\t<bndbox>{box(v)}</bndbox>\n\t</object>\n"

    flags = "<pose>Left</pose><truncated>1</truncated><difficult>0</difficult>"
    hard = "<truncated>0</truncated><occluded>1</occluded><difficult>1</difficult>"
    part = "<part><name>head</name><bndbox><xmin>2</xmin><ymin>2</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></part>"
    objects = {
        "2007_000027": obj("person", (1, 2, 7, 6), flags + part) + obj("dog", (2, 1, 8, 5), hard),
        "2007_000032": obj("aeroplane", (1.5, 2.25, 3.75, 4.1)) + obj("tv &amp; monitor", (3, 3, 4, 4), "<!-- no flags -->"),
        "2007_000039": obj("Dog", (1, 1, 2, 2), part, before="<bndbox>" + box((4, 4, 7, 5)) + "</bndbox>") + obj("<![CDATA[cat]]>", (45.70000076293945, 1, 100, 1e2)),
        "2007_000063": obj("dog", (1, 1, 8, 6), hard) + "\t<object><bndbox>" + box((1, 1, 2, 2)) + "</bndbox></object>\n",
        "2007_000068": obj("bird", (" 2 ", "1", "7\n", "5"), flags),
    }
    for i, (n, o) in enumerate(objects.items()):
        f.write(f"{base}JPEGImages/{n}.jpg", picture(10 + i, "JPEG"))
        head = '<?xml version="1.0" encoding="utf-8"?>\n' if i % 2 else ""
        f.write(f"{base}Annotations/{n}.xml", f"{head}<annotation>\n\t<folder>VOC2012</folder>\n\t<filename>{n}.jpg</filename>\n"
                f"\t<size><width>8</width><height>6</height><depth>3</depth></size>\n{o}</annotation>\n")
    for n in list(objects)[:3]:
        f.write(f"{base}SegmentationClass/{n}.png", picture(sum(map(ord, n)), "PNG"))
    f.write(base + "ImageSets/Main/train.txt", "2007_000063\n2007_000027\n2007_000032\n")
    f.write(base + "ImageSets/Main/val.txt", "2007_000039\r\n2007_000068\r\n")
    f.write(base + "ImageSets/Main/trainval.txt", "2007_000027\n2007_000032\n2007_000039\n2007_000063\n2007_000068\n2007_000027")
    f.write(base + "ImageSets/Segmentation/train.txt", "2007_000039\n2007_000027\r\n2007_000032")
    index = {"dog": 12, "Dog": 5, "person": 15, "zebra": 99}
    for usage, given in (("train", {}), ("val", {}), ("trainval", {}), ("trainval", index)):
        d = ds.VOCDataset(base, task="Detection", usage=usage, class_indexing=given or None, shuffle=False, num_parallel_workers=1)
        f.case(usage + ("_indexed" if given else ""), {"dir": base, "task": "detection", "usage": usage, "class_indexing": given}, d, classes=True)
    d = ds.VOCDataset(base, task="Segmentation", usage="train", shuffle=False, num_parallel_workers=1)
    f.case("segmentation", {"dir": base, "task": "segmentation", "usage": "train", "class_indexing": {}}, d)
    f.done()


def manifest():
    f = Folder("manifest")
    f.write("a.jpg", picture(20, "JPEG"))
    f.write("images/b.png", picture(21, "PNG"))
    f.write("c.jpg", picture(22, "JPEG"))

    def line(source, usage, *names, **more):
        a = [{"type": "modelarts/image_classification", "name": n, "creation-time": "2019-02-20 03:16:58", "property": {"x": [1, {"y": None}]}} for n in names]
        return json.dumps({"source": source, "usage": usage, "annotation": a, **more})

    lines = [
        line("a.jpg", "train", "dog", id="0162005993f8065ef47eefb59d1e4970", **{"inference-loc": ""}),
        line("images/b.png", "TRAIN", "cat"),
        line("c.jpg", "eval", "bird"),
        line("c.jpg", "train", "\u00e9l\u00e9phant"),
        line("a.jpg", "Train", "Dog"),
        line("images/b.png", "eval", "cat"),
        line("a.jpg", "train"),
        line("c.jpg", "train", "dog"),
    ]
    f.write("one.manifest", "\n".join(lines) + "\n")
    f.write("crlf.manifest", "\r\n".join(lines[:4]) + "\r\n")
    f.write("bom.manifest", "\ufeff" + "\n".join(lines[:4]) + "\n")
    f.write("many.manifest", "\n".join([line("a.jpg", "train", "dog", "ant"), line("c.jpg", "train", "cat", "dog", "cat"), line("images/b.png", "train", "bee", "ant")]))
    for file, usage, index in (("one", "train", {}), ("one", "eval", {}), ("one", "train", {"dog": 7, "cat": 3, "none": 4}), ("crlf", "train", {}), ("bom", "train", {}),
                               ("many", "train", {}), ("many", "train", {"dog": 1, "cat": 0})):
        d = ds.ManifestDataset(file + ".manifest", usage=usage, class_indexing=index or None, shuffle=False, num_parallel_workers=1)
        f.case(f"{file}_{usage}{'_indexed' if index else ''}", {"file": file + ".manifest", "usage": usage, "class_indexing": index}, d, classes=True)
    f.done()


def csv():
    f = Folder("csv")
    f.write("header.csv", "name,count,score\nann,1,0.5\nbob,-2,1e3\n")
    f.write("header_b.csv", "name,count,score\n\r\ncat,+7,.25\r\n\r\n\r\ndan,0,16777217")
    f.write("quoted.csv", 'text,label\n"a,b","line 1\nline 2"\n"say ""hi""",plain\n"","\r\n"\n , x \n"\u00e9\u65e5",\n,\n\n"""",last')
    f.write("plain.csv", "\n\n1,2.5,x\n-2147483648,-0,y\r3,nan,z\n 4 ,inf,\n2147483647,0.1,w w\n")
    f.write("semicolon.csv", "1;2,5\n3;\"4;5\"\n")
    f.write("tab.csv", "a\tb\n1\t2\n")
    f.write("one.csv", "x\n1\n\n2\n\"\"\n3\n")
    # MindSpore loses the last row of one column if nothing ends it.
    f.write("unended.csv", "x\n1\n2")
    # What pandas' to_csv writes by default, and a file that Excel saved.
    f.write("unnamed.csv", ",name,label\n0,a.jpg,1\n1,b.jpg,0\n")
    f.write("bom.csv", "\ufeffname,label\na.jpg,1\n")
    kinds = {"bytes": "", "int32": 0, "float32": 0.0}
    cases = (
        ("header", ["header.csv"], ",", [], []),
        ("header_types", ["header.csv"], ",", [], ["bytes", "int32", "float32"]),
        ("header_files", ["header_b.csv", "header.csv"], ",", [], ["bytes", "int32", "float32"]),
        ("header_glob", ["header*.csv"], ",", [], ["bytes", "int32", "float32"]),
        ("quoted", ["quoted.csv"], ",", [], []),
        ("plain", ["plain.csv"], ",", ["i", "f", "s"], ["int32", "float32", "bytes"]),
        ("plain_bytes", ["plain.csv"], ",", ["i", "f", "s"], []),
        ("semicolon", ["semicolon.csv"], ";", ["a", "b"], []),
        ("tab", ["tab.csv"], "\t", [], ["int32", "bytes"]),
        ("one", ["one.csv"], ",", [], []),
        ("unended", ["unended.csv"], ",", [], []),
        ("names", ["one.csv"], ",", ["v"], []),
        ("twice", ["one.csv", "one.csv"], ",", ["v"], []),
        ("unnamed", ["unnamed.csv"], ",", [], []),
        ("bom", ["bom.csv"], ",", [], []),
    )
    for name, files, delim, names, types in cases:
        d = ds.CSVDataset(files, field_delim=delim, column_names=names or None, column_defaults=[kinds[t] for t in types] or None,
                          shuffle=False, num_parallel_workers=1)
        f.case(name, {"files": files, "field_delim": delim, "header": not names, "column_names": names, "column_types": types}, d)
    f.done()


def textfile():
    f = Folder("textfile")
    f.write("b.txt", "first\nsecond\n\n\n third \n\nlast without end")
    f.write("a.txt", "dos\r\n\r\ntab\there\r\ncarriage\rreturn\n\x00zero\n")
    f.write("bom.txt", b"\xef\xbb\xbfmark\n\xe6\x97\xa5\xe6\x9c\xac\n")
    f.write("empty.txt", "")
    f.write("sub/c.txt", "c1\nc2\n")
    f.write("sub/deep/d.txt", "d1\n")
    f.write(".hidden.txt", "hidden\n")
    f.write("[x].txt", "brackets\n")
    f.write("x.txt", "x\n")
    for name, files in (("one", ["b.txt"]), ("dos", ["a.txt"]), ("glob", ["?.txt"]), ("all", ["*.txt"]), ("deep", ["**/*.txt"]), ("listed", ["sub/c.txt", "b.txt", "a.txt"]),
                        ("twice", ["sub/c.txt", "sub/?.txt"]), ("not_a", ["[!a].txt"]), ("range", ["[a-b].txt"]), ("hidden", [".*.txt"]), ("with_empty", ["empty.txt", "x.txt"]), ("folders", ["sub/**"])):
        f.case(name, {"files": files}, ds.TextFileDataset(files, shuffle=False, num_parallel_workers=1))
    f.done()


def main():
    ds.config.set_num_parallel_workers(1)
    for make in (coco, voc, manifest, csv, textfile):
        make()


if __name__ == "__main__":
    main()
