"""Writes importer/testdata/usages.json: how programs use OpenCV and Ultralytics, with the forms of public programs and other values, on images of
many kinds; and what the libraries themselves give.

Needs numpy 2.4.6, opencv-python-headless 5.0.0.93, torch 2.15.0, Pillow 13.0.0 and ultralytics 8.4.190. Takes no arguments; running it again gives
the same bytes. config is the text of the file that the importer reads, or of a graph. For each image of images, results has the dtype, the shape and
the first 16 digits of the SHA-256 of the bytes, or null if the library refuses it. refused has metadata that do not say what Ultralytics needs, and
the keys that the error must name.
"""

import json
import os
import pathlib
import sys

os.environ["OPENCV_LOG_LEVEL"] = "SILENT"
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "parity"))

import importers
import importers_more

import cv2
import numpy as np
import yaml

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)  # its rounding depends on the CPU

IMAGES = ["importer/testdata/" + n for n in ("rgb.png", "tall.png", "wide.png", "dot.png")] + ["testdata/images/" + n for n in (
    "jpeg_base_420.jpg", "jpeg_gray.jpg", "jpeg_exif_ii_6.jpg", "jpeg_exif_mm_8.jpg", "jpeg_exif_byte.jpg", "jpeg_xmp_orientation.jpg", "jpeg_cmyk.jpg",
    "png_gray16.png", "png_rgb16.png", "png_p8.png", "png_p4_many.png", "png_la8.png", "png_rgba8.png", "png_exif5.png", "png_raw_exif.png",
    "png_apng.png", "webp_lossy_37x23.webp", "webp_exif6.webp", "webp_alpha_37x23.webp", "tiff_gray16_c8_le.tif", "tiff_rgb16_c8_le.tif",
    "tiff_rgb8_alpha_le.tif", "tiff_orientation3.tif", "tiff_orientation6.tif", "bmp_24.bmp", "bmp_16.bmp", "gif_4bit.gif",
    "gif_4bit_transparent.gif")] + ["testdata/damaged/" + n for n in (
        "jpeg_base_half.jpg", "jpeg_prog_half.jpg", "jpeg_base_no_eoi.jpg", "jpeg_base_flip_2.jpg", "jpeg_rst_drop_0.jpg", "png_truncated.png", "png_bad_idat_crc.png",
        "webp_truncated.webp", "bmp_truncated.bmp")]

BLOBS = {
    "faces": dict(scalefactor=1.0, size=[90, 80], mean=[101, 172, 125]),
    "classes": dict(scalefactor=1, size=[64, 64], mean=[104, 118, 121]),
    "darknet": dict(scalefactor=1 / 256, size=[96, 96], swapRB=True, crop=False),
    "ages": dict(scalefactor=1.0, size=[57, 57], mean=[78.4, 87.8, 114.9], swapRB=False),
    "embeddings": dict(scalefactor=1 / 255, size=[48, 48], mean=[0, 0, 0], swapRB=True, crop=False),
    "key points": dict(scalefactor=1.0 / 255, size=[92, 92], mean=[0, 0, 0], swapRB=False, crop=False),
    "small detector": dict(scalefactor=0.007843, size=[75, 75], mean=[127.5, 127.5, 127.5]),
    "text": dict(scalefactor=1.0, size=[160, 96], mean=[123.7, 116.8, 103.9], swapRB=True, crop=False),
    "streets": dict(scalefactor=1 / 255.0, size=[128, 64], mean=[0, 0, 0], swapRB=True, crop=False),
    "styles": dict(scalefactor=1.0, mean=[103.9, 116.8, 123.7], swapRB=False, crop=False),
    "depth": dict(scalefactor=1 / 255, size=[96, 64], mean=[123.7, 116.3, 103.5], swapRB=True, crop=False),
    "cropped": dict(scalefactor=0.017, size=[56, 56], mean=[103.9, 116.8, 123.7], crop=True),
    "cropped to a strip": dict(scalefactor=0.5, size=[70, 12], crop=True, swapRB=True),
    "masks": dict(swapRB=True, crop=False),
    "defaults": {},
    "only mean": dict(mean=[1, 2, 3, 4]),
    "larger": dict(size=[300, 17]),
    "one pixel": dict(size=[1, 1], swapRB=True),
    "bytes": dict(size=[40, 30], ddepth=0),
    "letterbox": dict(scalefactor=[1 / 255] * 3, size=[96, 64], swapRB=True, paddingmode=2, borderValue=[114, 114, 114]),
    "letterbox, other colours": dict(scalefactor=1 / 128, size=[61, 64], mean=[128, 128, 128], swapRB=True, paddingmode=2, borderValue=[10, 20, 30]),
    "rows": dict(scalefactor=1 / 255, size=[56, 40], swapRB=True, datalayout=4),
    "deviations": dict(scalefactor=[1 / 58.4, 1 / 57.1, 1 / 57.4], size=[56, 56], mean=[123.7, 116.3, 103.5], swapRB=True),
    "centre by mode": dict(size=[31, 47], paddingmode=1, swapRB=False),
}


def metadata(**kw):
    """What exporters write; None removes a key."""
    m = {"description": "Ultralytics YOLO26s model trained on coco.yaml", "author": "Ultralytics", "date": "2026-05-01T10:00:00.5+02:00", "version": "8.4.190",
         "license": "AGPL-3.0 License (https://ultralytics.com/license)", "docs": "https://docs.ultralytics.com", "stride": 32, "task": "detect",
         "head": "Detect", "batch": 1, "imgsz": [64, 96], "names": {0: "person", 1: "dog's"}, "args": {"batch": 1, "dynamic": False, "nms": False},
         "channels": 3, "end2end": False} | kw
    return {k: v for k, v in m.items() if v is not None}


OLD = dict(head=None, channels=None, end2end=None)
METADATA = {
    "26": metadata(),
    "26, one to one": metadata(end2end=True, args={"batch": 1, "data": None, "dynamic": False, "quantize": None, "opset": None, "simplify": True, "nms": None, "fraction": 1.0}),
    "26, square": metadata(imgsz=[96, 96], batch=4),
    "26, whole": metadata(imgsz=[640, 640], args={"dynamic": True, "batch": 1}),
    "26, segments": metadata(task="segment", head="Segment26"),
    "26, poses": metadata(task="pose", head="Pose26", kpt_shape=[17, 3], kpt_names={0: ["nose"]}),
    "26, turned boxes": metadata(task="obb", head="OBB26", imgsz=[128, 32]),
    "26, streets": metadata(task="semantic", head="SemanticSegment", imgsz=[64, 128]),
    "26, depth": metadata(task="depth", head="Depth", imgsz=[96, 64]),
    "RT-DETR": metadata(description="Ultralytics rtdetr-l model", head="RTDETRDecoder", imgsz=[64, 64]),
    "RT-DETR, whole": metadata(description="Ultralytics rtdetr-x model", head="RTDETRDecoder", imgsz=[640, 640], args={"dynamic": True}),
    "words": metadata(description="Ultralytics YOLOv8s-worldv2 model", head="WorldDetect"),
    "prompts": metadata(description="Ultralytics YOLOE model", task="segment", head="YOLOESegment"),
    "10": metadata(description="Ultralytics YOLOv10n model", head="v10Detect", end2end=True),
    "stride 64": metadata(stride=64, imgsz=[64, 128]),
    "eight bits": metadata(args={"batch": 1, "int8": True, "half": False}),
    "8.3.200": metadata(version="8.3.200", description="Ultralytics YOLO11n model trained on coco.yaml", head=None, end2end=None, args={"batch": 1, "half": False, "dynamic": False}),
    "8.3.100": metadata(version="8.3.100", description="Ultralytics YOLO12m model trained on coco.yaml", **OLD, args={"batch": 1, "half": False, "dynamic": False}),
    "8.3.100, segments": metadata(version="8.3.100", description="Ultralytics best model", task="segment", **OLD, dla="0"),
    "8.4.60": metadata(version="8.4.60", description="Ultralytics YOLOv9c model", head=None),
    "a custom head": metadata(description="Ultralytics mine model", head="MyDetect"),
}
TEXTS = {k: str for k in ("stride", "batch", "imgsz", "names", "args", "channels", "end2end")}  # as ONNX has them
ARGUMENTS = {
    "LetterBox": {"imgsz": [48, 80], "stride": 32, "auto": False},
    "LetterBox to the stride": {"imgsz": 96, "stride": 16, "auto": True},
    "LetterBox stretched": {"imgsz": [50, 70], "scale_fill": True},
    "LetterBox at the top": {"imgsz": [70, 70], "center": False, "padding_value": 0, "scaleup": False},
}
REFUSED = {
    "8.0.0": ({"stride": 32, "names": {0: "a"}}, ["imgsz", "task", "args"]),
    "8.0.60": (metadata(version="8.0.60", description="Ultralytics YOLOv8n model trained on coco.yaml", **OLD, args=None, docs=None, date=None), ["args"]),
    "8.2.0, RT-DETR": (metadata(version="8.2.0", description="Ultralytics rtdetr-l model trained on coco.yaml", **OLD, args=None), ["args", "head"]),
    "8.3.100, its own name": (metadata(version="8.3.100", description="Ultralytics best model", **OLD), ["head"]),
    "classes": (metadata(task="classify", head="Classify"), ["task"]),
    "half": (metadata(args={"half": True}), ["args.half"]),
    "16 bits": (metadata(args={"quantize": 16}), ["args.quantize"]),
    "whole, of another size": (metadata(args={"dynamic": True}), ["imgsz"]),
    "gray": (metadata(channels=1), ["channels"]),
    "between strides": (metadata(imgsz=[60, 96]), ["imgsz"]),
}


def graph(*steps):
    return json.dumps({
        "infer_prep_graph": 1, "inputs": [{"name": "image", "dtype": "bytes", "layout": "none", "shape": []}],
        "steps": [{"op": op, "version": 1, "in": ["image"], "out": ["image"], "params": p} for op, p in steps], "outputs": ["image"],
    })


def decode(**kw):
    return "decode", dict(color="rgb", alpha="drop", gray16="high", refuse=["cmyk"], orientation="apply", damage="imread", scale="full") | kw


def resize(w, h, how):
    return "resize", dict(fit="exact", height=h, width=w, edge=0, max_edge=0, multiple=0, keep_aspect=False, size_rule="truncate", interpolation=how,
                          backend="opencv", no_antialias=False)


def read(path, flags=cv2.IMREAD_COLOR):
    im = cv2.imread(str(path), flags)
    if im is None:
        raise ValueError("refused")
    return im


def rgb(path):
    return cv2.cvtColor(read(path), cv2.COLOR_BGR2RGB)


def chw(a):
    return np.ascontiguousarray(a.transpose(2, 0, 1))


DIVIDE, TO_CHW = ("rescale", dict(scale=255, offset=0, rule="divide")), ("hwc2chw", {})
MEAN, STD = [0.48, 0.46, 0.41], [0.23, 0.22, 0.225]


def programs():
    """name, graph, what a program does."""
    for name, number in (("nearest", cv2.INTER_NEAREST), ("nearest_exact", cv2.INTER_NEAREST_EXACT), ("bilinear", cv2.INTER_LINEAR),
                         ("bicubic", cv2.INTER_CUBIC), ("area", cv2.INTER_AREA), ("lanczos", cv2.INTER_LANCZOS4)):
        yield (f"{name}, then divided", graph(decode(), resize(61, 37, name), DIVIDE, TO_CHW),
               lambda p, n=number: chw(cv2.resize(rgb(p), (61, 37), interpolation=n).astype(np.float32) / 255.0))
    yield ("normalized in float32", graph(decode(), resize(56, 48, "bilinear"), DIVIDE, ("normalize", dict(mean=MEAN, std=STD)), TO_CHW),
           lambda p: chw((cv2.resize(rgb(p), (56, 48)).astype(np.float32) / np.float32(255) - np.float32(MEAN)) / np.float32(STD)))
    yield ("by a reciprocal, blue first", graph(decode(color="bgr"), resize(32, 32, "area"), ("rescale", dict(scale=1 / 255, offset=0, rule="hf")), TO_CHW),
           lambda p: chw(cv2.resize(read(p), (32, 32), interpolation=cv2.INTER_AREA) * (1 / 255)).astype(np.float32))
    yield ("centred on 127", graph(decode(), resize(80, 60, "bilinear"), ("rescale", dict(scale=1, offset=0, rule="multiply")),
                                   ("normalize", dict(mean=[127], std=[128])), TO_CHW),
           lambda p: chw((cv2.resize(rgb(p), (80, 60)) - np.array([127, 127, 127])) / 128).astype(np.float32))
    yield ("gray of colours", graph(decode(), ("grayscale", dict(channels=1, backend="opencv")), resize(28, 28, "area"), DIVIDE),
           lambda p: (cv2.resize(cv2.cvtColor(read(p), cv2.COLOR_BGR2GRAY), (28, 28), interpolation=cv2.INTER_AREA).astype(np.float32) / 255.0)[..., None])
    yield ("read as gray", graph(decode(color="luma"), resize(40, 25, "bilinear"), DIVIDE),
           lambda p: (cv2.resize(read(p, cv2.IMREAD_GRAYSCALE), (40, 25)).astype(np.float32) / 255.0)[..., None])
    yield ("without orientation", graph(decode(orientation="ignore")), lambda p: cv2.cvtColor(read(p, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION), cv2.COLOR_BGR2RGB))
    yield ("from memory", graph(decode(damage="imdecode", color="bgr")), in_memory)


def in_memory(path):
    im = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    if im is None:
        raise ValueError("refused")
    return im


def text(m, form):
    if form == "yaml":
        return yaml.safe_dump(m, sort_keys=False, allow_unicode=True)
    if form == "onnx":
        return json.dumps({k: TEXTS[k](v) if k in TEXTS else v for k, v in m.items()})
    return str(m)


def cases():
    for name, c in BLOBS.items():
        run = importers_more.opencv(c)
        yield "opencv", name, json.dumps(c), lambda p, run=run: run(p)["blob"]
    for i, (name, m) in enumerate(METADATA.items()):
        form = ("yaml", "onnx", "python")[i % 3]
        # The predictor is given what its backend reads.
        given = json.loads(text(m, form)) if form == "onnx" else m
        yield "ultralytics", f"{name} as {form}", text(m, form), predicted(given)
    for name, c in ARGUMENTS.items():
        yield "ultralytics", name, json.dumps({"ultralytics": c}), predicted(c)
    for name, g, run in programs():
        yield "graph", name, g, run


def predicted(config):
    return lambda p: importers.ultralytics(config)(p)["images"]  # the predictor changes the metadata it is given


def main():
    lines = []
    for importer, name, config, run in cases():
        results = []
        for image in IMAGES:
            try:
                a = run(ROOT / image)
                results.append(f"{a.dtype} {'x'.join(map(str, a.shape))} {importers_more.digest(a)[:16]}")
            except Exception as e:
                if not isinstance(e, (ValueError, cv2.error)):
                    raise RuntimeError(f"{importer} {name}: {image}") from e
                results.append(None)
        lines.append(json.dumps({"importer": importer, "name": name, "config": config, "results": results}, separators=(",", ":")))
    refused = [json.dumps({"name": n, "config": text(m, "yaml"), "keys": keys}, separators=(",", ":")) for n, (m, keys) in REFUSED.items()]
    (ROOT / "importer" / "testdata" / "usages.json").write_text(
        '{"images":' + json.dumps(IMAGES) + ',\n"cases":[\n' + ",\n".join(lines) + '\n],"refused":[\n' + ",\n".join(refused) + "\n]}\n")


if __name__ == "__main__":
    main()
