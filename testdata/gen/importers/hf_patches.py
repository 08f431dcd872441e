"""Makes importer/testdata/goldens_patches.json: Donut, Qwen2-VL and SigLIP2, on the images of goldens.py.

Needs what goldens.py needs, which it imports. Takes no arguments; running it again gives the same bytes.
"""


import goldens as _gen

CLIP_MEAN, CLIP_STD, HALF, MEAN, STD, hw, short, write = (
    _gen.CLIP_MEAN, _gen.CLIP_STD, _gen.HALF, _gen.MEAN, _gen.STD, _gen.hw, _gen.short, _gen.write)


def area(least, most):
    return {"shortest_edge": least, "longest_edge": most}


WRITTEN = {
    "Donut": dict(resample=2, size=hw(128, 96), image_mean=HALF, image_std=HALF, do_thumbnail=True, do_align_long_axis=False, do_pad=True),
    "Qwen2VL": dict(resample=3, size=area(56 * 56, 28 * 28 * 1280), image_mean=CLIP_MEAN, image_std=CLIP_STD, do_convert_rgb=True,
                    patch_size=14, temporal_patch_size=2, merge_size=2),
    "Siglip2": dict(resample=2, image_mean=HALF, image_std=HALF, patch_size=16, max_num_patches=256),
}


def case(name, label, **kw):
    return "hf", f"{name} {label}", {"image_processor_type": name + "ImageProcessor"} | kw


def common():
    for name, written in WRITTEN.items():
        small = {"Donut": dict(size=hw(50, 41)), "Qwen2VL": dict(size=area(1000, 3000), patch_size=7), "Siglip2": dict(patch_size=5, max_num_patches=30)}[name]
        yield case(name, "written", **{"do_resize": True, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, **written})
        for s in ("do_rescale", "do_normalize"):
            yield case(name, f"no {s}", **small, **{s: False})
        yield case(name, "bytes", **small, do_rescale=False, do_normalize=False)
        yield case(name, "normalised bytes", **small, do_rescale=False, image_mean=[3, 90, 177.5], image_std=[0.5, 2, 71])
        for n in range(6):
            yield case(name, f"resample {n}", **small, resample=n)
        yield case(name, "other values", **small, rescale_factor=0.0078125, image_mean=MEAN, image_std=STD)
        yield case(name, "scalars", **small, image_mean=0.4, image_std=0.7)
        yield case(name, "converted", **small, do_convert_rgb=True)
        yield case(name, "not converted", **small, do_convert_rgb=False)
        yield case(name, "ignored", **small, pad_size=hw(9), **({"crop_size": 3} if name == "Donut" else {"do_pad": True, "do_center_crop": True, "crop_size": 3}))
        yield case(name, "fast", **small)[:2] + ({"image_processor_type": name + "ImageProcessorFast", **small, "data_format": "channels_last", "device": None,
                                                  "crop_size": None, "do_pad": True, "do_center_crop": None, "disable_grouping": None, "input_data_format": None,
                                                  "return_tensors": None, "processor_class": "X"},)
        yield case(name, "refused", **small)[:1] + (f"refused: {name} mean", {"image_processor_type": name + "ImageProcessor", **small, "image_mean": None})
        yield case(name, "refused", **small)[:1] + (f"refused: {name} crop", {"image_processor_type": name + "ImageProcessor", **small, "do_center_crop": True})


def donut():
    yield case("Donut", "absent")
    yield "hf", "Donut extractor", {"feature_extractor_type": "DonutFeatureExtractor", "size": [96, 128], "do_align_long_axis": True, "resample": 2}
    for h, w in ((40, 30), (30, 40), (33, 33), (20, 90), (90, 20), (61, 47), (48, 61), (200, 300)):
        for align in (True, False):
            yield case("Donut", f"{h}x{w} {align}", size=hw(h, w), do_align_long_axis=align)
            yield case("Donut", f"{h}x{w} {align} no pad", size=hw(h, w), do_align_long_axis=align, do_pad=False)
    for thumbnail in (True, False):
        for pad in (True, False):
            for resize in (True, False):
                # 90 x 61 has room for all the images but the largest, and for what they become.
                if pad or resize or thumbnail:
                    yield case("Donut", f"{thumbnail} {pad} {resize} all", size=hw(*((300, 61) if pad else (45, 30))), do_thumbnail=thumbnail, do_pad=pad, do_resize=resize)
    for n in (0, 1, 3, None):
        yield case("Donut", f"thumbnail resample {n}", size=hw(30, 25), do_resize=False, resample=n, do_pad=False)
    yield case("Donut", "size of nothing", size=short(10), do_resize=False, do_thumbnail=False, do_pad=False)
    yield case("Donut", "size null", size=None, do_rescale=False, do_normalize=False)
    yield case("Donut", "number", size=55)
    yield case("Donut", "list", size=[70, 40])
    yield case("Donut", "list aligned", size=[40, 70], do_align_long_axis=True)
    for n in ([30, 20], 90, [51, 77]):
        yield case("Donut", f"crop {n}", size=hw(64, 49), do_center_crop=True, crop_size=n)
    yield case("Donut", "nulls", size=hw(30, 41), do_thumbnail=None, do_align_long_axis=None, do_pad=None, do_resize=None)
    yield case("Donut", "nulls but thumbnail", size=hw(30, 41), do_pad=None, do_resize=None)
    for label, kw in (
        ("edge", dict(size=short(30))), ("edge to align", dict(size=short(30), do_align_long_axis=True, do_resize=False, do_thumbnail=False, do_pad=False)),
        ("edge to pad", dict(size=short(30), do_resize=False, do_thumbnail=False)), ("edge of thumbnails", dict(size=short(30), do_resize=False, do_pad=False)),
        ("edge by number", dict(size=30, default_to_square=False)), ("list of one", dict(size=[30])), ("resample null", dict(resample=None)),
        ("crop edge", dict(size=hw(30), do_center_crop=True, crop_size=short(4))), ("size keys", dict(size={"width": 3})),
    ):
        yield "hf", f"refused: Donut {label}", case("Donut", label, **kw)[2]


def qwen2vl():
    yield case("Qwen2VL", "absent")
    yield case("Qwen2VL", "qwen3", patch_size=16, size=area(65536, 16777216), image_mean=HALF, image_std=HALF)
    for least, most in ((1, 3000), (3000, 3000), (5000, 50000), (100000, 120000), (40000, 1), (3136, 12845056), (1, 1)):
        yield case("Qwen2VL", f"area {least} {most}", size=area(least, most))
        yield case("Qwen2VL", f"pixels {least} {most}", min_pixels=least, max_pixels=most, patch_size=8)
    for patch, merge, temporal in ((4, 1, 1), (5, 3, 1), (1, 1, 3), (16, 2, 2), (7, 4, 5), (90, 1, 1)):
        yield case("Qwen2VL", f"patch {patch} {merge} {temporal}", patch_size=patch, merge_size=merge, temporal_patch_size=temporal, size=area(300, 9000))
    yield case("Qwen2VL", "min alone", min_pixels=20000)
    yield case("Qwen2VL", "max alone", max_pixels=2000)
    yield case("Qwen2VL", "min and size", min_pixels=4000, size=area(1, 5000))
    yield case("Qwen2VL", "max and size", max_pixels=4000, size=area(1, 5000))
    yield case("Qwen2VL", "min and max edge", min_pixels=4000, size={"longest_edge": 6000})
    yield case("Qwen2VL", "both and empty size", min_pixels=4000, max_pixels=5000, size={})
    yield case("Qwen2VL", "old names twice", min_pixels=4000, max_pixels=6000, size={"min_pixels": 1, "max_pixels": 2})
    yield case("Qwen2VL", "old names with new", min_pixels=4000, max_pixels=6000, size={"min_pixels": 1, "max_pixels": 2} | area(3, 4))
    yield case("Qwen2VL", "nulls", min_pixels=None, max_pixels=None, size=None, data_format=None, do_pad=None)
    yield case("Qwen2VL", "not resized all", do_resize=False, patch_size=5, merge_size=2)
    yield case("Qwen2VL", "not resized, other size", do_resize=False, patch_size=1, merge_size=1, size=100)
    yield case("Qwen2VL", "resample unused", do_resize=False, resample=None, patch_size=1, merge_size=1)
    for label, kw in (
        ("number", dict(size=100)), ("list", dict(size=[100, 100])), ("number and min", dict(size=100, min_pixels=5)), ("height", dict(size=hw(100))),
        ("one edge", dict(size=short(100))), ("old names", dict(size={"min_pixels": 3136, "max_pixels": 100000})),
        ("old name once", dict(min_pixels=5, size={"min_pixels": 3136, "max_pixels": 100000})), ("zero", dict(size=area(0, 100))),
        ("null edge", dict(size=area(100, None))), ("patch null", dict(patch_size=None)), ("merge 0", dict(merge_size=0)), ("resample null", dict(resample=None)),
        ("temporal null", dict(temporal_patch_size=None)), ("min string", dict(min_pixels="3136")),
    ):
        yield "hf", f"refused: Qwen2VL {label}", case("Qwen2VL", label, **kw)[2]
    yield "hf", "refused: Qwen2.5's unreleased name", {"image_processor_type": "Qwen2_5_VLImageProcessor"}


def siglip2():
    yield case("Siglip2", "absent")
    for patch, most in ((16, 1024), (14, 729), (7, 1), (3, 2), (10, 6), (32, 64), (1, 500)):
        yield case("Siglip2", f"patch {patch} {most}", patch_size=patch, max_num_patches=most)
    for patch, most in ((1, 9000), (1, 7), (10, 3), (10, 500)):
        yield case("Siglip2", f"not resized {patch} {most} all", patch_size=patch, max_num_patches=most, do_resize=False)
    yield case("Siglip2", "resample null", resample=None, patch_size=8, max_num_patches=40)
    yield case("Siglip2", "size is ignored", size=hw(3, 4), patch_size=8, max_num_patches=40)
    yield case("Siglip2", "sizes are ignored", size=7, crop_size=3, do_center_crop=True, patch_size=8, max_num_patches=40)
    for label, kw in (
        ("size keys", dict(size={"height": 3})), ("patch 0", dict(patch_size=0)), ("patch null", dict(patch_size=None)), ("most null", dict(max_num_patches=None)),
        ("factor null", dict(rescale_factor=None)),
    ):
        yield "hf", f"refused: Siglip2 {label}", case("Siglip2", label, **kw)[2]


if __name__ == "__main__":
    write("goldens_patches.json", (common, donut, qwen2vl, siglip2))
