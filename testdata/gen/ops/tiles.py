"""Writes the goldens of the ops of models that cut images into tiles, and the tiles by their rules.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0 and transformers 5.23.0 (with torch 2.15.0 and
torchvision 0.29.2, which it imports). Every run gives the same bytes.

resize_to_tiles/tiles.json has for some parameters rows of the input's height and width, the
canvas's, the rows and columns of tiles, the number of the grid, and the scaled image's height and
width. resize/tiles.json has rows of the input's height and width and the output's.
"""

import json
import math
import random
from unittest import mock

import numpy as np
import torch
from PIL import Image
from transformers.image_utils import ChannelDimension, SizeDict
from transformers.image_processing_utils import get_patch_output_size, select_best_resolution
from transformers.image_transforms import divide_to_patches, split_to_tiles
from transformers.models.aria import image_processing_aria as aria
from transformers.models.cohere2_vision import image_processing_cohere2_vision as cohere
from transformers.models.gemma3 import image_processing_gemma3 as gemma
from transformers.models.got_ocr2 import image_processing_got_ocr2 as got
from transformers.models.granite_docling import image_processing_granite_docling as granite
from transformers.models.idefics2 import image_processing_idefics2 as idefics2
from transformers.models.idefics3 import image_processing_idefics3 as idefics
from transformers.models.llama4 import image_processing_llama4 as llama
from transformers.models.mllama import image_processing_mllama as mllama
from transformers.models.ovis2 import image_processing_ovis2 as ovis
from transformers.models.perception_lm.image_processing_perception_lm import PerceptionLMImageProcessor
from transformers.models.phi4_multimodal import image_processing_phi4_multimodal as phi

from golden import ROOT, Golden, chw, image

PILLOW = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3}


def grid(p, h, w):
    """The reference's canvas, rows, columns and number of the choice."""
    th, tw, lo, hi = p["height"], p["width"], p["min_tiles"], p["max_tiles"]
    rule = p["rule"]
    if rule in ("aspect", "scale", "cover"):
        if rule == "aspect":
            module = granite if p["max_line"] else got
            columns, rows = module.get_optimal_tiled_canvas((h, w), (th, tw), lo, hi)
            l = module.get_all_supported_aspect_ratios(lo, hi)
        elif rule == "scale":
            columns, rows = cohere.get_optimal_tiled_canvas((h, w), (th, tw), lo, hi)
            l = sorted(cohere.get_all_supported_aspect_ratios(hi), key=lambda x: x[0] * x[1])
        else:
            columns, rows = ovis.get_min_tile_covering_grid((h, w), th, hi)
            l = ovis.get_all_supported_aspect_ratios(1, hi)
        return rows * th, columns * tw, rows, columns, l.index((columns, rows)) + 1 if l else 0
    if rule == "inside":
        t = PerceptionLMImageProcessor(max_num_tiles=hi)
        columns, rows = t._fit_image_to_canvas(w, h, th) or t._find_closest_aspect_ratio(w, h, th)
        return rows * th, columns * tw, rows, columns, 0
    if rule == "size":
        ch, cw = select_best_resolution((h, w), p["sizes"])
        return ch, cw, math.ceil(ch / th), math.ceil(cw / tw), p["sizes"].index([ch, cw]) + 1
    if rule == "multiple":
        class Sized(idefics.Idefics3ImageProcessor):
            def resize(self, image, size, **kw):
                return size.height, size.width

        ch, cw = Sized().resize_for_vision_encoder(torch.empty((3, h, w), device="meta"), th)
        return ch, cw, ch // th, cw // tw, 0
    if rule == "ceil":
        sizes, q = [], phi.Phi4MultimodalImageProcessor()
        with mock.patch.object(phi.tvF, "pad", lambda image, padding, fill: sizes.append((image.shape[-2] + padding[3], image.shape[-1] + padding[2]))), \
             mock.patch.object(phi.tvF, "resize", lambda image, size: sizes.append(tuple(size)) or image.new_zeros((3, *size))):
            q.dynamic_preprocess(torch.empty((3, h, w), device="meta"), th, 1, th, max_num=hi)
        ch, cw = sizes[1]
        l = got.get_all_supported_aspect_ratios(1, hi)
        covers = math.ceil(h / th) * math.ceil(w / th) <= hi
        return ch, cw, ch // th, cw // tw, 0 if covers else l.index((cw // tw, ch // th)) + 1
    if rule == "canvas":
        ch, cw = map(int, mllama.get_optimal_tiled_canvas(h, w, hi, th))
    else:
        l = torch.tensor(llama.find_supported_resolutions(hi, SizeDict(height=th, width=th)))
        ch, cw = map(int, llama.get_best_fit((h, w), l, rule == "largest32"))
    l = mllama.get_all_supported_aspect_ratios(hi)
    return ch, cw, ch // th, cw // tw, l.index((ch // th, cw // tw)) + 1


def fitted(p, h, w, ch, cw):
    if p["fit"] == "stretch":
        return ch, cw
    if p["fit"] == "ceil":
        return get_patch_output_size(np.broadcast_to(np.uint8(0), (1, h, w)), (ch, cw), ChannelDimension.FIRST)
    if p["fit"] == "floor_small":
        if p["rule"] == "canvas":
            return tuple(map(int, mllama.get_image_size_fit_to_canvas(h, w, ch, cw, p["height"])))
        ch, cw = min(max(h, p["height"]), ch), min(max(w, p["width"]), cw)
    nh, nw = llama.get_max_res_without_distortion((h, w), (ch, cw))
    return max(nh, 1), max(nw, 1)


def params(height, width, rule="aspect", least=1, most=12, line=0, sizes=(), fit="stretch", position="top_left", fill=(0,), interpolation="bicubic", least_side=0):
    if rule in ("size", "multiple"):
        least = most = 0
    return dict(height=height, width=width, rule=rule, min_tiles=least, max_tiles=most, max_line=line, sizes=[list(s) for s in sizes], fit=fit,
                position=position, fill=list(fill), interpolation=interpolation, backend="pillow", no_antialias=False, min_side=least_side)


PINPOINTS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
ONEVISION = [[384 * a, 384 * b] for a in range(1, 7) for b in range(1, 7)]
RULES = [
    params(384, 384), params(384, 384, most=1), params(448, 448, least=2, most=6), params(5, 9, least=3, most=40), params(512, 512, most=32, line=16),
    params(364, 364, "scale"), params(10, 10, "scale", most=1), params(384, 384, "cover"), params(60, 60, "cover", most=30),
    params(560, 560, "canvas", most=4, fit="floor_small"), params(20, 20, "canvas", most=25, fit="floor_small"),
    params(336, 336, "canvas32", most=16, fit="floor_small"), params(33, 33, "canvas32", most=7, fit="floor"), params(336, 336, "largest32", most=16, fit="floor"),
    params(336, 336, "size", sizes=PINPOINTS, fit="ceil", position="center"), params(224, 224, "size", sizes=PINPOINTS, fit="ceil"),
    params(384, 384, "size", sizes=ONEVISION, fit="ceil", position="center"), params(364, 364, "multiple"), params(7, 7, "multiple"),
    params(448, 448, "inside", most=36), params(50, 50, "inside", most=36), params(100, 100, "inside", most=7), params(20, 20, "inside", most=40), params(9, 9, "inside", most=1),
    params(448, 448, "ceil", most=36, fit="floor", fill=(255,), least_side=10), params(30, 30, "ceil", most=5, fit="floor", least_side=10),
]


def awkward(r, side):
    l = [(1, 1), (1, 2), (2, 1), (1, 300), (300, 1), (side, side), (side, 2 * side), (2 * side, side), (side + 1, side), (side - 1, 3 * side), (3 * side // 2, side)]
    for _ in range(90):
        k = r.random()
        if k < 0.2:
            l.append((side * r.randint(1, 9) // 2, side * r.randint(1, 9) // 2))
        elif k < 0.35:
            n = r.randint(1, 3000)
            l.append((n, n * r.randint(1, 3)))
        else:
            l.append((int(math.exp(r.uniform(0, 8.5))), int(math.exp(r.uniform(0, 8.5)))))
    return [(max(h, 1), max(w, 1)) for h, w in l]


def aria_size(edge, least, h, w):
    """Asks the class for the size of its resized image."""
    p = aria.AriaImageProcessor(max_image_size=edge, min_image_size=least)
    sizes = []
    p.resize = lambda image, size, resample: sizes.append((size.height, size.width)) or image.new_zeros((3, size.height, size.width))
    p.preprocess(torch.empty((3, h, w), dtype=torch.uint8), do_rescale=False, do_normalize=False, input_data_format="channels_first")
    return sizes[0]


def tiles():
    r = random.Random(11)
    out = []
    for p in RULES:
        rows = []
        for h, w in awkward(r, p["height"]):
            try:
                g = grid(p, h, w)
            except ValueError as e:  # Phi-4 refuses narrow images
                assert "extreme" in str(e), e
                rows.append([h, w, 0, 0, 0, 0, 0, 0, 0])
                continue
            nh, nw = fitted(p, h, w, *g[:2])
            rows.append([h, w, *map(int, g), int(nh), int(nw)])
        out.append({"params": p, "sizes": rows})
    (ROOT / "resize_to_tiles").mkdir(exist_ok=True)
    (ROOT / "resize_to_tiles" / "tiles.json").write_text("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]\n")
    out = []
    for edge in (1456, 2048, 365, 6000, 4097):
        fields = dict(fit="longest", height=0, width=0, edge=edge, max_edge=4096, multiple=0, keep_aspect=False, size_rule="even", interpolation="bilinear",
                      backend="pillow", no_antialias=False)
        rows = [[h, w, *idefics.get_resize_output_image_size(np.broadcast_to(np.uint8(0), (1, h, w)), edge)] for h, w in awkward(r, edge)[:60]]
        out.append({"params": fields, "sizes": rows})
    for edge, least in ((980, 378), (980, 336), (490, 336), (45, 30), (61, 1)):
        fields = fields | dict(fit="longest_min", height=least, width=least, edge=edge, max_edge=0, size_rule="capped")
        size = SizeDict(shortest_edge=least, longest_edge=edge)
        l = awkward(r, edge)[:60]
        out.append({"params": dict(fields), "sizes": [[h, w, *idefics2.get_resize_output_image_size(np.broadcast_to(np.uint8(0), (1, h, w)), size)] for h, w in l]})
        if edge in (980, 490):
            out.append({"params": fields | {"size_rule": "scale_down"}, "sizes": [[h, w, *aria_size(edge, least, h, w)] for h, w in l]})
    (ROOT / "resize" / "tiles.json").write_text("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]\n")


def resize_to_tiles():
    g = Golden("resize_to_tiles", "transformers 5.23.0 get_optimal_tiled_canvas and others with Pillow 13.0.0")
    small = [dict(height=8, width=8), dict(height=5, width=9, least=2, most=6), dict(height=6, width=6, rule="scale", most=7), dict(height=7, width=7, rule="cover", most=9),
             dict(height=8, width=8, rule="canvas", most=4, fit="floor_small"), dict(height=8, width=8, rule="canvas32", most=16, fit="floor_small", fill=(7, 8, 9)),
             dict(height=6, width=6, rule="largest32", most=6, fit="floor", position="bottom_right"), dict(height=4, width=4, rule="multiple"), dict(height=12, width=12, rule="ceil", most=4, fit="floor", least_side=10),
             dict(height=8, width=8, rule="size", sizes=[[8, 16], [16, 8], [16, 16], [12, 20]], fit="ceil", position="center")]
    for n, kw in enumerate(small):
        for i, (h, w) in enumerate(((11, 17), (30, 9), (1, 1), (3, 40), (16, 16))):
            interpolation = list(PILLOW)[(n + i) % 4]
            p = params(interpolation=interpolation, **kw)
            a = image(h, w, 3)
            if p["rule"] == "ceil" and min(h, w) < 5:
                continue
            ch, cw, rows, columns, choice = grid(p, h, w)
            nh, nw = fitted(p, h, w, ch, cw)
            top, left = {"top_left": (0, 0), "center": ((ch - nh) // 2, (cw - nw) // 2), "bottom_right": (ch - nh, cw - nw)}[p["position"]]
            want = np.empty((ch, cw, 3), np.uint8)
            want[:] = p["fill"]
            want[top:top + nh, left:left + nw] = np.asarray(Image.fromarray(a).resize((nw, nh), PILLOW[interpolation]))
            more = [np.array([rows, columns]), np.array(choice), np.array([nh, nw])]
            if (n + i) % 3:
                g.case(f"{p['rule']} {n} {h}x{w}", p, a, want, more=more)
            else:
                g.case(f"{p['rule']} {n} CHW {h}x{w}", p, chw(a), chw(want), "CHW", more=more)
    g.write()


def split_tiles():
    g = Golden("split_tiles", "transformers 5.23.0 split_to_tiles, divide_to_patches; torch 2.15.0 unfold")
    for dt in ("uint8", "float32", "int64", "bool"):
        for h, w, th, tw in ((6, 8, 3, 2), (4, 4, 4, 4), (3, 9, 3, 3), (5, 1, 1, 1)):
            a = chw(image(h, w, 3, dt))
            p = dict(height=th, width=tw, overlap=0)
            want = split_to_tiles(torch.from_numpy(a)[None], h // th, w // tw)[0].numpy()
            g.case(f"{dt} {h}x{w} of {th}x{tw}", p, a, want, "CHW", "none")
            b = np.ascontiguousarray(a.transpose(1, 2, 0))
            patches = divide_to_patches(torch.from_numpy(a), (th, tw))
            g.case(f"HWC {dt} {h}x{w} of {th}x{tw}", p, b, np.stack([x.numpy().transpose(1, 2, 0) for x in patches]), "HWC", "none")
    for h, w in ((3, 2), (1, 1)):
        a = chw(image(h, w, 3))
        g.case(f"whole {h}x{w}", dict(height=0, width=0, overlap=0), a, a[None], "CHW", "none")
    for h, w, th, tw, overlap in ((10, 19, 4, 7, 1), (7, 5, 7, 5, 2), (9, 9, 5, 5, 3)):
        a = chw(image(h, w, 2))
        t = torch.from_numpy(a).unfold(1, th, th - overlap).unfold(2, tw, tw - overlap).permute(1, 2, 0, 3, 4)
        g.case(f"{h}x{w} of {th}x{tw}, {overlap} shared", dict(height=th, width=tw, overlap=overlap), a, t.reshape(-1, 2, th, tw).numpy(), "CHW", "none")
    g.write()


def rows():
    g = Golden("concat", "NumPy 2.4.6 concatenate")

    def case(name, omit, a, b, want, layouts=("none", "none")):
        g.case(name, dict(omit=omit), a, want, layouts[0], "none")
        g.cases[-1]["in"].append({"array": g._add(b), "layout": layouts[1]})

    tiles = np.stack([image(3, 4, 5), image(4, 3, 5).reshape(3, 4, 5), image(3, 4, 5) // 2])
    thumb = 255 - image(3, 4, 5)
    for omit in ("none", "first", "second"):
        # A thumbnail is one row, so that the other input is left out if it may be.
        case(f"tiles, thumbnail, omit {omit}", omit, tiles, thumb, np.concatenate([tiles, thumb[None]]) if omit != "first" else thumb[None], ("none", "CHW"))
        case(f"thumbnail, tiles, omit {omit}", omit, thumb, tiles, np.concatenate([thumb[None], tiles]) if omit != "second" else thumb[None], ("HWC", "none"))
        case(f"one tile, thumbnail, omit {omit}", omit, tiles[:1], thumb, {"none": np.stack([tiles[0], thumb]), "first": thumb[None], "second": tiles[:1]}[omit], ("none", "CHW"))
    for dt in ("float32", "int64", "bool"):
        a, b = image(3, 4, 1, dt)[..., 0], image(2, 4, 1, dt)[..., 0]
        case(f"{dt} matrices", "none", a, b, np.concatenate([a, b]))
        case(f"{dt} vectors", "second", a[0], b[0], np.concatenate([a[0], b[0]]))
    g.write()

    g = Golden("row_count", "NumPy 2.4.6 len")
    for a, layout in ((tiles, "none"), (thumb, "CHW"), (tiles[0, 0, 0], "none"), (image(7, 2, 3), "HWC"), (image(1, 9, 1, "float32")[..., 0], "none")):
        g.case(f"{layout} {a.shape}", {}, a, np.array(1 if layout != "none" else len(a)), layout, "none")
    g.write()

    g = Golden("take_rows", "NumPy 2.4.6 slicing")
    for start, count in ((0, 1), (1, 2), (0, 3), (2, 1), (0, 2), (1, 1)):
        for a in (tiles, np.arange(5), image(3, 2, 4, "float32"), image(4, 3, 1, "bool")[..., 0], image(3, 1, 1, "int16")[..., 0], np.arange(3.0)):
            g.case(f"{a.dtype} {a.shape} from {start} {count}", dict(start=start, count=count), a, a[start:start + count], "none")
    for start, count in ((3, 2), (0, 5)):
        g.case(f"five from {start} {count}", dict(start=start, count=count), np.arange(5), np.arange(5)[start:start + count], "none")
    g.write()

    g = Golden("tile_mask", "NumPy 2.4.6 ones, as transformers 5.23.0 Idefics3ImageProcessor and GraniteDoclingImageProcessor")
    for dt in ("int64", "bool", "float32", "uint8"):
        for pixels in (False, True):
            p = dict(pixels=pixels, dtype=dt)
            g.case(f"{dt} {pixels}", p, tiles[..., None].repeat(2, 3).reshape(3, 3, 4, 10), np.ones((3, 4, 10) if pixels else 3, dt), "none")
            g.case(f"CHW {dt} {pixels}", p, thumb, np.ones((1, 4, 5) if pixels else 1, dt), "CHW", "none")
            for n, h, w in ((1, 1, 1), (2, 5, 3), (4, 2, 7), (3, 1, 2)):
                x = image(n * h, w, 3).reshape(n, h, w, 3)
                g.case(f"{dt} {pixels} {n}x{h}x{w}", p, x.transpose(0, 3, 1, 2).copy(), np.ones((n, h, w) if pixels else n, dt), "none")
            g.case(f"HWC {dt} {pixels}", p, thumb, np.ones((1, 3, 4) if pixels else 1, dt), "HWC", "none")
    g.write()


def map_tiles():
    """The cuts are the reference's; the ops are a resize by Pillow, a transposition, and a crop."""
    g = Golden("map_tiles", "transformers 5.23.0 divide_to_patches, Idefics2 split_images, Gemma 3 pan_and_scan")

    def fields(cut, height=0, width=0, min_side=0, max_tiles=0, min_aspect=0, whole="none", ops=(), pad=False, pad_height=0, pad_width=0, fill=(0,), mask_dtype="int64", empty=False):
        l = [dict(op=o, version=1, params=p) for o, p in ops]
        return dict(cut=cut, height=height, width=width, min_side=min_side, max_tiles=max_tiles, min_aspect=min_aspect, whole=whole, ops=l, pad=pad,
                    pad_height=pad_height, pad_width=pad_width, fill=list(fill), mask_dtype=mask_dtype, empty=empty)

    def cuts(p, t):
        if p["cut"] == "size":
            l = divide_to_patches(t, (p["height"], p["width"]))
        elif p["cut"] == "grid":
            l = idefics2.Idefics2ImageProcessor().split_images(t[None])[0][:4]
        elif p["cut"] == "aspect":
            l = gemma.Gemma3ImageProcessor().pan_and_scan_batched(t, p["min_side"], p["max_tiles"], p["min_aspect"])
        else:
            l = [t]
        n = len(l)
        return {"none": l, "first": [t, *l], "last": [*l, t]}[p["whole"]], n

    exact = dict(fit="exact", height=6, width=5, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate", interpolation="bilinear", backend="pillow",
                 no_antialias=False)
    resize = ("resize", exact)
    half = ("resize", exact | dict(fit="longest", height=0, width=0, edge=8))
    for n, p in enumerate((
        fields("size", 4, 7, ops=[resize]), fields("size", 4, 7, ops=[resize, ("hwc2chw", {})], whole="first"), fields("size", 5, 5, ops=[("invert", {})], pad=True, fill=(9,)),
        fields("grid", 2, 2, ops=[half], whole="last", pad=True, fill=(1, 2, 3), mask_dtype="bool"), fields("grid", 2, 2, ops=[resize]),
        fields("aspect", min_side=4, max_tiles=4, min_aspect=1.2, ops=[resize], whole="first"), fields("aspect", min_side=3, max_tiles=2, ops=[half], whole="last", pad=True, pad_height=9, pad_width=11),
        fields("none", ops=[half, ("hwc2chw", {})], pad=True, pad_height=12, pad_width=8, mask_dtype="float32"), fields("none", ops=[("invert", {})]), fields("aspect", min_side=1, max_tiles=30, ops=[resize], empty=True),
    )):
        for h, w in ((13, 18), (9, 40), (33, 8), (10, 10), *([(1, 17), (1, 1)] if p["empty"] else [])):
            a = image(h, w, 3)
            parts, count = cuts(p, torch.from_numpy(chw(a)))
            results = []
            for x in parts:
                x = x.numpy().transpose(1, 2, 0)
                for op in p["ops"]:
                    if op["op"] == "resize":
                        q, (ph, pw) = op["params"], x.shape[:2]
                        size = (5, 6) if q["fit"] == "exact" else (8, int(8 * ph / pw)) if pw >= ph else (int(8 * pw / ph), 8)
                        x = np.asarray(Image.fromarray(np.ascontiguousarray(x)).resize(size, 2)) if x.size else np.zeros((*size[::-1], 3), np.uint8)
                    elif op["op"] == "invert":
                        x = 255 - x
                results.append(x)
            oh, ow = (max(x.shape[i] for x in results) for i in (0, 1))
            if p["pad_height"]:
                oh, ow = p["pad_height"], p["pad_width"]
            if not p["pad"] and any(x.shape != results[0].shape for x in results):
                continue
            want, mask = np.empty((len(results), oh, ow, 3), np.uint8), np.zeros((len(results), oh, ow), p["mask_dtype"])
            want[:] = p["fill"]
            for i, x in enumerate(results):
                want[i, :x.shape[0], :x.shape[1]], mask[i, :x.shape[0], :x.shape[1]] = x, 1
            to_chw = any(o["op"] == "hwc2chw" for o in p["ops"])
            g.case(f"{n} {p['cut']} {h}x{w}", p, a, want.transpose(0, 3, 1, 2) if to_chw else want, "HWC", "none", [mask, np.array(count)])
            if not to_chw and n % 2:
                g.case(f"{n} {p['cut']} CHW {h}x{w}", p, chw(a), want.transpose(0, 3, 1, 2), "CHW", "none", [mask, np.array(count)])
    g.write()


def patch_mask():
    """The class's own mask, in tiles with ones for the thumbnail in front."""
    g = Golden("patch_mask", "transformers 5.23.0 Phi4MultimodalImageProcessor")
    for n, (side, patch, most) in enumerate(((28, 7, 6), (30, 7, 6), (14, 14, 4), (64, 3, 3), (40, 8, 9))):
        q = phi.Phi4MultimodalImageProcessor(size={"height": side, "width": side}, patch_size=patch, dynamic_hd=most)
        for h, w in ((90, 57), (31, 67), (64, 64), (90, 40)):
            want = q(torch.zeros((3, h, w), dtype=torch.uint8), input_data_format="channels_first", return_tensors="np")
            ch, cw = map(int, want["image_sizes"][0])
            rw, rh = cw / w, ch / h
            size = (int(h * rw), cw) if rw < rh else (ch, int(w * rh))
            for dt, whole in (("float32", True), ("bool", False)):
                p = dict(height=side, width=side, patch=patch, whole=whole, dtype=dt)
                mask = want["image_attention_mask"][0][0 if whole else 1:].astype(dt)
                layout = "CHW" if n % 2 else "HWC"
                a = np.zeros((1, ch, cw) if layout == "CHW" else (ch, cw, 1), np.uint8)
                g.case(f"{side} {patch} {most} {h}x{w} {dt}", p, a, mask, layout, "none")
                g.cases[-1]["in"].append({"array": g._add(np.array(size)), "layout": "none"})
    g.write()


tiles()
patch_mask()
resize_to_tiles()
map_tiles()
split_tiles()
rows()
