"""Makes importer/testdata/goldens_sizes.json: classes of transformers with size, crop and padding rules of their own,
another order of steps, or videos, with both backends.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json

import hf_torchvision as common

hw, short = common.pil.hw, common.pil.short
BASE = dict(image_mean=[0.1, 0.2, 0.3], image_std=[0.4, 0.5, 0.6])
WIDE = ("rgb.png", "tall.png", "wide.png", "dot.png")  # wide.png is 97 x 3 pixels, dot.png 1 x 1

# A small size that each class accepts, and classes without a PIL backend.
SMALL = {
    "GLPN": {"size_divisor": 5}, "TextNet": {"size": short(40), "size_divisor": 7, "crop_size": 30}, "PPLCNet": {"resize_short": 40, "crop_size": 33},
    "Perceiver": {"size": [31, 40], "crop_size": [40, 45]}, "Idefics": {"size": 40}, "PromptDepthAnything": {"size": [40, 55]},
    "Sam2": {"size": [41, 30]}, "Sam3": {"size": [41, 30]}, "MaskFormer": {"size": 40, "max_size": 60, "size_divisor": 8},
    "Mask2Former": {"size": {"shortest_edge": 30, "longest_edge": 50}, "size_divisor": 3}, "OneFormer": {"size": {"shortest_edge": 30, "longest_edge": 50}},
    "Vilt": {"size": 50, "size_divisor": 6}, "BridgeTower": {"size": 50, "size_divisor": 6, "crop_size": short(37)}, "Llava": {"size": 40, "crop_size": 33},
    "Janus": {"size": 40}, "DeepseekVL": {"size": 40}, "Swin2SR": {"size_divisor": 11}, "DINOv3ViT": {"size": [41, 30], "crop_size": 33},
    "DepthPro": {"size": [41, 30]}, "PPDocLayoutV2": {"size": [41, 30], "crop_size": 33}, "PPDocLayoutV3": {"size": [60, 70]},
    "PPDocLayoutV4": {"size": [77, 60], "crop_size": 33}, "RfDetr": {"size": {"shortest_edge": 30, "longest_edge": 50}},
    "VideoMAE": {"size": 40, "crop_size": 33}, "Tvp": {"size": {"longest_edge": 40}, "crop_size": 33, "pad_size": hw(45, 50)},
    "ZoeDepth": {"size": [40, 55]}, "Vivit": {"size": 40, "crop_size": 33}, "VideoLlava": {"size": 40, "crop_size": 33},
}
TORCH_ONLY = {"PPLCNet", "Sam2", "Sam3", "DINOv3ViT", "DepthPro", "PPDocLayoutV2", "PPDocLayoutV3", "PPDocLayoutV4", "RfDetr", "Vivit", "VideoLlava"}
# Cases of keys that both backends read alike, which only one needs.
KEYS = {"square", "list", "edges of pixels", "within", "number alone", "lanczos, not converted", "cropped", "divisor None", "divisor 0", "null resample", "null size", "null mean", "not cropped"}
ROWS = {"Vivit", "VideoLlava"}  # these read an image of 1 or 3 rows as channels first


def shared(name):
    small = SMALL[name]
    yield "absent", {}, ("rgb.png",)
    yield "small", small
    yield "bytes", small | {"do_rescale": False, "do_normalize": False}
    yield "other values", small | BASE | {"rescale_factor": 0.0078125, "do_normalize": True, "resample": 3}
    yield "normalised bytes", small | {"do_rescale": False, "do_normalize": True, "image_mean": 90, "image_std": [3, 20, 71]}
    yield "not resized", small | {"do_resize": False}
    yield "nearest", small | {"resample": 0, "do_convert_rgb": True, "do_normalize": False}, ("key.png",)
    yield "lanczos, not converted", small | {"resample": 1, "do_convert_rgb": False}, ("key.png",)
    yield "cropped", small | {"do_center_crop": True, "crop_size": [20, 33]}, ("rgb.png", "palette.png")
    yield "not cropped", small | {"do_center_crop": False, "do_pad": False}
    yield "padded", small | {"do_pad": True, "pad_size": hw(200, 190)}, ("rgb.png",)
    yield "square", small | {"size": 45}, ("gray.png",)
    yield "list", small | {"size": [45, 60]}, ("gray.png",)
    yield "edges of pixels", small | {"size": {"shortest_edge": 40, "longest_edge": 57}}
    yield "within", small | {"size": {"max_height": 60, "max_width": 45}}
    yield "number alone", {"size": 45, "crop_size": 40}, ("rgb.png",)
    yield "null resample", small | {"resample": None}, ("rgb.png",)
    yield "null size", {"size": None}, ("rgb.png",)
    yield "null mean", small | {"image_mean": None}, ("rgb.png",)
    # Perceiver's crop of 1 x 1 has no pixels.
    yield "all sizes", small, WIDE[: 2 if name in ROWS else 3 if name == "Perceiver" else 4]


def own(name):
    small = SMALL[name]
    if name in ("GLPN", "TextNet", "PPLCNet", "Vilt", "BridgeTower", "MaskFormer", "Mask2Former"):
        for n in (1, 2, 16, 0, None):
            yield f"divisor {n}", small | {"size_divisor": n}
        yield "no divisor, not resized", small | {"size_divisor": None, "do_resize": False}, ("rgb.png",)
    if name == "PPLCNet":
        yield "null edge", small | {"resize_short": None, "size": [50, 40]}
        yield "null edge and edges", small | {"resize_short": None, "size": {"shortest_edge": 40, "longest_edge": 50}}
        for n in (1, 13, 31, 100):
            yield f"edge {n}", small | {"resize_short": n, "do_center_crop": False}, WIDE
    if name == "Perceiver":
        yield "larger", small | {"size": [60, 70]}, WIDE[:3]
        yield "smaller", small | {"size": [30, 20]}, WIDE[:3]
        yield "crop of an edge", small | {"crop_size": short(3)}, ("rgb.png",)
    if name == "Idefics":
        yield "image_size", small | {"image_size": 30, "image_num_channels": 3}
        yield "null image_size", small | {"image_size": None}
    if name == "PromptDepthAnything":
        yield "kept", small | {"keep_aspect_ratio": True, "ensure_multiple_of": 14, "prompt_scale_to_meter": 0.5}, WIDE
        yield "multiple", small | {"ensure_multiple_of": 7, "do_pad": True, "size_divisor": 8}
        yield "padded without divisor", small | {"do_pad": True, "size_divisor": None}
    if name in ("Sam2", "Sam3"):
        yield "masks", small | {"mask_size": {"longest_edge": 9}, "mask_pad_size": 3}
        yield "mask_size of nothing", small | {"mask_size": {"depth": 3}}
    if "Mask" in name:
        yield "max_size alone", {"max_size": 60}
        yield "size and max_size", {"size": {"shortest_edge": 30, "longest_edge": 50}, "max_size": 40}
        yield "list and max_size", {"size": [30, 50], "max_size": 40}
        yield "null and max_size", {"size": None, "max_size": 60}
        yield "ignored", small | {"ignore_index": 255, "num_labels": 3, "do_reduce_labels": True, "reduce_labels": True}
        yield "pad_size of an edge", small | {"pad_size": short(99)}
        for edge, most in ((20, 25), (47, 90), (33, 400)):
            yield f"edges {edge} {most}", {"size": {"shortest_edge": edge, "longest_edge": most}, "size_divisor": 4}, WIDE[:3]
    if name == "OneFormer":
        yield "texts", small | {"num_text": 134, "num_labels": 150, "ignore_index": 255, "repo_path": "shi-labs/oneformer_demo", "class_info_file": None}
    if name in ("Vilt", "BridgeTower"):
        for n in (2, 7, 100, 333):
            yield f"edge {n}", {"size": n, "size_divisor": 2, "crop_size": short(37), "do_center_crop": False}, WIDE
        yield "no mask", small | {"do_pad": False}
    if name in ("Llava", "Janus"):
        yield "to a square", small | BASE | {"do_pad": True}, WIDE
        yield "to a square of bytes", small | {"do_pad": True, "do_rescale": False, "do_normalize": False, "image_mean": [0.3, 1.0, 0.999]}, WIDE[:2]
        yield "mean of one", small | {"do_pad": True, "image_mean": 0.5, "image_std": 0.5}
        yield "null mean, padded", small | {"do_pad": True, "do_normalize": False, "image_mean": None}
    if name == "Janus":
        yield "mean of one, not padded", small | {"do_pad": False, "image_mean": 0.5}
        for n in (1, 30, 99, None, 0):
            yield f"min_size {n}", small | {"min_size": n}, WIDE
        yield "no min_size, not resized", small | {"min_size": None, "do_resize": False}


    if name == "Swin2SR":
        for n in (1, 8, 47, 99, 0, None):
            yield f"divisor {n}", {"size_divisor": n}, (*WIDE, "palette.png")
        yield "old divisor", {"pad_size": 7}
        yield "both divisors", {"size_divisor": 5, "pad_size": 7}
        yield "no divisor, not padded", {"size_divisor": None, "do_pad": False}
        yield "resized", {"do_resize": True, "size": 40}
        yield "resized by a filter", {"do_resize": True, "size": 40, "resample": 2}
        yield "size of a divisor", {"pad_size": hw(9)}
        yield "size of a divisor, not padded", {"pad_size": hw(9), "do_pad": False}
    if name in ("DINOv3ViT", "DepthPro", "RfDetr") or "DocLayout" in name:
        for n in range(6):
            yield f"resample {n}", small | {"resample": n, "do_convert_rgb": True}, ("rgb.png", "palette.png")
        for h, w in ((1, 30), (30, 1), (70, 90), (150, 160)):
            yield f"{h}x{w}", small | {"size": [h, w]}, WIDE[:3]
        yield "not rescaled", small | {"do_rescale": False, "do_normalize": False, "size": [60, 80], "resample": 3}
        yield "whole factor", small | {"rescale_factor": 1}
        yield "whole factor, bytes", small | {"rescale_factor": 1, "do_normalize": False}
        yield "large factor", small | {"rescale_factor": 1.5, "do_normalize": False}
    if name == "RfDetr":
        yield "no mask", small | {"do_pad": False}
        yield "old key", small | {"pad_and_return_pixel_mask": False, "format": "coco_panoptic", "do_convert_annotations": False}
        yield "format", small | {"format": "voc"}
        yield "max_size", {"size": 30, "max_size": 60}
    if name == "Tvp":
        for mode in ("constant", "reflect", "replicate", "symmetric", "edge"):
            yield f"pad {mode}", small | {"pad_mode": mode, "do_center_crop": False, "constant_values": 0.5}
        yield "three values", small | {"constant_values": [0.5, 1, 2], "do_center_crop": False}
        yield "not flipped", small | {"do_flip_channel_order": False}
        yield "padded to itself", small | {"pad_size": None}
        yield "number and longest", small | {"size": {"shortest_edge": 30, "longest_edge": 44}, "do_center_crop": False}
        for n in (1, 30, 49):
            yield f"longest {n}", small | {"size": {"longest_edge": n}, "do_center_crop": False, "pad_size": hw(60)}, WIDE
    if name == "ZoeDepth":
        for n in (7, 32, 1 / 32, 0.5, 0, None):
            yield f"multiple {n}", small | {"ensure_multiple_of": n}, WIDE[:2]
            yield f"multiple {n}, not kept", small | {"ensure_multiple_of": n, "keep_aspect_ratio": False}
        for h, w in ((100, 90), (9, 200)):
            yield f"{h}x{w}", {"size": [h, w]}, (*WIDE, "palette.png")
            yield f"{h}x{w}, bicubic, not padded", {"size": [h, w], "do_pad": False, "resample": 3}, (*WIDE, "palette.png")
        yield "bytes, not resized", {"do_resize": False, "do_rescale": False, "do_normalize": False}
    if name == "Vivit":
        yield "no offset", small | {"offset": False}
        yield "null offset", small | {"offset": None}
        yield "no offset, bytes", small | {"offset": False, "do_rescale": False, "do_normalize": False}
    if name in ROWS:
        yield "null means", small | {"image_mean": None, "image_std": None, "crop_size": None, "size": None}
        yield "null factor", small | {"rescale_factor": None}
        yield "longest edge", small | {"size": {"longest_edge": 40}}
        yield "square switched", small | {"size": 40, "default_to_square": True}


def cases():
    for name in SMALL:
        for label, config, *images in (*shared(name), *own(name)):
            text = json.dumps({"image_processor_type": name + "ImageProcessor"} | config)
            for backend in ("hf", "hf-pil"):
                if backend == "hf" or label == "small" or name not in TORCH_ONLY and label not in KEYS:
                    yield backend, f"{name} {label}", text, *images


if __name__ == "__main__":
    common.write("goldens_sizes.json", cases(), images=1)
