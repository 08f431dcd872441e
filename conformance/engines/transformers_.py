"""transformers' own image processors, video processors and processors: BACKEND is torchvision or pil.

It answers the tasks of its backend; those of videos and tokens are torchvision's, which is the default.
"""

import copy
import os
import pathlib
import sys
import tempfile
import warnings

BACKEND = os.environ["BACKEND"]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[1:1] = [str(ROOT / "parity"), str(ROOT / "testdata" / "gen" / "importers"), str(ROOT / "testdata" / "gen" / "codecs")]
warnings.simplefilter("ignore")

import common
import importers  # which takes the batch's axis away
import numpy as np
import torch
import transformers
from common import want
from PIL import Image

transformers.logging.set_verbosity_error()
made = {}


def processor(task, files):
    want(task["backend"] == BACKEND, "the other backend")
    key = repr(task["config"])
    if key not in made:
        made.clear()
        made[key] = importers.hf(copy.deepcopy(task["config"]), BACKEND)
    return made[key](files[0])


def sizes(task, _):
    want(task["backend"] == BACKEND, "the other backend")
    run = importers.hf(copy.deepcopy(task["config"]), BACKEND)
    shapes = []
    for h, w in task["sizes"]:
        with tempfile.NamedTemporaryFile(suffix=".png") as f:
            Image.new("RGB", (w, h)).save(f.name)
            shapes.append(run(f.name)["pixel_values"].shape)
    return np.array(shapes, np.int64)


def normalise(task, files):
    from transformers import image_transforms

    a = np.asarray(Image.open(files[0]).convert("RGB"))
    if task["rule"] == "transformers":
        want(BACKEND == "pil", "the other backend")
        x = np.ascontiguousarray(a.transpose(2, 0, 1))
        return image_transforms.normalize(image_transforms.rescale(x, 1 / 255, input_data_format="channels_first"), task["mean"], task["std"], input_data_format="channels_first")
    want(task["rule"] == "transformers_fused" and BACKEND == "torchvision", "another library's rule, or the other backend")
    p = transformers.CLIPImageProcessor(do_resize=False, do_center_crop=False, image_mean=task["mean"], image_std=task["std"])
    return p(Image.fromarray(a), return_tensors="np")["pixel_values"][0]


def center_crop(task, files):
    want(task["library"] == "transformers" and BACKEND == "pil", "another library's rule, or the other backend")
    a = np.asarray(Image.open(files[0]).convert("RGB"))
    return transformers.image_transforms.center_crop(a, (task["height"], task["width"]), input_data_format="channels_last")


def tokens(task, _):
    """The processor of the file, with the small tokenizers of the goldens."""
    import hf_tokens

    config = dict(task["processor"])
    name = config.pop("processor_class").removesuffix("Processor")
    image_args = dict(config.pop("image_processor"))
    image = image_args.pop("image_processor_type").removesuffix("ImageProcessor")
    _, video, _, attributes, names, _ = hf_tokens.CLASSES[name]
    p = hf_tokens.processor(name, image, video, attributes, names, image_args, config)
    return np.array([p._get_num_multimodal_tokens(image_sizes=[s], **task["call"])["num_image_tokens"][0] for s in task["sizes"]], np.int64)


def sampling(task, _):
    import hf_video_sampling

    cls = getattr(transformers, task["processor"])
    return np.array(hf_video_sampling.chosen(cls, task["settings"], task["frames"], task["fps"], task["duration"]), np.int64)


def video(task, files):
    import hf_video

    name = pathlib.Path(files[0]).parent.name
    return {k: a for k, (a, _) in hf_video.arrays(getattr(transformers, task["processor"]), name, task["settings"], task["fps"]).items()}


tasks = {"processor": processor, "sizes": sizes, "normalise": normalise, "center_crop": center_crop}
if BACKEND == "torchvision":
    tasks |= {"tokens": tokens, "sampling": sampling, "video": video}
common.serve(f"transformers, {BACKEND} backend", f"{transformers.__version__}, torch {torch.__version__}", "AutoImageProcessor on Pillow's images", tasks)
