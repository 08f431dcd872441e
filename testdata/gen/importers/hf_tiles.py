"""Makes importer/testdata/goldens_tiles.json: classes of transformers that cut an image into tiles, with both backends.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json

import hf_torchvision as common

hw, short = common.pil.hw, common.pil.short
BASE = dict(image_mean=[0.1, 0.2, 0.3], image_std=[0.4, 0.5, 0.6])
BYTES = dict(do_rescale=False, do_normalize=False)
WIDE = ("rgb.png", "tall.png", "wide.png", "dot.png")  # wide.png is 97 x 3 pixels, dot.png 1 x 1
TORCH_ONLY = {"Cohere2Vision", "Llama4", "Phi4Multimodal"}


def shared(small):
    """Cases of every class; small is a configuration with small tiles."""
    yield "small", small, WIDE
    yield "bytes", small | BYTES, WIDE
    yield "rescaled", small | BASE | {"do_normalize": False, "rescale_factor": 0.0078125, "resample": 2}
    yield "normalised bytes", small | {"do_rescale": False, "image_mean": 90, "image_std": [3, 20, 71], "resample": 1}
    yield "nearest, not converted", small | {"resample": 0, "do_convert_rgb": False}, ("key.png",)
    yield "not resized", small | {"do_resize": False}, ("rgb.png", "key.png")
    yield "cropped and padded", small | {"do_center_crop": True, "crop_size": [20, 33], "do_pad": True, "pad_size": hw(200, 190)}, ("rgb.png", "palette.png")
    yield "list", small | {"size": [45, 60]}, ("gray.png",)
    yield "edge", small | {"size": short(40)}, ("gray.png",)
    yield "edges", small | {"size": {"shortest_edge": 40, "longest_edge": 57}}, ("gray.png",)
    yield "null size", small | {"size": None}, ("gray.png",)
    yield "null resample", small | {"resample": None}, ("rgb.png",)


def got(name):
    small = {"size": hw(20, 20), "crop_to_patches": True, "max_patches": 6}
    yield "absent", {}, ("rgb.png",)
    yield from shared(small)
    yield "not cut", small | {"crop_to_patches": False}, WIDE
    yield "not cut, bytes of any size", {"crop_to_patches": False, "do_resize": False} | BYTES
    yield "not cut, cropped", small | {"crop_to_patches": False, "do_center_crop": True, "crop_size": [20, 33]}, ("rgb.png",)
    yield "not cut, an edge", {"crop_to_patches": False, "size": short(40)}, ("rgb.png",)
    yield "oblong tiles", small | {"size": hw(15, 22)}, WIDE
    yield "cropped to the tile", small | {"do_center_crop": True, "crop_size": 20}
    for least, most in ((1, 1), (2, 2), (3, 12), (5, 4), (0, 0), (1, 40)):
        yield f"{least} to {most}", small | {"min_patches": least, "max_patches": most}, WIDE[:3]
    if name == "Ovis2":
        yield "by the ratio", small | {"use_covering_area_grid": False, "min_patches": 3}, WIDE
        yield "covered", small | {"size": 9, "max_patches": 20}, WIDE


def granite(_):
    small = {"size": hw(20, 20), "max_patches": 8}
    yield "absent", {}, ("dot.png",)
    yield from shared(small)
    yield "not cut", small | {"crop_to_patches": False}, WIDE
    yield "fine", small | {"fine_route": True}
    yield "sixteen", small | {"max_patches": 40, "size": 8}, ("tall.png", "wide.png")
    yield "one", small | {"max_patches": 1, "min_patches": 3}
    yield "oblong tiles", small | {"size": [13, 30], "min_patches": 4}
    yield "not dense", small | {"dense_max_patches": 0, "dense_max_scale": 0.5, "dense_min_aspect": 0.0, "dense_max_aspect": 1.0}


def llava(name):
    small = {"size": short(20), "crop_size": 20, "image_grid_pinpoints": [[20, 40], [40, 20], [40, 40], [60, 20], [20, 60], [60, 80]]}
    yield "absent", {}, ("gray.png",)
    yield from shared(small)
    yield "incomplete tiles", small | {"crop_size": 16, "size": short(18), "do_center_crop": True}, WIDE
    yield "incomplete tiles, not resized", small | {"crop_size": 16, "size": hw(16, 16), "do_resize": False, "do_center_crop": True}, WIDE
    yield "incomplete tiles, not cropped", small | {"crop_size": 16, "size": hw(16, 16), "do_center_crop": False}, WIDE
    yield "written size", small | {"size": hw(20, 20), "do_pad": False}, WIDE
    yield "height and width", small | {"size": hw(20, 20), "do_center_crop": True, "crop_size": None}, WIDE[:3]
    yield "no crop", small | {"do_center_crop": False}, WIDE[:2]
    yield "one pinpoint", small | {"image_grid_pinpoints": [[40, 60]]}, WIDE
    yield "no pinpoints", small | {"image_grid_pinpoints": []}, ("rgb.png",)
    yield "null pinpoints", small | {"image_grid_pinpoints": None}, ("rgb.png",)
    yield "null resample, not resized", small | {"resample": None, "do_resize": False}, ("rgb.png",)
    yield "longest", small | {"size": {"longest_edge": 20}}, ("rgb.png",)
    yield "within", small | {"size": {"max_height": 20, "max_width": 20}}, ("rgb.png",)


def mllama(_):
    small = {"size": hw(20, 20), "max_image_tiles": 6}
    yield "absent", {}, ("rgb.png",)
    yield from shared(small)
    for n in (1, 2, 3, 9, 0, None):
        yield f"{n} tiles", small | {"max_image_tiles": n}, WIDE[:3]
    yield "not padded", small | {"do_pad": False}, ("rgb.png",)


def llama(_):
    small = {"size": hw(20, 20), "max_patches": 6}
    yield "absent", {}, ("dot.png", "gray.png")
    yield from shared(small)
    yield "largest", small | {"resize_to_max_canvas": True}, WIDE
    yield "factor", small | BASE | {"rescale_factor": 0.0078125}
    yield "factor of one", small | BASE | {"rescale_factor": 1}
    yield "mean of one", small | {"image_mean": 0.3, "image_std": [0.7]}
    for n in (1, 2, 16, 0):
        yield f"{n} tiles", small | {"max_patches": n}, WIDE[:3]


def idefics3(name):
    small = {"size": {"longest_edge": 61}, "max_image_size": {"longest_edge": 20}}
    if name == "Idefics3":
        yield "absent", {}, ("dot.png",)
    yield from shared(small)
    yield "not cut", small | {"do_image_splitting": False}, WIDE
    yield "not padded", small | {"do_pad": False}, WIDE
    yield "not padded bytes", small | BYTES | {"do_pad": False}, WIDE[:2]
    yield "one tile", small | {"size": {"longest_edge": 20}}, WIDE[:3]
    yield "odd", small | {"size": {"longest_edge": 45}, "max_image_size": {"longest_edge": 7}}, ("rgb.png", "tall.png", "wide.png")
    yield "long", {"size": {"longest_edge": 5000}, "max_image_size": {"longest_edge": 300}, "resample": 2}, ("wide.png",)
    yield "no rows", small | {"return_row_col_info": False}, ("rgb.png",)
    yield "number as tile", small | {"max_image_size": 20}, ("rgb.png",)
    yield "null resample, not resized", small | {"resample": None, "do_resize": False, "do_image_splitting": False}, ("rgb.png",)


def gemma(_):
    scan = {"do_pan_and_scan": True, "pan_and_scan_min_crop_size": 10, "pan_and_scan_max_num_crops": 4, "pan_and_scan_min_ratio_to_activate": 1.2}
    small = {"size": hw(20, 24)} | scan
    yield "absent", {}, ("rgb.png",)
    yield from shared(small)
    yield from ((f"not cut, {label}", c | {"do_pan_and_scan": False}, *more) for label, c, *more in shared(small))
    for least, most, ratio in ((1, 2, 0), (1, 9, 1), (30, 4, 1.0), (5, 1, 1.1), (3, 100, 3.5), (5, 0, 1)):
        yield f"{least} {most} {ratio}", small | dict(zip(scan, (True, least, most, ratio))), WIDE
    yield "without ratio", {k: v for k, v in small.items() if "ratio" not in k}, ("rgb.png",)
    yield "null ratio", small | {"pan_and_scan_min_ratio_to_activate": None}, ("rgb.png",)
    yield "null resample, not resized", small | {"resample": None, "do_resize": False}, ("key.png",)


def idefics2(_):
    small = {"size": {"shortest_edge": 18, "longest_edge": 47}}
    yield "absent", {}, ("rgb.png",)
    for label, c, *more in shared(small):
        yield label, c, *more
        yield f"cut, {label}", c | {"do_image_splitting": True}, *more
    for label, c in (("not padded", {"do_pad": False}), ("not padded, square", {"do_pad": False, "size": 30, "default_to_square": True}), ("large", {"size": {"shortest_edge": 90, "longest_edge": 99}})):
        yield f"{label}", small | c, WIDE
        yield f"cut, {label}", small | c | {"do_image_splitting": True}, WIDE


def aria(_):
    small = {"max_image_size": 490, "min_image_size": 100}
    one = ("rgb.png",)
    yield "absent", {}, one
    yield "490", small, WIDE
    yield "bytes", small | BYTES, ("tall.png",)
    yield "values", small | BASE | {"rescale_factor": 0.0078125, "resample": 2}, ("tall.png",)
    yield "normalised bytes", small | {"do_rescale": False, "image_mean": 90, "image_std": [3, 20, 71], "resample": 1}, ("tall.png",)
    yield "rescaled", small | {"do_normalize": False, "resample": 0, "do_convert_rgb": False}, ("key.png",)
    yield "cut", small | {"split_image": True}, ("rgb.png", "tall.png", "dot.png")
    yield "cut, two and a half", {"split_image": True, "split_resolutions": [[490, 1470], [1000, 980]]}, ("rgb.png", "wide.png")
    yield "cut, null", small | {"split_image": True, "split_resolutions": None, "resample": None}, ("gray.png",)
    yield "cut, bytes", small | BYTES | {"split_image": True, "split_resolutions": [[300, 700]]}, ("rgb.png",)
    yield "500", {"max_image_size": 500}, one
    yield "resized", small | {"do_resize": True, "size": 30, "do_center_crop": True, "crop_size": 20, "do_pad": True, "pad_size": 999}, one
    yield "resized without size", small | {"do_resize": True}, one


def phi4(_):
    small = {"size": hw(28, 28), "patch_size": 7, "dynamic_hd": 9}
    yield "absent", {}, ("gray.png",)
    yield from shared(small)
    for n in (1, 4, 30, 0):
        yield f"{n} tiles", small | {"dynamic_hd": n}, WIDE
    yield "bilinear", small | {"resample": 2}
    yield "bilinear bytes", small | BYTES | {"resample": 2}
    yield "null resample alone", small | {"resample": None, "patch_size": 5}
    yield "patches", small | {"patch_size": 28, "size": 30}, WIDE


CLASSES = {"GotOcr2": got, "Cohere2Vision": got, "Ovis2": got, "GraniteDocling": granite, "LlavaNext": llava, "LlavaOnevision": llava, "Mllama": mllama, "Llama4": llama,
           "Idefics3": idefics3, "SmolVLM": idefics3, "Gemma3": gemma, "Idefics2": idefics2, "Aria": aria,
           "Phi4Multimodal": phi4}


# Classes with the code of another one have fewer cases.
FEW = {"SmolVLM": ("small", "bytes", "not cut", "odd"), "LlavaOnevision": ("absent", "small", "list", "written size", "incomplete tiles", "null size")}


def cases():
    for name, make in CLASSES.items():
        for label, config, *images in make(name):
            if name in FEW and label not in FEW[name]:
                continue
            text = json.dumps({"image_processor_type": name + "ImageProcessor"} | config)
            for backend in ("hf", "hf-pil"):
                if backend == "hf" or name not in TORCH_ONLY or label == "small":
                    yield backend, f"{name} {label}", text, *images


if __name__ == "__main__":
    common.write("goldens_tiles.json", cases())
