"""Makes importer/preset/testdata/golden.json: the SHA-256 of what the references give for testdata/images.

Needs Pillow 13.0.0, numpy, opencv-python-headless 5.0.0.93, torch 2.15.0, torchvision 0.29.2,
transformers 5.23.0 and ultralytics 8.4.190. Takes no arguments; running it again gives the same bytes.
"""

import hashlib
import json
import os
import warnings

os.environ.setdefault("YOLO_CONFIG_DIR", "/tmp")
os.environ["YOLO_VERBOSE"] = "false"

import cv2
import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T
from transformers import CLIPImageProcessorPil
from ultralytics.data.augment import LetterBox

warnings.simplefilter("ignore")
cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)
torch.set_num_threads(1)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(os.path.dirname(ROOT), "importer", "preset", "testdata", "golden.json")

# Every format, sizes from 1x1 to the largest, both orientations, gray, palettes, transparency, 16 bits, CMYK.
IMAGES = """
bmp_24.bmp bmp_4bit.bmp gif_8bit.gif gif_gray_transparent.gif jpeg_base_420.jpg jpeg_cmyk.jpg jpeg_exif_mm_6.jpg
jpeg_gray.jpg jpeg_large.jpg jpeg_large_prog.jpg jpeg_prog_444.jpg jpeg_size_2x2_1x17.jpg png_1x1.png png_gray16.png
png_gray8_key1.png png_la8.png png_p8_many.png png_p8_one.png png_rgb8.png png_rgb8_key.png png_rgba8.png
tiff_orientation6.tif
""".split()

imagenet = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
# The class's own values are those of openai/clip-vit-base-patch32's preprocessor_config.json.
clip = CLIPImageProcessorPil()
letterbox = LetterBox((640, 640), auto=False)


def yolo(im):
    a = np.asarray(im)
    r = min(640 / a.shape[0], 640 / a.shape[1])
    x = torch.from_numpy(np.ascontiguousarray(letterbox(image=a).transpose(2, 0, 1))).float() / 255
    # What the image's own size and place in the result are, by LetterBox's rounding.
    new = (round(a.shape[0] * r), round(a.shape[1] * r))
    dh, dw = (640 - new[0]) / 2, (640 - new[1]) / 2
    pad = [round(dh - 0.1), round(dh + 0.1), round(dw - 0.1), round(dw + 0.1)]
    return {"images": x.numpy(), "scale": np.array([r, r], np.float32), "pad": np.array(pad, np.int32)}


PRESETS = {
    "decode": lambda im: {"image": np.asarray(im)},
    "imagenet": lambda im: {"image": imagenet(im).numpy()},
    "clip": lambda im: {"pixel_values": np.asarray(clip(im)["pixel_values"][0])},
    "yolo": yolo,
}


def main():
    golden = {}
    for preset, reference in PRESETS.items():
        golden[preset] = {}
        for name in IMAGES:
            with Image.open(os.path.join(ROOT, "images", name)) as im:
                rgb = im.convert("RGB")
            golden[preset][name] = {
                k: {"dtype": a.dtype.name, "shape": list(a.shape), "sha256": hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()}
                for k, a in reference(rgb).items()
            }
    os.makedirs(os.path.dirname(OUT), exist_ok=True)
    with open(OUT, "w") as f:
        rows = []
        for preset, images in golden.items():
            lines = ",\n".join(f"  {json.dumps(n)}: {json.dumps(o)}" for n, o in images.items())
            rows.append(f" {json.dumps(preset)}: {{\n{lines}\n }}")
        f.write("{\n" + ",\n".join(rows) + "\n}\n")


main()
