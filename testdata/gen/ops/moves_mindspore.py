"""Writes transforms/testdata/moves_mindspore: boxes that MindSpore's WithBBox classes move; the goldens of map_window, and which boxes
BoundingBoxAugment chooses. The place of a crop is read off the
image, whose values are its coordinates. Run with mindspore 2.10.0. Every run gives the same bytes.
"""

import mindspore.dataset as ds
import mindspore.dataset.vision as vision
import numpy as np

from golden import Draws, Golden

H, W = 90, 120


def run(op, image, boxes):
    """What op makes of an image and boxes, which it would overwrite."""
    d = ds.NumpySlicesDataset({"image": [image], "boxes": [boxes.copy()]}, shuffle=False).map(op, ["image", "boxes"])
    for row in d.create_dict_iterator(num_epochs=1, output_numpy=True):
        return row["image"], row["boxes"]


def coordinates(h, w):
    y, x = np.mgrid[:h, :w]
    return np.stack([x, y, x * 0], -1).astype(np.uint8)


def whole(rng, n=20):
    """Boxes of whole pixels as left, top, width and height. None touches the right or lower edge: flipped, it has -0, where MindSpore has 0."""
    a = np.sort(rng.integers(0, W, (n, 2)))
    b = np.sort(rng.integers(0, H, (n, 2)))
    boxes = np.stack([a[:, 0], b[:, 0], a[:, 1] - a[:, 0], b[:, 1] - b[:, 0]], 1)
    return boxes[(boxes[:, 2] > 0) & (boxes[:, 3] > 0)].astype(np.float32)


def main():
    g = Golden("moves", "MindSpore 2.10.0", "moves_mindspore")
    rng = np.random.default_rng(1)
    image = coordinates(H, W)

    def case(name, op, params, boxes, got, size):
        q = {"op": op, "params": params, "height": H, "width": W, "to_height": size[0], "to_width": size[1], "role": "boxes",
             "format": "ltwh", "clamping": "soft"}
        g.columns_case(name, q, [boxes], [got])

    for i in range(6):
        boxes = whole(rng)
        ds.config.set_seed(i)
        _, got = run(vision.RandomHorizontalFlipWithBBox(1.0), image, boxes)
        case(f"horizontal_{i}", "horizontal_flip", {}, boxes, got, (H, W))
        _, got = run(vision.RandomVerticalFlipWithBBox(1.0), image, boxes)
        case(f"vertical_{i}", "vertical_flip", {}, boxes, got, (H, W))
        for h, w in ((45, 60), (180, 240), (60, 50), (33, 77)):
            _, got = run(vision.ResizeWithBBox((h, w)), image, boxes)
            p = {"fit": "exact", "height": h, "width": w, "edge": 0, "max_edge": 0, "multiple": 0, "keep_aspect": False, "size_rule": "truncate",
                 "no_antialias": False, "interpolation": "bilinear", "backend": "opencv"}
            case(f"resize_{i}_{h}x{w}", "resize", p, boxes, got, (h, w))
        for h, w in ((40, 70), (80, 30)):
            crop = vision.RandomCropWithBBox((h, w))
            ds.config.set_seed(i)
            out, kept = run(crop, image, boxes)
            left, top = out[0, 0, :2].astype(int)
            right, bottom = boxes[:, 0] + boxes[:, 2], boxes[:, 1] + boxes[:, 3]
            touched = (boxes[:, 0] <= left + w) & (boxes[:, 1] <= top + h) & (right >= left) & (bottom >= top)
            assert len(kept) == touched.sum()  # the others are dropped
            ds.config.set_seed(i)
            out, got = run(crop, image, boxes[touched])
            assert (out[0, 0, :2] == (left, top)).all()
            case(f"crop_{i}_{h}x{w}", "crop", {"top": int(top), "left": int(left), "height": h, "width": w}, boxes[touched], got, (h, w))
    g.write()


def windows():
    g = Golden("map_window", "MindSpore 2.10.0 BoundingBoxAugment")
    rng = np.random.default_rng(2)
    resized = lambda h, w: {"fit": "exact", "height": h, "width": w, "edge": 0, "max_edge": 0, "multiple": 0, "keep_aspect": False, "size_rule": "truncate",
                            "no_antialias": False, "interpolation": "bilinear", "backend": "opencv"}
    ops = [("invert", {}, vision.Invert()), ("horizontal_flip", {}, vision.HorizontalFlip()), ("posterize", {"bits": 2}, vision.Posterize(2)),
           ("resize", resized(5, 4), vision.Resize((5, 4))), ("resize", resized(21, 9), vision.Resize((21, 9))),
           ("crop", {"top": 1, "left": 1, "height": 2, "width": 3}, vision.Crop((1, 1), (2, 3)))]
    for i in range(6):
        image = rng.integers(0, 256, (20 + 3 * i, 31 - i, 3)).astype(np.uint8)
        for j, (left, top, w, h) in enumerate([(3.7, 4.2, 10.6, 8.9), (0, 0, 31 - i, 20 + 3 * i)]):
            for name, params, op in ops:
                out, _ = run(vision.BoundingBoxAugment(op, 1.0), image, np.array([[left, top, w, h]], np.float32))
                q = {"top": int(top), "left": int(left), "height": int(h), "width": int(w), "ops": [{"op": name, "version": 1, "params": params}]}
                g.case(f"{i}_{j}_{name}_{len(g.cases)}", q, image, out)
    g.write()
    d = Draws("bounding_box_augment", "MindSpore 2.10.0 vision.BoundingBoxAugment")
    image, boxes = np.full((20, 60, 3), 100, np.uint8), [[i * 10, 5, i * 10 + 6, 12] for i in range(4)]
    ltwh = np.array([[x, y, r - x, b - y] for x, y, r, b in boxes], np.float32)
    for p in (0.3, 0.7):
        ds.config.set_seed(1)
        ds.config.set_num_parallel_workers(1)
        n = 4000
        rows = ds.NumpySlicesDataset({"image": np.repeat(image[None], n, 0), "boxes": np.repeat(ltwh[None], n, 0)}, shuffle=False)
        rows = rows.map(vision.BoundingBoxAugment(vision.Invert(), p), ["image", "boxes"]).create_dict_iterator(num_epochs=1, output_numpy=True)
        drawn = [[("map_window", {})] * sum(int(r["image"][8, x + 2, 0] != 100) for x, *_ in boxes) for r in rows]
        d.case(f"{p}", {"ops": [{"op": "invert", "version": 1, "params": {}}], "probability": p, "format": "xyxy"}, (20, 60), drawn, boxes=boxes)
    d.write()


if __name__ == "__main__":
    main()
    windows()
