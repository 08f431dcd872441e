"""Writes the goldens of the ops of models that take patches or pages, and the sizes by their rules.

Run with Python 3.11, NumPy 2.4.6, Pillow 13.0.0 and transformers 5.23.0 (with torch 2.15.0 and
torchvision 0.29.2, which it imports). Every run gives the same bytes.

sizes.json (thumbnail.json for resize) has for some parameters rows of the input's height and width
and the output's, which are 0 where the reference refuses the image.
"""

import json
import math
import random

import numpy as np
import torch
from PIL import Image
from transformers.image_utils import SizeDict
from transformers.models.cosmos3_edge.image_processing_pil_cosmos3_edge import Cosmos3EdgeImageProcessorPil
from transformers.models.deepseek_ocr2.image_processing_deepseek_ocr2 import DeepseekOcr2ImageProcessor
from transformers.models.donut.image_processing_pil_donut import DonutImageProcessorPil
from transformers.models.eomt.image_processing_eomt import EomtImageProcessor
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil, get_aspect_ratio_preserving_size
from transformers.models.glm4v.image_processing_pil_glm4v import smart_resize as glm4v_resize
from transformers.models.glm5_next.image_processing_pil_glm5_next import smart_resize as glm5_resize
from transformers.models.glm_image.image_processing_pil_glm_image import smart_resize as glm_image_resize
from transformers.models.hunyuan_vl.image_processing_pil_hunyuan_vl import HunYuanVLImageProcessorPil
from transformers.models.inkling.image_processing_inkling import InklingImageProcessor
from transformers.models.kimi_k25.image_processing_kimi_k25 import navit_resize
from transformers.models.lfm2_vl.image_processing_lfm2_vl import Lfm2VlImageProcessor
from transformers.models.muse_glimmer.image_processing_muse_glimmer import MuseGlimmerImageProcessor
from transformers.models.muse_glimmer.image_processing_muse_glimmer import smart_resize as muse_glimmer_resize
from transformers.models.nemotron_h_omni.image_processing_nemotron_h_omni import get_patch_grid_size
from transformers.models.neomme.image_processing_neomme import get_resize_output_size
from transformers.models.paddleocr_vl.image_processing_pil_paddleocr_vl import PaddleOCRVLImageProcessorPil
from transformers.models.paddleocr_vl.image_processing_pil_paddleocr_vl import smart_resize as paddleocr_vl_resize
from transformers.models.pix2struct.image_processing_pil_pix2struct import Pix2StructImageProcessorPil, torch_extract_patches
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil, smart_resize
from transformers.models.siglip2.image_processing_pil_siglip2 import (
    convert_image_to_patches,
    get_image_size_for_max_num_patches,
    pad_along_first_dim,
)
from transformers.models.ultravbert.image_processing_ultravbert import get_capped_longest_edge, get_resize_output_image_size
from transformers.models.video_llama_3.image_processing_pil_video_llama_3 import VideoLlama3ImageProcessorPil

from golden import ROOT, Golden, chw, image

PILLOW = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}
DTYPES = ["int8", "uint16", "int32", "int64", "float16", "float32", "float64", "bool"]


def resized(a, h, w, interpolation):
    im = Image.fromarray(a if a.shape[2] > 1 else a[..., 0]).resize((w, h), PILLOW[interpolation])
    return np.asarray(im).reshape(h, w, a.shape[2])


class Resized(Exception):
    """Holds the size that the reference asks for."""


def pix2struct_size(h, w, most, patch):
    def interpolate(x, size, **_):
        raise Resized(size)

    keep, torch.nn.functional.interpolate = torch.nn.functional.interpolate, interpolate
    try:
        Pix2StructImageProcessorPil().extract_flattened_patches(np.broadcast_to(np.float32(0), (1, h, w)), most, SizeDict(height=patch, width=patch))
    except Resized as e:
        return e.args[0]
    finally:
        torch.nn.functional.interpolate = keep


def rule(op, fields, h, w):
    """The reference's size for an image of h x w; 0, 0 if it refuses it."""
    try:
        if op == "smart_resize":
            area = fields["factor"], fields["min_pixels"], fields["max_pixels"]
            if fields["rule"] == "neomme":
                return get_resize_output_size(h, w, fields["max_edge"] or None, SizeDict(min_pixels=fields["min_pixels"], max_pixels=fields["max_pixels"]))
            if fields["rule"] == "lfm2_vl":  # whose bounds are tokens of one patch each
                p = Lfm2VlImageProcessor()
                f = fields["factor"]
                return p.smart_resize(h, w, 1, fields["min_pixels"] // f**2, fields["max_pixels"] // f**2, f)[::-1]
            if fields["rule"] == "glm4v":
                return glm4v_resize(fields["frames"], h, w, fields["frames"], *area)
            return {"qwen2_vl": smart_resize, "paddleocr_vl": paddleocr_vl_resize, "glm_image": glm_image_resize}[fields["rule"]](h, w, *area)
        if op == "resize_to_patches":
            patch, most, merge = fields["patch"], fields["max_patches"], fields["merge"]
            if fields["rule"] == "gemma4":
                return get_aspect_ratio_preserving_size(h, w, patch, most, merge)
            if fields["rule"] == "muse_glimmer":
                return muse_glimmer_resize(h, w, patch, most)
            if fields["rule"] == "nemotron":
                rows, columns = get_patch_grid_size(h, w, patch, merge, fields["min_patches"], most)
                return (rows * patch, columns * patch) if rows and columns else (0, 0)  # resize refuses a side of 0
            if fields["rule"] == "pix2struct":
                return pix2struct_size(h, w, most, patch)
            if fields["rule"] == "ultravbert":
                edge = get_capped_longest_edge(h, w, fields["max_side"], patch, most)
                return get_resize_output_image_size(torch.empty((3, h, w), device="meta"), edge)
            if fields["rule"] == "glm5":
                return glm5_resize(2, h, w, 2, patch, fields["min_patches"], most)
            if fields["rule"] == "kimi":
                return navit_resize(h, w, patch, 1, most, fields["max_side"])[0]
            return get_image_size_for_max_num_patches(h, w, patch, most)

        class Thumbnail(DonutImageProcessorPil):
            def resize(self, image, size, **kw):
                if not size.height or not size.width:
                    raise ValueError("no pixels are left")  # as the class's own resize does
                return np.empty((1, size.height, size.width))

        p = Thumbnail(do_resize=False)
        return p.thumbnail(np.broadcast_to(np.uint8(0), (1, h, w)), SizeDict(height=fields["height"], width=fields["width"])).shape[1:]
    except (ValueError, ZeroDivisionError):
        return 0, 0


def params(op, fields, interpolation="bilinear"):
    if op == "resize":
        first = dict(fit="thumbnail", edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate")
        return first | fields | dict(interpolation=interpolation, backend="pillow", no_antialias=False)
    return fields | dict(interpolation=interpolation, backend="pillow", no_antialias=False)


def smart(factor, min_pixels, max_pixels, rule="qwen2_vl", frames=1, max_edge=0):
    return dict(factor=factor, min_pixels=min_pixels, max_pixels=max_pixels, rule=rule, frames=frames, max_edge=max_edge)


def patches(patch, max_patches, rule="naflex", merge=1, min_patches=0, max_side=0):
    return dict(patch=patch, max_patches=max_patches, rule=rule, merge=merge, min_patches=min_patches, max_side=max_side)


SMART = [smart(28, 56 * 56, 28 * 28 * 1280), smart(28, 56 * 56, 28 * 28 * 16384), smart(32, 65536, 16777216), smart(28, 1, 3136),
         smart(7, 4096, 4096), smart(1, 100, 90), smart(3, 250000, 1),
         smart(28, 384 * 384, 1536 * 1536, "paddleocr_vl"), smart(32, 1, 40000, "paddleocr_vl"), smart(7, 9000, 9000, "paddleocr_vl"), smart(300, 1, 1, "paddleocr_vl"),
         smart(28, 112 * 112, 28 * 28 * 15000, "glm4v", 2), smart(28, 12544, 9633792, "glm4v", 2), smart(32, 65536, 16777216, "glm4v"), smart(90, 7, 50000, "glm4v", 3),
         smart(5, 60000, 70000, "glm4v", 32), smart(28, 56 * 56, 28 * 28 * 1280, "glm_image"), smart(16, 512 * 512, 2048 * 2048, "glm_image"),
         smart(5, 100000, 70001, "glm_image"), smart(1, 1, 1, "glm_image"), smart(32, 1, 16777216, "glm_image"),
         smart(1, 256 * 256, 1024 * 1024, "neomme"), smart(1, 10000, 10100, "neomme"), smart(1, 1, 2**48, "neomme", max_edge=1000), smart(1, 50000, 60000, "neomme", max_edge=300),
         smart(1, 900, 5, "neomme", max_edge=7),
         smart(32, 64 * 32**2, 256 * 32**2, "lfm2_vl"), smart(7, 49, 90 * 49, "lfm2_vl"), smart(1, 1000, 1000, "lfm2_vl"), smart(28, 40 * 28**2, 3 * 28**2, "lfm2_vl"), smart(300, 90000, 90000, "lfm2_vl")]
PATCHES = [patches(16, 256), patches(16, 1024), patches(14, 729), patches(7, 1), patches(1, 2), patches(300, 5),
           patches(16, 2520, "gemma4", 3), patches(16, 630, "gemma4", 3), patches(14, 70, "gemma4"), patches(5, 17, "gemma4", 2), patches(16, 10080, "gemma4", 3),
           patches(28, 4096, "muse_glimmer"), patches(28, 100, "muse_glimmer"), patches(64, 7, "muse_glimmer"), patches(1, 999, "muse_glimmer"), patches(500, 1, "muse_glimmer"),
           patches(16, 13312, "nemotron", 2, 1024), patches(16, 1200, "nemotron", 2, 1024), patches(14, 100, "nemotron", 3, 90), patches(5, 9, "nemotron", 4, 9), patches(30, 50, "nemotron"),
           patches(14, 16384, "kimi", max_side=512), patches(14, 900, "kimi", max_side=512), patches(7, 5000, "kimi", max_side=40), patches(32, 1, "kimi", max_side=1),
           patches(16, 2048, "pix2struct"), patches(16, 4096, "pix2struct"), patches(14, 9, "pix2struct"), patches(1, 1000, "pix2struct"),
           patches(28, 8000, "glm5", min_patches=16), patches(28, 100, "glm5", min_patches=16), patches(14, 50, "glm5", min_patches=49), patches(9, 7, "glm5", min_patches=20), patches(40, 1, "glm5"),
           patches(512, 27, "ultravbert", max_side=3072), patches(512, 5, "ultravbert", max_side=5000), patches(100, 9, "ultravbert", max_side=1050), patches(64, 1, "ultravbert", max_side=60)]
THUMBNAILS = [dict(height=2560, width=1920), dict(height=1280, width=960), dict(height=50, width=100), dict(height=100, width=50), dict(height=64, width=64)]


def sizes(op, rules, file):
    r = random.Random(7)
    out = []
    for fields in rules:
        rows, f = [], fields.get("factor") or fields.get("patch") or 16
        awkward = [(1, 1), (1, 2), (1, 199), (200, 1), (1, 201), (401, 2), (400, 2), (14, 42), (42, 14), (70, 98), (1, 5000), (f * 5 // 2, f * 7 // 2), (f * 3, f * 4)]
        for _ in range(140):
            k = r.random()
            if k < 0.3:  # ties between multiples
                awkward.append((max(1, f * r.randint(0, 60) + f // 2), max(1, f * r.randint(0, 60) + f // 2)))
            elif k < 0.5:  # squares
                n = r.randint(1, 4000)
                awkward.append((n, n))
            elif k < 0.65:
                awkward.append((r.randint(1, 30), r.randint(1, 6000)))
            else:
                awkward.append((int(math.exp(r.uniform(0, 9))), int(math.exp(r.uniform(0, 9)))))
        for h, w in awkward:
            oh, ow = rule(op, fields, h, w)
            rows.append([h, w, int(oh), int(ow)])
        out.append({"params": params(op, fields), "sizes": rows})
    folder = ROOT / op
    folder.mkdir(exist_ok=True)
    (folder / file).write_text("[\n" + ",\n".join(json.dumps(o, separators=(",", ":")) for o in out) + "\n]\n")


def resizes():
    for op, rules in (
        ("smart_resize", [smart(4, 64, 300), smart(7, 400, 900)]),
        ("resize_to_patches", [patches(4, 20), patches(7, 9)]),
    ):
        g = Golden(op, f"transformers 5.23.0 {'smart_resize' if op == 'smart_resize' else 'get_image_size_for_max_num_patches'} with Pillow 13.0.0")
        for n, interpolation in enumerate(PILLOW):
            for i, (h, w) in enumerate(((23, 37), (5, 3), (1, 1), (1, 30), (16, 12))):
                fields = rules[(n + i) % 2]
                oh, ow = rule(op, fields, h, w)
                a = image(h, w, 1 if (n + i) % 4 == 3 else 3)
                want = resized(a, oh, ow, interpolation)
                if n % 2 and i % 2:
                    g.case(f"{interpolation} CHW {h}x{w}", params(op, fields, interpolation), chw(a), chw(want), "CHW")
                else:
                    g.case(f"{interpolation} {h}x{w}", params(op, fields, interpolation), a, want)
        g.write()


def align_long_axis():
    p = DonutImageProcessorPil()
    g = Golden("align_long_axis", "transformers 5.23.0 DonutImageProcessorPil.align_long_axis")
    for th, tw in ((2560, 1920), (3, 4), (5, 5)):
        for h, w in ((3, 5), (5, 3), (4, 4), (1, 1), (1, 9)):
            a = image(h, w, 3)
            g.case(f"{h}x{w} for {th}x{tw}", dict(height=th, width=tw), a, p.align_long_axis(a.transpose(2, 0, 1), SizeDict(height=th, width=tw)).transpose(1, 2, 0))
    for dt in DTYPES:
        a = chw(image(3, 5, 2, dt))
        g.case(f"CHW {dt}", dict(height=2, width=1), a, p.align_long_axis(a, SizeDict(height=2, width=1)), "CHW")
    g.write()


def patchify():
    qwen = Qwen2VLImageProcessorPil()
    g = Golden("patchify", "transformers 5.23.0 patchify of Qwen2VLImageProcessorPil and others, siglip2 convert_image_to_patches")

    def case(name, a, patch, temporal, merge, layout):
        c = a.transpose(2, 0, 1)
        if layout == "CHW":
            # The class makes float32 of its image; uint8 and float32 survive that.
            want, h, w = qwen.patchify(c, patch, merge, max(temporal, 1))
            want = want.astype(a.dtype)
        else:
            want, h, w = convert_image_to_patches(c, patch), a.shape[0] // patch, a.shape[1] // patch
        grid = np.array(([1] if temporal else []) + [h, w], np.int64)
        write(name, a, want, grid, dict(patch=patch, temporal=temporal, merge=merge, layout=layout))

    def write(name, a, want, grid, fields):
        fields = fields | {k: fields.get(k, False) for k in ("frames_first", "raster", "planes", "numbered")}
        for src, src_layout in ((a, "HWC"), (chw(a), "CHW")):
            g.case(f"{name} of {src_layout}", fields, src, want, src_layout, "none")
            g.cases[-1]["out"].append({"array": g._add(grid), "layout": "none"})

    for dt in ("uint8", "float32"):
        for patch, merge, temporal, h, w in ((2, 2, 2, 8, 12), (3, 1, 0, 6, 9), (1, 3, 1, 6, 3), (5, 1, 3, 5, 5), (1, 1, 0, 1, 1)):
            for channels in (3, 1):
                case(f"CHW {dt} {h}x{w}x{channels} patch {patch} merge {merge} temporal {temporal}", image(h, w, channels, dt), patch, temporal, merge, "CHW")
    for dt in ["uint8", *DTYPES]:
        case(f"HWC {dt} 6x4x3", image(6, 4, 3, dt), 2, 0, 1, "HWC")
    for patch, h, w in ((1, 1, 1), (3, 3, 9), (16, 32, 16)):
        case(f"HWC {h}x{w}x3 patch {patch}", image(h, w, 3), patch, 0, 1, "HWC")

    muse = MuseGlimmerImageProcessor()
    others = {
        "planes": (PaddleOCRVLImageProcessorPil().patchify, dict(layout="CHW", planes=True)),
        "raster": (HunYuanVLImageProcessorPil().patchify, dict(layout="CHW", raster=True)),
        "HWC frames": (Cosmos3EdgeImageProcessorPil().patchify, dict(layout="HWC")),
        "frames first": (lambda c, patch, merge, temporal: (lambda p, h, w: (p[0].numpy(), h, w))(*muse.patchify(torch.from_numpy(c)[None], patch, temporal)),
                         dict(layout="CHW", frames_first=True)),
    }
    for name, (run, fields) in others.items():
        for dt in ("uint8", "float32"):
            for patch, merge, temporal, h, w, channels in ((2, 2, 2, 8, 12, 3), (3, 1, 1, 6, 9, 1), (1, 3, 3, 6, 3, 3), (5, 1, 1, 5, 5, 3)):
                if name in ("planes", "frames first"):
                    merge = 1
                a = image(h, w, channels, dt)
                want, rows, columns = run(np.ascontiguousarray(a.transpose(2, 0, 1)), patch, merge, temporal)
                write(f"{name} {dt} {h}x{w}x{channels} patch {patch} merge {merge} temporal {temporal}", a, np.asarray(want).astype(dt),
                      np.array([1, rows, columns], np.int64), dict(patch=patch, temporal=temporal, merge=merge) | fields)
    inkling = InklingImageProcessor(do_rescale=False, do_normalize=False)
    for patch, h, w in ((8, 16, 15), (9, 7, 20), (40, 33, 61)):
        a = image(h, w, 3)
        out = inkling(images=Image.fromarray(a), size=dict(height=patch, width=patch), return_tensors="np")
        a = np.pad(a.astype(np.float32), ((0, -h % patch), (0, -w % patch), (0, 0)), constant_values=-1)
        write(f"HWC frames first {h}x{w} patch {patch}", a, out["pixel_values"], np.array([1, *(n // patch for n in a.shape[:2])]),
              dict(patch=patch, temporal=2, merge=1, layout="HWC", frames_first=True, planes=True))
    for patch, h, w, channels in ((2, 6, 4, 3), (3, 3, 9, 1), (1, 1, 1, 3)):
        a = image(h, w, channels, "float32")
        p = torch_extract_patches(torch.from_numpy(chw(a))[None], patch, patch)[0].numpy()
        rows, columns = p.shape[:2]
        want = np.concatenate([np.mgrid[1 : rows + 1, 1 : columns + 1].transpose(1, 2, 0).astype(np.float32), p], -1).reshape(rows * columns, -1)
        write(f"numbered {h}x{w}x{channels} patch {patch}", a, want, np.array([rows, columns], np.int64), dict(patch=patch, temporal=0, merge=1, layout="HWC", numbered=True))
    g.write()


def pad_sequence():
    g = Golden("pad_sequence", "transformers 5.23.0 siglip2 pad_along_first_dim")
    for dt in ["uint8", *DTYPES]:
        for rows, length, fill in ((3, 5, 0), (3, 3, 1), (1, 2, 1), (2, 7, 0), (1, 1, 0)):
            a = image(rows, 4, 1, dt)[..., 0]
            want, mask = pad_along_first_dim(a, length, fill)
            g.case(f"{dt} {rows} of {length}", dict(length=length, fill=fill, keep_longer=False), a, want, "none")
            g.cases[-1]["out"].append({"array": g._add(mask), "layout": "none"})
    for shape, length in (((7,), 9), ((4, 2), 3), ((2, 2, 2), 3), ((2, 2), 4)):
        a = image(shape[0], math.prod(shape[1:]), 1)[..., 0].reshape(shape)
        want, mask = pad_along_first_dim(a, length)
        g.case(f"kept {shape} of {length}", dict(length=length, fill=0, keep_longer=True), a, want, "none")
        g.cases[-1]["out"].append({"array": g._add(mask), "layout": "none"})
    g.write()


def constant():
    g = Golden("constant", "transformers 5.23.0 VideoLlama3ImageProcessorPil (image_merge_sizes); other dtypes: NumPy 2.4.6 array")
    a = image(8, 6, 3)
    for merge in (1, 2):
        p = VideoLlama3ImageProcessorPil(do_resize=False, patch_size=1, merge_size=merge)
        g.case(f"merge {merge}", dict(value=merge, dtype="int64"), a, p(images=a, return_tensors="np")["image_merge_sizes"][0], out_layout="none")
    for dt in ["uint8", *DTYPES]:
        v = 1 if dt == "bool" else 77.5 if "float" in dt else 77
        g.case(dt, dict(value=v, dtype=dt), a, np.array(v, dt), out_layout="none")
    g.write()


def positions():
    p = Gemma4ImageProcessorPil(do_resize=False)
    g, counts = Golden("patch_positions", "transformers 5.23.0 Gemma4ImageProcessorPil (image_position_ids)"), Golden("count_patches", "transformers 5.23.0 Gemma4ImageProcessorPil (num_soft_tokens_per_image); rows and columns: its image_position_ids")
    for h, w, patch, pool in ((4, 6, 2, 1), (9, 15, 3, 2), (16, 7, 1, 3), (5, 5, 5, 1), (20, 70, 10, 4), (8, 4, 4, 1), (14, 21, 7, 1), (12, 6, 6, 1)):
        a = image(h, w, 3)
        out = p(images=Image.fromarray(a), patch_size=patch, pooling_kernel_size=pool, return_tensors="np")
        ids = out["image_position_ids"][0]
        ids = ids[ids[:, 0] >= 0]
        for src, layout in ((a, "HWC"), (chw(a), "CHW")):
            g.case(f"{h}x{w} patch {patch} {layout}", dict(patch=patch), src, ids, layout, "none")
            for axis, n in (("all", np.int64(out["num_soft_tokens_per_image"][0])), ("rows", ids[:, 1].max() + 1), ("columns", ids[:, 0].max() + 1)):
                counts.case(f"{axis} {h}x{w} patch {patch} {layout}", dict(patch=patch, axis=axis, divisor=pool * pool if axis == "all" else 1), src, n, layout, "none")
    for dt in DTYPES:
        a = image(4, 6, 2, dt)
        ids = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]])
        g.case(dt, dict(patch=2), a, ids, out_layout="none")
        counts.case(dt, dict(patch=2, axis="all", divisor=1), a, np.int64(6), out_layout="none")
    g.write()
    counts.write()


def standardize():
    p = Pix2StructImageProcessorPil()
    g = Golden("standardize", "transformers 5.23.0 Pix2StructImageProcessorPil.normalize")
    for h, w, c in ((1, 1, 1), (1, 2, 3), (3, 5, 3), (7, 1, 1), (5, 43, 1), (16, 8, 1), (16, 8, 3), (43, 37, 3), (91, 120, 1)):
        for a in (image(h, w, c, "float32"), image(h, w, c).astype(np.float32), np.full((h, w, c), 77, np.float32)):
            g.case(f"{h}x{w}x{c}", {}, a, p.normalize(a))
            g.case(f"{c}x{h}x{w}", {}, chw(a), p.normalize(chw(a)), "CHW")
    g.write()


def mask_rows():
    g = Golden("mask_rows", "transformers 5.23.0 Pix2StructImageProcessorPil (attention_mask); NumPy 2.4.6 sum")
    for rows, n in ((1, 1), (3, 2), (4, 770), (5, 100), (2, 7)):
        a = image(rows, n, 1, "float32")[..., 0]
        a[rows // 2 :] = 0
        g.case(f"{rows} of {n}", {}, a, (a.sum(axis=-1) != 0).astype(np.float32), "none", "none")
    # 1e8 and 1 are lost or kept by the order of the sum.
    for n in (8, 16, 20, 150, 300):
        a = np.zeros((n, n), np.float32)
        for i in range(n):
            a[i, i], a[i, 0], a[i, n - 1] = 1, a[i, 0] + 1e8, a[i, n - 1] - 1e8
        g.case(f"order of {n}", {}, a, (a.sum(axis=-1) != 0).astype(np.float32), "none", "none")
    g.write()


def split_side():
    p = EomtImageProcessor()
    g = Golden("split_side", "transformers 5.23.0 EomtImageProcessor._split_image")
    for h, w, size in ((5, 12, 5), (12, 5, 5), (4, 4, 4), (4, 4, 3), (7, 23, 6), (3, 2, 9), (2, 3, 9), (1, 50, 7), (61, 2, 4), (2, 19, 1), (30, 8, 8)):
        for dt in ("uint8", "float32"):
            a = chw(image(h, w, 3, dt))
            tiles, offsets = p._split_image(torch.from_numpy(a)[None], SizeDict(shortest_edge=size), [0])
            want, offsets = np.stack([t.numpy() for t in tiles]), np.array(offsets)
            g.case(f"{dt} {h}x{w} of {size}", dict(size=size), a, want, "CHW", "none", more=[offsets])
            g.case(f"HWC {dt} {h}x{w} of {size}", dict(size=size), np.ascontiguousarray(a.transpose(1, 2, 0)), np.ascontiguousarray(want.transpose(0, 2, 3, 1)), "HWC", "none", more=[offsets])
    g.write()


def keep_rows():
    g = Golden("keep_rows", "transformers 5.23.0 DeepseekOcr2ImageProcessor (num_local_patches of its tiles); NumPy 2.4.6 slicing")
    rows = image(4, 6, 1, "float32")[..., 0]
    for h, w, side in ((5, 9, 8), (9, 5, 8), (8, 8, 8), (8, 3, 8), (1, 1, 1), (2, 1, 1), (7, 3, 2), (2, 3, 3), (4, 4, 4), (5, 1, 5), (9, 2, 6), (9, 9, 9)):
        a = image(h, w, 3)
        n = DeepseekOcr2ImageProcessor(tile_size=side, size=dict(height=8, width=8))(images=Image.fromarray(a), return_tensors="np")["num_local_patches"][0]
        for r in (rows, rows.astype(np.uint8).reshape(4, 3, 2)):
            g.case(f"{h}x{w} above {side} {r.dtype}", dict(side=side), r, r if n else r[:0], "none", "none")
            g.cases[-1]["in"].append({"array": g._add(a), "layout": "HWC"})
    g.write()


def reshape():
    g = Golden("reshape", "NumPy 2.4.6 reshape")
    for dtype in ("uint8", "float32", "int64", "bool", "float16"):
        for shape, new in (((4, 6), (24,)), ((4, 6), (-1, 3)), ((24,), (2, -1, 4)), ((1,), ()), ((), (1, -1)), ((0, 3), (-1, 3)), ((2, 3, 5), (3, -1, 2)), ((2, 3, 4), (2, 3, 4))):
            a = np.ascontiguousarray(image(1, int(np.prod(shape)), 1, dtype).reshape(shape))
            g.case(f"{dtype} {shape} {new}", dict(shape=new), a, a.reshape(new), "none", "none")
    a = image(4, 6, 3)
    g.case("HWC", dict(shape=[-1, 9]), a, a.reshape(-1, 9), "HWC", "none")
    g.write()


def tiles_or_whole():
    """Whether the class cuts an image is seen in the number of tiles that it returns, and in the grid."""
    g = Golden("tiles_or_whole", "transformers 5.23.0 Lfm2VlImageProcessor; NumPy 2.4.6 concatenate")
    for patch, down, tokens, tolerance, least in ((2, 2, 4, 2.0, 2), (2, 3, 9, 1.25, 1), (4, 1, 9, 1.0, 2), (1, 4, 5, 0.9, 2), (3, 1, 2, 0.0, 1)):
        for i, (h, w) in enumerate(((4, 4), (10, 12), (1, 60), (60, 1), (14, 10), (12, 13), (40, 40), (11, 25))):
            a = image(h, w, 3)
            for join in (True, False):
                p = Lfm2VlImageProcessor(encoder_patch_size=patch, downsample_factor=down, max_image_tokens=tokens, min_image_tokens=1, max_pixels_tolerance=tolerance, tile_size=4 * patch,
                                         min_tiles=least, max_tiles=6, use_thumbnail=join, do_normalize=False, do_pad=False)
                large = p._is_image_too_large(h, w, tokens, patch, down, tolerance)
                images, rows, columns, _ = p.resize_and_split(torch.from_numpy(chw(a))[None], down, least, 6, join, 1, tokens, patch, 4 * patch, tolerance, 2)
                n = rows[0] * columns[0]
                tiles, whole = image(n, 3 + i % 2, 1, ("float32", "uint8")[i // 2 % 2])[..., 0], image(1, 3 + i % 2, 1, ("float32", "uint8")[i // 2 % 2])[..., 0]
                want = np.concatenate([tiles, whole])[: len(images[0])] if large else whole
                g.case(f"{h}x{w} {patch} {down} {tokens} {tolerance} {join}", dict(factor=patch * down, min_side=patch, max_pixels=tokens * patch**2 * down**2 * tolerance, join=join), tiles, want, "none", "none", second=whole)
                g.cases[-1]["in"].append({"array": g._add(a), "layout": "HWC"})
    g.write()


sizes("smart_resize", SMART, "sizes.json")
sizes("resize_to_patches", PATCHES, "sizes.json")
sizes("resize", THUMBNAILS, "thumbnail.json")
resizes()
align_long_axis()
patchify()
pad_sequence()
constant()
positions()
standardize()
mask_rows()
split_side()
keep_rows()
reshape()
tiles_or_whole()
