"""Writes the goldens of warp_box, and importer/testdata/goldens_vitpose.json.

Run with the packages of requirements-scipy.txt. Every run gives the same bytes. Takes no arguments.
"""

import json

import numpy as np
import torch
from transformers import VitPoseImageProcessor
from transformers.image_utils import SizeDict
from transformers.models.vitpose.image_processing_pil_vitpose import VitPoseImageProcessorPil
from transformers.models.vitpose.image_processing_vitpose import box_to_center_and_scale

import hf_torchvision as torchvision
from golden import Golden, chw, image
from hf_special import MEAN, STD, hw, short


def warp_box():
    g = Golden("warp_box", "transformers 5.23.0 VitPoseImageProcessor.affine_transform with SciPy 1.16.3")
    p, q = VitPoseImageProcessor(), VitPoseImageProcessorPil()
    r = np.random.default_rng(3)
    for n in range(40):
        h, w, c = int(r.integers(5, 60)), int(r.integers(1, 60)), (3, 1, 4)[n % 3]
        oh, ow, factor = int(r.integers(2, 40)), int(r.integers(2, 40)), (200.0, 200.0, 143.7)[n % 3]
        box = [float(v) for v in r.uniform([-9, -9, 1, 1], [w, h, 1.5 * w, 1.5 * h])]
        if n % 4 == 1:
            box = [0.0, 0.0, float(w), float(h)]
        if n % 4 == 2:
            box = [float(round(v)) for v in box]
            box[2:] = [max(v, 1.0) for v in box[2:]]
        x = image(h, w, c)
        size = SizeDict(height=oh, width=ow)
        center, scale = box_to_center_and_scale(box, ow, oh, factor)
        want = p.affine_transform(torch.from_numpy(chw(x)), center, scale, 0, size).numpy()
        assert (want == q.affine_transform(chw(x), center, scale, 0, size)).all()
        params = {"height": oh, "width": ow, "factor": factor}
        g.case(f"{n}", params, chw(x), want, "CHW", second=np.array(box))
        g.cases[-1]["in"][1]["layout"] = "none"
        if n % 3 == 0:
            g.case(f"{n}_hwc", params, x, np.ascontiguousarray(want.transpose(1, 2, 0)), second=np.array(box))
            g.cases[-1]["in"][1]["layout"] = "none"
    g.write()


def cases():
    small = dict(size=hw(40, 31))
    for label, config in [
        ("absent", dict(size=hw(128, 96))), ("written", dict(do_affine_transform=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True, size=hw(64, 48), normalize_factor=200.0, image_mean=MEAN, image_std=STD)),
        *((f"no {key}", small | {key: False}) for key in ("do_rescale", "do_normalize", "do_resize")),
        ("bytes", small | dict(do_rescale=False, do_normalize=False)), ("factor", small | dict(normalize_factor=130)),
        ("other values", small | dict(rescale_factor=0.01, image_mean=0.3, image_std=[0.1, 0.2, 0.7], do_convert_rgb=True)),
        ("ignored", small | dict(do_center_crop=True, crop_size=9, do_pad=True, pad_size=9, resample=3)), ("number", dict(size=33)),
        ("not warped", dict(do_affine_transform=False)), ("edge", dict(size=short(9))), ("size null", dict(size=None)), ("mean null", dict(image_mean=None)),
        ("one", dict(size=1)), ("resample missing", dict(do_resize=True)),
    ]:
        for backend in ("hf", "hf-pil"):
            yield backend, f"VitPose {label}", json.dumps({"image_processor_type": "VitPoseImageProcessor"} | config)


BOXES = {"rgb.png": [3.5, 2.0, 41.25, 33.0], "tall.png": [-4.0, 10.0, 15.0, 70.0], "gray.png": [0.0, 0.0, 10.0, 9.0], "key.png": [2.0, 2.0, 5.5, 30.0]}

if __name__ == "__main__":
    warp_box()
    torchvision.write("goldens_vitpose.json", cases(), boxes={"VitPoseImageProcessor": BOXES})
