"""Compares infer-prep's tensors with the references', byte for byte.

usage: parity.py INFER_PREP [FOLDER]...

A case is a graph, a reference and images: those of testdata/images and of the
given folders, and for the decode cases those of testdata/extremes too. The
command line runs the graph as a user would, and the script compares all its
outputs with the reference's for the same files. It prints one line per case:

    <reference>  <graph>  exact n of m, worst difference d

m counts the images that the reference takes. An image that only one side takes
is not exact, and its name is printed. The exit status is 1 if a case is not
exact.
"""

import os

for v in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[v] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["YOLO_CONFIG_DIR"] = os.environ["MPLCONFIGDIR"] = "/tmp"
os.environ["YOLO_VERBOSE"] = "false"

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import PIL
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import importers
import importers_more
from importers import rgb

warnings.simplefilter("ignore")
Image.MAX_IMAGE_PIXELS = None


class Case:
    """A graph's command-line flags and its reference: path -> {output: array}, which raises if it refuses an image."""

    def __init__(self, who, name, flags, reference, images=None, takes=True):
        self.who, self.name, self.flags, self.reference = who, name, flags, reference
        self.images = images or (lambda p: True)
        self.takes = takes  # whether infer-prep must refuse the images that the reference refuses


def graph_file(folder, name, steps):
    """Writes a graph from (op, params) pairs and returns its flags."""
    g = {
        "infer_prep_graph": 1,
        "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [{"op": o, "version": 1, "in": ["image"], "out": ["image"], "params": p} for o, p in steps],
        "outputs": ["image"],
    }
    path = pathlib.Path(folder) / (name.replace(" ", "-").replace("/", "-") + ".json")
    path.write_text(json.dumps(g))
    return ["--graph", str(path)]


def decode_step(**kw):
    p = dict(color="rgb", alpha="drop", gray16="clip", refuse=[], orientation="ignore", damage="pillow", scale="full")
    return ("decode", p | kw)


def resize_step(**kw):
    p = dict(fit="exact", height=0, width=0, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate",
             interpolation="bilinear", backend="pillow", no_antialias=False)
    return ("resize", p | kw)


def draft(path, s):
    """Returns the JPEG at 1/s of its size, reduced by libjpeg alone."""
    with Image.open(path) as im:
        w, h = -(-im.width // s), -(-im.height // s)
        im.draft(None, None)
        # draft rounds the quotient of the sides down, so it would choose a scale below s
        # for small images.
        im.decoderconfig = (s, 0)
        im._size = (w, h)
        im.tile = [im.tile[0]._replace(extents=(0, 0, w, h))]
        return np.asarray(im.convert("RGB"))


def suffix(*ext):
    return lambda p: p.suffix.lower() in ext


def jpeg_kind(path):
    """Returns 'gray', 'YCbCr', 'RGB', 'CMYK', or '' if the file is not a JPEG."""
    if path.suffix.lower() not in (".jpg", ".jpeg"):
        return ""
    try:
        with Image.open(path) as im:
            if im.mode == "L":
                return "gray"
            if im.mode != "RGB":
                return im.mode
            if im.info.get("adobe_transform") == 0:
                return "RGB"
            if "adobe" not in im.info and "jfif" not in im.info and [c[0] for c in im.layer] == [82, 71, 66]:
                return "RGB"
            return "YCbCr"
    except Exception:
        return ""


def not_long(path):
    """Reports whether the longer side is at most 20 times the shorter."""
    try:
        with Image.open(path) as im:
            return max(im.size) <= 20 * min(im.size)
    except Exception:
        return True


def not_rotated_row(path):
    """not_long, without images of one row of pixels: torch reads memory behind one that it has
    rotated (unpack_rgb takes the stride of the columns, of which there is one, for that of pixels)."""
    try:
        with Image.open(path) as im:
            return not_long(path) and (im.height > 1 or im.width == 1)
    except Exception:
        return True


def opaque(path):
    """Reports whether an image has no transparency."""
    try:
        with Image.open(path) as im:
            return not im.has_transparency_data
    except Exception:
        return True


def sides(path):
    try:
        with Image.open(path) as im:
            return im.size
    except Exception:
        return 1000, 1000


# Images that are left out of a row, which docs/exactness.md lists as known differences.
LEFT_OUT = {
    # transformers takes an array of 1 or 3 rows for one of 1 or 3 channels.
    **{f"hf/{name}{backend}": lambda p: sides(p)[1] not in (1, 3) for name in ("emu3-chat", "video-llava-7b", "vivit-b-16x2") for backend in ("", ", PIL's backend")},
    # An image of 6 x 4500 pixels gets 480,000 columns, above --limit-bytes.
    **{f"hf/textnet-base{backend}": lambda p: p.name != "tiff_group3_long.tif" for backend in ("", ", PIL's backend")},
    # infer-prep refuses images without pixels between two steps; Pillow makes something of some of them.
    "hf/idefics2-8b, PIL's backend": lambda p: min(sides(p)) > 1,
    "hf/perceiver-learned, PIL's backend": lambda p: min(sides(p)) > 1,
    # It refuses transparent images, which transformers composites on a checkerboard.
    "hf/inkling2": opaque,
    "hf/donut-align-long-axis": not_rotated_row,
}
# importer/ultralytics refuses what importer/opencv does, and TIFF that is turned.
LEFT_OUT |= {f"ultralytics/{p.stem}": lambda p: not importers_more.LEFT_OUT["opencv"].search(p.name) and "tiff_orientation" not in p.name
             for p in importers.configs() if p.parent.name == "ultralytics"}

# Rows in which infer-prep may refuse images, which docs/exactness.md says: Nougat's page without its
# margins can need a reduction by 4 or more, for which Pillow's thumbnail reduces the image first.
REFUSES = {"hf/nougat-base, PIL's backend"}


def lossless(path):
    return b"\xff\xc3\x00" in path.read_bytes()  # SOF3


def cases(tmp):
    import cv2
    import torch
    from torchvision import transforms as T
    from torchvision.transforms.v2 import functional as F

    cv2.setNumThreads(1)
    cv2.ipp.setUseIPP(False)
    torch.set_num_threads(1)
    pillow, opencv, vision = f"Pillow {PIL.__version__}", f"OpenCV {cv2.__version__}", "torchvision 0.29.2"

    decode = ["--preset", "decode"]
    for fmt, ext in [("jpeg", (".jpg", ".jpeg")), ("png", (".png",)), ("gif", (".gif",)), ("bmp", (".bmp",)),
                     ("tiff", (".tif", ".tiff")), ("webp", (".webp",))]:
        yield Case(pillow, f"decode {fmt}", decode, lambda p: np.asarray(rgb(p)), suffix(*ext))

    def imread(flag):
        def read(p):
            a = cv2.imdecode(np.fromfile(p, np.uint8), flag)
            if a is None:
                raise ValueError("refused")
            return a if a.ndim == 3 else a[..., None]
        return read

    color = imread(cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    gray = imread(cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)
    # OpenCV decodes fewer kinds of JPEG than Pillow (no lossless ones). The decode op follows Pillow.
    for kind in ("gray", "YCbCr", "RGB"):
        yield Case(opencv, f"decode {kind} jpeg", decode, lambda p: color(p)[..., ::-1], lambda p, k=kind: jpeg_kind(p) == k, takes=False)
    luma = graph_file(tmp, "luma", [decode_step(color="luma")])
    yield Case(opencv, "decode YCbCr jpeg, IMREAD_GRAYSCALE", luma, gray, lambda p: jpeg_kind(p) in ("YCbCr", "gray"), takes=False)

    # libjpeg cannot reduce a lossless file: Pillow and infer-prep refuse it, OpenCV returns
    # it at full size.
    for name, s in [("half", 2), ("quarter", 4), ("eighth", 8)]:
        graph = graph_file(tmp, name, [decode_step(scale=name)])
        yield Case(pillow, f"decode 1/{s} jpeg", graph, lambda p, s=s: draft(p, s), suffix(".jpg", ".jpeg"))
        color_s = imread(getattr(cv2, f"IMREAD_REDUCED_COLOR_{s}") | cv2.IMREAD_IGNORE_ORIENTATION)
        gray_s = imread(getattr(cv2, f"IMREAD_REDUCED_GRAYSCALE_{s}") | cv2.IMREAD_IGNORE_ORIENTATION)
        yield Case(opencv, f"decode 1/{s} gray, YCbCr, RGB jpeg", graph, lambda p, r=color_s: r(p)[..., ::-1],
                   lambda p: jpeg_kind(p) in ("gray", "YCbCr", "RGB") and not lossless(p), takes=False)
        yield Case(opencv, f"decode 1/{s} YCbCr jpeg, IMREAD_REDUCED_GRAYSCALE_{s}", graph_file(tmp, f"luma-{name}", [decode_step(color="luma", scale=name)]),
                   gray_s, lambda p: jpeg_kind(p) in ("YCbCr", "gray") and not lossless(p), takes=False)

    # Resize on decoded RGB.
    sizes = [(224, 224), (97, 331)]
    resample = {"box": Image.BOX, "bilinear": Image.BILINEAR, "hamming": Image.HAMMING, "bicubic": Image.BICUBIC,
                "lanczos": Image.LANCZOS, "nearest": Image.NEAREST}
    inter = {"nearest": cv2.INTER_NEAREST, "nearest_exact": cv2.INTER_NEAREST_EXACT, "bilinear": cv2.INTER_LINEAR,
             "bicubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA, "lanczos": cv2.INTER_LANCZOS4}
    for h, w in sizes:
        for name, r in resample.items():
            yield Case(pillow, f"resize {name} {h}x{w}",
                       graph_file(tmp, f"pillow-{name}-{h}", [decode_step(), resize_step(height=h, width=w, interpolation=name)]),
                       lambda p, r=r, h=h, w=w: np.asarray(rgb(p).resize((w, h), r)))
        for name, r in inter.items():
            yield Case(opencv, f"resize {name} {h}x{w}",
                       graph_file(tmp, f"opencv-{name}-{h}", [decode_step(), resize_step(height=h, width=w, interpolation=name, backend="opencv")]),
                       lambda p, r=r, h=h, w=w: cv2.resize(np.asarray(rgb(p)), (w, h), interpolation=r))
        for name, anti in [("bilinear", True), ("bicubic", True), ("bilinear", False), ("bicubic", False)]:
            def resized(p, name=name, anti=anti, h=h, w=w):
                t = torch.from_numpy(np.asarray(rgb(p)).copy()).permute(2, 0, 1).contiguous().float()
                # With one thread, torch uses another kernel for three channels without
                # antialiasing. Its results differ in the last bit.
                torch.set_num_threads(1 if anti else 2)
                t = F.resize(t, [h, w], interpolation=F.InterpolationMode(name), antialias=anti)
                return t.round().clamp(0, 255).to(torch.uint8).permute(1, 2, 0).numpy()
            yield Case(vision, f"resize {name} {h}x{w}, float tensor, {'antialias' if anti else 'no antialias'}, rounded",
                       graph_file(tmp, f"torch-{name}-{anti}-{h}", [decode_step(), resize_step(height=h, width=w, interpolation=name, backend="torch", no_antialias=not anti)]),
                       resized)

    # Presets.
    imagenet = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    yield Case(vision, "preset imagenet", ["--preset", "imagenet"], lambda p: imagenet(rgb(p)).numpy())
    # torchvision's transforms on tensors. decode_image reads neither BMP nor TIFF. infer-prep refuses PNG of 16 bits, and GIF that differ.
    from torchvision.io import decode_image
    from torchvision.models import get_model_weights, list_models
    from torchvision import models
    from torchvision.transforms import v2

    printed = {repr(w.transforms()): w.transforms() for m in list_models(models) for w in get_model_weights(m)}
    compose = v2.Compose([v2.Resize(256), v2.CenterCrop(224), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    for text, t in sorted((printed | {repr(compose): compose}).items()):
        if not text.startswith(("ImageClassification", "Compose")):
            continue
        sides = re.findall(r"\d+", text)[:2]
        name = f"{text.split('(')[0]} {sides[0]} {sides[1]} {'bicubic' if 'BICUBIC' in text else 'bilinear'} mean {re.findall(r'mean=.([0-9.]+)', text)[0]}"
        file = pathlib.Path(tmp) / (name.replace(" ", "-") + ".txt")
        # Python prints neither a dtype nor a preset's antialias.
        file.write_text(text.replace("ToDtype(", "ToDtype(dtype=torch.float32, ") if t is compose else text.replace("\n)", f"\n    antialias={t.antialias}\n)"))

        def tensors(p, t=t):
            torch.set_num_threads(2)
            return t(decode_image(str(p), mode="RGB")).contiguous().numpy()

        yield Case(vision, f"{name}, tensors", ["--torchvision", str(file), "--backend", "tensor"], tensors, suffix(".jpg", ".jpeg", ".webp"), takes=False)
        if t is not compose:
            yield Case(vision, f"{name}, PIL", ["--torchvision", str(file)], lambda p, t=t: t(rgb(p)).numpy())
    clip, yolo = ROOT / "testdata/configs/hf/clip-vit-base-patch32.json", ROOT / "testdata/configs/ultralytics/yolo-640.json"
    yield Case(importers.who(clip), "preset clip", ["--preset", "clip"], importers.hf_pil(json.loads(clip.read_text())))
    yield Case(importers.who(yolo), "preset yolo", ["--preset", "yolo"], importers.ultralytics(json.loads(yolo.read_text()), lambda p: np.array(rgb(p))[..., ::-1]))
    for config in importers.configs():
        # Donut scales the shorter edge of any image to 1920 before it shortens the longer one.
        # 4500 x 6 pixels become 8 GB, beyond infer-prep's limit and most machines' memory.
        name, wanted = f"{config.parent.name}/{config.stem}", not_long if "donut" in config.stem else None
        yield Case(importers.who(config), name, [f"--{config.parent.name}", str(config)], importers.reference(config), LEFT_OUT.get(name, wanted))
        if config.parent.name == "hf" and "owlv2" not in config.stem:  # its PIL backend needs SciPy
            try:
                reference = importers.hf_pil(json.loads(config.read_text()))
            except ValueError as e:
                if "has the backend torchvision" not in str(e):  # the class's only one
                    raise
                continue
            name += ", PIL's backend"
            yield Case(importers.who(config), name, ["--hf", str(config), "--backend", "pil"], reference, LEFT_OUT.get(name, wanted))


def ours(program, case, images, out):
    """Runs the command line; returns {image: {output: array}}, without those it refused."""
    names = {}
    for i, p in enumerate(images):  # links in one folder, since names may repeat
        link = out / "in" / f"{i:05d}{p.suffix.lower()}"
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(p)
        names[p] = link.name
    r = subprocess.run([program, "run", *case.flags, "--format", "safetensors", "--outputs", "all", "-o", str(out / "out"), "--jobs", "2", *[str(out / "in" / n) for n in names.values()]],
                       capture_output=True, text=True)
    if r.returncode not in (0, 1):
        raise SystemExit(f"{case.name}: infer-prep exited with {r.returncode}: {r.stderr[-2000:]}")
    got = {}
    for p, n in names.items():
        f = out / "out" / (n + ".safetensors")
        if f.exists():
            got[p] = importers.read(f)
    return got


def differ(output, have, want):
    """Returns None if both are equal, else the size of the difference and a note."""
    if have is None or want is None:
        return float("inf"), f"{output}: no output of {'the reference' if want is None else 'infer-prep'}"
    want = np.asarray(want, order="C")  # ascontiguousarray makes scalars vectors
    if have.shape != want.shape or have.dtype != want.dtype:
        return float("inf"), f"{output}: {have.dtype}{have.shape}, want {want.dtype}{want.shape}"
    if have.tobytes() == want.tobytes():
        return None
    d = np.abs(have.astype(np.float64) - want.astype(np.float64))
    at = np.unravel_index(np.argmax(d), d.shape)
    return float(d.max()), f"{output}: {int((d != 0).sum())} of {d.size} differ, worst at {tuple(map(int, at))}: got {have[at]}, want {want[at]}"


def compare(program, case, images):
    images = [p for p in images if case.images(p)]
    exact = total = refused = 0
    worst, notes = 0.0, []
    for i in range(0, len(images), 40):  # some graphs return 30 MB per image
        with tempfile.TemporaryDirectory() as d:
            got = ours(program, case, images[i : i + 40], pathlib.Path(d))
        for p in images[i : i + 40]:
            have = got.get(p)
            try:
                want = case.reference(p)
            except Exception as e:
                if have is not None and case.takes:
                    notes.append(f"{p.name}: the reference refuses it ({e}), infer-prep takes it")
                    worst = float("inf")
                continue
            if have is None and case.name in REFUSES:
                refused += 1
                continue
            total += 1
            if have is None:
                notes.append(f"{p.name}: refused")
                worst = float("inf")
                continue
            if not isinstance(want, dict):
                want = dict.fromkeys(have, want)
            bad = [differ(k, have.get(k), want.get(k)) for k in sorted(have.keys() | want.keys())]
            bad = [b for b in bad if b]
            if not bad:
                exact += 1
            for d, note in bad:
                worst = max(worst, d)
                notes.append(f"{p.name}: {note}")
    return exact, total, worst, notes, len(images), refused


def main():
    program, folders = sys.argv[1], [ROOT / "testdata" / "images", *map(pathlib.Path, sys.argv[2:])]
    images = sorted(p.resolve() for f in folders for p in f.rglob("*")
                    if p.suffix.lower() in (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp"))
    extremes = sorted((ROOT / "testdata" / "extremes").glob("*"))
    print(f"{len(images)} images in {', '.join(map(str, folders))}", flush=True)
    only, bad = os.environ.get("ONLY", ""), 0
    with tempfile.TemporaryDirectory() as tmp:
        for case in cases(tmp):
            if only not in f"{case.who} {case.name}":
                continue
            left = sum(not LEFT_OUT.get(case.name, lambda _: True)(p) for p in images)
            exact, total, worst, notes, tried, refused = compare(program, case, images + extremes if case.name.startswith("decode") else images)
            print(f"{case.who:34} {case.name:56} exact {exact} of {total}, worst difference {worst:g}"
                  f"{f', {left} left out' if left else ''}{f', {refused} refused' if refused else ''}", flush=True)
            if tried == 0:
                print("    no image of this kind was found")
                bad += 1
            for n in notes[:5]:
                print(f"    {n}")
            if exact != total or worst:
                bad += 1
    print(f"{bad} cases are not exact" if bad else "all cases are exact")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
