"""mlx-vlm's image processors in NumPy and Pillow, which need no torch: those of its classes that stand for one of transformers.

They get the configuration as transformers saves it, and answer the tasks of both backends.
"""

import importlib
import warnings

warnings.simplefilter("ignore")

import common
import mlx.core as mx
import numpy as np
from common import want
from PIL import Image

# The class of transformers, that of mlx-vlm, and the outputs whose first axis is that of the patches or tiles of all images.
CLASSES = {
    "Qwen2VL": ("qwen3_vl.processing_qwen3_vl", "Qwen3VLImageProcessor", {"pixel_values"}),
    "PaddleOCRVL": ("paddleocr_vl.processing_paddleocr_vl", "ImageProcessor", set()),
    "Molmo2": ("molmo2.processing", "Molmo2ImageProcessor", {"pixel_values", "image_token_pooling"}),
    "Kimi_K25": ("kimi_k25.processing_kimi_k25", "KimiK25ImageProcessor", {"pixel_values"}),
    "Lfm2Vl": ("lfm2_vl.processing_lfm2_vl", "Lfm2VlNumpyImageProcessor", {"pixel_values", "pixel_attention_mask", "spatial_shapes"}),
    "Pixtral": ("pixtral.image_processing_pixtral", "PixtralImageProcessor", set()),
    "Gemma4": ("gemma4.processing_gemma4", "Gemma4ImageProcessor", set()),
    "HunYuanVL": ("hunyuan_vl.processing_hunyuan_vl", "HunYuanVLImageProcessor", {"pixel_values"}),
    "Llama4": ("llama4.processing_llama4", "Llama4ImageProcessor", {"pixel_values"}),
    "CohereCompass": ("cohere_compass.processing_cohere_compass", "CohereCompassImageProcessor", {"pixel_values"}),
    "MuseGlimmer": ("muse_glimmer.processing_muse_glimmer", "MuseGlimmerImageProcessor", {"pixel_values"}),
    "MiniMaxM3VL": ("minimax_m3_vl.processing_minimax_m3_vl", "MiniMaxM3VLImageProcessor", {"pixel_values"}),
    "Glm46V": ("glm_ocr.processing", "Glm46VImageProcessor", {"pixel_values"}),
    "Glm5Next": ("glm5_next.processing", "Glm5NextImageProcessor", {"pixel_values"}),
}


def array(x):
    return np.asarray(x) if not isinstance(x, mx.array) else np.array(x)


def processor(task, files):
    return run(task, Image.open(files[0]).convert("RGB"))


def sizes(task, _):
    return np.array([run(task, Image.new("RGB", (w, h)))["pixel_values"].shape for h, w in task["sizes"]], np.int64)


def run(task, image):
    config = dict(task["saved"])
    name = config.pop("image_processor_type", "").split("ImageProcessor")[0]
    want(name in CLASSES, f"no class for {name}")
    module, cls, joined = CLASSES[name]
    size = config.get("size") or {}
    if name in ("Qwen2VL", "PaddleOCRVL", "HunYuanVL", "CohereCompass", "MiniMaxM3VL", "Glm46V") and "shortest_edge" in size:
        config |= {"min_pixels": size["shortest_edge"], "max_pixels": size["longest_edge"]}
    more = {"use_transformers_backend": False} if name == "Glm46V" else {}  # else it is transformers' own
    if name == "Llama4":
        config["size"] = size["height"]
    p = getattr(importlib.import_module("mlx_vlm.models." + module), cls)(**config, **more)
    got = p.preprocess([image])
    got = got[0] if isinstance(got, tuple) else got  # Gemma4's numbers of tokens
    if "image_grid_hws" in got:  # Kimi's, which transformers saves with a time
        got["image_grid_thw"] = [np.concatenate([[1], array(g)]) for g in array(got["image_grid_hws"])]
    return {k: array(v) if k in joined else array(v[0]) for k, v in got.items() if v is not None and not isinstance(v, (int, str))}


common.serve("mlx-vlm", "0.7.10, mlx 0.32.4", "its own image processors in NumPy and Pillow, on the CPU", {"processor": processor, "sizes": sizes})
