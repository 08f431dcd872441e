"""Makes cmd/internal/cli/testdata/diff/faults.npz: tensors of programs with faults, each made by the real libraries.

A name is GRAPH.IMAGE.FAULT; clips stands for clip and clippil. The graphs are those of TestDiffFaults, which has the
one right answer for each name. Needs the pins of requirements.txt. Takes no arguments; running it again gives the same
bytes. With arguments SIZE EDGE OUT PHOTO it makes the same faults of a photograph, for a closer look.
"""

import pathlib
import sys

import cv2
import numpy as np
import torch
import torchvision.transforms.v2 as v2
from PIL import Image, ImageOps
from torchvision.transforms.v2 import functional as F
from transformers import CLIPImageProcessor, CLIPImageProcessorPil, ViTImageProcessor

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)
torch.set_num_threads(2)

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "cmd" / "internal" / "cli" / "testdata" / "diff"
IMAGES = ROOT / "testdata" / "images"
SIZE, EDGE = 16, 20
PHOTO, LARGE = "jpeg_base_420.jpg", "jpeg_large.jpg"
EXIF, ALPHA, SMALL = "exif6.jpg", "webp_alpha_50x33.webp", "webp_lossy_q100.webp"
IMAGENET = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
CLIP = np.array([0.48145466, 0.4578275, 0.40821073], np.float32), np.array([0.26862954, 0.26130258, 0.27577711], np.float32)
HALF = np.array([0.5] * 3, np.float32), np.array([0.5] * 3, np.float32)
CAFFE = np.array([103.939, 116.779, 123.68], np.float32)
BILINEAR, BICUBIC = Image.BILINEAR, Image.BICUBIC


def path(name):
    for p in (pathlib.Path(name), OUT / name, IMAGES / name):
        if p.exists():
            return str(p)
    raise SystemExit(f"{name}: no such image")


def rgb(name):
    return Image.open(path(name)).convert("RGB")


def bgr(name, flags=cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION):
    return cv2.imread(path(name), flags)


def crop(a, rounding=round, size=None):
    size = size or SIZE
    h, w = a.shape[:2]
    y, x = rounding((h - size) / 2), rounding((w - size) / 2)
    return a[y : y + size, x : x + size]


def sides(w, h, edge=None, rounding=int):
    """Width and height with the shorter edge at edge."""
    edge = edge or EDGE
    long = rounding(edge * max(w, h) / min(w, h))
    return (edge, long) if w <= h else (long, edge)


def shortest(im, filter=BILINEAR, edge=None, rounding=int):
    return crop(np.asarray(im.resize(sides(*im.size, edge, rounding), filter)))


def cv(a, interpolation=cv2.INTER_LINEAR, edge=None):
    return crop(cv2.resize(a, sides(a.shape[1], a.shape[0], edge), interpolation=interpolation))


def exact(a, interpolation=cv2.INTER_LINEAR):
    return cv2.resize(a, (SIZE, SIZE), interpolation=interpolation)


def squashed(im, filter=BILINEAR):
    return np.asarray(im.resize((SIZE, SIZE), filter))


def f32(a):
    return np.ascontiguousarray(a).astype(np.float32)


def scaled(a):
    return f32(a) / np.float32(255)


def norm(a, stats=IMAGENET):
    return (a - stats[0]) / stats[1]


def chw(a):
    return np.ascontiguousarray(a.transpose(2, 0, 1))


def full(a, stats=IMAGENET):
    return chw(norm(scaled(a), stats))


def tensor(name):
    return torch.from_numpy(chw(np.asarray(rgb(name))))


def tv(name, resize, more=()):
    """torchvision's v2 on a tensor: resize, crop, then ImageNet's mean and std."""
    t = v2.Compose([resize, v2.CenterCrop(SIZE), *more, v2.ToDtype(torch.float32, scale=True)])(tensor(name))
    return F.normalize(t, IMAGENET[0].tolist(), IMAGENET[1].tolist()).numpy()


def float_resize(name, antialias, mode="bilinear"):
    """Values of 0 to 1, scaled by torch as floats."""
    t = torch.from_numpy(chw(scaled(np.asarray(rgb(name)))))[None]
    w, h = sides(t.shape[3], t.shape[2])
    t = torch.nn.functional.interpolate(t, size=(h, w), mode=mode, antialias=antialias, align_corners=False)[0]
    return crop(t.numpy().transpose(1, 2, 0))


def truncated(name):
    """Scaled by torch as floats of 0 to 255, then cut to uint8."""
    t = tensor(name)[None].float()
    w, h = sides(t.shape[3], t.shape[2])
    t = torch.nn.functional.interpolate(t, size=(h, w), mode="bilinear", antialias=True, align_corners=False)[0]
    return crop(t.clamp(0, 255).to(torch.uint8).numpy().transpose(1, 2, 0))


def ffmpeg(name):
    """Decoded by FFmpeg, which scales chroma otherwise than libjpeg."""
    ok, a = cv2.VideoCapture(path(name), cv2.CAP_FFMPEG).read()
    assert ok
    return a[:, :, ::-1]


def box(a, fill, corner=False, size=None, interpolation=cv2.INTER_LINEAR):
    size = size or SIZE
    h, w = a.shape[:2]
    r = min(size / h, size / w)
    nw, nh = round(w * r), round(h * r)
    a = cv2.resize(a, (nw, nh), interpolation=interpolation)
    dw, dh = (size - nw) / 2, (size - nh) / 2
    t, b, l, right = round(dh - 0.1), round(dh + 0.1), round(dw - 0.1), round(dw + 0.1)
    if corner:
        t, b, l, right = 0, size - nh, 0, size - nw
    return cv2.copyMakeBorder(a, t, b, l, right, cv2.BORDER_CONSTANT, value=(fill,) * 3)


def over(name, background):
    im = Image.open(path(name)).convert("RGBA")
    under = Image.new("RGBA", im.size, background + (255,))
    return Image.alpha_composite(under, im).convert("RGB")


def drafted(name, size):
    im = Image.open(path(name))
    im.draft("RGB", (size, size))
    return im.convert("RGB")


def three(gray):
    return np.stack([np.asarray(gray)] * 3, axis=2)


def torchvision_faults(f):
    """torchvision's ImageNet evaluation, on Pillow images."""
    good = shortest(rgb(PHOTO))

    def add(name, a, image=PHOTO):
        f[f"tv.{image}.{name}"] = a

    add("fused", chw((f32(good) - IMAGENET[0] * np.float32(255)) / (IMAGENET[1] * np.float32(255))))
    add("reciprocal", chw((f32(good) * np.float32(1 / 255) - IMAGENET[0]) * (1 / IMAGENET[1])))
    add("float64", chw((good / 255 - np.array([0.485, 0.456, 0.406])) / np.array([0.229, 0.224, 0.225])))
    add("float16", full(good).astype(np.float16))
    add("float16_throughout", chw((good.astype(np.float16) / np.float16(255) - IMAGENET[0].astype(np.float16)) / IMAGENET[1].astype(np.float16)))
    add("hwc", norm(scaled(good)))
    add("hwc_batch", norm(scaled(good))[None])
    add("no255", chw(norm(f32(good))))
    add("no255_float64", chw((good.astype(np.float64) - IMAGENET[0]) / IMAGENET[1]))
    add("twice255", chw(norm(scaled(scaled(good)))))
    add("no_mean_std", chw(scaled(good)))
    add("raw", chw(f32(good)))
    add("raw_uint8", good)
    add("raw_bgr_uint8", good[:, :, ::-1])
    add("raw_bgr_float64", chw(good[:, :, ::-1].astype(np.float64))[None])
    add("clip_mean", full(good, CLIP))
    add("half_mean", full(good, HALF))
    add("half_mean_127", chw(f32(good) / np.float32(127.5) - np.float32(1)))
    add("std_missing", chw(scaled(good) - IMAGENET[0]))
    add("mean_missing", chw(scaled(good) / IMAGENET[1]))
    add("mean_reversed", full(good, (IMAGENET[0][::-1], IMAGENET[1][::-1])))
    add("normalized_twice", chw(norm(norm(scaled(good)))))
    add("levels_mean", full(good, (IMAGENET[0] * 255, IMAGENET[1] * 255)))
    add("caffe", chw(f32(good[:, :, ::-1]) - CAFFE))
    add("own_mean", full(good, (np.float32([0.3, 0.4, 0.5]), np.float32([0.31, 0.29, 0.33]))))
    add("bgr", full(good[:, :, ::-1]))
    add("bgr_throughout", chw(norm(scaled(good))[:, :, ::-1]))
    for name, i in {"linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA, "lanczos": cv2.INTER_LANCZOS4, "nearest": cv2.INTER_NEAREST}.items():
        add("cv_" + name, full(cv(bgr(PHOTO)[:, :, ::-1], i)))
    add("cv_linear_bgr", full(cv(bgr(PHOTO))))
    add("cv_linear_raw_bgr", cv(bgr(PHOTO)))
    add("cv_area_no_mean_std_bgr", chw(scaled(cv(bgr(PHOTO), cv2.INTER_AREA))))
    for name, i in {"bicubic": BICUBIC, "lanczos": Image.LANCZOS, "nearest": Image.NEAREST, "box": Image.BOX, "hamming": Image.HAMMING}.items():
        add("pil_" + name, full(shortest(rgb(PHOTO), i)))
    add("torch_antialias", tv(PHOTO, v2.Resize(EDGE, antialias=True)))
    add("torch_no_antialias", tv(PHOTO, v2.Resize(EDGE, antialias=False)))
    add("torch_bicubic", tv(PHOTO, v2.Resize(EDGE, F.InterpolationMode.BICUBIC, antialias=True)))
    add("float_antialias", chw(norm(float_resize(PHOTO, True))))
    add("float_no_antialias", chw(norm(float_resize(PHOTO, False))))
    add("float_no_antialias_raw", chw(float_resize(PHOTO, False) * np.float32(255)))
    add("truncated", full(truncated(PHOTO)))
    add("draft", full(shortest(drafted(LARGE, 4 * EDGE))), LARGE)
    add("draft_bgr", full(shortest(drafted(LARGE, 4 * EDGE))[:, :, ::-1]), LARGE)
    add("reduced", full(shortest(rgb(LARGE).reduce(4))), LARGE)
    add("squash", full(squashed(rgb(PHOTO))))
    add("squash_bgr", full(squashed(rgb(PHOTO))[:, :, ::-1]))
    add("squash_cv_bgr", full(exact(bgr(PHOTO))))
    add("squash_cv_raw_bgr", exact(bgr(PHOTO)))
    add("squash_bicubic_half", full(squashed(rgb(PHOTO), BICUBIC), HALF))
    add("squash_pil_no255", chw(norm(f32(squashed(rgb(PHOTO))))))
    add("shortest_crop", full(shortest(rgb(PHOTO), edge=SIZE)))
    add("shortest_crop_bicubic", full(shortest(rgb(PHOTO), BICUBIC, edge=SIZE)))
    add("margin", full(shortest(rgb(PHOTO), edge=SIZE * 8 // 7)))
    add("uncropped_bgr", chw(norm(scaled(np.asarray(rgb(PHOTO).resize(sides(*rgb(PHOTO).size), BILINEAR))[:, :, ::-1]))))
    a = np.asarray(rgb(LARGE).resize(sides(*rgb(LARGE).size), BILINEAR))
    add("crop_floor", full(crop(a, lambda v: int(v // 1))), LARGE)
    a = np.asarray(rgb(SMALL).resize(sides(*rgb(SMALL).size), BILINEAR))
    add("crop_ceil", full(crop(a, lambda v: int(-(-v // 1)))), SMALL)
    add("sides_rounded", full(shortest(rgb(SMALL), rounding=round)), SMALL)
    add("sides_rounded_bgr", full(shortest(rgb(SMALL), rounding=round)[:, :, ::-1]), SMALL)
    add("letterbox", full(box(np.asarray(rgb(PHOTO)), 114)))
    add("letterbox_black_bgr", full(box(bgr(PHOTO), 0)))
    add("exif", full(shortest(ImageOps.exif_transpose(Image.open(path(EXIF))).convert("RGB"))), EXIF)
    add("exif_cv_bgr", full(cv(bgr(EXIF, cv2.IMREAD_COLOR))), EXIF)
    add("exif_squash_raw", chw(f32(squashed(ImageOps.exif_transpose(rgb(EXIF))))), EXIF)
    add("gray", full(shortest(Image.fromarray(three(rgb(PHOTO).convert("L"))))))
    add("gray_cv", full(shortest(Image.fromarray(three(cv2.cvtColor(bgr(PHOTO), cv2.COLOR_BGR2GRAY))))))
    add("gray_imread", full(shortest(Image.fromarray(three(cv2.imread(path(PHOTO), cv2.IMREAD_GRAYSCALE))))))
    add("alpha_white", full(shortest(over(ALPHA, (255, 255, 255)))), ALPHA)
    add("alpha_black", full(shortest(over(ALPHA, (0, 0, 0)))), ALPHA)
    add("alpha_white_bgr", full(shortest(over(ALPHA, (255, 255, 255)))[:, :, ::-1]), ALPHA)
    add("decoder", full(shortest(Image.fromarray(ffmpeg(PHOTO)))))
    add("decoder_bgr", full(shortest(Image.fromarray(ffmpeg(PHOTO)))[:, :, ::-1]))
    add("decoder_no255", chw(norm(f32(shortest(Image.fromarray(ffmpeg(PHOTO)))))))
    add("mirrored", full(good[:, ::-1]))
    add("transposed_raw", f32(good).transpose(2, 1, 0))
    add("reshaped", norm(scaled(good)).reshape(3, SIZE, SIZE))
    rng = np.random.default_rng(1)
    add("noise", rng.standard_normal((3, SIZE, SIZE)).astype(np.float32))
    add("constant", np.full((3, SIZE, SIZE), 0.5, np.float32))
    add("another_image", full(shortest(rgb(SMALL))))
    nan = full(good)
    nan[0, 3, 5] = np.nan
    add("nan", nan)
    add("two_images", np.stack([full(good)] * 2))


def clip_faults(f):
    """CLIPImageProcessor: clip is the default backend, clippil the other."""
    o = {"size": {"shortest_edge": EDGE}, "crop_size": {"height": SIZE, "width": SIZE}}

    def hf(cls=CLIPImageProcessor, image=PHOTO, **more):
        return np.asarray(cls(**o, **more)(Image.open(path(image)), return_tensors="np")["pixel_values"][0])

    def both(name, a):
        f[f"clips.{PHOTO}.{name}"] = a

    for b, cls in {"clip": CLIPImageProcessor, "clippil": CLIPImageProcessorPil}.items():
        for name, more in {
            "no255": {"do_rescale": False}, "no_mean_std": {"do_normalize": False}, "raw": {"do_rescale": False, "do_normalize": False},
            "imagenet_mean": {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}, "bilinear": {"resample": 2}, "twice255": {"rescale_factor": 1 / 65025},
        }.items():
            f[f"{b}.{PHOTO}.{name}"] = hf(cls, **more)
    f[f"clip.{PHOTO}.other_backend"] = hf(CLIPImageProcessorPil)
    f[f"clippil.{PHOTO}.other_backend"] = hf()
    raw = {"do_rescale": False, "do_normalize": False}
    for b, cls in {"clip": CLIPImageProcessor, "clippil": CLIPImageProcessorPil}.items():
        levels = hf(cls, **raw).astype(np.float32)
        x = levels.transpose(1, 2, 0)
        f[f"{b}.{PHOTO}.float64"] = chw((x.astype(np.float64) / 255 - CLIP[0]) / CLIP[1])
        f[f"{b}.{PHOTO}.by_hand"] = full(x, CLIP)
        f[f"{b}.{PHOTO}.raw_bgr_uint8"] = x[:, :, ::-1].astype(np.uint8)
        f[f"{b}.{PHOTO}.no255_bgr"] = chw(norm(x[:, :, ::-1], CLIP))
        f[f"{b}.{PHOTO}.float16"] = full(x, CLIP).astype(np.float16)
    both("cv_cubic", full(cv(bgr(PHOTO)[:, :, ::-1], cv2.INTER_CUBIC), CLIP))
    both("cv_cubic_bgr", full(cv(bgr(PHOTO), cv2.INTER_CUBIC), CLIP))
    both("cv_linear", full(cv(bgr(PHOTO)[:, :, ::-1]), CLIP))
    both("cv_area_raw_bgr", chw(f32(cv(bgr(PHOTO), cv2.INTER_AREA))))
    both("cv_linear_no255", chw(norm(f32(cv(bgr(PHOTO)[:, :, ::-1])), CLIP)))
    both("cv_cubic_imagenet", full(cv(bgr(PHOTO)[:, :, ::-1], cv2.INTER_CUBIC), IMAGENET))
    both("squash_no_mean_std", chw(scaled(squashed(rgb(PHOTO), BICUBIC))))


def other_faults(f):
    """ViT, timm, YOLO's letterbox, and OpenCV's blobs."""
    vit = {"size": {"height": SIZE, "width": SIZE}}
    for name, more in {
        "no255": {"do_rescale": False}, "imagenet_mean": {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}, "bicubic": {"resample": 3},
    }.items():
        f[f"vit.{PHOTO}.{name}"] = np.asarray(ViTImageProcessor(**vit, **more)(Image.open(path(PHOTO)), return_tensors="np")["pixel_values"][0])
    f[f"vit.{PHOTO}.pillow"] = full(squashed(rgb(PHOTO)), HALF)
    f[f"vit.{PHOTO}.minus_1_to_1"] = chw(np.asarray(ViTImageProcessor(**vit, do_rescale=False, do_normalize=False)(Image.open(path(PHOTO)), return_tensors="np")["pixel_values"][0])
                                        .transpose(1, 2, 0).astype(np.float32) * np.float32(2 / 255) - np.float32(1))
    f[f"vit.{PHOTO}.cv_bgr"] = full(exact(bgr(PHOTO)), HALF)
    f[f"vit.{PHOTO}.shortest_crop"] = full(shortest(rgb(PHOTO), edge=SIZE), HALF)
    edge = int(SIZE / 0.875)
    f[f"timm.{PHOTO}.bilinear"] = full(shortest(rgb(PHOTO), edge=edge))
    f[f"timm.{PHOTO}.cv_cubic_bgr"] = full(cv(bgr(PHOTO), cv2.INTER_CUBIC, edge))
    f[f"timm.{PHOTO}.half_mean"] = full(shortest(rgb(PHOTO), BICUBIC, edge), HALF)
    f[f"timm.{PHOTO}.squash_raw_bgr"] = squashed(rgb(PHOTO), BICUBIC)[:, :, ::-1]
    f[f"timm.{PHOTO}.no_margin"] = full(shortest(rgb(PHOTO), BICUBIC, SIZE))
    a = np.asarray(rgb(PHOTO))
    boxed = box(a, 114, size=2 * SIZE)
    f[f"yolo.{PHOTO}.multiplied"] = chw(f32(boxed) * np.float32(1 / 255))[None]
    f[f"yolo.{PHOTO}.no255"] = chw(f32(boxed))[None]
    f[f"yolo.{PHOTO}.uint8_hwc"] = boxed
    f[f"yolo.{PHOTO}.bgr"] = chw(scaled(boxed[:, :, ::-1]))
    f[f"yolo.{PHOTO}.float16"] = chw(scaled(boxed)).astype(np.float16)
    f[f"yolo.{PHOTO}.black"] = chw(scaled(box(a, 0, size=2 * SIZE)))
    f[f"yolo.{PHOTO}.corner_bgr"] = chw(scaled(box(a, 114, True, 2 * SIZE)[:, :, ::-1]))
    f[f"yolo.{PHOTO}.squash"] = chw(scaled(cv2.resize(a, (2 * SIZE, 2 * SIZE))))
    f[f"yolo.{PHOTO}.area"] = chw(scaled(box(a, 114, size=2 * SIZE, interpolation=cv2.INTER_AREA)))
    f[f"yolo.{PHOTO}.imagenet_mean"] = full(boxed)
    b, mean = bgr(PHOTO), (123.675, 116.28, 103.53)
    scale = 1 / 57.63
    size = (SIZE, SIZE)

    def blob(a=b, scale=scale, mean=mean, **more):
        return cv2.dnn.blobFromImage(a, scale, size, mean, **{"swapRB": True, **more})[0]

    f[f"opencv.{PHOTO}.by_hand"] = chw((exact(b[:, :, ::-1]).astype(np.float64) - mean) * scale)
    f[f"opencv.{PHOTO}.not_swapped"] = blob(swapRB=False)
    f[f"opencv.{PHOTO}.no_mean"] = blob(mean=(0, 0, 0))
    f[f"opencv.{PHOTO}.raw"] = blob(scale=1, mean=(0, 0, 0))
    f[f"opencv.{PHOTO}.divided"] = blob(scale=1 / 255, mean=(0, 0, 0))
    f[f"opencv.{PHOTO}.crop"] = blob(crop=True)
    f[f"opencv.{PHOTO}.pillow"] = chw((f32(squashed(rgb(PHOTO))) - np.float32(mean)) * np.float32(scale))


def main():
    global OUT, SIZE, EDGE, PHOTO, LARGE, SMALL
    out = OUT / "faults.npz"
    if len(sys.argv) > 1:
        SIZE, EDGE, out, PHOTO = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
        LARGE = PHOTO
    else:
        im = Image.open(IMAGES / PHOTO)
        exif = im.getexif()
        exif[0x0112] = 6
        im.save(OUT / EXIF, quality=85, exif=exif)
    f = {}
    torchvision_faults(f)
    clip_faults(f)
    other_faults(f)
    with open(out, "wb") as w:
        np.savez_compressed(w, **{k: np.ascontiguousarray(v) for k, v in f.items()})


main()
