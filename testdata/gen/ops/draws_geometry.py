"""Writes what torchvision's random transforms of geometry draw, as draws.py does.

Run with Python 3.11, torch 2.15.0 and torchvision 0.29.2. Every run gives the same bytes.
"""

import torch
from torchvision import tv_tensors as tv
from torchvision.transforms.v2 import _geometry
from torchvision.transforms import v2

from draws import recorded
from golden import Draws


def rotations():
    d = Draws("random_rotation", "torchvision 0.29.2")
    for degrees, expand in (((-30, 30), False), ((10, 10), False), ((0, 350), True)):
        q = {"degrees": list(degrees), "interpolation": "nearest", "backend": "pillow", "expand": expand, "center": [], "fill": [0]}
        t = v2.RandomRotation(list(degrees), expand=expand)
        d.case(f"{degrees}_{expand}", q, (5, 7), recorded(t, (5, 7), lambda p: [("rotate", {"angle": p["angle"]})]))
    d.write()


def affine(p):
    (tx, ty), (sx, sy) = p["translate"], p["shear"]
    return [("affine", {"angle": p["angle"], "translate_x": tx, "translate_y": ty, "scale": p["scale"], "shear_x": sx, "shear_y": sy})]


def affines():
    d = Draws("random_affine", "torchvision 0.29.2")
    for (h, w), degrees, translate, scale, shear in (
        ((375, 500), (-30, 30), (0.1, 0.3), (0.5, 2.0), (-10, 10, -5, 20)), ((5, 7), (0, 0), (0.5, 0.4), None, None), ((20, 30), (5, 90), None, (1, 1), (-45, 45)),
        ((32, 32), (0, 0), (1.0, 0.0), (0.9, 1.1), None),
    ):
        x = list(shear[:2]) if shear else [0, 0]
        y = list(shear[2:]) if shear and len(shear) == 4 else [0, 0]
        q = {"degrees": list(degrees), "translate_x": (translate or (0, 0))[0], "translate_y": (translate or (0, 0))[1], "scale": list(scale or (1, 1)),
             "shear_x": x, "shear_y": y, "interpolation": "nearest", "backend": "torch", "center": [], "fill": []}
        t = v2.RandomAffine(list(degrees), translate, scale, list(shear) if shear else None)
        d.case(f"{w}x{h}", q, (h, w), recorded(t, (h, w), affine))
    d.write()


def perspectives():
    """The points, which the transform passes on as coefficients alone."""
    d = Draws("random_perspective", "torchvision 0.29.2")
    points = {}
    _geometry._get_perspective_coeffs = lambda start, end: points.update(start=start, end=end)
    flat = lambda k: {f"{k}.{i}": v for i, v in enumerate(v for p in points[k] for v in p)}
    for (h, w), distortion, p in (((375, 500), 0.5, 0.5), ((32, 32), 0.2, 1.0), ((17, 200), 0.9, 1.0), ((4, 5), 0.3, 0.8), ((20, 30), 0.0, 1.0)):
        q = {"probability": p, "distortion": distortion, "interpolation": "bilinear", "backend": "pillow", "fill": [0]}
        t = v2.RandomPerspective(distortion, p)
        d.case(f"{w}x{h}", q, (h, w), recorded(t, (h, w), lambda _: [("perspective", flat("start") | flat("end"))]))
    d.write()


def elastics():
    d = Draws("random_elastic", "torchvision 0.29.2")
    for (h, w), alpha, sigma in (((6, 5), (50, 30), (0, 0)), ((9, 8), (20, 20), (0.5, 0.6))):
        q = {"alpha_x": alpha[0], "alpha_y": alpha[1], "sigma_x": sigma[0], "sigma_y": sigma[1], "interpolation": "bilinear", "fill": [0]}
        v = {"alpha_x": alpha[0], "alpha_y": alpha[1], "sigma_x": sigma[0], "sigma_y": sigma[1]}
        t = v2.ElasticTransform(list(map(float, alpha)), list(map(float, sigma)))
        d.case(f"{w}x{h}", q, (h, w), recorded(t, (h, w), lambda _: [("elastic_noise", v)], n=100))
    d.write()


HOW = {"interpolation": "bilinear", "backend": "torch", "no_antialias": False}


def sized(p):
    return [("resize", {"height": p["size"][0], "width": p["size"][1]})]


def resizes():
    d = Draws("random_resize", "torchvision 0.29.2")
    for least, most in ((10, 20), (5, 6), (200, 481)):
        d.case(f"{least}_{most}", dict(HOW, min_size=least, max_size=most), (20, 30),
               recorded(v2.RandomResize(least, most), (20, 30), lambda p: [("resize", {"edge": p["size"][0]})]))
    d.write()
    d = Draws("random_shortest_size", "torchvision 0.29.2")
    for (h, w), sizes, most in (((375, 500), [640, 672, 704, 736, 768, 800], 1333), ((17, 200), [10, 20, 30], 150), ((3, 2), [7], None), ((32, 32), [9, 40], 20)):
        d.case(f"{w}x{h}", dict(HOW, sizes=sizes, max_size=most or 0), (h, w), recorded(v2.RandomShortestSize(sizes, most), (h, w), sized))
    d.write()
    d = Draws("scale_jitter", "torchvision 0.29.2")
    for (h, w), box, scale in (((375, 500), (1024, 1024), (0.1, 2.0)), ((17, 200), (300, 100), (0.5, 1.5)), ((3, 2), (9, 9), (1.0, 1.0)), ((300, 300), (100, 100), (1.0, 1.0))):
        t = v2.ScaleJitter(box[::-1], scale)  # width and height
        d.case(f"{w}x{h}", dict(HOW, height=box[0], width=box[1], scale=list(scale)), (h, w), recorded(t, (h, w), sized))
    d.write()


def zooms():
    d = Draws("random_zoom_out", "torchvision 0.29.2")

    def convert(p):
        left, top, right, bottom = p["padding"]
        return [("pad", {"top": top, "bottom": bottom, "left": left, "right": right})]

    for (h, w), side, p in (((375, 500), (1.0, 4.0), 0.5), ((32, 32), (1.0, 1.5), 1.0), ((17, 200), (2.0, 2.0), 0.9), ((3, 2), (1.0, 3.0), 1.0)):
        q = {"probability": p, "side": list(side), "fill": [0]}
        d.case(f"{w}x{h}", q, (h, w), recorded(v2.RandomZoomOut(side_range=side, p=p), (h, w), convert))
    d.write()


BOXES = [[20, 30, 220, 230], [300.5, 100.25, 380, 330], [0, 0, 12, 9], [400, 10, 500, 60]]


def iou_crops():
    """The transform takes what it draws from make_params, which gets a list of the columns."""
    d = Draws("random_iou_crop", "torchvision 0.29.2")
    for (h, w), scale, ratio, options, trials in (
        ((375, 500), (0.3, 1.0), (0.5, 2.0), None, 40), ((375, 500), (0.1, 0.9), (0.8, 1.25), [0.0, 0.5], 3), ((33, 47), (0.3, 1.0), (0.5, 2.0), [0.9, 1.0], 20),
    ):
        boxes = BOXES if h > 100 else [[5, 6, 30, 31], [40, 2, 46, 8]]
        t = v2.RandomIoUCrop(*scale, *ratio, options, trials)
        columns = [tv.Image(torch.zeros(3, h, w, dtype=torch.uint8)), tv.BoundingBoxes(torch.tensor(boxes), format="XYXY", canvas_size=(h, w))]
        torch.manual_seed(1)
        drawn = []
        for _ in range(4000):
            p = t.make_params(columns)
            drawn.append([("object_crop", {k: p[k] for k in ("top", "left", "height", "width")})] if p else [])
        q = {"format": "xyxy", "scale": list(scale), "ratio": list(ratio), "options": t.options, "trials": trials}
        d.case(f"{w}x{h}_{trials}", q, (h, w), drawn, boxes=boxes)
    d.write()


if __name__ == "__main__":
    rotations()
    affines()
    perspectives()
    elastics()
    resizes()
    zooms()
    iou_crops()
