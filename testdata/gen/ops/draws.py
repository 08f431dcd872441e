"""Writes what torchvision's random transforms draw, as distributions: the
files draws.json that transforms/draws_test.go compares with.

Run with Python 3.11, torch 2.15.0, torchvision 0.29.2 and Pillow 13.0.0. Every run gives the same bytes.
"""

import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import v2

from golden import Draws, IMAGES

torch.set_num_threads(1)
N = 20000


class Recorder:
    """Stands in for a transform among others, and writes down that it was called."""

    def __init__(self, log, name):
        self.log, self.name = log, name

    def __call__(self, image):
        self.log.append((self.name, {}))
        return image


def image(h, w, c=3):
    return tv_tensors.Image(torch.zeros(c, h, w, dtype=torch.uint8))


def recorded(transform, size, convert, c=3, n=N):
    """What a transform would do, n times; convert makes the list of ops from its parameters."""
    drawn = []
    transform.transform = lambda inpt, params: drawn.append(convert(params)) or inpt
    x = image(*size, c)
    out = []
    torch.manual_seed(1)
    for _ in range(n):
        drawn.clear()
        transform(x)
        assert len(drawn) <= 1
        out.append(drawn[0] if drawn else [])
    return out


def listed(make, n=N):
    """What a transform does of others, which make gets as a function of their names."""
    log, out = [], []
    transform = make(lambda name: Recorder(log, name))
    torch.manual_seed(1)
    for _ in range(n):
        log.clear()
        transform(image(2, 2))
        out.append(list(log))
    return out


def flips():
    for name, kind in (("horizontal_flip", v2.RandomHorizontalFlip), ("vertical_flip", v2.RandomVerticalFlip)):
        d = Draws("random_" + name, "torchvision 0.29.2")
        for p in (0.5, 0.1, 0.0, 1.0):
            d.case(f"p{p}", {"probability": p}, (5, 7), recorded(kind(p), (5, 7), lambda _: [(name, {})]))
        d.write()
    d = Draws("random_grayscale", "torchvision 0.29.2")
    for p in (0.1, 0.7):
        q = {"probability": p, "backend": "pillow"}
        d.case(f"p{p}", q, (5, 7), recorded(v2.RandomGrayscale(p), (5, 7), lambda q: [("grayscale", {"channels": q["num_input_channels"]})]))
    d.write()


SHAPES = [(500, 375), (224, 224), (32, 32), (20, 200), (300, 17), (1, 1), (3, 2)]


def boxes():
    def convert(size):
        return lambda p: [("resized_crop", dict(p, out_height=size, out_width=size))]

    params = lambda scale, ratio: {"height": 24, "width": 24, "scale": scale, "ratio": ratio, "interpolation": "bilinear",
                                   "backend": "pillow", "no_antialias": False}
    d = Draws("random_resized_crop", "torchvision 0.29.2")
    for h, w in SHAPES:
        d.case(f"{w}x{h}", params([0.08, 1.0], [3 / 4, 4 / 3]), (h, w), recorded(v2.RandomResizedCrop(24), (h, w), convert(24)))
    for scale, ratio in (([0.9, 1.0], [1.5, 3.0]), ([0.2, 0.3], [1.0, 1.0]), ([0.5, 2.0], [0.3, 0.4])):
        t = v2.RandomResizedCrop(24, scale=scale, ratio=ratio)
        d.case(f"{scale}_{ratio}", params(scale, ratio), (60, 90), recorded(t, (60, 90), convert(24)))
    d.write()

    d = Draws("random_crop_decode_resize", "torchvision 0.29.2 RandomResizedCrop")
    more = {"color": "rgb", "alpha": "drop", "gray16": "clip", "refuse": [], "orientation": "ignore", "damage": "pillow"}
    for f in ("jpeg_large.jpg", "png_rgba8.png"):
        with Image.open(IMAGES / f) as im:
            w, h = im.size
        some = recorded(v2.RandomResizedCrop(24), (h, w), convert(24), n=5000)
        d.case(f, dict(params([0.08, 1.0], [3 / 4, 4 / 3]), **more), (h, w), [[("decode", {}), s[0]] for s in some], file=f)
    d.write()


def crops():
    d = Draws("random_crop", "torchvision 0.29.2")

    def convert(p):
        left, top, right, bottom = p["padding"]
        ops = [("pad", {"top": top, "bottom": bottom, "left": left, "right": right})] if p["needs_pad"] else []
        return ops + ([("crop", {k: p[k] for k in ("top", "left", "height", "width")})] if p["needs_crop"] else [])

    for (h, w), size, padding, needed in (((32, 32), (32, 32), 4, False), ((40, 30), (32, 20), None, False), ((40, 32), (32, 32), None, False),
                                          ((20, 50), (32, 32), None, True), ((20, 20), (32, 40), (1, 2, 3, 4), True), ((32, 32), (32, 32), None, False)):
        left, top, right, bottom = (0, 0, 0, 0) if padding is None else (padding,) * 4 if isinstance(padding, int) else padding
        q = {"height": size[0], "width": size[1], "top": top, "bottom": bottom, "left": left, "right": right,
             "pad_if_needed": needed, "mode": "constant", "fill": [0]}
        t = v2.RandomCrop(size, padding=None if padding is None else list(padding) if isinstance(padding, tuple) else padding, pad_if_needed=needed)
        d.case(f"{w}x{h}_{size[1]}x{size[0]}_{padding}", q, (h, w), recorded(t, (h, w), convert))
    d.write()


def erasing():
    d = Draws("random_erasing", "torchvision 0.29.2")

    def convert(p):
        # A box without pixels is no op here.
        if p["v"] is None or p["h"] == 0 or p["w"] == 0:
            return []
        return [("erase", {"top": p["i"], "left": p["j"], "height": p["h"], "width": p["w"]})]

    for (h, w), kw in (((224, 224), {}), ((32, 32), {"p": 0.9}), ((10, 100), {"p": 1.0}), ((3, 3), {"p": 1.0}), ((1, 9), {"p": 1.0}),
                       ((50, 40), {"p": 1.0, "scale": (0.3, 1.0), "ratio": (0.5, 0.8)}), ((30, 30), {"p": 1.0, "scale": (0.0, 0.004)})):
        q = {"probability": kw.get("p", 0.5), "scale": list(kw.get("scale", (0.02, 0.33))), "ratio": list(kw.get("ratio", (0.3, 3.3))),
             "value": [0], "noise": False}
        d.case(f"{w}x{h}_{len(d.cases)}", q, (h, w), recorded(v2.RandomErasing(**kw), (h, w), convert))
    q = {"probability": 0.5, "scale": [0.02, 0.33], "ratio": [0.3, 3.3], "value": [0], "noise": True}
    noise = recorded(v2.RandomErasing(value="random"), (12, 16), convert)
    d.case("noise", q, (12, 16), [[("erase_noise", b) for _, b in s] for s in noise])
    d.write()


def colours():
    d = Draws("random_color_adjust", "torchvision 0.29.2 ColorJitter")
    names = ["brightness", "contrast", "saturation", "hue"]

    def convert(p):
        f = [p[n + "_factor"] for n in names]
        return [("adjust_" + names[i], {"factor": f[i]}) for i in p["fn_idx"].tolist() if f[i] is not None]

    for kw in ({"brightness": 0.4, "contrast": 0.4, "saturation": 0.4}, {"brightness": 0.5, "contrast": 1.5, "saturation": 0.1, "hue": 0.1},
               {"hue": 0.5}, {"contrast": (0.2, 0.4)}, {"brightness": (2.0, 2.0), "hue": (-0.1, 0.3)}, {}):
        t = v2.ColorJitter(**kw)
        q = {n: list(getattr(t, n) or ([0, 0] if n == "hue" else [1, 1])) for n in names}
        d.case("_".join(f"{k}_{v}" for k, v in kw.items()) or "nothing", dict(q, backend="pillow"), (5, 7), recorded(t, (5, 7), convert))
    d.write()


def distort():
    d = Draws("random_photometric_distort", "torchvision 0.29.2")
    names = ["brightness", "contrast", "saturation", "hue"]

    def convert(p):
        f = {n: p[n + "_factor"] for n in names}
        order = ["brightness", "contrast", "saturation", "hue"] if p["contrast_before"] else ["brightness", "saturation", "hue", "contrast"]
        ops = [("adjust_" + n, {"factor": f[n]}) for n in order if f[n] is not None]
        if p["channel_permutation"] is not None:
            ops.append(("channel_permutation", {f"permutation.{i}": v for i, v in enumerate(p["channel_permutation"].tolist())}))
        return ops

    for kw in ({}, {"p": 1.0}, {"p": 0.0}, {"p": 0.35, "brightness": (0.1, 3.0), "contrast": (1.0, 1.0), "saturation": (0.0, 0.5), "hue": (0.1, 0.5)}):
        t = v2.RandomPhotometricDistort(**kw)
        q = {n: list(getattr(t, n)) for n in names}
        d.case("_".join(f"{k}_{v}" for k, v in kw.items()) or "default", dict(q, probability=t.p, backend="pillow"), (5, 7), recorded(t, (5, 7), convert))
    d.write()


def channels():
    d = Draws("random_channel_permutation", "torchvision 0.29.2 RandomChannelPermutation")

    def convert(p):
        p = p["permutation"].tolist()
        return [("channel_permutation", {f"permutation.{i}": v for i, v in enumerate(p)})]

    d.case("three", {}, (5, 7), recorded(v2.RandomChannelPermutation(), (5, 7), convert))
    d.write()


def blurs():
    d = Draws("random_gaussian_blur", "torchvision 0.29.2")

    def convert(p):
        return [("gaussian_blur", {"sigma_y": p["sigma"][1], "sigma_x": p["sigma"][0]})]

    for size, sigma in ((3, (0.1, 2.0)), ((5, 3), (1.0, 1.0)), ((1, 7), (0.5, 9.0))):
        t = v2.GaussianBlur(size, sigma)
        w, h = t.kernel_size
        q = {"kernel_height": h, "kernel_width": w, "sigma": list(sigma), "backend": "torch"}
        d.case(f"{w}x{h}", q, (9, 7), recorded(t, (9, 7), convert))
    d.write()

    d = Draws("random_gaussian_noise", "torchvision 0.29.2")
    for mean, sigma, clip in ((0.0, 0.1, True), (0.5, 0.0, False)):
        t = v2.GaussianNoise(mean, sigma, clip)
        convert = lambda p: [("gaussian_noise", {"mean": t.mean, "sigma": t.sigma})]
        d.case(f"{mean}_{sigma}", {"mean": mean, "sigma": sigma, "clip": clip}, (9, 7), recorded(t, (9, 7), convert, n=1000))
    d.write()


PARAMS = {"horizontal_flip": {}, "vertical_flip": {}, "invert": {}, "equalize": {"backend": "torch"}, "posterize": {"bits": 3},
          "solarize": {"threshold": [99, 255]}, "adjust_sharpness": {"factor": 1.5, "backend": "torch"},
          "auto_contrast": {"cutoff_low": 0, "cutoff_high": 0, "ignore": [], "backend": "torch"}}


def op(name):
    return {"op": name, "version": 1, "params": PARAMS[name]}


def lists():
    three = ["horizontal_flip", "vertical_flip", "invert"]
    d = Draws("random_apply", "torchvision 0.29.2")
    for p in (0.3, 1.0):
        d.case(f"p{p}", {"ops": [op(n) for n in three], "probability": p}, (5, 7), listed(lambda f: v2.RandomApply([f(n) for n in three], p=p)))
    inner = lambda f: v2.RandomApply([f("invert"), v2.RandomApply([f("vertical_flip")], p=0.4)], p=0.6)
    d.case("nested", {"ops": [op("invert"), {"op": "random_apply", "version": 1, "params": {"ops": [op("vertical_flip")], "probability": 0.4}}],
                      "probability": 0.6}, (5, 7), listed(inner))
    # Classes of one op with a probability.
    for p, (name, t) in zip((0.5, 0.1, 0.9, 0.0, 1.0, 0.7), (
            ("adjust_sharpness", v2.RandomAdjustSharpness(1.5, 0.5)), ("auto_contrast", v2.RandomAutocontrast(0.1)), ("equalize", v2.RandomEqualize(0.9)),
            ("invert", v2.RandomInvert(0.0)), ("posterize", v2.RandomPosterize(3, 1.0)), ("solarize", v2.RandomSolarize(99, 0.7)))):
        drawn = recorded(t, (5, 7), lambda _: [(name, {})])
        d.case(f"{name}_{p}", {"ops": [op(name)], "probability": p}, (5, 7), drawn)
    d.write()
    d = Draws("random_choice", "torchvision 0.29.2")
    for weights in ([1, 1, 1], [0.5, 0, 2], [0, 0, 1]):
        d.case(str(weights), {"ops": [op(n) for n in three], "weights": weights}, (5, 7), listed(lambda f: v2.RandomChoice([f(n) for n in three], p=weights)))
    d.write()
    d = Draws("feedback_policy", "torchvision 0.29.2 RandomChoice of Compose")
    for weights in ([1, 1, 1], [0.5, 0, 2], [0, 0, 1]):
        policies = [["horizontal_flip"], ["vertical_flip", "invert"], ["invert"]]
        d.case(str(weights), {"name": "policy", "policies": [[op(n) for n in l] for l in policies], "weights": weights}, (5, 7),
               listed(lambda f: v2.RandomChoice([v2.Compose([f(n) for n in l]) for l in policies], p=weights)))
    d.write()
    d = Draws("policy_index", "none: without a policy the index is -1")
    d.case("none", {"name": "policy"}, (5, 7), [[("constant", {"value": -1})]] * 100)
    d.write()
    d = Draws("random_order", "torchvision 0.29.2")
    for n in (1, 2, 3):
        d.case(str(n), {"ops": [op(k) for k in three[:n]]}, (5, 7), listed(lambda f: v2.RandomOrder([f(k) for k in three[:n]])))
    d.write()
    d = Draws("compose", "torchvision 0.29.2")
    d.case("three", {"ops": [op(n) for n in three]}, (5, 7), listed(lambda f: v2.Compose([f(n) for n in three]), n=100))
    d.write()


if __name__ == "__main__":
    flips()
    boxes()
    crops()
    erasing()
    colours()
    channels()
    distort()
    blurs()
    lists()
