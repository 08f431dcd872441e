"""Makes importer/keras/testdata/goldens.json. Run with requirements-keras.txt; every run gives the same bytes."""

import json

import importer_goldens as common
import importers_more


def configs():
    for f in importers_more.configs("keras"):
        yield f.stem, json.loads(f.read_text())
    for mode in ("tf", "torch", "caffe", None):
        yield f"{mode} as it is", {"mode": mode}
        yield f"{mode} first", {"mode": mode, "size": [20, 31], "data_format": "channels_first"}
        yield f"{mode} last", {"keras": {"mode": mode, "size": [47, 61], "data_format": "channels_last"}}
    for i in ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos"):
        for size in ([17, 90], [100, 100], [5, 5]):
            yield f"{i} {size}", {"mode": "torch", "size": size, "interpolation": i, "color_mode": "rgb", "keep_aspect_ratio": False}


REFUSED = {"mode": {"mode": "keras"}, "interpolation": {"mode": "tf", "size": [3, 3], "interpolation": "area"}, "color": {"mode": "tf", "color_mode": "bgr"}}


def main():
    cases = []
    for i, (name, c) in enumerate(configs()):
        images = common.PNG + common.JPEG if i % 5 == 0 else (common.PNG[:3] + common.JPEG)[i % 4:][:2]
        cases.append((name, {"config": c}, importers_more.keras(c), images))
    for c in REFUSED.values():
        try:
            importers_more.keras(c)(common.ROOT / common.PNG[0])
        except ValueError:
            continue
        raise RuntimeError(f"{c} is not refused")
    common.write("keras", cases, [(n, {"config": c}) for n, c in REFUSED.items()])


if __name__ == "__main__":
    main()
