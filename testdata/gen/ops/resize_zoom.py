"""Writes the goldens of resize_zoom, importer/testdata/goldens_owlv2.json and internal/exactmath/testdata/numpy_exp.json.

Run with the packages of requirements-scipy.txt on x86-64 with AVX-512, whose exponentials NumPy has of its own. Every
run gives the same bytes. Takes no arguments.
"""

import json
import pathlib

import numpy as np
from transformers.image_utils import SizeDict
from transformers.models.owlv2.image_processing_pil_owlv2 import Owlv2ImageProcessorPil

import hf_special
import hf_torchvision as torchvision
from golden import Golden, chw, image

assert np._core._multiarray_umath.__cpu_features__["AVX512_SKX"]
ROOT = pathlib.Path(__file__).resolve().parents[3]


def resize_zoom():
    g = Golden("resize_zoom", "transformers 5.23.0 Owlv2ImageProcessorPil.resize (SciPy 1.16.3, NumPy 2.4.6)")
    p = Owlv2ImageProcessorPil()
    r = np.random.default_rng(7)
    sizes = [(20, 20, 10, 10), (21, 21, 20, 20), (30, 30, 7, 7), (40, 24, 11, 9), (24, 40, 9, 11), (20, 20, 20, 20), (20, 20, 30, 5), (19, 50, 18, 9), (64, 64, 5, 5),
             (1, 1, 7, 3), (1, 30, 4, 7), (30, 1, 7, 4), (2, 3, 9, 8), (80, 60, 16, 16), (90, 50, 1, 1), (9, 8, 1, 2), (300, 2, 3, 1)]
    for h, w, oh, ow in sizes + [tuple(int(v) for v in r.integers(1, 40, 4)) for _ in range(20)]:
        for c in (3, 1):
            for dtype in ("uint8", "float32", "constant"):
                if c != 3 and (dtype != "float32" or h * w > 2000):
                    continue
                a = image(h, w, c, "uint8" if dtype == "constant" else dtype)
                if dtype == "constant":  # whose weighted sums lie at whole numbers
                    a[...] = (255 - h) % 256
                sharp = h % 5 == 0
                want = p.resize(chw(a), SizeDict(height=oh, width=ow), anti_aliasing=not sharp)
                if oh in (1, 3):  # The class takes them for channels and leaves HWC.
                    want = chw(want)
                assert want.dtype == a.dtype and want.shape == (c, oh, ow)
                params = dict(height=oh, width=ow, no_antialias=sharp)
                if h % 4 == 0:
                    g.case(f"{dtype} CHW {h}x{w}x{c} to {oh}x{ow}", params, chw(a), np.ascontiguousarray(want), "CHW")
                else:
                    g.case(f"{dtype} {h}x{w}x{c} to {oh}x{ow}", params, a, np.ascontiguousarray(want.transpose(1, 2, 0)))
    g.write()


def exponentials():
    r = np.random.default_rng(0)
    x = np.concatenate([-(10 ** r.uniform(-18, 2.8, 500)), r.uniform(-33, 0, 1000), r.uniform(0, 700, 100), [0.0, -0.0, np.log(2), -np.log(2)]])
    cases = [[a.hex(), b.hex()] for a, b in zip(x.tolist(), np.exp(x).tolist())]
    lines = ",\n".join(json.dumps(c) for c in cases)
    (ROOT / "internal" / "exactmath" / "testdata" / "numpy_exp.json").write_text(f"[\n{lines}\n]\n")


def cases():
    for label, config in hf_special.owlv2(None):
        if config.get("size") == hf_special.hw(3, 2):
            continue  # refused: the class takes the three rows for channels
        yield "hf-pil", f"Owlv2 {label}", json.dumps({"image_processor_type": "Owlv2ImageProcessor"} | config)


if __name__ == "__main__":
    exponentials()
    resize_zoom()
    torchvision.write("goldens_owlv2.json", cases())
