"""The small sets that scenes.py makes: files in the formats of the real ones, in testdata/datasets."""

import io
import json
import shutil

import numpy as np
from PIL import Image

from shared import DATASETS

rng = np.random.Generator(np.random.PCG64(20260404))
count = 0


def source(name):
    """The name of a set's source, where it is not that of its folder."""
    return {"flickr8k": "flickr", "flickr30k": "flickr", "widerface": "wider_face"}.get(name, name)


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


def cityscapes():
    d = "cityscapes/"
    parts = {"train": ["ulm/ulm_000001_000019", "aachen/aachen_000173_000019", "aachen/aachen_000002_000019"], "val": ["lindau/lindau_000000_000019"],
             "test": ["bonn/bonn_000000_000019"], "train_extra": ["erfurt/erfurt_000001_000019", "augsburg/augsburg_000000_000020"]}
    for part, ids in parts.items():
        for i in ids:
            picture(f"{d}leftImg8bit/{part}/{i}_leftImg8bit.png", "PNG")
            for mode in ["gtFine"] * (part != "train_extra") + ["gtCoarse"] * (part != "test"):
                for kind in ("instanceIds", "labelIds", "color"):
                    picture(f"{d}{mode}/{part}/{i}_{mode}_{kind}.png", "PNG", "RGB" if kind == "color" else "L")
                objects = [{"label": "café" if k else "road", "polygon": [[k, 769.5], [290, int(i[-1]) + k]]} for k in range(2)]
                put(f"{d}{mode}/{part}/{i}_{mode}_polygons.json", json.dumps({"imgHeight": 1024, "imgWidth": 2048, "objects": objects}, indent=4))


def kitti():
    d = "kitti/"
    rows = {"000003": ["Car 0.00 0 1.55 614.24 181.78 727.31 284.77 1.57 1.73 4.15 1.00 1.75 13.22 1.62", "DontCare -1 -1 -10 5.00 229.89 214.12 367.61 -1 -1 -1 -1000 -1000 -1000 -10"],
            "000000": ["Pedestrian 0.00 0 -0.20 712.40 143.00 810.73 307.92 1.89 0.48 1.20 1.84 1.47 8.41 0.01"],
            "000002": ["Cyclist 0.12 3 -1.65 676.60 163.95 688.98 193.93 1.86 0.60 2.02 4.59 1.32 45.84 -1.55", "Van 1.0 2 0.5 1 2 3.5 4.25 1 2 3 4 5 6 7", "Car 0 1 2e-1 1 2 3 4 5 6 7 8 9 10 11"],
            "000001": [f"{c} 0.5 1 {k} 1 2 3 4 5 6 7 8 9 10 11" for k, c in enumerate(("Person_sitting", "Tram", "Misc", "Truck"))]}
    for i, lines in rows.items():
        picture(f"{d}data_object_image_2/training/image_2/{i}.png", "PNG")
        put(f"{d}data_object_label_2/training/label_2/{i}.txt", "".join(line + "\n" for line in lines))
    for i in ("000001", "000000"):
        picture(f"{d}data_object_image_2/testing/image_2/{i}.png", "PNG")


def widerface():
    d = "widerface/"
    parts = {"train": [("0--Parade/0_Parade_a_1_849", [(449, 330, 122, 149, 0, 0, 0, 0, 0, 0)]), ("0--Parade/0_Parade_b", [(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)]),
                       ("1--Handshaking/1_H", [(78, 221, 7, 8, 2, 1, 1, 2, 1, 1), (78, 238, 14, 17, 2, 0, 0, 0, 0, 0), (113, 212, 11, 15, 1, 0, 1, 0, 1, 0)])],
             "val": [("0--Parade/0_Y", [(1, 2, 3, 4, 0, 1, 0, 1, 0, 1), (5, 6, 7, 8, 1, 0, 1, 2, 1, 0)]), ("1--Handshaking/1_Z", [(9, 8, 7, 6, 0, 0, 0, 0, 0, 0)])]}
    for part, rows in parts.items():
        text = ""
        for name, boxes in rows:
            picture(f"{d}WIDER_{part}/images/{name}.jpg")
            # A picture without faces has the count 0 and a row of zeros.
            text += f"{name}.jpg\n{len(boxes) if any(boxes[0]) else 0}\n" + "".join(" ".join(map(str, b)) + " \n" for b in boxes)
        put(f"{d}wider_face_split/wider_face_{part}_bbx_gt.txt", text)
    test = ["0--Parade/0_Parade_t.jpg", "0--Parade/0_Parade_s.jpg"]
    for f in test:
        picture(f"{d}WIDER_test/images/{f}")
    put(d + "wider_face_split/wider_face_test_filelist.txt", "".join(f + "\n" for f in test))


def flickr():
    for d, images, name in (("flickr8k", ["1002674143_1b742ab4b8", "1000268201_693b08cb0e", "99_aa"], "Flickr8k.token.txt"), ("flickr30k", ["1000092795", "10002456"], "results_20130124.token")):
        text = ""
        for k, i in enumerate(images):
            picture(f"{d}/images/{i}.jpg")
            captions = [f"A child n°{k} in a dress &c. is climbing ({n}) .".replace("child", ("child", "girl", "kid", "dog's", '"boy"')[n]) for n in range(5)]
            text += "".join(f"{i}.jpg#{n}\t{c}\n" for n, c in enumerate(captions))
        put(f"{d}/{name}", text)


def omniglot():
    d = "omniglot/"
    for i in ("images_background/Greek/character02/0394_01", "images_background/Greek/character01/0393_02", "images_background/Greek/character01/0393_01",
              "images_background/Balinese/character01/0108_01", "images_evaluation/Angelic/character05/0969_01", "images_evaluation/Angelic/character03/0967_02"):
        picture(f"{d}{i}.png", "PNG", "L")


def sbu():
    d = "sbu/"
    urls = ["http://static.flickr.com/2723/4385058960_b0f291553e.jpg", "http://static.flickr.com/3203/missing.jpg", "http://static.flickr.com/4017/4288501732_8a0a9ff48d.jpg"]
    for folder, name in ((d, lambda u: "sbu_images/" + u[23:].replace("/", "_")), (d + "torchvision/dataset/", lambda u: u.rsplit("/", 1)[1])):
        put(folder + "SBU_captioned_photo_dataset_urls.txt", "".join(u + "\n" for u in urls))
        put(folder + "SBU_captioned_photo_dataset_captions.txt", "A wooden chair in the living room \nNo photo\nThe Egyptian cat – statue by the floor clock\n")
        for u in (urls[0], urls[2]):
            picture(folder + name(u))


def div2k():
    d = "div2k/"
    for part, ids in (("train", ("0001", "0002", "0010")), ("valid", ("0802", "0801"))):
        for i in ids:
            picture(f"{d}DIV2K_{part}_HR/{i}.png", "PNG")
            for kind, scales in (("bicubic", (2, 3, 4)), ("unknown", (2, 3, 4))):
                for s in scales:
                    picture(f"{d}DIV2K_{part}_LR_{kind}/X{s}/{i}x{s}.png", "PNG")
            for kind in ("mild", "difficult", "wild"):
                picture(f"{d}DIV2K_{part}_LR_{kind}/{i}x4{kind[0]}.png", "PNG")
            picture(f"{d}DIV2K_{part}_LR_x8/{i}x8.png", "PNG")


FOLDERS = ["cityscapes", "kitti", "widerface", "flickr8k", "flickr30k", "omniglot", "sbu", "div2k"]


def make():
    for name in FOLDERS:
        shutil.rmtree(DATASETS / name, ignore_errors=True)
    for f in (cityscapes, kitti, widerface, flickr, omniglot, sbu, div2k):
        f()
