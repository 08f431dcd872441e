"""Writes what MindSpore's classes read from the sets that scenes.py makes: mindspore.json in each set's folder.

Needs Python 3.11, MindSpore 2.10.0 and NumPy 2.4.6 (requirements-mindspore.txt). Every run gives the same bytes.
CityscapesDataset writes outlines anew without white space; where they are the JSON of the file, the row has the file here.
"""

import json

import mindspore.dataset as ds

from shared import DATASETS, array, case, encoded, file, write

FILES = ("image", "hr_image", "lr_image")


def value(name, v):
    if name in FILES or v.dtype.kind == "U" and v.ndim == 0:
        return encoded(v.tobytes() if name in FILES else str(v).encode())
    if v.dtype.kind == "U":
        # The source joins the captions of an image by newlines.
        return encoded("\n".join(v.tolist()).encode())
    # MindSpore has -1 of occluded as an unsigned number.
    return array(v.astype("int32") if name == "occluded" else v)


def rows(d):
    names = d.get_col_names()
    return [{n: value(n, v) for n, v in zip(names, r, strict=True)} for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def outlines(name, quality, image, text):
    """The file of an image's outlines, which must be the JSON that MindSpore wrote anew without white space."""
    path, = (p for p in (DATASETS / name / "leftImg8bit").rglob("*.png") if p.read_bytes() == image)
    mode = "gt" + quality.title()
    path = DATASETS / name / mode / path.parent.relative_to(DATASETS / name / "leftImg8bit") / path.name.replace("leftImg8bit.png", mode + "_polygons.json")
    if json.loads(path.read_text()) != json.loads(text):
        raise ValueError(f"{path}: MindSpore has {text}")
    return file(path)


def cityscapes(name):
    for quality, usages in (("fine", ("train", "test", "val", "all")), ("coarse", ("train", "train_extra", "val", "all"))):
        for usage in usages:
            for task in ("instance", "semantic", "polygon", "color"):
                d = ds.CityscapesDataset(str(DATASETS / name), usage=usage, quality_mode=quality, task=task, shuffle=False)
                out = []
                for image, target in d.create_tuple_iterator(num_epochs=1, output_numpy=True):
                    task_value = outlines(name, quality, image.tobytes(), str(target)) if task == "polygon" else encoded(target.tobytes())
                    out.append({"image": encoded(image.tobytes()), "task": task_value})
                yield case(name, {"dir": name, "usage": usage, "quality": quality, "task": task}, out)


def kitti(name):
    for usage in ("train", "test"):
        yield case(name, {"dir": name, "usage": usage}, rows(ds.KITTIDataset(str(DATASETS / name), usage=usage, shuffle=False)))


def widerface(name):
    for usage in ("train", "valid", "all", "test"):
        yield case("wider_face", {"dir": name, "usage": usage}, rows(ds.WIDERFaceDataset(str(DATASETS / name), usage=usage, shuffle=False)))


def flickr(name, token):
    d = ds.FlickrDataset(str(DATASETS / name / "images"), str(DATASETS / name / token), shuffle=False)
    yield case("flickr", {"dir": name + "/images", "annotations": f"../../../testdata/datasets/{name}/{token}"}, rows(d))


def flickr8k(name):
    return flickr(name, "Flickr8k.token.txt")


def flickr30k(name):
    return flickr(name, "results_20130124.token")


def omniglot(name):
    for background in (True, False):
        d = ds.OmniglotDataset(str(DATASETS / name), background=background, shuffle=False)
        yield case(name, {"dir": name, "background": background}, rows(d))


def sbu(name):
    yield case(name, {"dir": name}, rows(ds.SBUDataset(str(DATASETS / name), shuffle=False)))


def div2k(name):
    for usage in ("train", "valid", "all"):
        for downgrade, scales in (("bicubic", (2, 3, 4, 8)), ("unknown", (2, 3, 4)), ("mild", (4,)), ("difficult", (4,)), ("wild", (4,))):
            for scale in scales:
                d = ds.DIV2KDataset(str(DATASETS / name), usage=usage, downgrade=downgrade, scale=scale, shuffle=False)
                yield case(name, {"dir": name, "usage": usage, "downgrade": downgrade, "scale": scale}, rows(d))


def main():
    ds.config.set_num_parallel_workers(1)
    for f in (cityscapes, kitti, widerface, flickr8k, flickr30k, omniglot, sbu, div2k):
        write(f.__name__, "MindSpore 2.10.0", list(f(f.__name__)))


if __name__ == "__main__":
    main()
