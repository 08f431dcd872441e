"""The small sets that labelled.py makes: files in the formats of the real ones, in testdata/datasets."""

import bz2
import csv
import gzip
import io
import json
import shutil
import struct

import numpy as np
from PIL import Image
from scipy.io import savemat

from shared import DATASETS

rng = np.random.Generator(np.random.PCG64(20260303))
count = 0

FLOWERS = 9  # images; the real set has 8189


def source(name):
    """The name of a set's source, where it is not that of its folder."""
    return {"oxfordpet": "oxford_pet", "fgvcaircraft": "fgvc_aircraft", "renderedsst2": "rendered_sst2", "stanfordcars": "stanford_cars"}.get(name, name)


def put(path, b):
    path = DATASETS / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b.encode() if isinstance(b, str) else b)


def picture(path, format="JPEG", mode="RGB"):
    """A file unlike all others."""
    global count
    count += 1
    b = io.BytesIO()
    a = rng.integers(0, 256, (3 + count % 3, 4 + count % 5) + ((3,) if mode == "RGB" else ())).astype(np.uint8)
    Image.fromarray(a, mode).save(b, format)
    put(path, b.getvalue())


def mat(path, **kw):
    """A MATLAB file. Its text header has a date, which is replaced."""
    b = io.BytesIO()
    options = {k: kw.pop(k) for k in ("do_compression", "oned_as", "long_field_names") if k in kw}
    savemat(b, kw, **({"do_compression": True} | options))
    b = bytearray(b.getvalue())
    b[:116] = b"MATLAB 5.0 MAT-file".ljust(116)
    put(path, bytes(b))


def pattern(n, shape):
    """Bytes that compress well and show exchanged axes."""
    i = np.arange(n * int(np.prod(shape)))
    return ((i // 7 * 3 + i % 5 + i // 96 * 11) % 251).astype(np.uint8).reshape(n, *shape)


def food101():
    d = "food101/"
    train = {"waffles": ["waffles/20", "waffles/3"], "apple_pie": ["apple_pie/1005649"]}
    test = {"apple_pie": ["apple_pie/7", "apple_pie/11"], "waffles": ["waffles/100"], "crème_brûlée": ["crème_brûlée/5"]}
    for name, part in (("train", train), ("test", test)):
        put(f"{d}meta/{name}.json", json.dumps(part, indent=1, ensure_ascii=name == "train"))
        put(f"{d}meta/{name}.txt", "".join(f"{i}\n" for c in sorted(part) for i in part[c]))
        for c in part.values():
            for i in c:
                picture(f"{d}images/{i}.jpg")
    put(d + "meta/classes.txt", "apple_pie\ncrème_brûlée\nwaffles\n")


def flowers102():
    d = "flowers102/"
    for i in range(1, FLOWERS + 1):
        picture(f"{d}jpg/image_{i:05d}.jpg")
        picture(f"{d}segmim/segmim_{i:05d}.jpg")
    mat(d + "imagelabels.mat", labels=np.array([[77, 1, 102, 3, 3, 50, 1, 2, 9]], np.uint8))
    mat(d + "setid.mat", trnid=np.array([[5, 1, 9]], np.uint16), valid=np.array([[2, 3]], np.uint16), tstid=np.array([[8, 4, 6, 7]], np.uint16))


def caltech101():
    d = "caltech101/"
    for c, a, n in (("Faces", "Faces_2", 2), ("accordion", "accordion", 3), ("airplanes", "Airplanes_Side_2", 1), ("BACKGROUND_Google", None, 1)):
        for i in range(1, n + 1):
            picture(f"{d}101_ObjectCategories/{c}/image_{i:04d}.jpg")
            if a:
                k = 3 + i
                contour = rng.standard_normal((2, k)) * 50 if i < 3 else rng.integers(0, 200, (2, k)).astype(np.float64)
                mat(f"{d}Annotations/{a}/annotation_{i:04d}.mat", do_compression=i % 2 == 0, box_coord=np.array([[1, 9, 2, 8]], np.uint16), obj_contour=contour)


def caltech256():
    d = "caltech256/256_ObjectCategories/"
    for k, (c, n) in enumerate((("001.ak47", 3), ("002.american-flag", 1), ("003.backpack", 2))):
        for i in range(1, n + 1):
            picture(f"{d}{c}/{k + 1:03d}_{i:04d}.jpg")
    put(d + "002.american-flag/RENAME2", "not an image\n")


def dtd():
    d = "dtd/"
    parts = {"train1": ["zigzagged/zigzagged_0002.jpg", "banded/banded_0002.jpg", "banded/banded_0005.jpg"], "val1": ["banded/banded_0004.jpg"],
             "test1": ["zigzagged/zigzagged_0001.jpg", "cracked/cracked_0003.jpg"], "train10": ["cracked/cracked_0003.jpg", "banded/banded_0004.jpg"]}
    for i in sorted({i for p in parts.values() for i in p}):
        picture(d + "images/" + i)
    for name, p in parts.items():
        put(f"{d}labels/{name}.txt", "".join(i + "\n" for i in p))


def eurosat():
    for c, n in (("Forest", 2), ("AnnualCrop", 3)):
        for i in range(n):
            picture(f"eurosat/2750/{c}/{c}_{i * 9 + 1}.jpg")


def oxfordpet():
    d = "oxfordpet/"
    parts = {"trainval": [("Abyssinian_100", 1, 1, 1), ("american_bulldog_10", 2, 2, 1), ("Abyssinian_2", 1, 1, 1), ("Egyptian_Mau_7", 3, 1, 5)],
             "test": [("american_bulldog_11", 2, 2, 1), ("Abyssinian_201", 1, 1, 1)]}
    for name, rows in parts.items():
        put(f"{d}annotations/{name}.txt", "".join(" ".join(map(str, r)) + "\n" for r in rows))
        for r in rows:
            picture(f"{d}images/{r[0]}.jpg")
            picture(f"{d}annotations/trimaps/{r[0]}.png", "PNG", "L")


def svhn():
    for name, n, packed in (("train", 3, True), ("test", 2, False), ("extra", 2, True)):
        x = rng.integers(0, 256, (5, 7, 3, n)).astype(np.uint8)
        y = np.array([[10], [1], [9]], np.uint8)[:n]
        mat(f"svhn/{name}_32x32.mat", do_compression=packed, X=x, y=y)


def stl10():
    d = "stl10/"
    for name, n, labels in (("train", 3, [10, 1, 4]), ("test", 2, [2, 9]), ("unlabeled", 2, None)):
        put(f"{d}{name}_X.bin.gz", gzip.compress(pattern(n, (3, 96, 96)).tobytes(), 9, mtime=0))
        if labels:
            put(f"{d}{name}_y.bin", bytes(labels))
    put(d + "class_names.txt", "airplane\nbird\ncar\ncat\ndeer\ndog\nhorse\nmonkey\nship\ntruck\n")
    put(d + "fold_indices.txt", "".join(f"{i % 3} {(i + 2) % 3} \n" for i in range(10)))


def places365():
    d = "places365/"
    put(d + "categories_places365.txt", "/a/airfield 0\n/a/apartment_building/outdoor 1\n/z/zen_garden 2\n")
    parts = {"train_standard": ["/z/zen_garden/00000001.jpg 2", "/a/airfield/00000010.jpg 0", "/a/apartment_building/outdoor/00000002.jpg 1"],
             "train_challenge": ["/a/airfield/00000003.jpg 0", "/a/airfield/00000001.jpg 0"],
             "val": ["Places365_val_00000001.jpg 1", "Places365_val_00000002.jpg 2"], "test": ["Places365_test_00000001.jpg"]}
    folders = {"train_standard": ("data_256_standard", "data_large_standard"), "train_challenge": ("data_256_challenge",), "val": ("val_256", "val_large"), "test": ("test_256",)}
    for name, lines in parts.items():
        put(f"{d}places365_{name}.txt", "".join(line + "\n" for line in lines))
        for f in folders[name]:
            for line in lines:
                picture(f"{d}{f}/{line.split()[0].lstrip('/')}")


def gtsrb():
    d = "gtsrb/"
    for c, n in (("00000", 2), ("00001", 1), ("00002", 2)):
        for i in range(n):
            picture(f"{d}GTSRB/Training/{c}/00000_{i:05d}.ppm", "PPM")
        put(f"{d}GTSRB/Training/{c}/GT-{c}.csv", "Filename;Width;Height\n")
    rows = [("00002.ppm", 2), ("00000.ppm", 41), ("00001.ppm", 0)]
    for r, _ in rows:
        picture(f"{d}GTSRB/Final_Test/Images/{r}", "PPM")
    put(d + "GT-final_test.csv", "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\r\n" + "".join(f"{f};53;54;6;5;48;49;{c}\r\n" for f, c in rows))


def fgvcaircraft():
    d = "fgvcaircraft/data/"
    names = {"variant": ["707-320", "A300B4", "Spitfire"], "family": ["A300", "Boeing 707", "Spitfire"], "manufacturer": ["Airbus", "Boeing", "Supermarine"]}
    for f, k in (("variants", "variant"), ("families", "family"), ("manufacturers", "manufacturer")):
        put(f"{d}{f}.txt", "".join(n + "\n" for n in names[k]))
    of = {"1025794": (0, 1, 1), "0001": (1, 0, 0), "1340192": (2, 2, 2), "0056978": (1, 0, 0)}
    parts = {"train": ["1025794", "0001"], "val": ["1340192"], "trainval": ["1025794", "1340192", "0001"], "test": ["0056978"]}
    for i in sorted(of):
        picture(f"{d}images/{i}.jpg")
    for part, ids in parts.items():
        for k, level in enumerate(("variant", "family", "manufacturer")):
            put(f"{d}images_{level}_{part}.txt", "".join(f"{i} {names[level][of[i][k]]}\n" for i in ids))


def sun397():
    d = "sun397/"
    put(d + "ClassName.txt", "/a/abbey\n/a/apartment_building/outdoor\n/z/zoo\n")
    for i in ("a/abbey/sun_aaalbzqrimafwbiv.jpg", "a/abbey/sun_aaaulhwrhqgejnyt.jpg", "a/apartment_building/outdoor/sun_aaa.jpg", "z/zoo/sun_b.jpg"):
        picture(d + i)
    put(d + "README.txt", "no image\n")


def country211():
    for part, files in (("train", ("ZW/2", "AD/3", "AD/10")), ("valid", ("AD/1", "ZW/1")), ("test", ("ZW/3", "AD/4"))):
        for f in files:
            picture(f"country211/{part}/{f}.jpg")


def renderedsst2():
    for part in ("train", "valid", "test"):
        for f in ("negative/1", "negative/0", "positive/2"):
            picture(f"renderedsst2/{part}/{f}.png", "PNG")


def stanfordcars():
    d = "stanfordcars/"

    def annotations(path, rows):
        kind = [(k, object) for k in ("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname")]
        a = np.empty((1, len(rows)), kind)
        for i, (c, f) in enumerate(rows):
            a[0, i] = (np.uint8(39), np.uint16(300 + i), np.uint8(5), np.uint16(7), np.uint8(c), f)
        mat(path, annotations=a)

    names = np.empty((1, 3), object)
    names[0] = ["AM General Hummer SUV 2000", "Acura RL Sedan 2012", "Volkswagen Käfer 1991"]
    mat(d + "devkit/cars_meta.mat", class_names=names)
    train, test = [(3, "00001.jpg"), (1, "00002.jpg"), (3, "00004.jpg")], [(2, "00001.jpg"), (1, "00003.jpg")]
    annotations(d + "devkit/cars_train_annos.mat", train)
    annotations(d + "cars_test_annos_withlabels.mat", test)
    for part, rows in (("train", train), ("test", test)):
        for _, f in rows:
            picture(f"{d}cars_{part}/{f}")


def imagenette():
    for part, files in (("train", ("n03888257/n03888257_1", "n01440764/n01440764_10", "n01440764/ILSVRC2012_val_2")), ("val", ("n01440764/x", "n03888257/y"))):
        for f in files:
            picture(f"imagenette/{part}/{f}.JPEG")


def imagenet():
    d = "imagenet/"
    synsets = [(2, "n02119022", "red fox, Vulpes vulpes", 0), (1, "n02119789", "kit fox, Vulpes macrotis", 0), (3, "n01440764", "tench, Tinca tinca", 0), (4, "n00001740", "entity", 3)]
    kind = [(k, object) for k in ("ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children", "wordnet_height", "num_train_images")]
    a = np.empty((len(synsets), 1), kind)
    for i, (n, w, words, children) in enumerate(synsets):
        a[i, 0] = (np.uint16(n), w, words, "a gloss", np.uint8(children), np.arange(children, dtype=np.uint16)[None], np.uint8(0), np.uint16(1300))
    mat(d + "ILSVRC2012_devkit_t12/data/meta.mat", synsets=a)
    for f in ("train/n02119789/n02119789_1", "train/n01440764/n01440764_2", "train/n01440764/n01440764_10", "train/n02119022/n02119022_3",
              "val/n02119789/ILSVRC2012_val_00000002", "val/n01440764/ILSVRC2012_val_00000001", "val/n02119022/ILSVRC2012_val_00000003"):
        picture(f"{d}{f}.JPEG")


def inaturalist():
    d = "inaturalist/"
    for f in ("00000_Animalia_Arthropoda_Insecta_Coleoptera_Cleridae_Trichodes_apiarius/b", "00000_Animalia_Arthropoda_Insecta_Coleoptera_Cleridae_Trichodes_apiarius/a",
              "00001_Animalia_Chordata_Aves_Passeriformes_Paridae_Parus_major/c", "00002_Plantae_Tracheophyta_Magnoliopsida_Fagales_Fagaceae_Quercus_robur/d"):
        picture(f"{d}2021_train/{f}.jpg")
    for f in ("Aves/Parus major/1", "Aves/Turdus merula/2", "Plantae/Quercus robur/3"):
        picture(f"{d}2017/{f}.jpg")
    for f in ("Aves/2/1", "Aves/0/2", "Plantae/1/3", "Plantae/1/0"):
        picture(f"{d}2018/{f}.jpg")


def lfw():
    d = "lfw/"
    people = [("Aaron_Eckhart", 1), ("Zoran_Djindjic", 4), ("Élodie_Bouchez", 2)]
    put(d + "lfw-names.txt", "".join(f"{n}\t{k}\n" for n, k in people))
    for n, k in people:
        for i in range(1, k + 1):
            picture(f"{d}lfw_funneled/{n}/{n}_{i:04d}.jpg")
    a, z, e = (n for n, _ in people)
    put(d + "people.txt", f"2\n2\n{z}\t2\n{a}\t1\n1\n{e}\t2\n")
    put(d + "peopleDevTrain.txt", f"2\n{a}\t1\n{z}\t3\n")
    put(d + "peopleDevTest.txt", f"1\n{e}\t2\n")
    put(d + "pairs.txt", f"2\t1\n{z}\t1\t3\n{a}\t1\t{e}\t2\n{e}\t1\t2\n{z}\t4\t{a}\t1\n")
    put(d + "pairsDevTrain.txt", f"2\n{z}\t1\t4\n{e}\t2\t1\n{a}\t1\t{z}\t2\n{e}\t1\t{z}\t3\n")
    put(d + "pairsDevTest.txt", f"1\n{z}\t2\t3\n{e}\t1\t{a}\t1\n")


def clevr():
    d = "clevr/"
    for part, counts in (("train", (3, 0, 10)), ("val", (1,)), ("test", (2, 2))):
        scenes = []
        for i, n in enumerate(counts):
            f = f"CLEVR_{part}_{i:06d}.png"
            picture(f"{d}images/{part}/{f}", "PNG")
            scenes.append({"image_index": i, "objects": [{"color": "red", "3d_coords": [1.5, k, 0.7]} for k in range(n)], "image_filename": f, "relationships": {"left": [[]]}})
        if part != "test":
            put(f"{d}scenes/CLEVR_{part}_scenes.json", json.dumps({"info": {"version": "1.0"}, "scenes": scenes[::-1]}))


def fer2013():
    def pixels(k):
        return " ".join(str(v) for v in (np.arange(48 * 48) * (k + 1) // 7 % 10 + (np.arange(48 * 48) == k) * 245).tolist())

    rows = [(4, "Training"), (0, "PublicTest"), (6, "Training"), (2, "PrivateTest")]
    for name, head, keys in (("fer", ["emotion", "pixels", "Usage"], lambda i, e, u: [e, pixels(i), u]), ("icml", ["emotion", " Usage", " pixels"], lambda i, e, u: [e, u, pixels(i + 9)])):
        out = io.StringIO()
        w = csv.writer(out)
        w.writerow(head)
        for i, (e, u) in enumerate(rows):
            w.writerow(keys(i, e, u))
        put({"fer": "fer2013/fer/fer2013.csv", "icml": "fer2013/icml/icml_face_data.csv"}[name], out.getvalue())
    put("fer2013/challenge/train.csv", "emotion,pixels\n" + "".join(f'{e},"{pixels(20 + e)}"\n' for e in (3, 5)))
    put("fer2013/challenge/test.csv", f'pixels\n"{pixels(30)}"\n')


def usps():
    for name, labels in (("usps", (10, 1, 7)), ("usps.t", (2, 9))):
        text = ""
        for label in labels:
            v = np.round(rng.uniform(-1, 1, 256), 6)
            v[:4] = (-1, 1, 0, -0.0078431)
            text += f"{label} " + " ".join(f"{i + 1}:{x:.7g}" for i, x in enumerate(v.tolist())) + " \n"
        put(f"usps/{name}.bz2", bz2.compress(text.encode()))
        put(f"usps/{name}", text)


def semeion():
    text = ""
    for label in (0, 9, 3):
        text += " ".join(f"{v:.4f}" for v in rng.integers(0, 2, 256).tolist()) + " " + " ".join("1" if k == label else "0" for k in range(10)) + " \n"
    put("semeion/semeion.data", text)


def qmnist():
    def idx(a, kind):
        return bytes([0, 0, kind, a.ndim]) + b"".join(int(n).to_bytes(4, "big") for n in a.shape) + a.astype(a.dtype.newbyteorder(">")).tobytes()

    for name, n, pack in (("qmnist-train", 3, True), ("qmnist-test", 2, False), ("xnist", 2, False)):
        labels = rng.integers(0, 1000, (n, 8)).astype(np.int32)
        labels[:, 0] = [9, 0, 4][:n]
        for kind, b in (("images-idx3-ubyte", idx(rng.integers(0, 256, (n, 28, 28)).astype(np.uint8), 8)), ("labels-idx2-int", idx(labels, 12))):
            put(f"qmnist/{name}-{kind}" + (".gz" if pack else ""), gzip.compress(b, 9, mtime=0) if pack else b)


def big_endian():
    """An array of numbers from 1 to 6 (2, 3) and a text, with the other order of bytes."""

    def element(kind, data):
        return struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    def matrix(cls, dims, name, data):
        return element(14, element(6, struct.pack(">II", cls, 0)) + element(5, struct.pack(f">{len(dims)}i", *dims)) + element(1, name) + data)

    small = struct.pack(">HH", 4, 3) + struct.pack(">hh", 7, -2)  # a short element: four bytes of int16
    return (b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + matrix(6, (2, 3), b"numbers", element(3, struct.pack(">6h", 1, 4, 2, 5, 3, 6)))
            + matrix(10, (1, 2), b"short", small) + matrix(4, (1, 3), b"text", element(17, "h\u00e9\u65e5".encode("utf-16-be"))))


def matfiles():
    """MATLAB files with every kind of array that dataset/sets/internal/matfile reads."""
    cells = np.empty((2, 2), object)
    cells[0, 0], cells[1, 0], cells[0, 1], cells[1, 1] = "text", np.arange(3, dtype=np.int32)[None], np.zeros((0, 0)), np.array([[1.5]])
    inner = np.empty((1, 2), [("a", object), ("long_name", object)])
    inner[0, 0], inner[0, 1] = (np.uint8(1), "x"), (np.float64(2.25), cells)
    arrays = {t: (np.arange(6).reshape(2, 3) * 40 - 90).astype(t) for t in ("int8", "int16", "int32", "int64", "float32", "float64")}
    arrays |= {t: (np.arange(12).reshape(3, 2, 2) * 23).astype(t) for t in ("uint8", "uint16", "uint32", "uint64")}
    arrays |= {"big": np.array([[2**40, -3]], np.int64), "logical": np.array([[True, False]]), "nan": np.array([[np.nan, np.inf, -0.0]]),
               "text": "h\u00e9llo \u65e5", "empty_text": "", "empty": np.zeros((0, 3)), "cells": cells, "structure": inner}
    mat("matfile/packed.mat", do_compression=True, **arrays)
    mat("matfile/plain.mat", do_compression=False, **arrays)
    put("matfile/big_endian.mat", big_endian())


SETS = [food101, flowers102, caltech101, caltech256, dtd, eurosat, oxfordpet, svhn, stl10, places365, gtsrb, fgvcaircraft, sun397, country211, renderedsst2,
        stanfordcars, imagenette, imagenet, inaturalist, lfw, clevr, fer2013, usps, semeion, qmnist]


def make():
    for f in SETS:
        other = DATASETS / f.__name__ / "mindspore.json"  # by labelled_mindspore.py
        kept = other.read_bytes() if other.exists() else None
        shutil.rmtree(DATASETS / f.__name__, ignore_errors=True)
        f()
        if kept:
            other.write_bytes(kept)
    shutil.rmtree(DATASETS / "matfile", ignore_errors=True)
    matfiles()
