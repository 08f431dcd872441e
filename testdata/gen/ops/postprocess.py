"""Writes the goldens of the ops that map a model's outputs back to the original image, and of graphs of them.

The references are the post_process_* methods of transformers 5.23.0 and
ultralytics 8.4.190's utils.ops, run on random outputs with torch 2.15.0 and two
threads. Run with Python 3.11 on x86-64 with AVX2. Every run gives the same
bytes. Takes no arguments.
"""

import math
import os
import pathlib
from types import SimpleNamespace

os.environ.setdefault("YOLO_OFFLINE", "true")

import numpy as np
import torch
import torch.nn.functional as F
from torchvision.transforms.v2.functional import convert_bounding_box_format
from transformers import (
    BeitImageProcessor, DetrImageProcessor, DPTImageProcessor, Owlv2ImageProcessor, RTDetrImageProcessor, SamImageProcessor,
    SegformerImageProcessor, SuperPointImageProcessor,
)
from transformers.image_transforms import center_to_corners_format
from ultralytics.utils import ops

from golden import Golden

torch.set_num_threads(2)
torch.manual_seed(0)

GRAPHS = pathlib.Path(__file__).resolve().parents[3] / "datagraph" / "testdata"
HF = "transformers 5.23.0"
UL = "ultralytics 8.4.190"
FAR = (1 << 24, 1 << 24)
# (height, width) of original images, and sizes of the letterboxed one.
SIZES = [(480, 640), (1, 1), (1, 5000), (5000, 1), (37, 1000), (1080, 1919), (640, 640), (2, 3)]
BOXED = [(640, 640), (384, 640), (32, 640), (640, 32), (320, 192)]


def rand(*shape):
    return torch.rand(*shape)


def inputs(n, h, w, values=4):
    """n rows of pixels, some outside of an image of h x w."""
    a = torch.rand(n, values) * 1.4 - 0.2
    a[:, 0::2] *= w
    a[:, 1::2] *= h
    return a


def size(*v, dtype=np.int64):
    return np.array(v, dtype)


def convert_boxes():
    g = Golden("convert_boxes", f"{HF} center_to_corners_format; {UL} utils.ops; torchvision 0.29.2 convert_bounding_box_format")
    kinds = {
        ("cxcywh", "xyxy"): ops.xywh2xyxy, ("xyxy", "cxcywh"): ops.xyxy2xywh, ("cxcywh", "ltwh"): ops.xywh2ltwh,
        ("xyxy", "ltwh"): ops.xyxy2ltwh, ("ltwh", "cxcywh"): ops.ltwh2xywh, ("ltwh", "xyxy"): ops.ltwh2xyxy,
    }
    special = torch.tensor([[0.0, -0.0, 0.0, -0.0], [3e38, 1, 3e38, 1], [math.nan, math.inf, 1, 2], [1e-45, 1e-45, 3e-45, 1e-45]])
    for (a, b), f in kinds.items():
        p = {"from": a, "to": b, "chained": False}
        tv = lambda x: convert_bounding_box_format(x, *({"ltwh": "XYWH"}.get(f, f.upper()) for f in (a, b)))
        for name, x in (("boxes", rand(300, 4)), ("pixels", inputs(50, 1080, 1920)), ("none", torch.zeros(0, 4)), ("special", special)):
            g.columns_case(f"{a}_{b}_{name}", p, [x.numpy()], [f(x.clone()).numpy()])
            g.columns_case(f"{a}_{b}_{name}_torchvision", p | {"chained": True}, [x.numpy()], [tv(x.clone()).numpy()])
        x = rand(2, 5, 6)
        g.columns_case(f"{a}_{b}_longer", p, [x.numpy()], [torch.cat([f(x[..., :4].clone()), x[..., 4:]], -1).numpy()])
    x = rand(2, 100, 4)
    g.columns_case("detr", {"from": "cxcywh", "to": "xyxy", "chained": False}, [x.numpy()], [center_to_corners_format(x).numpy()])
    g.write()


def detections(n, queries=100, classes=92):
    return SimpleNamespace(logits=torch.randn(n, queries, classes), pred_boxes=rand(n, queries, 4))


def scale_coords():
    g = Golden("scale_coords", f"{HF} post_process_object_detection of DETR, RT-DETR, Owlv2 and post_process_keypoint_detection of SuperPoint; {UL} scale_boxes, scale_coords")
    q = lambda format, **kw: {"format": format, "divide": False, "larger": False} | kw
    sizes = SIZES[:4]
    o = detections(len(sizes))
    corners = center_to_corners_format(o.pred_boxes)
    stack = lambda l: np.stack([r["boxes"].numpy() for r in l])
    for name, p in (("detr", DetrImageProcessor()), ("owlv2", Owlv2ImageProcessor())):
        for kind, target in (("list", sizes), ("tensor", torch.tensor(sizes))):
            want = stack(p.post_process_object_detection(o, threshold=-1, target_sizes=target))
            g.columns_case(f"{name}_{kind}", q("xyxy", larger=name == "owlv2"), [corners.numpy(), np.array(sizes)], [want])
    one = SimpleNamespace(logits=o.logits[:1], pred_boxes=o.pred_boxes[:1])
    want = DetrImageProcessor().post_process_object_detection(one, threshold=-1, target_sizes=[(427, 641)])[0]["boxes"]
    for dt in (np.int32, np.int64, np.float32):
        g.columns_case(f"detr_{dt.__name__}", q("xyxy"), [corners[0].numpy(), size(427, 641, dtype=dt)], [want.numpy()])
    none = DetrImageProcessor().post_process_object_detection(detections(1, 0), threshold=-1, target_sizes=[(3, 4)])[0]["boxes"]
    g.columns_case("detr_none", q("xyxy"), [np.zeros((0, 4), np.float32), size(3, 4)], [none.numpy()])
    for h, w in SIZES:
        for i, gain in enumerate([(0.5, 0.5), (640 / h, 640 / w), (0.1, 1 / 3)]):
            x = rand(20, 6) * 1000
            want = ops.scale_boxes((1, 1), x.clone(), FAR, (gain, (0, 0)), padding=False)
            want = torch.cat([ops.scale_boxes((1, 1), x[:, :4].clone(), FAR, (gain, (0, 0)), padding=False), x[:, 4:]], 1)
            scale = np.array(gain, np.float32)
            g.columns_case(f"divide_xyxy_{h}x{w}_{i}", q("xyxy", divide=True), [x.numpy(), scale], [want.numpy()])
            want = torch.cat([ops.scale_boxes((1, 1), x[:, :4].clone(), FAR, (gain, (0, 0)), padding=False, xywh=True), x[:, 4:]], 1)
            g.columns_case(f"divide_cxcywh_{h}x{w}_{i}", q("cxcywh", divide=True), [x.numpy(), scale], [want.numpy()])
            k = (rand(4, 17, 3) * 1000).numpy()
            want = ops.scale_coords((1, 1), torch.tensor(k), FAR, (gain, (0, 0)), padding=False)
            g.columns_case(f"divide_xy_{h}x{w}_{i}", q("xy", divide=True), [k, scale], [want.numpy()])
    x = rand(7, 4)
    g.columns_case("ltwh", q("ltwh"), [x.numpy(), np.array([3, 0.7], np.float32)], [(x * torch.tensor([0.7, 3, 0.7, 3])).numpy()])
    rest = np.random.default_rng(1)
    for divide, format in ((True, "ltwh"), (False, "cxcywh")):
        for h, w in SIZES:
            x, s = rest.random((5, 4), np.float32), rest.random(2, np.float32) * 700
            by = torch.from_numpy(np.array([s[1], s[0], s[1], s[0]]))
            want = torch.from_numpy(x) / by if divide else torch.from_numpy(x) * by
            g.columns_case(f"{format}_{divide}_{h}x{w}", q(format, divide=divide), [x, s], [want.numpy()])
    g.write()


def shift_coords():
    g = Golden("shift_coords", f"{UL} scale_boxes, scale_coords; torch 2.15.0 add (tiles)")
    q = lambda format, subtract: {"format": format, "subtract": subtract}
    unit = lambda top, left: ((1.0, 1.0), (left, top))
    for top, bottom, left, right in [(80, 80, 0, 0), (0, 0, 12, 13), (0, 0, 0, 0), (3, 4, 5, 6)]:
        pad = size(top, bottom, left, right, dtype=np.int32)
        x = rand(30, 4) * 500 + 100
        g.columns_case(f"xyxy_{top}_{left}", q("xyxy", True), [x.numpy(), pad], [ops.scale_boxes((1, 1), x.clone(), FAR, unit(top, left)).numpy()])
        x = rand(30, 6) * 50
        want = torch.cat([ops.scale_boxes((1, 1), x[:, :4].clone(), FAR, unit(top, left), xywh=True), x[:, 4:]], 1)
        for format in ("cxcywh", "ltwh"):
            g.columns_case(f"{format}_{top}_{left}", q(format, True), [x.numpy(), pad], [want.numpy()])
        x = rand(3, 17, 3) * 500 + 100
        want = ops.scale_coords((1, 1), x.clone(), FAR, unit(top, left))
        g.columns_case(f"xy_{top}_{left}", q("xy", True), [x.numpy(), pad], [want.numpy()])
    # Tiles, each with its origin (top, left).
    origins = torch.tensor([[0, 0], [0, 448], [448, 0], [448, 448], [-3, 1 << 24]])
    x = inputs(5 * 20, 512, 512).reshape(5, 20, 4)
    want = x + torch.cat([origins.flip(1)] * 2, 1)[:, None]
    for dt in (np.int32, np.int64, np.float32):
        g.columns_case(f"tiles_{dt.__name__}", q("xyxy", False), [x.numpy(), origins.numpy().astype(dt)], [want.numpy()])
    g.columns_case("tile", q("xyxy", False), [x[1].numpy(), origins[1].numpy()], [want[1].numpy()])
    g.columns_case("no_tiles", q("xyxy", False), [np.zeros((0, 20, 4), np.float32), np.zeros((0, 2), np.int64)], [np.zeros((0, 20, 4), np.float32)])
    g.columns_case("no_boxes", q("xyxy", False), [np.zeros((5, 0, 4), np.float32), origins.numpy()], [np.zeros((5, 0, 4), np.float32)])
    k = inputs(9, 512, 512, 2)
    g.columns_case("tile_points", q("xy", False), [k.numpy(), np.array([7.5, -0.25], np.float32)], [(k + torch.tensor([-0.25, 7.5])).numpy()])
    for format in ("cxcywh", "ltwh"):
        x = np.random.default_rng(2).random((6, 4), np.float32) * 500
        want = torch.from_numpy(x) + torch.tensor([-3.5, 40.0, 0, 0])
        g.columns_case(f"tile_{format}", q(format, False), [x, np.array([40, -3.5], np.float32)], [want.numpy()])
    g.write()


def clip_coords():
    g = Golden("clip_coords", f"{UL} clip_boxes, clip_coords")
    special = torch.tensor([[-0.0, -0.0, math.nan, math.nan], [math.inf, -math.inf, 0.0, 1e-45]])
    for h, w in SIZES:
        for name, x in (("boxes", inputs(30, h, w)), ("none", torch.zeros(0, 4)), ("special", special)):
            g.columns_case(f"{name}_{h}x{w}", {"format": "xyxy"}, [x.numpy(), size(h, w)], [ops.clip_boxes(x.clone(), (h, w)).numpy()])
        for name, x in (("points", inputs(30, h, w, 3).reshape(6, 5, 3)), ("special_points", special)):
            g.columns_case(f"{name}_{h}x{w}", {"format": "xy"}, [x.numpy(), size(h, w)], [ops.clip_coords(x.clone(), (h, w)).numpy()])
    x = inputs(20, 100, 100).reshape(2, 10, 4)
    want = torch.stack([ops.clip_boxes(x[0].clone(), (50, 70)), ops.clip_boxes(x[1].clone(), (0, 200))])
    g.columns_case("batch", {"format": "xyxy"}, [x.numpy(), np.array([[50, 70], [0, 200]], np.int32)], [want.numpy()])
    g.write()


class Recorder:
    """Stands in for boxes of scale_boxes and notes what is subtracted and divided by."""

    def __init__(self):
        self.sub, self.div = {}, {}

    def __getitem__(self, key):
        rec, at = self, key[-1]

        class Column:
            def __isub__(self, v):
                rec.sub[at] = v
                return self

            def __itruediv__(self, v):
                rec.div[at] = v
                return self

        return Column()

    def __setitem__(self, key, value):
        pass


class Window(Exception):
    pass


class Masks:
    """Stands in for masks of scale_masks and raises the window that is cut out."""

    def __init__(self, h, w):
        self.shape = (1, 1, h, w)

    def __getitem__(self, key):
        raise Window(key[1].start, key[1].stop, key[2].start, key[2].stop)


def geometry(boxed, original):
    """scale and pad as scale_boxes and scale_masks compute them."""
    r = Recorder()
    ops.scale_boxes(boxed, r, original, xywh=True)
    scale = np.array([r.div[1], r.div[0]], np.float32)
    try:
        ops.scale_masks(Masks(*boxed), original)
        pad = (0, 0, 0, 0)  # of the same size
    except Window as e:
        top, bottom, left, right = e.args
        pad = (top, boxed[0] - bottom, left, boxed[1] - right)
    assert (pad[0], pad[2]) == (r.sub[1], r.sub[0]), (boxed, original)
    return scale, np.array(pad, np.int32)


def letterbox_geometry():
    g = Golden("letterbox_geometry", f"{UL} scale_boxes, scale_masks")
    rng = np.random.default_rng(1)
    sizes = SIZES + [tuple(map(int, rng.integers(1, 3000, 2))) for _ in range(40)]
    for i, original in enumerate(sizes):
        for boxed in BOXED + [original, (160, 160)]:
            dt = (np.int32, np.int64)[i % 2]
            g.columns_case(f"{boxed}_{original}".replace(" ", ""), {}, [size(*boxed, dtype=dt), size(*original)], list(geometry(boxed, original)))
    g.write()


def resize_to():
    g = Golden("resize_to", f"{HF} post_process_semantic_segmentation, post_process_depth_estimation; {UL} scale_masks; torch 2.15.0 interpolate")
    q = lambda **kw: {"interpolation": "bilinear", "backend": "torch", "no_antialias": True} | kw
    for name, p in (("segformer", SegformerImageProcessor()), ("beit", BeitImageProcessor()), ("dpt", DPTImageProcessor())):
        for classes, (h, w), target in [(5, (16, 16), (61, 83)), (150, (4, 4), (9, 8)), (3, (16, 16), (1, 1)), (2, (13, 9), (1, 400)), (4, (30, 40), (7, 9)), (9, (8, 8), (8, 8))]:
            o = SimpleNamespace(logits=torch.randn(1, classes, h, w))
            r = p.post_process_semantic_segmentation(o, target_sizes=[target], return_segmentation_scores=True)[0]
            g.columns_case(f"{name}_{classes}_{h}x{w}_{target[0]}x{target[1]}", q(), [(o.logits[0].numpy(), "CHW"), size(*target)], [(r.segmentation_scores.numpy(), "CHW")])
    for (h, w), target in [((24, 24), (77, 99)), ((24, 24), (9, 500)), ((40, 56), (17, 19)), ((7, 3), (640, 2)), ((14, 14), (14, 14)), ((30, 31), (60, 31))]:
        d = rand(1, h, w) * 10
        r = DPTImageProcessor().post_process_depth_estimation(SimpleNamespace(predicted_depth=d), target_sizes=[target])[0]["predicted_depth"]
        g.columns_case(f"depth_{h}x{w}_{target[0]}x{target[1]}", q(interpolation="bicubic"), [d[0].numpy(), size(*target)], [r.numpy()])
    # The generic kernel and the one for small outputs, over planes of every number.
    for n in (1, 2, 3, 4, 5, 8, 33):
        for (h, w), target in [((16, 20), (70, 59)), ((16, 20), (15, 24)), ((30, 40), (9, 10)), ((1, 1), (3, 2)), ((5, 1), (1, 130))]:
            x = torch.randn(1, n, h, w)
            for mode in ("bilinear", "bicubic", "nearest"):
                want = F.interpolate(x, target, mode=mode)
                g.columns_case(f"{mode}_{n}_{h}x{w}_{target[0]}x{target[1]}", q(interpolation=mode), [x[0].numpy(), size(*target, dtype=np.int32)], [want[0].numpy()])
    x = torch.randn(2, 3, 16, 16)
    g.columns_case("rank4", q(), [x.numpy(), size(70, 60)], [F.interpolate(x, (70, 60), mode="bilinear").numpy()])
    x = torch.randn(2, 11, 9, 7)
    g.columns_case("rank4_small", q(), [x.numpy(), size(12, 5)], [F.interpolate(x, (12, 5), mode="bilinear").numpy()])
    y = torch.randn(1, 19, 9, 7)
    want = F.interpolate(y, (12, 5), mode="bilinear")[0]
    g.columns_case("hwc_small", q(), [(y[0].permute(1, 2, 0).numpy(), "HWC"), size(12, 5)], [(want.permute(1, 2, 0).numpy(), "HWC")])
    for n, original in ((3, (80, 104)), (1, (120, 156))):
        x = torch.randn(1, n, 40, 52)
        g.columns_case(f"scale_masks_{n}", q(), [x[0].numpy(), size(*original)], [ops.scale_masks(x, original, padding=False)[0].numpy()])
    x = (rand(2, 9, 11) * 255).byte()
    want = F.interpolate(x[None], (20, 7), mode="nearest")[0]
    g.columns_case("uint8", q(interpolation="nearest"), [x.numpy(), size(20, 7)], [want.numpy()])
    g.columns_case("no_planes", q(), [np.zeros((0, 4, 5), np.float32), size(6, 7)], [ops.scale_masks(torch.zeros(1, 0, 4, 5), (6, 7))[0].numpy()])
    y = torch.randn(1, 3, 20, 30)
    want = F.interpolate(y, (60, 90), mode="bilinear")[0]
    g.columns_case("hwc", q(), [(y[0].permute(1, 2, 0).numpy(), "HWC"), size(60, 90)], [(want.permute(1, 2, 0).numpy(), "HWC")])
    g.write()


def crops():
    g = Golden("crop_to_size", f"{HF} SamImageProcessor.post_process_masks; NumPy 2.4.6 slices")
    p = SamImageProcessor()
    for h, w in [(1, 1), (24, 32), (32, 17), (32, 32)]:
        x = torch.randn(2, 3, 32, 32)
        # Both resizes keep the size, so that only the cut is left.
        want = p.post_process_masks([x.clone()], [[h, w]], [[h, w]], binarize=False, pad_size={"height": 32, "width": 32})[0]
        g.columns_case(f"sam_{h}x{w}", {}, [x.numpy(), size(h, w)], [want.numpy()])
    rng = np.random.default_rng(2)
    for dt in ("uint8", "bool", "float16", "int64", "float64"):
        x = (rng.random((5, 7, 3)) * 2).astype(dt)
        g.columns_case(f"hwc_{dt}", {}, [(x, "HWC"), size(4, 2, dtype=np.int32)], [(x[:4, :2], "HWC")])
        g.columns_case(f"chw_{dt}", {}, [(x, "CHW"), size(7, 2)], [(x[:, :7, :2], "CHW")])
        g.columns_case(f"plane_{dt}", {}, [x[..., 0], size(3, 7)], [x[:3, :, 0]])
    g.columns_case("none", {}, [np.zeros((0, 4, 5), np.float32), size(2, 3)], [np.zeros((0, 2, 3), np.float32)])
    g.write()

    g = Golden("crop_padding", f"{UL} scale_masks; NumPy 2.4.6 slices")
    for top, bottom, left, right in [(0, 0, 0, 0), (3, 4, 0, 0), (0, 0, 5, 6), (0, 31, 9, 30)]:
        x = torch.randn(1, 3, 32, 40)
        h, w = 32 - top - bottom, 40 - left - right
        want = ops.scale_masks(x, (h, w), ((1.0, 1.0), (left, top)))[0]
        assert want.shape[1:] == (h, w)
        g.columns_case(f"masks_{top}_{bottom}_{left}_{right}", {}, [x[0].numpy(), size(top, bottom, left, right, dtype=np.int32)], [want.numpy()])
    for dt in ("uint8", "bool", "int16"):
        x = (rng.random((5, 7, 3)) * 2).astype(dt)
        g.columns_case(f"hwc_{dt}", {}, [(x, "HWC"), size(1, 2, 3, 1)], [(x[1:3, 3:6], "HWC")])
        g.columns_case(f"chw_{dt}", {}, [(x, "CHW"), size(1, 2, 0, 1)], [(x[:, 1:5, :2], "CHW")])
    g.write()


def threshold():
    g = Golden("threshold", f"{HF} post_process_masks; torch 2.15.0 gt")
    p = SamImageProcessor()
    special = torch.tensor([[math.nan, math.inf, -math.inf], [-0.0, 0.0, 1e-45]])
    for value in (0.0, 0.3, -1.5):
        x = torch.cat([torch.randn(1, 2, 9, 9), torch.full((1, 2, 1, 9), float(np.float32(value)))], 2)
        want = p.post_process_masks([x.clone()], [[10, 9]], [[10, 9]], mask_threshold=value, pad_size={"height": 10, "width": 9})[0]
        g.columns_case(f"sam_{value}", {"value": value, "dtype": "bool"}, [x.numpy()], [want.numpy()])
        g.columns_case(f"byte_{value}", {"value": value, "dtype": "uint8"}, [(x[0].numpy(), "CHW")], [(x[0].clone().gt_(value).byte().numpy(), "CHW")])
        g.columns_case(f"special_{value}", {"value": value, "dtype": "bool"}, [special.numpy()], [(special > value).numpy()])
    g.columns_case("half_byte", {"value": 0.5, "dtype": "uint8"}, [special.numpy()], [(special > 0.5).byte().numpy()])
    g.columns_case("none", {"value": 0.5, "dtype": "bool"}, [np.zeros((0, 3, 4), np.float32)], [np.zeros((0, 3, 4), bool)])
    g.write()


def argmax():
    g = Golden("argmax", f"{HF} post_process_semantic_segmentation; torch 2.15.0 argmax")
    for classes, h, w in [(150, 9, 11), (2, 1, 1), (1, 5, 4), (19, 33, 65)]:
        x = torch.randn(1, classes, h, w)
        x[0, :, 0] = (x[0, :, 0] * 2).round()  # equal values
        want = SegformerImageProcessor().post_process_semantic_segmentation(SimpleNamespace(logits=x))[0]
        g.columns_case(f"segformer_{classes}_{h}x{w}", {"axis": 0}, [(x[0].numpy(), "CHW")], [want.numpy()])
    x = torch.tensor([[1, math.nan, 3], [math.nan, math.nan, 1], [-math.inf, -math.inf, math.inf], [-0.0, 0.0, 0.0], [2, 2, 1]])
    y = (torch.randn(3, 40, 70) * 2).round()
    for axis in (0, 1):
        g.columns_case(f"special_{axis}", {"axis": axis}, [x.numpy()], [x.argmax(axis).numpy()])
    for axis in (0, 1, 2):
        g.columns_case(f"ties_{axis}", {"axis": axis}, [y.numpy()], [y.argmax(axis).numpy()])
    g.columns_case("vector", {"axis": 0}, [y[0, 0].numpy()], [y[0, 0].argmax(0).numpy()])
    g.columns_case("none", {"axis": 1}, [np.zeros((0, 3), np.float32)], [np.zeros(0, np.int64)])
    g.write()


def mask_boxes():
    g = Golden("mask_boxes", f"{UL} crop_mask")
    for n, h, w in [(20, 16, 20), (1, 1, 1), (3, 1, 300), (2, 160, 3), (0, 8, 9)]:
        m = (rand(n, h, w) * 255).byte()
        b = inputs(n, h, w)
        g.columns_case(f"{n}_{h}x{w}", {}, [m.numpy(), b.numpy()], [ops.crop_mask(m.clone(), b).numpy()])
    m = torch.ones(6, 5, 5, dtype=torch.uint8)
    b = torch.tensor([[1, 1, 3, 3], [3, 3, 1, 1], [-math.inf, 0, math.inf, 2.5], [math.nan, 0, 5, 5], [0.5, 0.5, 4.5, 4.5], [0, 0, 5, 5]])
    g.columns_case("special", {}, [m.numpy(), b.numpy()], [ops.crop_mask(m.clone(), b).numpy()])
    m = rand(4, 9, 7) > 0.3
    b = torch.cat([inputs(4, 9, 7), rand(4, 34)], 1)
    want = ops.crop_mask(m.byte(), b[:, :4]).bool()
    g.columns_case("bool_longer", {}, [m.numpy(), b.numpy()], [want.numpy()])
    g.write()


def graphs():
    """Whole chains, which datagraph/postprocess_test.go builds by their names."""
    g = Golden("postprocess", f"{HF}; {UL}", root=GRAPHS)
    for h, w in SIZES:
        o = detections(1)
        want = DetrImageProcessor().post_process_object_detection(o, threshold=-1, target_sizes=[(h, w)])[0]["boxes"]
        g.columns_case("detr", {}, [o.pred_boxes[0].numpy(), size(h, w)], [want.numpy()])
        for boxed in BOXED:
            x = torch.cat([inputs(30, *boxed), rand(30, 2)], 1)
            want = x.clone()
            ops.scale_boxes(boxed, want[:, :4], (h, w))
            g.columns_case("yolo_boxes", {}, [x.numpy(), size(*boxed), size(h, w)], [want.numpy()])
            x = torch.cat([inputs(30, *boxed), rand(30, 3)], 1)
            want = x.clone()
            want[:, :4] = ops.scale_boxes(boxed, want[:, :4], (h, w), xywh=True)
            g.columns_case("yolo_rotated", {}, [x.numpy(), size(*boxed), size(h, w)], [want.numpy()])
            x = torch.cat([inputs(4 * 17, *boxed, values=2), rand(4 * 17, 1)], 1).reshape(4, 17, 3)
            g.columns_case("yolo_keypoints", {}, [x.numpy(), size(*boxed), size(h, w)], [ops.scale_coords(boxed, x.clone(), (h, w)).numpy()])
    # ratio_pad, as validators pass it: what LetterBox reported.
    for h, w in SIZES:
        r = min(640 / h, 640 / w)
        top, left = (round((640 - max(round(n * r), 1)) / 2 - 0.1) for n in (h, w))
        x = inputs(30, 640, 640)
        want = ops.scale_boxes((640, 640), x.clone(), (h, w), ((r, r), (left, top)))
        g.columns_case("yolo_reported", {}, [x.numpy(), np.array([r, r], np.float32), size(top, top, left, left, dtype=np.int32), size(h, w)], [want.numpy()])
    for original, boxed in [((480, 640), (384, 640)), ((37, 211), (32, 160)), ((200, 3), (160, 32)), ((1, 1), (32, 32))]:
        mh, mw = (n // 4 for n in boxed)
        protos, coeffs = torch.randn(8, mh, mw), torch.eye(8)[:5]  # each mask is a prototype: no sums
        boxes = torch.rand(5, 4).sort(1).values * torch.tensor([boxed[1], boxed[0], boxed[1], boxed[0]])
        want = ops.process_mask(protos, coeffs, boxes, boxed, upsample=True)
        g.columns_case("yolo_masks", {}, [protos[:5].numpy(), boxes.numpy(), size(*boxed)], [want.numpy()])
        want = ops.scale_masks(want[None].float(), original)[0]
        m = ops.process_mask(protos, coeffs, boxes, boxed, upsample=True)
        g.columns_case("yolo_scale_masks", {}, [m.numpy(), size(*boxed), size(*original)], [want.numpy()])
        boxes = inputs(5, *original)
        # The masks are enlarged 1, 2 or 4 times, until the padding is of whole pixels.
        gain = min(boxed[0] / original[0], boxed[1] / original[1])
        rest = [b - max(round(n * gain), 1) for b, n in zip(boxed, original)]
        f = next(f for f in (1, 2, 4) if all(r * f % 8 == 0 for r in rest) or f == 4)
        want = ops.process_mask_native(protos, coeffs, boxes, original)
        g.columns_case("yolo_masks_native", {}, [protos[:5].numpy(), boxes.numpy(), size(f * mh, f * mw), size(*original)], [want.numpy()])
    p = SamImageProcessor()
    pad = {"height": 96, "width": 96}
    for (h, w), reshaped in [((48, 64), (72, 96)), ((300, 3), (96, 1)), ((1, 1), (96, 96)), ((130, 171), (73, 96))]:
        x = torch.randn(2, 3, 24, 24)
        want = p.post_process_masks([x.clone()], [[h, w]], [list(reshaped)], pad_size=pad)[0]
        g.columns_case("sam", {}, [x.numpy(), size(96, 96), size(*reshaped), size(h, w)], [want.numpy()])
    for target in [(61, 83), (1, 1), (300, 2), (40, 40)]:
        o = SimpleNamespace(logits=torch.randn(1, 19, 16, 16))
        want = SegformerImageProcessor().post_process_semantic_segmentation(o, target_sizes=[target])[0]
        g.columns_case("segmentation", {}, [(o.logits[0].numpy(), "CHW"), size(*target)], [want.numpy()])
    k = rand(1, 25, 2)
    o = SimpleNamespace(mask=torch.ones(1, 25), keypoints=k, scores=rand(1, 25), descriptors=rand(1, 25, 4))
    want = SuperPointImageProcessor().post_process_keypoint_detection(o, [(481, 642)])[0]["keypoints"]
    g.columns_case("superpoint", {}, [k[0].numpy(), size(481, 642)], [want.numpy()])
    for i, c in enumerate(g.cases):
        c["name"] += f"/{i}"
    g.write()


if __name__ == "__main__":
    for f in (convert_boxes, scale_coords, shift_coords, clip_coords, letterbox_geometry, resize_to, crops, threshold, argmax, mask_boxes, graphs):
        f()
