"""Makes importer/opencv/testdata/goldens.json. Run with requirements.txt's packages, on x86-64; every run gives the same bytes."""

import json

import importer_goldens as common
import importers_more


def configs():
    for f in importers_more.configs("opencv"):
        yield f.stem, json.loads(f.read_text())
    yield "defaults", {}
    yield "nested", {"opencv": {"swapRB": True}}
    for size in ([30, 20], [61, 47], [13, 90], [100, 7], [25, 26], [2, 1], [35, 16]):
        for mode in (0, 1, 2) if min(size) > 6 else (0, 1):  # a letterbox without pixels is refused
            yield f"{size} {mode}", {"size": size, "paddingmode": mode, "swapRB": mode == 1}
        yield f"{size} crop", {"size": size, "crop": True, "scalefactor": 0.017, "mean": [103.94, 116.78, 123.68]}
    yield "mean and swap", {"mean": [123.675, 116.28, 103.53], "swapRB": True, "scalefactor": 1 / 58}
    yield "mean of four", {"mean": [1.5, 2.5, 3.5, 4.5], "scalefactor": [0.5, 0.25, 0.3, 9]}
    yield "scale each, swapped", {"mean": [1.5, 2.5, 3.5], "scalefactor": [0.5, 0.25, 0.3], "swapRB": True}
    yield "bytes", {"ddepth": 0, "size": [20, 31], "swapRB": True}
    yield "bytes cropped", {"ddepth": 0, "size": [20, 31], "crop": True}
    yield "border swapped", {"size": [50, 50], "paddingmode": 2, "borderValue": [10, 20, 30], "swapRB": True, "mean": [1, 2, 3]}
    yield "rows", {"size": [20, 31], "datalayout": 4, "mean": [1.1, 2.2, 3.3], "swapRB": True}
    yield "rows scaled", {"size": [20, 31], "datalayout": "NHWC", "scalefactor": [1 / 255] * 3}
    yield "rows scaled, mean", {"size": [20, 31], "datalayout": "NHWC", "mean": [1.1, 2.2, 3.3], "scalefactor": 0.017, "swapRB": True}


REFUSED = {
    "bytes scaled": {"ddepth": 0, "scalefactor": 0.5}, "bytes without mean": {"ddepth": "CV_8U", "mean": [1, 1, 1]},
}


def main():
    cases = []
    for i, (name, c) in enumerate(configs()):
        run = importers_more.opencv(c)
        images = common.PNG + common.JPEG if i % 5 == 0 else (common.PNG[:3] + common.JPEG)[i % 4:][:2]
        cases.append((name, {"config": c}, run, images))
    for c in REFUSED.values():
        try:
            importers_more.opencv(c)(common.ROOT / common.PNG[0])
        except Exception:
            continue
        raise RuntimeError(f"{c} is not refused")
    common.write("opencv", cases, [(n, {"config": c}) for n, c in REFUSED.items()])


if __name__ == "__main__":
    main()
