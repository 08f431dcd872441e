"""Makes importer/testdata/goldens_torchvision.json: the cases of goldens.py and hf_patches.py for hf, with
transformers' torchvision backend, and cases of further classes, with both backends.

Needs the packages of goldens.py. Takes no arguments; running it again gives the same bytes.
"""

import json
import warnings

import hf_patches as patches

pil = patches._gen

warnings.simplefilter("ignore")


SAME = ("Blip", "ChineseCLIP", "OwlViT", "Pvt", "PPChart2Table", "Chameleon", "RTDetr", "CHMv2", "CohereCompass", "MiniMaxM3VL", "Tipsv2",
        "Tipsv2Dpt", "PI0", "SegGpt", "PoolFormer", "LayoutLMv2")
LOADED = {}  # reference functions by configuration


def reference(backend, text):
    if (backend, text) not in LOADED:
        if backend == "hf-pil":  # falls back to torchvision if the class has no PIL backend
            try:
                LOADED[backend, text] = pil.importers.hf_pil(json.loads(text))
            except ValueError as e:
                if "has the backend torchvision" not in str(e):
                    raise
                LOADED[backend, text] = pil.importers.hf(json.loads(text))
        else:
            LOADED[backend, text] = pil.importers.hf(json.loads(text))
    return LOADED[backend, text]


def cases():
    seen = set()
    for make in (pil.hf_cases, pil.detection_cases, patches.common, patches.donut, patches.qwen2vl, patches.siglip2):
        for ecosystem, name, config in make():
            text = json.dumps(config)
            if ecosystem == "hf" and text not in seen:
                seen.add(text)
                yield "hf", name.removeprefix("refused: "), text
    for name in SAME:
        for label, config in (
            ("absent", {}), ("small", {"size": 40, "crop_size": 37}), ("other values", {"size": [31, 44], "crop_size": 29, "image_mean": 0.4, "image_std": [0.1, 0.2, 0.3]}),
            ("only resized", {"size": {"height": 21, "width": 40}, "do_rescale": False, "do_normalize": False}), ("not resized", {"do_resize": False}),
            ("no crop, padded", {"do_center_crop": False, "do_pad": True, "size": {"height": 50, "width": 61}, "pad_size": {"height": 90, "width": 95}}),
            ("cropped", {"do_center_crop": True, "size": 30, "crop_size": [37, 20]}), ("not converted", {"do_convert_rgb": False}),
            ("nearest", {"resample": 0, "size": {"height": 33, "width": 20}}), ("bilinear", {"resample": 2, "rescale_factor": 0.01}),
            ("within", {"size": {"max_height": 60, "max_width": 45}}), ("edges", {"size": {"shortest_edge": 3000, "longest_edge": 9000}}),
            ("without pct", {"crop_pct": None} if name == "PoolFormer" else {}), ("pct", {"crop_pct": 0.6, "size": 50} if name == "PoolFormer" else {"size": 50}),
            ("whole factor", {"rescale_factor": 1, "do_normalize": False, "size": [30, 30]}),
            ("whole factor, normalized", {"rescale_factor": 1, "do_normalize": True, "image_mean": 0.5, "image_std": 0.25, "size": [30, 30]}),
            ("edges of pixels", {"size": {"shortest_edge": 40, "longest_edge": 57}}),
        ):
            ocr = {"apply_ocr": False} if name == "LayoutLMv2" else {}
            text = json.dumps({"image_processor_type": name + "ImageProcessor"} | ocr | config)
            for backend in ("hf", "hf-pil"):
                yield backend, f"{name} {label}", text


def write(file, cases, images=2, seconds={}, boxes={}, reference=reference):
    """Writes a golden file of cases: what the reference gives for some images, or that it refuses. A case may name its images.

    seconds has the second image for each image, by the class, for classes that take two; boxes has boxes likewise.
    """
    done, refused = [], []
    for n, (backend, name, text, *own) in enumerate(cases):
        case = {"importer": backend, "name": name, "config": json.loads(text)}
        results, bug = [], False
        some = list(*own) or list(("rgb.png", "tall.png", "gray.png", "key.png")[n % 4 :][:images])
        kind = "image_processor_type" in text and case["config"].get("image_processor_type")
        two, box = seconds.get(kind), boxes.get(kind)
        for image in some:
            which = {"image": image} | ({"image2": two[image]} if two else {}) | ({"box": box[image]} if box else {})
            try:
                arrays = reference(backend, text)(*(i if isinstance(i, list) else pil.OUT / i for i in which.values()))
            except Exception as e:
                reason = (str(e).splitlines() or [type(e).__name__])[0]
                if "INTERNAL ASSERT" in reason:  # torch cannot scale 3 channels to 1 x 1
                    bug = True
                    continue
                results.append(which | {"refused": True})
                if image == some[-1] and image != "key.png" and all("refused" in r for r in results):
                    some.append("key.png")  # a square: does the size matter?
                continue
            outputs = {
                k: {"dtype": pil.importers.dtype_of(a), "shape": list(a.shape), "sha256": pil.importers.digest(a), "values": pil.sample(a)}
                for k, a in arrays.items()
            }
            results.append(which | {"outputs": outputs})
        if all("refused" in r for r in results):
            if bug or name.endswith((" not resized", " edges")):  # refused for the images' sizes alone
                continue
            print(f"{name}: {reason[:150]}")
            refused.append(case)
        else:
            done.append(case | {"results": results})
    lines = [",\n".join(json.dumps(c, separators=(",", ":")) for c in l) for l in (done, refused)]
    (pil.OUT / file).write_text('{"cases":[\n' + lines[0] + '\n],"refused":[\n' + lines[1] + "\n]}\n")


if __name__ == "__main__":
    write("goldens_torchvision.json", cases())
