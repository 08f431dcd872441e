"""Makes the files of importer/hf/tokens/testdata: the tokens of images by the processors of transformers, for 198 sizes.

Needs the packages of goldens.py. Runs each processor with a small tokenizer made here. What changes no size is quick: nearest pixels, neither rescaled nor
normalised. Arguments: names of classes, such as Gemma3, to make alone. Without arguments it makes all.
"""

import hashlib
import json
import pathlib
import random
import sys
import tempfile
import warnings

import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models
from transformers.models.smolvlm import processing_smolvlm as smolvlm

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
smolvlm.num2words = smolvlm.num2words or str  # which the constructor wants, and the texts of videos alone use
OUT = pathlib.Path(__file__).resolve().parents[3] / "importer/hf/tokens/testdata"


def sizes():
    """198 heights and widths: extreme ones, then random ones."""
    yield from ((1, 1), (1, 200), (201, 1), (1, 201), (2, 401), (28, 28), (27, 29), (42, 14), (14, 42), (336, 336), (384, 384), (448, 448), (364, 365), (980, 980))
    yield from ((480, 640), (640, 480), (1080, 1920), (1920, 1080), (1, 1000), (3000, 3), (37, 2600), (2600, 37), (1456, 1456), (1500, 20), (336, 1008), (1008, 336))
    r = random.Random(39)
    for _ in range(90):
        yield round(10 ** r.uniform(0, 3.2)), round(10 ** r.uniform(0, 3.2))
    for _ in range(84):
        h = r.randint(60, 1200)
        yield h, max(1, round(h * r.uniform(0.4, 2.5)))


SIZES = list(dict.fromkeys(sizes()))[:200]
CALLS = [[[480, 640], [100, 900]], [[28, 28], [1000, 30], [300, 301]], [[336, 336], [336, 336]]]  # sizes of several images in one prompt


def tokenizer(tokens, attributes):
    """A tokenizer that knows the tokens, and has the attributes."""
    t = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    names = dict(unk_token="[UNK]", pad_token="[PAD]", bos_token="<bos>", eos_token="<eos>")
    t = transformers.PreTrainedTokenizerFast(tokenizer_object=t, extra_special_tokens=attributes, **names)
    t.add_tokens([*tokens, *attributes.values()], special_tokens=True)
    return t


def hw(h, w):
    return {"height": h, "width": w}


def edges(short, long):
    return {"shortest_edge": short, "longest_edge": long}


def qwen(image, small):
    """Cases: name, arguments of the image processor, of the processor, and of the call."""
    yield "absent", {}, {}, {}
    yield "small", {"size": small}, {}, {}
    yield "one patch", {"size": small, "merge_size": 1, "patch_size": 10}, {}, {}
    yield "size of the call", {}, {}, {"size": small}
    if image not in ("Glm4v", "Glm46V", "Ernie4_5_VLMoe"):
        yield "pixels of the call", {}, {}, {"min_pixels": small["shortest_edge"], "max_pixels": small["longest_edge"]}
    yield "not resized", {"do_resize": False}, {}, {}


def internvl():
    yield "absent", {}, {}, {}
    yield "1 to 6", {"size": hw(50, 50), "min_patches": 1, "max_patches": 6}, {"image_seq_length": 17}, {}
    yield "oblong", {"size": hw(40, 90), "min_patches": 3, "max_patches": 12}, {}, {}
    yield "whole", {}, {}, {"crop_to_patches": False}
    yield "size of the call", {"max_patches": 4}, {}, {"size": hw(100, 100)}
    yield "bounds of the call", {"size": hw(50, 50)}, {}, {"min_patches": 5, "max_patches": 4}


def idefics3():
    yield "absent", {}, {}, {}
    yield "small", {"size": {"longest_edge": 300}, "max_image_size": {"longest_edge": 100}}, {"image_seq_len": 64}, {}
    yield "not split", {"size": {"longest_edge": 300}, "max_image_size": {"longest_edge": 100}}, {}, {"do_image_splitting": False}
    yield "not resized", {"do_resize": False, "max_image_size": {"longest_edge": 150}}, {"image_seq_len": 3}, {}
    yield "size of the call", {"size": {"longest_edge": 300}, "max_image_size": {"longest_edge": 100}}, {"image_seq_len": 5}, {"size": {"longest_edge": 257}}


def llava_next():
    base = {"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    yield "336", {"size": {"shortest_edge": 336}, "crop_size": hw(336, 336)}, base, {}
    yield "full", {}, base | {"vision_feature_select_strategy": "full"}, {}
    points = [[100, 200], [200, 100], [200, 200], [300, 100], [100, 300], [100, 100]]
    yield "small", {"size": hw(100, 100), "crop_size": hw(100, 100), "image_grid_pinpoints": points}, base | {"patch_size": 7}, {}
    yield "size of the call", {"crop_size": hw(336, 336)}, base, {"size": {"shortest_edge": 336}}
    yield "not cropped", {"size": hw(336, 336), "do_center_crop": False}, base, {}


def llava_onevision():
    base = {"num_image_tokens": 729, "vision_feature_select_strategy": "full"}
    yield "absent", {}, base, {}
    yield "anyres_max_4", {}, base | {"vision_aspect_ratio": "anyres_max_4", "vision_feature_select_strategy": "default"}, {}
    points = [[100, 200], [200, 100], [200, 200], [500, 100], [100, 500], [100, 100]]
    yield "small", {"size": hw(100, 100), "image_grid_pinpoints": points}, {"num_image_tokens": 50, "vision_aspect_ratio": "anyres_max_2"}, {}


def gemma3():
    yield "absent", {}, {}, {}
    scan = {"do_pan_and_scan": True}
    yield "pan and scan", {}, {}, scan
    yield "small crops", {}, {"image_seq_length": 3}, scan | {"pan_and_scan_min_crop_size": 20, "pan_and_scan_max_num_crops": 7, "pan_and_scan_min_ratio_to_activate": 1.05}
    yield "of the file", {"do_pan_and_scan": True, "pan_and_scan_min_crop_size": 20}, {"image_seq_length": 5}, {}


def pixtral():
    yield "absent", {}, {}, {}
    yield "merged", {"size": {"longest_edge": 1540}}, {"patch_size": 14, "spatial_merge_size": 2}, {}
    yield "small", {"size": {"longest_edge": 300}}, {"image_token": "<i>", "image_break_token": "<b>", "image_end_token": "<e>"}, {}
    yield "size of the call", {}, {}, {"size": {"longest_edge": 200}}
    yield "not resized", {"do_resize": False}, {}, {}


def llama4():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(56, 56), "max_patches": 7}, {}, {}
    yield "largest", {"size": hw(56, 56), "max_patches": 6, "resize_to_max_canvas": True}, {}, {}
    yield "of the call", {"size": hw(60, 60)}, {"patch_size": 10, "pixel_shuffle_ratio": 0.7}, {"max_patches": 5}


def tiles(small):
    """Of GOT-OCR2's image processor, and of Cohere2 Vision's."""
    yield "absent", {}, {}, {}
    yield "small", {"size": small}, {}, {}
    yield "cut", {"size": small, "max_patches": 7}, {}, {"crop_to_patches": True}
    yield "whole", {}, {}, {"crop_to_patches": False}
    yield "bounds", {"size": small, "crop_to_patches": True, "min_patches": 3, "max_patches": 8}, {}, {}
    yield "size of the call", {"max_patches": 4, "crop_to_patches": True}, {}, {"size": hw(100, 100)}


def named(small, **args):
    """Cases with arguments of the processor."""
    for label, image, processor, call in tiles(small):
        yield label, image, processor | args, call


def ovis2():
    yield from named(hw(40, 40), image_seq_length=3)
    yield "aspect", {"size": hw(40, 40), "crop_to_patches": True, "use_covering_area_grid": False}, {}, {}


def fixed(image, argument, *more):
    yield "absent", image, {}, {}
    yield "7", image, {argument: 7}, {}
    yield from more


def inside(*names):
    yield "absent", {"image_seq_length": 256}, {}, {}
    yield "7", {"image_seq_length": 7, "size": hw(90, 90)}, {}, {}


def emu3():
    yield "absent", {}, {}, {}
    yield "small", {"min_pixels": 40 * 40, "max_pixels": 200 * 200}, {}, {}
    yield "factor", {"min_pixels": 40 * 40, "max_pixels": 200 * 200, "spatial_factor": 28}, {}, {}
    yield "not resized", {"do_resize": False}, {}, {}


def gemma4():
    yield "absent", {}, {}, {}
    yield "70", {"max_soft_tokens": 70}, {}, {}
    yield "pooled by 2", {"pooling_kernel_size": 2, "patch_size": 14}, {}, {}
    yield "of the call", {}, {}, {"max_soft_tokens": 140}
    yield "not resized", {"do_resize": False, "patch_size": 14}, {}, {}
    yield "not resized, small", {"do_resize": False, "patch_size": 1}, {}, {}


def kimi():
    yield "absent", {}, {}, {}
    yield "small", {"max_patches": 100}, {}, {}
    yield "short sides", {"size": {"max_height": 20, "max_width": 20}, "patch_size": 10}, {}, {}
    yield "of the call", {}, {}, {"max_patches": 64}


def perception_lm():
    yield "absent", {}, {"patch_size": 14}, {}
    yield "small", {"tile_size": 56, "max_num_tiles": 9}, {"patch_size": 14, "pooling_ratio": 2}, {}
    yield "of the call", {"tile_size": 56}, {"patch_size": 14}, {"tile_size": 112}
    yield "whole", {"vision_input_type": "vanilla"}, {"patch_size": 14, "pooling_ratio": 1}, {}
    yield "not resized", {"do_resize": False}, {"patch_size": 14}, {}


def ocr():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(200, 200), "tile_size": 100}, {}, {}
    yield "bounds", {"size": hw(320, 320), "tile_size": 90, "min_patches": 3, "max_patches": 9}, {"patch_size": 14, "downsample_ratio": 3}, {}
    yield "not cut", {"size": hw(320, 320)}, {}, {"crop_to_patches": False}
    yield "of the call", {"size": hw(320, 320)}, {}, {"tile_size": 300, "size": hw(256, 256)}


def mllama():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(56, 56), "max_image_tiles": 7}, {}, {}


def granite():
    points = [[100, 200], [200, 100], [200, 200], [300, 100], [100, 300], [100, 100]]
    base = {"patch_size": 5, "downsample_rate": "4/8"}
    small = {"size": hw(100, 100), "crop_size": hw(100, 100), "image_grid_pinpoints": points}
    yield "halves", small, base, {}
    yield "thirds", small, base | {"downsample_rate": "1/3", "vision_feature_select_strategy": "default"}, {}
    yield "whole", small, {"patch_size": 5}, {}


def aria():
    yield "absent", {}, {}, {}
    yield "split", {}, {}, {"split_image": True}
    yield "490", {"max_image_size": 490}, {"size_conversion": {490: 3, 980: 5}}, {"split_image": True, "max_image_size": 490}
    yield "resolutions", {"split_resolutions": [[490, 490], [980, 490], [490, 1470]]}, {"size_conversion": {490: 3, 980: 5}}, {"split_image": True}


def nemotron():
    yield "absent", {}, {}, {}
    yield "small", {"min_num_patches": 16, "max_num_patches": 200}, {}, {}
    yield "thirds", {"min_num_patches": 9, "max_num_patches": 500, "downsample_ratio": 0.34}, {}, {}
    yield "of the call", {"min_num_patches": 16}, {}, {"max_num_patches": 100}


def step3p7():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(112, 112), "patch_size": 56}, {}, {}
    yield "of the call", {}, {}, {"patch_size": 112}


def lfm2_vl():
    yield "absent", {}, {}, {}
    yield "small", {"tile_size": 64, "min_image_tokens": 4, "max_image_tokens": 30}, {}, {}
    yield "tolerant", {"tile_size": 64, "min_image_tokens": 4, "max_image_tokens": 30, "max_pixels_tolerance": 9.5, "max_tiles": 20}, {}, {"use_thumbnail": False}
    yield "whole", {"do_image_splitting": False, "max_image_tokens": 100}, {}, {}
    yield "plain", {"tile_size": 96, "downsample_factor": 3, "max_image_tokens": 64}, {}, {"use_image_special_tokens": False}


def molmo2():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(84, 84), "overlap_margins": [1, 1], "max_crops": 12}, {"image_use_col_tokens": False}, {}
    yield "pooled by 3", {"pooling_size": [3, 2], "max_crops": 24}, {"use_single_crop_start_token": False, "use_single_crop_col_tokens": False}, {}
    yield "of the call", {}, {}, {"max_crops": 3}


def phi4():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(112, 112), "dynamic_hd": 6}, {}, {}
    yield "of the call", {"size": hw(112, 112)}, {}, {"dynamic_hd": 12}
    yield "odd", {"size": hw(70, 70), "dynamic_hd": 9}, {}, {}


def lighton():
    yield "absent", {}, {}, {}
    yield "small", {"patch_size": 28, "size": {"longest_edge": 300}}, {}, {}
    yield "size of the call", {"patch_size": hw(14, 14)}, {"spatial_merge_size": 1}, {"size": {"longest_edge": 200}}
    yield "not resized", {"do_resize": False, "patch_size": 14}, {}, {}


def fuyu():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(120, 210)}, {}, {}
    yield "incomplete", {"size": hw(100, 200), "patch_size": hw(30, 20)}, {}, {}
    yield "of the call", {}, {}, {"size": hw(60, 300)}


def muse():
    yield "absent", {}, {}, {}
    yield "small", {"max_image_tokens": 60}, {}, {}
    yield "single", {"patch_size": 10, "merge_size": 1, "max_image_tokens": 300}, {}, {}
    yield "of the call", {}, {}, {"max_image_tokens": 9}
    yield "not resized", {"do_resize": False}, {}, {}


def llava():
    base = {"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    yield "336", {"size": {"shortest_edge": 336}, "crop_size": hw(336, 336)}, base, {}
    yield "not cropped", {"do_center_crop": False, "size": {"shortest_edge": 50}}, base, {}
    yield "exact", {"do_center_crop": False, "size": hw(100, 200)}, base, {}
    yield "crop of the call", {}, base, {"crop_size": hw(70, 140)}
    yield "padded", {"class": "Llava", "do_pad": True}, base, {}
    yield "padded, not cropped", {"class": "Llava", "do_pad": True, "do_center_crop": False, "size": {"shortest_edge": 50}}, base, {}
    yield "siglip", {"class": "Siglip", "size": hw(384, 384)}, base | {"vision_feature_select_strategy": "full"}, {}


def shield():
    crops = {"pan_and_scan_min_crop_size": 20, "pan_and_scan_max_num_crops": 7, "pan_and_scan_min_ratio_to_activate": 1.05}
    yield "absent", {}, {}, {}
    yield "7", {"do_pan_and_scan": True}, {"image_seq_length": 7}, {}
    yield "crops of the file", crops, {"image_seq_length": 3}, {"do_pan_and_scan": True}
    yield "crops of the call", {}, {"image_seq_length": 3}, crops | {"do_pan_and_scan": True}


def inkling():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(28, 28)}, {}, {"size": hw(33, 33)}
    yield "half", {"rescale_image_frac": 0.5}, {}, {}
    yield "larger", {"rescale_image_frac": 1.7, "rescale_image_max_upscaled_long_edge": 500}, {}, {}
    yield "of the call", {}, {}, {"rescale_image_frac": 1.3, "rescale_image_max_upscaled_long_edge": None}


def inkling2():
    yield "absent", {}, {}, {}
    yield "oblong", {"size": hw(28, 56)}, {}, {}
    yield "of the call", {}, {}, {"size": hw(33, 21)}


def glm5():
    yield "absent", {}, {}, {}
    yield "small", {"min_image_tokens": 8, "max_image_tokens": 60}, {}, {}
    yield "one patch", {"patch_size": 10, "merge_size": 1, "max_image_tokens": 500}, {}, {}
    yield "of the call", {}, {}, {"max_image_tokens": 100, "min_image_tokens": 50}
    yield "expanded", {"patch_expand_factor": 2, "max_image_tokens": 100}, {}, {}
    yield "not resized", {"do_resize": False}, {}, {}


def neomme():
    yield "absent", {}, {}, {}
    yield "small", {"max_side": 300, "patch_size": 16}, {}, {}
    yield "area", {"size": {"min_pixels": 40000, "max_pixels": 90000}}, {}, {}
    yield "of the call", {}, {}, {"max_side": 200, "patch_size": 20}
    yield "not resized", {"do_resize": False, "max_side": 300}, {}, {}


def glm_image():
    large = edges(512 * 512, 2048 * 2048)
    yield "absent", {}, {}, {}
    yield "large", {"size": large, "patch_size": 16, "merge_size": 1}, {}, {}
    yield "size of the call", {}, {}, {"size": edges(200 * 200, 300 * 300)}
    yield "pixels of the call", {}, {}, {"min_pixels": 200 * 200, "max_pixels": 300 * 300}
    yield "not resized", {"do_resize": False}, {}, {}


def granite_docling():
    yield "absent", {}, {}, {}
    yield "small", {"size": hw(100, 150), "min_patches": 2, "max_patches": 9}, {"image_seq_len": 3}, {}
    yield "fine", {"size": hw(100, 100), "fine_route": True}, {"image_seq_len": 2}, {"max_patches": 40}
    yield "whole", {"crop_to_patches": False}, {}, {"fine_route": True}
    dense = {"size": hw(100, 100), "max_patches": 6, "dense_max_patches": 20}
    yield "dense", dense | {"dense_max_scale": 0.5, "dense_min_aspect": 0.8, "dense_max_aspect": 6.5}, {}, {}
    yield "dense by scale", dense | {"dense_max_scale": 0.4}, {"image_seq_len": 1}, {}
    yield "dense of the call", dense, {}, {"dense_min_aspect": 1.2, "size": hw(90, 80)}
    yield "bounds", {"size": hw(100, 100), "min_patches": 7, "max_patches": 4}, {}, {}


def minicpm(name):
    yield "absent", {}, {}, {}
    yield "small", {"scale_resolution": 112, "max_slice_nums": 12}, {}, {}
    yield "without numbers", {"scale_resolution": 140, "use_image_id": False}, {}, {}
    yield "numbers of the call", {"scale_resolution": 140, "patch_size": 10, "use_image_id": False}, {}, {"use_image_id": True}
    yield "4x", {"scale_resolution": 224, "downsample_mode": "4x"}, {}, {}
    yield "16x of the call", {"scale_resolution": 224, "downsample_mode": "4x"}, {}, {"downsample_mode": "16x", "max_slice_nums": 5}
    yield "not sliced", {"slice_mode": False, "scale_resolution": 112}, {}, {}
    yield "sliced by the call", {"slice_mode": False, "scale_resolution": 112}, {}, {"slice_mode": True}
    if name == "MiniCPMOcr":
        yield "small ones kept", {"scale_resolution": 224, "small_image_upsize": "never"}, {}, {}


def idefics2():
    yield "split", {"do_image_splitting": True, "size": edges(30, 60)}, {}, {}
    yield "whole", {"do_image_splitting": False, "size": edges(30, 60)}, {"image_seq_len": 7}, {}
    yield "not resized", {"do_image_splitting": True, "do_resize": False}, {"image_seq_len": 3}, {}
    yield "split by the call", {"do_image_splitting": False, "size": edges(30, 60)}, {}, {"do_image_splitting": True}


def kosmos2_5():
    yield "absent", {}, {}, {"max_patches": 64}
    yield "7", {}, {"num_image_tokens": 7}, {"max_patches": 64}


def blip(none):
    yield "32", {"size": hw(30, 30)}, {"num_query_tokens": 32}, {}
    yield "7", {}, {"num_query_tokens": 7}, {"size": hw(20, 20)}
    if none:
        yield "none", {"size": hw(30, 30)}, {}, {}


def pi0():
    yield "256", {"image_seq_length": 256, "size": hw(30, 30)}, {}, {}
    yield "7", {"image_seq_length": 7}, {}, {"size": hw(20, 20)}


def video_llava():
    yield "absent", {}, {}, {}
    yield "full", {}, {"vision_feature_select_strategy": "full", "num_additional_image_tokens": 3, "patch_size": 10}, {}
    yield "not cropped", {"do_center_crop": False, "size": {"shortest_edge": 50}}, {}, {}
    yield "exact", {"do_center_crop": False, "size": hw(100, 200)}, {}, {}
    yield "crop of the call", {}, {}, {"crop_size": hw(70, 140)}


PAD = {"image_token": "<im>"}
MARKS = [f"<row_{i}_col_{j}>" for i in range(1, 30) for j in range(1, 30)] + ["<fake_token_around_image>", "<image>", "<global-img>"]
AYA = [f"TILE_{i}" for i in range(1, 40)] + ["TILE_GLOBAL", "<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "<image>"]
MOLMO = ["<im_patch>", "<im_col>", "<im_start>", "<low_res_im_start>", "<im_end>", "<frame_start>", "<frame_end>", "<im_low>"]
MINI = ["]<]image[>[", "]<]start of image[>[", "]<]end of image[>[", "]<]video[>["]
SOFT = PAD | {f"{a}_token": f"<{a}>" for a in ("audio", "boa", "eoa", "boi", "eoi")}
MINICPM = PAD | {f"{a}_token": f"<{a}>" for a in ("video", "image_start", "image_end", "slice_start", "slice_end", "image_id_start", "image_id_end")}
SMALL = edges(30 * 30, 200 * 200)

AUDIO = {"Qwen2_5Omni": "Whisper", "Qwen3OmniMoe": "Whisper", "Gemma3n": "Gemma3nAudio", "Gemma4": "Gemma4Audio", "NemotronH_Omni_Reasoning_V3": "Parakeet"}
AUDIO |= {"EmbeddingGemma2": "Gemma4Audio", "Gemma4Unified": "Gemma4UnifiedAudio", "Dots3Note": "Dots3Note", "Inkling": "Inkling", "MuseSpark": "MuseSpark"}
OMNI = PAD | {f"{a}_token": f"<{a}>" for a in ("audio", "video", "vision_bos", "vision_eos", "audio_bos", "audio_eos")}

# By processor: the image processor, the video processor or None, the cases, the attributes and further tokens of the tokenizer, and what counts in
# the text: None for every token, else the string of the image token.
CLASSES = {
    "Qwen2VL": ("Qwen2VL", "Qwen2VL", qwen("Qwen2VL", SMALL), PAD, [], "<im>"),
    "Qwen2_5_VL": ("Qwen2VL", "Qwen2VL", qwen("Qwen2VL", SMALL), {}, ["<|image_pad|>"], "<|image_pad|>"),
    "Qwen3VL": ("Qwen2VL", "Qwen3VL", qwen("Qwen2VL", SMALL), PAD, [], "<im>"),
    "ColQwen2": ("Qwen2VL", None, qwen("Qwen2VL", SMALL), PAD, [], "<im>"),
    "Exaone4_5_": ("Qwen2VL", "Qwen2VL", qwen("Qwen2VL", SMALL), PAD, [], "<im>"),
    "VideoLlama3": ("VideoLlama3", "VideoLlama3", qwen("VideoLlama3", SMALL), PAD, [], "<im>"),
    "Glm4v": ("Glm4v", "Glm4v", qwen("Glm4v", SMALL), PAD, [], "<im>"),
    "Glm46V": ("Glm46V", "Glm46V", qwen("Glm46V", SMALL), {}, ["<|image|>"], "<|image|>"),
    "PaddleOCRVL": ("PaddleOCRVL", None, qwen("PaddleOCRVL", SMALL), PAD, [], "<im>"),
    "InternVL": (
        "GotOcr2", "InternVL", internvl(),
        {"context_image_token": "<ctx>", "start_image_token": "<img>", "end_image_token": "</img>", "video_token": "<video>"}, [], None,
    ),
    "Idefics3": ("Idefics3", None, idefics3(), {}, MARKS, None),
    "SmolVLM": ("SmolVLM", "SmolVLM", idefics3(), {}, MARKS, "<image>"),
    "LlavaNext": ("LlavaNext", None, llava_next(), PAD, [], "<im>"),
    "LlavaOnevision": ("LlavaOnevision", "LlavaOnevision", llava_onevision(), PAD | {"video_token": "<video>"}, [], "<im>"),
    "Gemma3": ("Gemma3", None, gemma3(), {"image_token": "<soft>", "boi_token": "<boi>", "eoi_token": "<eoi>"}, [], "<soft>"),
    "Pixtral": ("Pixtral", None, pixtral(), {}, ["[IMG]", "[IMG_BREAK]", "[IMG_END]", "<i>", "<b>", "<e>"], None),
    "QianfanOCR": (
        "GotOcr2", None, internvl(), {"context_image_token": "<ctx>", "start_image_token": "<img>", "end_image_token": "</img>"}, ["<image>"], None,
    ),
    "AyaVision": ("GotOcr2", None, named(hw(50, 50), patch_size=28, downsample_factor=2), {}, AYA, None),
    "GotOcr2": ("GotOcr2", None, tiles(hw(50, 50)), {}, ["<imgpad>"], "<imgpad>"),
    "Cohere2Vision": (
        "Cohere2Vision", None, tiles(hw(50, 50)),
        PAD | {"boi_token": "<boi>", "eoi_token": "<eoi>", "img_line_break_token": "<break>"}, [], None,
    ),
    "Ovis2": ("Ovis2", None, ovis2(), {}, ["<image>", "<IMG_ATOM>"], "<IMG_ATOM>"),
    "Chameleon": ("Chameleon", None, fixed({}, "image_seq_length"), PAD, ["<racm3:break>", "<eoss>"], None),
    "Florence2": ("CLIP", None, inside(), PAD, [], "<im>"),
    "PaliGemma": ("Siglip", None, inside(), PAD, [], "<im>"),
    "DeepseekVL": ("DeepseekVL", None, fixed({}, "num_image_tokens"), PAD, [], "<im>"),
    "DeepseekVLHybrid": ("DeepseekVLHybrid", None, fixed({}, "num_image_tokens"), PAD, [], "<im>"),
    "Janus": ("Janus", None, fixed({}, "num_image_tokens"), PAD | {"boi_token": "<boi>", "eoi_token": "<eoi>"}, [], "<im>"),
    "Emu3": (
        "Emu3", None, emu3(), PAD | {"boi_token": "<boi>", "eoi_token": "<eoi>", "image_wrapper_token": "<wrap>", "eof_token": "<eof>"}, [], "<im>",
    ),
    "Granite4Vision": ("LlavaNext", None, granite(), PAD, [], "<im>"),
    "Aria": ("Aria", None, aria(), PAD, [], "<im>"),
    "ColPali": ("Siglip", None, inside(), PAD, [], "<im>"),
    "Cosmos3Edge": ("Cosmos3Edge", "Cosmos3Edge", qwen("Glm4v", SMALL), PAD, [], "<im>"),
    "CohereCompass": ("CohereCompass", "CohereCompass", qwen("CohereCompass", SMALL), {}, ["<|IMAGE_PAD|>"], "<|IMAGE_PAD|>"),
    "NemotronH_Omni_Reasoning_V3": (
        "NemotronH_Omni_Reasoning_V3", "NemotronH_Omni_Reasoning_V3", nemotron(), PAD | {"image_start_token": "<img>", "image_end_token": "</img>"}, [], "<im>",
    ),
    "Step3p7": ("Step3p7", None, step3p7(), {}, ["<im_patch>"], "<im_patch>"),
    "Lfm2Vl": ("Lfm2Vl", None, lfm2_vl(), PAD, [], "<im>"),
    "Molmo2": ("Molmo2", "Molmo2", molmo2(), PAD | {"video_token": "<video>"}, MOLMO, None),
    "Phi4Multimodal": ("Phi4Multimodal", None, phi4(), PAD | {"audio_token": "<audio>"}, [], "<im>"),
    "LightOnOcr": ("Pixtral", None, lighton(), PAD | {"image_break_token": "<b>", "image_end_token": "<e>"}, [], "<im>"),
    "Fuyu": ("Fuyu", None, fuyu(), {}, ["|SPEAKER|", "|NEWLINE|", "<s>"], None),
    "MuseGlimmer": ("MuseGlimmer", "MuseGlimmer", muse(), {}, ["<|patch|>", "<|image_start|>", "<|image_end|>", "<|video|>"], "<|patch|>"),
    "Qwen2_5Omni": ("Qwen2VL", "Qwen2VL", qwen("Qwen2VL", SMALL), OMNI, [], "<im>"),
    "Qwen3OmniMoe": ("Qwen2VL", "Qwen2VL", qwen("Qwen2VL", SMALL), OMNI, [], "<im>"),
    "Ernie4_5_VLMoe": (
        "Ernie4_5_VLMoe", "Ernie4_5_VLMoe", qwen("Ernie4_5_VLMoe", SMALL),
        PAD | {f"{a}_token": f"<{a}>" for a in ("image_start", "image_end", "video", "video_start", "video_end")}, [], "<im>",
    ),
    "MiniMaxM3VL": ("MiniMaxM3VL", "MiniMaxM3VL", qwen("MiniMaxM3VL", SMALL), {}, MINI, "]<]image[>["),
    "HunYuanVL": ("HunYuanVL", None, qwen("HunYuanVL", SMALL), PAD | {"image_start_token": "<s>", "image_end_token": "<e>"}, [], "<im>"),
    "Kimi_K25": ("Kimi_K25", "Kimi_K25", kimi(), PAD, ["<|kimi_k25_video_placeholder|>"], "<im>"),
    "PerceptionLM": ("PerceptionLM", "PerceptionLM", perception_lm(), PAD | {"video_token": "<video>"}, [], "<im>"),
    "DeepseekOcr2": ("DeepseekOcr2", None, ocr(), PAD, [], "<im>"),
    "UnlimitedOcr": ("UnlimitedOcr", None, ocr(), PAD, [], "<im>"),
    "Mllama": ("Mllama", None, mllama(), PAD, ["<|python_tag|>"], "<im>"),
    "Gemma3n": (
        "Siglip", None, fixed({}, "image_seq_length"),
        PAD | {f"{a}_token": f"<{a}>" for a in ("audio", "boa", "eoa", "boi", "eoi")}, [], "<im>",
    ),
    "Gemma4": ("Gemma4", "Gemma4", gemma4(), PAD | {"boi_token": "<boi>", "eoi_token": "<eoi>"}, [], "<im>"),
    "Llava": ("CLIP", None, llava(), PAD, [], "<im>"),
    "HyperCLOVAXVisionV2": ("Qwen2VL", "Qwen2VL", qwen("Qwen2VL", SMALL), PAD, [], "<im>"),
    "Lfm3Vl": ("Qwen2VL", "Qwen3VL", qwen("Qwen2VL", SMALL), PAD, [], "<im>"),
    "Dots3Note": ("Qwen2VL", "Qwen3VL", qwen("Qwen2VL", SMALL), {}, ["<|imgpad|>"], "<|imgpad|>"),
    "GlmImage": ("GlmImage", None, glm_image(), PAD | {"grid_bos_token": "<g>", "grid_eos_token": "</g>"}, [], "<im>"),
    "EmbeddingGemma2": ("Gemma4", "Gemma4", gemma4(), SOFT, [], "<im>"),
    "Gemma4Unified": ("Gemma4Unified", "Gemma4Unified", gemma4(), SOFT, [], "<im>"),
    "ShieldGemma2": ("Gemma3", None, shield(), {"image_token": "<soft>", "boi_token": "<boi>", "eoi_token": "<eoi>"}, [], "<soft>"),
    "LlavaNextVideo": ("LlavaNext", "LlavaNextVideo", llava_next(), PAD, [], "<im>"),
    "VideoLlava": ("VideoLlava", "VideoLlava", video_llava(), PAD, [], "<im>"),
    "ColModernVBert": ("Idefics3", None, idefics3(), {}, MARKS, None),
    "Inkling": ("Inkling", None, inkling(), PAD, ["<|content_image|>", "<|content_audio_input|>", "<|unused_200053|>"], "<im>"),
    "Inkling2": ("Inkling2", None, inkling2(), PAD, [], "<im>"),
    "Glm5Next": ("Glm5Next", "Glm5Next", glm5(), PAD, [], "<im>"),
    "NeoMME": ("NeoMME", None, neomme(), PAD | {"row_token": "<row>", "document_token": "<doc>"}, [], "<im>"),
    "MuseSpark": ("MuseGlimmer", "MuseGlimmer", muse(), PAD | {"image_end_token": "</im>"}, ["<|image_start|>"], "<im>"),
    "GraniteDocling": (
        "GraniteDocling", None, granite_docling(), {}, [f"<row_{i}_col_{j}>" for i in range(1, 17) for j in range(1, 17)] + MARKS[-3:], None,
    ),
    "MiniCPMV4_6": ("MiniCPMV4_6", "MiniCPMV4_6", minicpm("MiniCPMV4_6"), MINICPM, [], "<im>"),
    "MiniCPMV4_7": ("MiniCPMV4_6", "MiniCPMV4_6", minicpm("MiniCPMV4_7"), MINICPM, [], "<im>"),
    "MiniCPMOcr": ("MiniCPMOcr", "MiniCPMOcr", minicpm("MiniCPMOcr"), MINICPM, [], "<im>"),
    "Idefics2": ("Idefics2", None, idefics2(), PAD | {"image_boundary_token": "<f>"}, [], "<im>"),
    "Kosmos2_5": ("Kosmos2_5", None, kosmos2_5(), PAD | {"boi_token": "<boi>", "eoi_token": "<eoi>"}, [], "<im>"),
    "Blip2": ("Blip", None, blip(True), {}, [], "<image>"),
    "InstructBlip": ("Blip", None, blip(False), {}, [], "<image>"),
    "PI0": ("Siglip", None, pi0(), {}, [], "<image>"),
    "Llama4": ("Llama4", None, llama4(), {}, ["<|image|>", "<|patch|>"], "<|patch|>"),
}


class Recorder:
    """A tokenizer that records its texts."""

    def __init__(self, tokenizer):
        self.tokenizer, self.texts = tokenizer, []

    def __call__(self, text, **options):
        self.texts.append(text)
        return self.tokenizer(text, **options)

    def __getattr__(self, name):
        return getattr(self.tokenizer, name)


def called(p, images, call):
    """The texts of the images of one prompt, from the texts that a call of the processor tokenizes."""
    known, p.tokenizer = p.tokenizer, Recorder(p.tokenizer)
    try:
        if isinstance(p, transformers.Idefics2Processor):
            p(images=[images], text="\n".join([p.image_token] * len(images)), **call)
            return p.tokenizer.texts[0][0].split("\n")
        p(images=[images] if isinstance(p, transformers.PI0Processor) else images, text="[PAD]", **call)
        texts = p.tokenizer.texts
    finally:
        p.tokenizer = known
    if isinstance(p, transformers.PI0Processor):
        tokens = texts[0][0].removesuffix(p.tokenizer.bos_token + "[PAD]\n")
        n = len(tokens) // len(images)
        return [tokens[i * n:(i + 1) * n] for i in range(len(images))]
    if isinstance(p, transformers.Kosmos2_5Processor):
        first = texts[0][0].removesuffix("[PAD]")
    else:
        first = texts[1] if len(texts) > 1 else ""
    return [first] + [""] * (len(images) - 1)  # once for the text


WHOLE = ("Idefics2", "Kosmos2_5", "Blip2", "InstructBlip", "PI0")  # have no replace_image_token


def replacements(p, images, call):
    """The texts that replace the placeholders of the images in one prompt."""
    if not isinstance(p, transformers.Kosmos2_5Processor):  # which fails with bytes
        call = call | {"do_rescale": False, "do_normalize": False, "resample": 0}
    if type(p).__name__.removesuffix("Processor") in WHOLE:
        return called(p, images, call)
    if isinstance(p, transformers.Ovis2Processor):  # which fails without
        call["return_tensors"] = "pt"
    special = {"use_image_special_tokens": call.get("use_image_special_tokens", True)} if isinstance(p, transformers.Lfm2VlProcessor) else {}
    if not isinstance(p, (transformers.GotOcr2Processor, transformers.GlmImageProcessor)):  # which lay out their own prompts
        images, *_ = p.prepare_inputs_layout(images=[images], text=[p.image_token * len(images)], **call)
    _, texts = p._process_images(images, **special, **p._merge_kwargs(tokenizer_init_kwargs=p.tokenizer.init_kwargs, **call)["images_kwargs"])
    numbered = call.get("use_image_id", getattr(p, "default_use_image_id", None))
    return p._prepend_local_ids([p.image_token * len(texts)], texts, p.image_token) if numbered else texts


def picture(size):
    return Image.new("RGB", (size[1], size[0]))


def runs(text, tokens):
    """The text as a list of tokens, other texts, and their repetitions."""
    found, last = [], 0
    while last < len(text):
        t = next((t for t in tokens if text.startswith(t, last)), text[last])
        if found and found[-1][0] == t:
            found[-1][1] += 1
        else:
            found.append([t, 1])
        last += len(t)
    return found


def processor(name, image, video, attributes, tokens, image_args, args):
    """The processor of a class with a small tokenizer."""
    t = tokenizer(tokens, attributes)
    parts = {"image_processor": getattr(transformers, image + "ImageProcessor")(**image_args), "tokenizer": t}
    if video:
        parts["video_processor"] = getattr(transformers, video + "VideoProcessor")(**{"draw_on_frames": False} if name == "Ernie4_5_VLMoe" else {})
    if name in AUDIO:
        parts["feature_extractor"] = getattr(transformers, AUDIO[name] + "FeatureExtractor")()
    if name == "Phi4Multimodal":
        parts["audio_processor"] = transformers.Phi4MultimodalFeatureExtractor()
    if name == "InstructBlip":
        parts["qformer_tokenizer"] = tokenizer(tokens, attributes)
    return getattr(transformers, name + "Processor")(**parts, **args)


def case(name, image, video, attributes, tokens, counted, settings):
    label, image_args, args, call = settings
    image = image_args.pop("class", image)
    p = processor(name, image, video, attributes, tokens, image_args, args)
    t = p.tokenizer
    with tempfile.TemporaryDirectory() as folder:
        p.save_pretrained(folder)
        saved = json.loads((pathlib.Path(folder) / "processor_config.json").read_text())
        names = json.loads((pathlib.Path(folder) / "tokenizer_config.json").read_text())
    saved |= args  # some of which are not saved
    saved.pop("video_processor", None)
    saved.pop("feature_extractor", None)
    saved.pop("audio_processor", None)
    for key in ("image_mean", "image_std", "rescale_factor", "resample", "do_rescale", "do_normalize"):
        saved["image_processor"].pop(key, None)
    numbers, own, digest, samples = [], [], hashlib.sha256(), []
    for i, size in enumerate(SIZES):
        try:
            text = replacements(p, [picture(size)], call)[0]
        except (ValueError, RuntimeError, ZeroDivisionError, IndexError, TypeError, KeyError, AttributeError):
            text = None
        number = None
        if text is not None and hasattr(p, "_get_num_multimodal_tokens"):
            try:
                number = int(p._get_num_multimodal_tokens(image_sizes=[list(size)], **call)["num_image_tokens"][0])
            except (ValueError, ZeroDivisionError, TypeError, KeyError, AttributeError):
                number = None
        numbers.append(number)
        own.append(None if text is None else len(t(text, add_special_tokens=False)["input_ids"]) if counted is None else text.count(counted))
        digest.update(repr(text).encode())
        if i in (0, 14, 16) and text is not None:
            sample = runs(text, sorted([*tokens, *attributes.values()], key=len, reverse=True))
            samples += [[i, sample]] if len(sample) <= 30 else []
    several = []
    for sizes in CALLS:
        try:
            texts = replacements(p, [picture(s) for s in sizes], call)
            several.append([len(x) for x in texts] + [hashlib.sha256(repr(texts).encode()).hexdigest()[:16]])
        except (ValueError, RuntimeError, ZeroDivisionError, IndexError, TypeError, KeyError, AttributeError):
            several.append(None)
    assert any(n is not None for n in own), (name, label)
    c = {"class": name, "name": label, "processor": saved, "tokenizer": {k: v for k, v in names.items() if k.endswith("_token")}, "call": call}
    c |= {"numbers": numbers if hasattr(p, "_get_num_multimodal_tokens") else None, "own": None if own == numbers else own}
    return c | {"sha256": digest.hexdigest()[:16], "samples": samples, "several": several}


def main():
    OUT.mkdir(exist_ok=True)
    (OUT / "sizes.json").write_text(json.dumps({"sizes": SIZES, "calls": CALLS}, separators=(",", ":")) + "\n")
    for name in sys.argv[1:] or CLASSES:
        image, video, settings, attributes, tokens, counted = CLASSES[name]
        cases = [json.dumps(case(name, image, video, attributes, tokens, counted, s), separators=(",", ":")) for s in settings]
        (OUT / f"{name}.json").write_text("[\n" + ",\n".join(cases) + "\n]\n")
        print(name, len(cases), "cases", flush=True)


if __name__ == "__main__":
    main()
