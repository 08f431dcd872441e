"""Makes the conformance pack from the real references: what other engines can check themselves against.

    make.py [--small] [--only AREA,…] OUT.tar.gz

Needs the packages of testdata/gen/requirements.txt and parity/requirements-no-deps.txt; `make conformance` installs
them. The same versions give the same bytes. --small makes the part that is committed for the tests. README.md
describes the files and the tasks.
"""

import argparse
import copy
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TESTDATA = ROOT / "testdata"
sys.path[:0] = [str(ROOT / "parity"), *(str(p) for p in sorted((TESTDATA / "gen").iterdir()) if p.is_dir())]

import cv2
import numpy as np
import PIL
import torch
import torchvision
import transformers
from PIL import Image
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

import golden
import hf_video
import hf_video_sampling
import importers
import importers_more
import resize as resizes

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()
Image.MAX_IMAGE_PIXELS = None

FORMAT = 1
WHOLE = 16384  # bytes of an output that the pack holds whole
COUNT, STRIDE = 1024, 1000003  # else it holds these values: the k-th has the flat index k * STRIDE modulo the size

# The images that the processors get, and those of the committed part.
PICTURES = ("photo.jpg", "rgb.png", "tall.png", "rgba.png", "palette.png")
PREFIX = {"decode": "images", "importer": "pictures"}


class Pack:
    def __init__(self, small):
        self.small, self.cases, self.files, self.arrays = small, [], {}, {}

    def file(self, name, data):
        """Adds a file and returns its name."""
        if self.files.setdefault(name, data) != data:
            raise ValueError(f"{name}: two contents")
        return name

    def case(self, id, area, family, task, files, outputs, step=1.0, keep=False):
        """Adds a case. outputs is {name: array}; step is what 1 of 255 is in a float output.

        keep says that the committed part has the case.
        """
        if self.small and not keep:
            return
        entries = []
        for name, a in outputs.items():
            a = np.array(a, order="C")  # ascontiguousarray makes scalars vectors
            dtype = importers.dtype_of(outputs[name])
            flat = a.reshape(-1)
            whole = a.nbytes <= WHOLE
            values = flat if whole else flat[np.arange(COUNT, dtype=np.int64) * STRIDE % flat.size]
            key = hashlib.sha256(values.dtype.str.encode() + values.tobytes()).hexdigest()[:16]
            self.arrays[key] = values
            e = {"name": name, "dtype": dtype, "shape": list(a.shape), "sha256": hashlib.sha256(a.tobytes()).hexdigest(), "values": key, "whole": whole}
            if a.dtype.kind == "f" or dtype == "bfloat16":
                e["step"] = float(f"{step:.6g}")
                e["finite"] = bool(np.isfinite(a).all()) if a.dtype.kind == "f" else True
            entries.append(e)
        self.cases.append({"id": id, "area": area, "family": family, "task": task, "files": files, "outputs": entries})

    def write(self, path):
        versions = {m.__name__: m.__version__ for m in (PIL, np, cv2, torch, torchvision, transformers)}
        ids = [c["id"] for c in self.cases]
        assert len(set(ids)) == len(ids), [i for i in ids if ids.count(i) > 1][:5]
        used = {f for c in self.cases for f in c["files"]}
        head = {"format": FORMAT, "cases": len(self.cases), "references": versions, "samples": {"count": COUNT, "stride": STRIDE}}
        values = io.BytesIO()
        with tarfile.open(fileobj=values, mode="w", format=tarfile.USTAR_FORMAT) as t:
            for key in sorted(self.arrays):
                b = io.BytesIO()
                np.lib.format.write_array(b, self.arrays[key], allow_pickle=False)
                add(t, key + ".npy", b.getvalue())
        members = {"pack.json": json.dumps(head, indent=1).encode() + b"\n",
                   "cases.jsonl": "".join(json.dumps(c) + "\n" for c in self.cases).encode(), "values.tar": values.getvalue(),
                   **{n: self.files[n] for n in sorted(used)}}
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as t:
            for name, data in members.items():
                add(t, "pack/" + name, data)
        with open(path, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, compresslevel=9, mtime=0) as z:
            z.write(raw.getvalue())
        return len(self.cases), pathlib.Path(path).stat().st_size


def add(t, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    t.addfile(info, io.BytesIO(data))


def png(a):
    b = io.BytesIO()
    Image.fromarray(a).save(b, "PNG")
    return b.getvalue()


def pictures(pack):
    """The images of all areas but decode: {name: (file, path)}."""
    out = {}
    for name in PICTURES + ("gray.png", "wide.png"):
        path = TESTDATA / "images" / "jpeg_large.jpg" if name == "photo.jpg" else ROOT / "importer" / "testdata" / name
        out[name] = pack.file("pictures/" + name, path.read_bytes()), path
    return out


# Decoding.

SMALL_DECODE = {"jpeg_base_420.jpg", "jpeg_q1.jpg", "jpeg_restart_1.jpg", "jpeg_exif_mm_6.jpg", "jpeg_cmyk.jpg", "jpeg_prog_422.jpg", "png_p4.png",
                "png_gray16.png", "png_1x1.png", "png_exif6.png", "webp_lossy_37x23.webp", "gif_4bit.gif", "jpeg_444_q100_base_3x2.jpg"}


RARE = ("JPEG, rare forms", "JPEG, CMYK", "PNG, 16 bits", "BMP", "TIFF", "TIFF, 16 bits")
RARE_JPEG = {"arith", "lossless", "partial", "extended", "quant", "factors", "space", "mixed", "mixed2", "mixed4", "larger", "luma22", "multiscan", "tables", "no", "rgb", "gray", "410"}


def family_of(path):
    """The kind of a file, by its name in testdata."""
    if path.parent.name == "extremes":
        return "JPEG, quality 1 and 95 to 100"
    kind = {"jpeg": "JPEG", "png": "PNG", "gif": "GIF", "bmp": "BMP", "tiff": "TIFF", "webp": "WebP"}[path.name.split("_")[0]]
    words = set(path.stem.split("_"))
    if kind != "JPEG":
        return kind + (", 16 bits" if "16" in path.stem and kind in ("PNG", "TIFF") else "")
    if {"cmyk", "ycck"} & words:
        return "JPEG, CMYK"
    if RARE_JPEG & words and path.stem not in ("jpeg_gray", "jpeg_gray_prog"):
        return "JPEG, rare forms"
    return "JPEG, EXIF" if "exif" in words else "JPEG"


def decode(pack):
    """Pillow's convert("RGB"), and OpenCV's imdecode with the orientation applied."""
    cv2.setNumThreads(1)
    for path in sorted((TESTDATA / "images").iterdir()) + sorted((TESTDATA / "extremes").iterdir()):
        if path.suffix not in (".jpg", ".png", ".gif", ".bmp", ".tif", ".webp"):
            continue
        keep, family = path.name in SMALL_DECODE, family_of(path)
        area = "decode, rare forms" if family in RARE else "decode"
        name = pack.file(f"{path.parent.name}/{path.name}", path.read_bytes())
        try:
            a = np.asarray(importers.rgb(path))
        except Exception:
            a = None
        if a is not None:
            pack.case(f"decode/pillow/{path.name}", area, f"Pillow: {family}", {"do": "decode", "library": "pillow"}, [name], {"image": a}, keep=keep)
        a = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR) if path.suffix in (".jpg", ".png", ".webp", ".bmp") else None
        if a is not None:
            task = {"do": "decode", "library": "opencv"}
            pack.case(f"decode/opencv/{path.name}", area, f"OpenCV: {family}", task, [name], {"image": a[..., ::-1]}, keep=keep)


# Single steps, on images without loss.


def drawn(pack):
    """RGB images for single steps: {name: (file, array)}."""
    photo = np.asarray(importers.rgb(TESTDATA / "images" / "jpeg_large.jpg"))
    arrays = {"photo": photo, "noise": golden.image(61, 83, 3), "gradient": resizes.picture(48, 64, 3, "gradient", np.uint8)}
    return {n: (pack.file(f"pictures/{n}.png", png(a)), a) for n, a in arrays.items()}


FILTERS = (
    [("pillow", n, True) for n in ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")]
    + [("opencv", n, False) for n in ("nearest", "nearest_exact", "bilinear", "bicubic", "area", "lanczos")]
    + [("torchvision", n, a) for n, a in (("nearest", False), ("nearest_exact", False), ("bilinear", True), ("bicubic", True), ("bilinear", False), ("bicubic", False))]
)
LIBRARIES = {"pillow": "Pillow", "opencv": "OpenCV", "torchvision": "torchvision, uint8 tensors"}


def resize(pack):
    sizes = {"photo": [(224, 224), (97, 331), (480, 640)], "noise": [(30, 41), (100, 150), (61, 40)], "gradient": [(24, 32), (91, 13)]}
    torch.set_num_threads(1)
    for image, (file, a) in drawn(pack).items():
        for library, name, antialias in FILTERS:
            for h, w in sizes[image]:
                task = {"do": "resize", "library": library, "filter": name, "antialias": antialias, "height": h, "width": w}
                y = resizes.scaled(a, h, w, "torch_uint8" if library == "torchvision" else library, name, antialias)
                label = f"{name}{'' if antialias or library != 'torchvision' or 'nearest' in name else ', no antialias'}"
                pack.case(f"resize/{library}/{label}/{image}/{h}x{w}", "resize", f"{LIBRARIES[library]}: {label}", task, [file], {"image": y},
                          keep=image == "gradient" and h == 24 or image == "noise" and h == 30 and name == "bilinear")


def crop_pad(pack):
    """Where a crop lies and what a border holds: torchvision on uint8 tensors, transformers' own functions."""
    from transformers import image_transforms

    for image, (file, a) in drawn(pack).items():
        t = torch.from_numpy(a.transpose(2, 0, 1).copy())
        h, w = a.shape[:2]
        for ch, cw in ((24, 33), (25, 32), (h - 1, w - 2), (h + 5, w + 4), (h + 8, 11)):
            task = {"do": "center_crop", "height": ch, "width": cw}
            y = F.center_crop(t, [ch, cw]).numpy().transpose(1, 2, 0)
            pack.case(f"crop/torchvision/{image}/{ch}x{cw}", "crop and pad", "torchvision: center_crop", task | {"library": "torchvision"}, [file], {"image": y}, keep=image == "noise")
            y = image_transforms.center_crop(a, (ch, cw), input_data_format="channels_last")
            pack.case(f"crop/transformers/{image}/{ch}x{cw}", "crop and pad", "transformers: center_crop", task | {"library": "transformers"}, [file], {"image": y}, keep=image == "noise")
        for top, left, ch, cw in ((3, 5, 20, 31), (-2, -3, 20, 30), (h - 9, w - 7, 30, 30)):
            task = {"do": "crop", "library": "torchvision", "top": top, "left": left, "height": ch, "width": cw}
            pack.case(f"crop/window/{image}/{top},{left},{ch},{cw}", "crop and pad", "torchvision: crop", task, [file],
                      {"image": F.crop(t, top, left, ch, cw).numpy().transpose(1, 2, 0)}, keep=image == "noise")
        for mode in ("constant", "edge", "reflect", "symmetric"):
            sides = dict(left=4, top=7, right=9, bottom=2)
            fill = [17] if mode == "constant" else [0]
            task = {"do": "pad", "library": "torchvision", "mode": mode, "fill": fill[0], **sides}
            y = F.pad(t, list(sides.values()), fill=fill, padding_mode=mode)
            pack.case(f"pad/{mode}/{image}", "crop and pad", "torchvision: pad", task, [file], {"image": y.numpy().transpose(1, 2, 0)}, keep=image == "noise")


MEANS = {"imagenet": ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), "half": ([0.5] * 3, [0.5] * 3), "clip": ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])}


def normalise(pack):
    """Bytes to float32, by the rules that differ in the last bit; the outputs are CHW."""
    from transformers import image_transforms

    torch.set_num_threads(1)
    for image, (file, a) in drawn(pack).items():
        chw = np.ascontiguousarray(a.transpose(2, 0, 1))
        for label, (mean, std) in MEANS.items():
            keep, step = image == "gradient", 1 / 255 / min(std)

            def case(rule, says, y):
                task = {"do": "normalise", "rule": rule, "mean": mean, "std": std}
                pack.case(f"normalise/{rule}/{label}/{image}", "normalise", says, task, [file], {"image": y}, step, keep)

            y = F.normalize(torch.from_numpy(chw).float().div(255), mean, std)
            case("to_tensor", "torchvision: to_tensor, normalize", y.numpy())
            y = F.normalize(F.to_dtype(torch.from_numpy(chw), torch.float32, scale=True), mean, std)
            case("to_dtype", "torchvision: v2.to_dtype, normalize", y.numpy())
            y = image_transforms.normalize(image_transforms.rescale(chw, 1 / 255, input_data_format="channels_first"), mean, std, input_data_format="channels_first")
            case("transformers", "transformers: rescale, normalize", y)
            y = transformers.CLIPImageProcessor(do_resize=False, do_center_crop=False, image_mean=mean, image_std=std)(Image.fromarray(a), return_tensors="np")
            case("transformers_fused", "transformers: rescale_and_normalize", y["pixel_values"][0])


# Descriptions of whole pipelines.


def transforms_of(descriptions):
    """The v2 transforms of a list such as [{"type": "Resize", "size": 256}]."""
    mode = {"interpolation": v2.InterpolationMode}
    dtype = {"dtype": lambda n: getattr(torch, n)}
    return v2.Compose([getattr(v2, d["type"])(**{k: (mode | dtype).get(k, lambda x: x)(x) for k, x in d.items() if k != "type"}) for d in descriptions])


def presets():
    """Descriptions as torchvision's models have them: name, transforms."""
    mean, std = MEANS["imagenet"]
    end = [{"type": "ToDtype", "dtype": "float32", "scale": True}, {"type": "Normalize", "mean": mean, "std": std}]
    for name, size, crop, mode in (("resnet50", 256, 224, "bilinear"), ("resnet50 v2", 232, 224, "bilinear"), ("inception", 342, 299, "bilinear"), ("vit swag", 384, 384, "bicubic")):
        yield name, [{"type": "Resize", "size": size, "interpolation": mode, "antialias": True}, {"type": "CenterCrop", "size": crop}, *end]
    yield "stretched", [{"type": "Resize", "size": [200, 300], "interpolation": "bicubic", "antialias": True}, *end]
    yield "bounded", [{"type": "Resize", "size": 150, "max_size": 200, "interpolation": "bilinear", "antialias": True}, {"type": "CenterCrop", "size": [140, 221]}, *end]
    yield "padded", [{"type": "Resize", "size": 99, "interpolation": "bilinear", "antialias": True}, {"type": "Pad", "padding": [3, 5, 7, 9], "fill": 114}, *end]


def pipelines(pack):
    torch.set_num_threads(1)
    files = pictures(pack)
    for name, described in presets():
        t, step = transforms_of(described), 1 / 255 / 0.224
        for image in ("photo.jpg", "rgb.png", "tall.png"):
            file, path = files[image]
            keep = name in ("resnet50", "padded") and image == "rgb.png"
            pil = importers.rgb(path)
            task = {"do": "transforms", "transforms": described}
            y = t(v2.functional.to_image(pil))
            pack.case(f"torchvision/tensor/{name}/{image}", "pipelines", "torchvision transforms, tensors", task | {"on": "tensor"}, [file], {"image": y.numpy()}, step, keep)
            y = transforms_of([*described[:-2], {"type": "ToImage"}, *described[-2:]])(pil)
            pack.case(f"torchvision/pil/{name}/{image}", "pipelines", "torchvision transforms, Pillow", task | {"on": "pil"}, [file], {"image": y.numpy()}, step, keep)
    for config in importers.configs():
        kind = config.parent.name
        if kind not in ("timm", "ultralytics"):
            continue
        c = json.loads(config.read_text())
        run = importers.reference(config)
        for image in ("photo.jpg", "rgb.png", "tall.png"):
            file, path = files[image]
            y = run(path)
            task = {"do": kind, "config": c}
            pack.case(f"{kind}/{config.stem}/{image}", "pipelines", {"timm": "timm", "ultralytics": "Ultralytics letterbox"}[kind], task, [file], y, 1 / 255 / (0.224 if kind == "timm" else 1), image == "rgb.png" and config.stem in ("resnet50.a1_in1k", "yolo-384x640"))
    for path in importers_more.configs("opencv"):
        run, c = importers_more.opencv(json.loads(path.read_text())), json.loads(path.read_text())
        for image in ("photo.jpg", "rgb.png", "tall.png"):
            file, source = files[image]
            scale = np.max(np.abs(c.get("scalefactor", 1)))
            pack.case(f"opencv/{path.stem}/{image}", "pipelines", "OpenCV blobFromImage", {"do": "opencv", "config": c}, [file], run(source), scale, image == "rgb.png" and path.stem == "imagenet")


# transformers.

# torch adds all pixels of these for their mean, in parts that depend on the number of threads: no bytes to conform to.
THREADS = ("Pix2Struct", "Kosmos2_5")
SMALL_HF = ("clip-vit-base-patch32", "vit-base-patch16-224", "qwen2-vl-2b-instruct", "detr-resnet-50", "llava-v1.6-mistral-7b", "siglip2-base-patch16-naflex")


def step_of(config):
    """What 1 of 255 is in the float outputs of a configuration with all defaults."""
    std = config.get("image_std") or 1
    std = min(std) if isinstance(std, list) else std
    factor = config.get("rescale_factor") or 1 / 255 if config.get("do_rescale", True) else 1
    return factor / (std if config.get("do_normalize") else 1)


def saved(config, backend):
    """The configuration as transformers saves it, with the defaults of the class."""
    with tempfile.TemporaryDirectory() as d:
        (pathlib.Path(d) / ("config.json" if "pretrained_cfg" in config else "preprocessor_config.json")).write_text(json.dumps(config))
        p = transformers.AutoImageProcessor.from_pretrained(d, backend=backend)
        out = {k: v for k, v in json.loads(p.to_json_string()).items() if k not in ("transformers_version", "_name_or_path")}
    return out


def processors(pack):
    files = pictures(pack)
    found = []
    for path in sorted((TESTDATA / "configs" / "hf").glob("*.json")):
        config = json.loads(path.read_text())
        found.append((path.stem, config, importers.who(path)))
    seen = set()
    for name, config, _ in found:
        seen.add(family(config))
    for cls in sorted(transformers.models.auto.image_processing_auto.IMAGE_PROCESSOR_MAPPING_NAMES.values(), key=str):
        cls = cls.get("torchvision") or cls["pil"]
        for suffix in ("ImageProcessorPil", "ImageProcessorFast", "ImageProcessor"):
            cls = cls.removesuffix(suffix)
        if cls not in seen:
            seen.add(cls)
            found.append((f"{cls}, defaults", {"image_processor_type": cls + "ImageProcessor"}, cls))
    refused = []
    for name, config, _ in found:
        if pack.small and name not in SMALL_HF:
            continue
        for backend in ("torchvision", "pil"):
            if backend == "torchvision" and family(config) in THREADS:
                continue
            try:
                run = importers.hf(copy.deepcopy(config), backend)
            except Exception as e:
                if backend == "torchvision":
                    refused.append(f"{name}: {str(e).splitlines()[0][:100]}")
                continue
            whole = saved(config, backend)
            for image in PICTURES:
                if pack.small and image != "rgb.png":
                    continue
                file, path = files[image]
                try:
                    y = run(path)
                except Exception as e:
                    refused.append(f"{name} {backend} {image}: {(str(e).splitlines() or [type(e).__name__])[0][:100]}")
                    continue
                if not all(np.asarray(a).size for a in y.values()):
                    continue
                task = {"do": "processor", "backend": backend, "config": config, "saved": whole}
                pack.case(f"transformers/{backend}/{name}/{image}", "image processors", family(config), task, [file], y, step_of(whole), keep=True)
        print(name, flush=True)
    for line in refused:
        print("left out:", line, flush=True)


def family(config):
    if "pretrained_cfg" in config:
        return "TimmWrapper"
    name = config.get("image_processor_type") or config.get("feature_extractor_type") or ""
    for suffix in ("ImageProcessorFast", "ImageProcessorPil", "ImageProcessor", "FeatureExtractor"):
        name = name.removesuffix(suffix)
    return name or config.get("model_type", "unknown")


# Sizes, tokens, videos.

SIZES = ((480, 640), (640, 480), (28, 28), (224, 224), (37, 260), (301, 77), (719, 1281))


def sizes(pack):
    """The shapes of pixel_values for images of some sizes, by the configurations of testdata and the default backend."""
    for path in sorted((TESTDATA / "configs" / "hf").glob("*.json")):
        config = json.loads(path.read_text())
        if family(config) in ("Nougat", "Kosmos2_5", "Pix2Struct"):  # Nougat's size depends on the pixels
            continue
        if pack.small and path.stem not in SMALL_HF:
            continue
        run = importers.hf(copy.deepcopy(config))
        shapes = {}
        with tempfile.TemporaryDirectory() as d:
            for h, w in SIZES:
                file = pathlib.Path(d) / f"{h}x{w}.png"
                file.write_bytes(png(np.zeros((h, w, 3), np.uint8)))
                try:
                    shapes[h, w] = run(file)["pixel_values"].shape
                except Exception:
                    continue  # refused, or without such an output
        if len({len(s) for s in shapes.values()}) != 1:
            continue
        task = {"do": "sizes", "backend": "torchvision", "config": config, "saved": saved(config, "torchvision"), "sizes": list(shapes)}
        pack.case(f"sizes/{path.stem}", "sizes and tokens", f"shapes: {family(config)}", task, [], {"shapes": np.array(list(shapes.values()), np.int64)}, keep=True)


def tokens(pack):
    """The numbers of tokens, of the goldens that testdata/gen/importers/hf_tokens.py made with transformers."""
    folder = ROOT / "importer" / "hf" / "tokens" / "testdata"
    sizes = json.loads((folder / "sizes.json").read_text())["sizes"]
    for path in sorted(folder.glob("*.json")):
        if path.name == "sizes.json":
            continue
        for c in json.loads(path.read_text()):
            if not isinstance(c, dict) or not c.get("numbers"):
                continue
            some = [i for i in (0, 4, 5, 9, 10, 13, 14, 15, 16, 18, 30, 50, 77, 120, 150) if i < len(sizes) and c["numbers"][i] is not None]
            if not some:
                continue
            task = {"do": "tokens", "processor": c["processor"], "tokenizer": c["tokenizer"], "call": c["call"], "sizes": [sizes[i] for i in some]}
            if c["class"] in ("ColModernVBert", "GraniteDocling", "Idefics3"):  # they ask the tokenizer, and that of the goldens makes one token of everything
                task["tokens"] = {"double_newline_tokens": "1"}
            y = np.array([c["numbers"][i] for i in some], np.int64)
            pack.case(f"tokens/{c['class']}/{c['name']}", "sizes and tokens", f"tokens: {c['class']}", task, [], {"num_image_tokens": y}, keep=c["name"] == "absent" and c["class"] in ("Qwen2VL", "LlavaNext", "Pixtral"))


def sampling(pack):
    """The frames that the video processors choose: goldens of testdata/gen/importers/hf_video_sampling.py, all indices."""
    import random

    r = random.Random(39)
    for cls in hf_video_sampling.classes():
        done = 0
        while done < 8:
            name, settings, n, fps, duration, *got = hf_video_sampling.case(r, cls)
            if isinstance(got[0], str):
                continue
            y = np.array(hf_video_sampling.chosen(cls, settings, n, fps, duration), np.int64)
            if not y.size:  # no frame, with which the processor fails later
                continue
            task = {"do": "sampling", "processor": name, "settings": settings, "frames": n, "fps": fps, "duration": duration}
            pack.case(f"sampling/{name}/{done}", "video sampling", name.removesuffix("VideoProcessor"), task, [], {"indices": y}, keep=done == 0 and name in ("Qwen2VLVideoProcessor", "SmolVLMVideoProcessor"))
            done += 1


def videos(pack):
    """Frames to tensors, with the settings of importer/hf/video/testdata/videos.json."""
    classes = {c.__name__: c for c in hf_video_sampling.classes()}
    count = {}
    frames = {}
    for name, (n, _, _) in hf_video.VIDEOS.items():
        frames[name] = [pack.file(f"frames/{name}/{i}.png", (hf_video.DIR / name / f"{i}.png").read_bytes()) for i in range(n)]
    for c in json.loads((hf_video.DIR / "videos.json").read_text()):
        if "error" in c or count.get(c["class"], 0) == 4:
            continue
        y = hf_video.arrays(classes[c["class"]], c["video"], c["settings"], c["fps"])
        i = count[c["class"]] = count.get(c["class"], 0) + 1
        if not all(a.size for a, _ in y.values()):
            continue
        n = len(frames[c["video"]])
        task = {"do": "video", "processor": c["class"], "settings": c["settings"], "fps": c["fps"], "duration": n / c["fps"] if c["fps"] else None}
        pack.case(f"video/{c['class']}/{i}", "videos", c["class"].removesuffix("VideoProcessor"), task, frames[c["video"]], {k: a for k, (a, _) in y.items()}, 1 / 255 / 0.26, keep=i == 1 and c["class"] == "Qwen2VLVideoProcessor")


AREAS = {"decode": decode, "resize": resize, "crop": crop_pad, "normalise": normalise, "pipelines": pipelines, "processors": processors, "sizes": sizes, "tokens": tokens, "sampling": sampling, "videos": videos}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out")
    p.add_argument("--small", action="store_true")
    p.add_argument("--only", default=",".join(AREAS))
    args = p.parse_args()
    cv2.ipp.setUseIPP(False)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)  # of files that it cannot read
    pack = Pack(args.small)
    for name in args.only.split(","):
        before = len(pack.cases)
        AREAS[name](pack)
        print(f"== {name}: {len(pack.cases) - before} cases", flush=True)
    cases, size = pack.write(args.out)
    print(f"{args.out}: {cases} cases, {size} bytes")


if __name__ == "__main__":
    main()
