"""Writes the goldens of pad_with_mask, pad_to_multiple and image_size.

Run with Python 3.11, NumPy 2.4.6 and transformers 5.23.0. Every run gives the
same bytes. Takes no arguments.
"""

import numpy as np
from transformers.models.detr.image_processing_pil_detr import DetrImageProcessorPil
from transformers.models.dpt.image_processing_pil_dpt import DPTImageProcessorPil
from transformers.models.sam.image_processing_pil_sam import SamImageProcessorPil

from golden import Golden, chw, image

DTYPES = ["int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]
MODES = ["constant", "edge", "reflect", "symmetric"]
SIZES = [(3, 5), (8, 8), (1, 1), (7, 2)]


def before(position, n):
    return {"center": n // 2, "top_left": 0, "bottom_right": n}[position]


def pad_with_mask():
    g = Golden("pad_with_mask", "transformers 5.23.0 DetrImageProcessorPil.pad; other positions, modes and dtypes: NumPy 2.4.6 pad of the image and of ones")
    p = DetrImageProcessorPil()
    q = lambda h, w, **kw: {"height": h, "width": w, "position": "top_left", "mode": "constant", "fill": [0], "mask_dtype": "int64"} | kw
    for h, w in SIZES:
        a = chw(image(h, w, 3, "float32"))
        for th, tw in ((8, 8), (9, 11), (8, 9), (0, 0), (13, 0), (0, 17)):
            size = (th or h, tw or w)
            want, mask, _ = p.pad(a, size)
            g.case(f"detr_{w}x{h}_{tw}x{th}", q(th, tw), a, want, "CHW", more=[mask])
    a = chw(image(4, 3, 3))
    want, mask, _ = p.pad(a, (6, 6), fill=7)
    g.case("detr_fill", q(6, 6, fill=[7]), a, want, "CHW", more=[mask])
    # The processor itself, on a batch of two whose sizes differ: the smaller one is padded to the larger.
    small, large = image(5, 9, 3), image(11, 12, 3)
    out = DetrImageProcessorPil(do_resize=False, do_rescale=False, do_normalize=False)(images=[small, large], return_tensors="np")
    for i, x in enumerate((small, large)):
        g.case(f"batch_{i}", q(11, 12), chw(x), out["pixel_values"][i], "CHW", more=[out["pixel_mask"][i]])

    def plain(x, size, position, mode, fill, dtype):
        top, left = (before(position, s - n) for s, n in zip(size, x.shape))
        widths = [(top, size[0] - x.shape[0] - top), (left, size[1] - x.shape[1] - left)]
        m = np.pad(np.ones(x.shape[:2], dtype), widths)
        if mode == "constant":
            return np.pad(x, widths + [(0, 0)], constant_values=fill), m
        return np.pad(x, widths + [(0, 0)], mode=mode), m

    x = image(3, 5, 2)
    for position in ("center", "top_left", "bottom_right"):
        for mode in MODES:
            want, mask = plain(x, (8, 10), position, mode, 0, "int64")
            g.case(f"{mode}_{position}", q(8, 10, position=position, mode=mode), x, want, more=[mask])
    for dt in ["uint8"] + DTYPES:
        y = image(4, 3, 1, dt)
        want, mask = plain(y, (7, 6), "center", "constant", 0, dt)
        g.case(dt, q(7, 6, position="center", mask_dtype=dt), y, want, more=[mask])
    g.write()


def pad_to_multiple():
    g = Golden("pad_to_multiple", "transformers 5.23.0 DPTImageProcessorPil.pad_image; other positions and modes: NumPy 2.4.6 pad")
    p = DPTImageProcessorPil()
    q = lambda n, **kw: {"multiple": n, "position": "center", "mode": "constant", "fill": [0]} | kw
    for h, w in SIZES + [(13, 14), (4, 12)]:
        for n in (1, 2, 4, 5, 14):
            for dt in ("uint8", "float32"):
                a = chw(image(h, w, 3, dt))
                g.case(f"dpt_{w}x{h}_{n}_{dt}", q(n), a, p.pad_image(a, n), "CHW")
    x = image(5, 6, 2)
    for position in ("center", "top_left", "bottom_right"):
        for mode in MODES:
            widths = [(before(position, d), d - before(position, d)) for d in (3, 2)] + [(0, 0)]
            g.case(f"{mode}_{position}", q(8, position=position, mode=mode), x, np.pad(x, widths, mode=mode))
    for dt in DTYPES:
        y = image(3, 4, 1, dt)
        g.case(dt, q(4, position="top_left", fill=[1]), y, np.pad(y, ((0, 1), (0, 0), (0, 0)), constant_values=np.array(1).astype(dt)))
    g.write()


def image_size():
    g = Golden("image_size", "transformers 5.23.0 SamImageProcessorPil (original_sizes); int32 and float32: NumPy 2.4.6 astype")
    p = SamImageProcessorPil(do_resize=False, do_rescale=False, do_normalize=False, do_pad=False)
    for h, w in SIZES + [(23, 37), (1, 300)]:
        a = image(h, w, 3)
        size = p(images=a, input_data_format="channels_last", return_tensors="np")["original_sizes"][0]
        for dt in ("int64", "int32", "float32"):
            want = size if dt == "int64" else size.astype(dt)
            g.case(f"{w}x{h}_{dt}", {"dtype": dt}, a, want, "HWC", "none")
            g.case(f"chw_{w}x{h}_{dt}", {"dtype": dt}, chw(a), want, "CHW", "none")
    for dt in DTYPES:
        g.case(dt, {"dtype": "int64"}, image(2, 3, 1, dt), np.array([2, 3]), "HWC", "none")
    g.write()


if __name__ == "__main__":
    for f in (pad_with_mask, pad_to_multiple, image_size):
        f()
