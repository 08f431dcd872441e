"""The augmenter of MXNet's ImageDetRecordIter in Python, for mxnet_det.py and mxnet_det_moves.py: what it draws, and what becomes
of labels. That both are the iterator's is checked by its batches.
"""

import numpy as np

from mxnet_random import F

ONE, ZERO = F(1), F(0)
DEFAULTS = {
    "rand_mirror_prob": 0, "rand_pad_prob": 0, "max_pad_scale": 1, "rand_crop_prob": 0, "num_crop_sampler": 1, "max_crop_trials": (25,),
    "min_crop_scales": (0,), "max_crop_scales": (1,), "min_crop_aspect_ratios": (1,), "max_crop_aspect_ratios": (1,), "min_crop_overlaps": (0,), "max_crop_overlaps": (1,),
    "min_crop_sample_coverages": (0,), "max_crop_sample_coverages": (1,), "min_crop_object_coverages": (0,), "max_crop_object_coverages": (1,),
    "crop_emit_mode": "center", "emit_overlap_thresh": 0.3,
}


def shuffled(r, n):
    """The numbers below n in the order of std::shuffle, as GCC had it before 7."""
    l = list(range(n))
    for i in range(1, n):
        k = r.below(i + 1)
        l[i], l[k] = l[k], l[i]
    return l


def project(o, x, y, w, h):
    """An object in a window."""
    return [o[0], max(ZERO, (o[1] - x) / w), max(ZERO, (o[2] - y) / h), min(ONE, (o[3] - x) / w), min(ONE, (o[4] - y) / h), *o[5:]]


def intersection(o, x, y, w, h):
    left, top = max(o[1], x), max(o[2], y)
    iw, ih = min(o[1] + (o[3] - o[1]), x + w) - left, min(o[2] + (o[4] - o[2]), y + h) - top
    return iw * ih if iw > 0 and ih > 0 else ZERO


def try_crop(objects, box, p, i):
    """The objects in a window that fulfils sampler i, or None."""
    if not objects:
        return objects
    x, y, w, h = box
    at = lambda name: F(p[name][min(i, len(p[name]) - 1)])
    limits = [(at(f"min_crop_{n}"), at(f"max_crop_{n}")) for n in ("overlaps", "sample_coverages", "object_coverages")]
    if any(lo > 0 or hi < 1 for lo, hi in limits):
        for o in objects:
            both, area = intersection(o, *box), (o[3] - o[1]) * (o[4] - o[2])
            shares = [both / (w * h + area - both) if both > 0 else ZERO, both / (w * h), both / area]
            if all(lo <= s <= hi for s, (lo, hi) in zip(shares, limits)):
                break
        else:
            return None
    kept = []
    for o in objects:
        cx, cy = (o[1] + o[3]) * F(0.5), (o[2] + o[4]) * F(0.5)
        if p["crop_emit_mode"] == "center":
            keep = x <= cx < x + w and y <= cy < y + h
        else:
            keep = intersection(o, *box) / ((o[3] - o[1]) * (o[4] - o[2])) > F(p["emit_overlap_thresh"])
        if keep:
            kept.append(project(o, *box))
    return kept or None


def crop_box(r, p, i, aspect):
    at = lambda name: F(p[name][min(i, len(p[name]) - 1)])
    scale = r.uniform(at("min_crop_scales"), at("max_crop_scales")) + F(1e-12)
    least = max(at("min_crop_aspect_ratios") / aspect, scale * scale)
    most = min(at("max_crop_aspect_ratios") / aspect, F(1.0 / float(scale * scale)))
    ratio = np.sqrt(r.uniform(least, most))
    w, h = min(ONE, scale * ratio), min(ONE, scale / ratio)
    x = r.uniform(ZERO, ONE - w)
    return x, r.uniform(ZERO, ONE - h), w, h


def draw(r, p, h, w, objects):
    """What is drawn for an image of h x w: [mirror, pad (x, y, scale), crop (x, y, width, height, sampler)], and its objects then."""
    p = DEFAULTS | p
    drawn = [False, None, None]
    if p["rand_mirror_prob"] > 0 and r.unit() < F(p["rand_mirror_prob"]):
        drawn[0] = True
        objects = [[o[0], ONE - o[3], o[2], ONE - o[1], *o[4:]] for o in objects]
    if p["rand_pad_prob"] > 0 and p["max_pad_scale"] > 1 and r.unit() < F(p["rand_pad_prob"]):
        scale = r.uniform(1, p["max_pad_scale"])
        if scale >= F(1.05):
            x, y = r.uniform(0, scale - ONE), r.uniform(0, scale - ONE)
            drawn[1] = (-x, -y, scale)
            objects = [project(o, -x, -y, scale, scale) for o in objects]
            left, top, right, bottom = pad_sides(h, w, *drawn[1])
            h, w = h + top + bottom, w + left + right
    if p["rand_crop_prob"] > 0 and p["num_crop_sampler"] > 0 and r.unit() < F(p["rand_crop_prob"]):
        for i in shuffled(r, p["num_crop_sampler"]):
            for _ in range(p["max_crop_trials"][min(i, len(p["max_crop_trials"]) - 1)]):
                box = crop_box(r, p, i, F(w) / F(h))
                kept = try_crop(objects, box, p, i)
                if kept is not None:
                    drawn[2] = (*box, i)
                    return drawn, kept
    return drawn, objects


def pad_sides(h, w, x, y, scale):
    """left, top, right, bottom"""
    return int(-x * F(w)), int(-y * F(h)), int((scale + x - ONE) * F(w)), int((scale + y - ONE) * F(h))
