"""Runs transformers' own tests of image processors on infer_prep.transformers, and prints a table in Markdown.

usage: hf_tests.py SDIST

SDIST is the file transformers-5.23.0.tar.gz of `pip download --no-deps --no-binary transformers transformers==5.23.0`.
It has the tests that all image processors share (tests/test_image_processing_common.py), and no folder of a model: the
sizes that the tests of ten models use are given here. The tests run with the classes of transformers, too, so that a
test that fails without infer_prep shows. It needs the packages of make parity, pytest and parameterized. The images of
the hub that two tests load are a photograph of testdata/images here.
"""

import collections
import importlib
import os
import pathlib
import sys
import tarfile
import tempfile
import types
import unittest
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES, get_image_processor_class_from_name
from transformers.utils import logging

import infer_prep.transformers as ours

ROOT = pathlib.Path(__file__).resolve().parents[1]
HALVES = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
MODELS = {
    "blip": {"size": {"height": 20, "width": 20}, "do_convert_rgb": True},
    "clip": {"size": {"shortest_edge": 20}, "crop_size": {"height": 18, "width": 18}, "do_convert_rgb": True},
    "deit": {"size": {"height": 20, "width": 20}, "crop_size": {"height": 18, "width": 18}},
    "detr": {"size": {"shortest_edge": 18, "longest_edge": 1333}},
    "levit": {"size": {"shortest_edge": 18}, "crop_size": {"height": 18, "width": 18}},
    "pvt": {"size": {"height": 18, "width": 18}},
    "rt_detr": {"size": {"height": 18, "width": 18}},
    "segformer": {"size": {"height": 30, "width": 30}, "num_labels": 5},
    "siglip": {"size": {"height": 18, "width": 18}},
    "vit": {"size": {"height": 18, "width": 18}},
}


def common(sdist, folder):
    """The module of the tests that all image processors share."""
    with tarfile.open(sdist) as t:
        name = next(n for n in t.getnames() if n.endswith("/tests/test_image_processing_common.py"))
        if transformers.__version__ not in name:
            sys.exit(f"hf_tests.py: {sdist} is not that of transformers {transformers.__version__}, which is installed")
        (folder / "tests").mkdir()
        (folder / "tests" / "test_image_processing_common.py").write_bytes(t.extractfile(name).read())
    images = types.ModuleType("fetch_hub_objects_for_ci")
    images.url_to_local_path = lambda url: str(ROOT / "testdata" / "images" / "jpeg_large.jpg")
    sys.modules["fetch_hub_objects_for_ci"] = images
    sys.path.insert(0, str(folder / "tests"))
    return importlib.import_module("test_image_processing_common")


def case(module, model, options, wrap):
    """The tests of a model, with its torchvision class or with ours."""
    parent = get_image_processor_class_from_name(IMAGE_PROCESSOR_MAPPING_NAMES[model]["torchvision"])
    classes = {"torchvision": parent, "infer_prep": ours.class_for(parent)} if wrap else {"torchvision": parent}

    class Tester(module.ImageProcessingTester):
        def __init__(self, parent, **kwargs):
            super().__init__(parent, **(HALVES | options | kwargs))

        def _get_image_processing_classes(self):
            return classes

    bases = [module.ImageProcessingTestMixin, unittest.TestCase]
    if hasattr(parent, "post_process_semantic_segmentation"):
        bases.insert(0, module.PostProcessSemanticSegmentationTestMixin)
    return type(model, tuple(bases), {"image_processor_tester_class": Tester})


def run(test):
    """{test: (outcome, reason)} of a class, and how often calls were left to transformers."""
    result = unittest.TestResult()
    left = collections.Counter()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        unittest.defaultTestLoader.loadTestsFromTestCase(test).run(result)
    for w in seen:
        if issubclass(w.category, ours.FallbackWarning):
            left[str(w.message).split("left to transformers: ")[1]] += 1
    out = {n: ("passed", "") for n in unittest.defaultTestLoader.getTestCaseNames(test)}
    name = lambda t: getattr(t, "test_case", t).id().rpartition(".")[2]  # test_case is that of a subtest
    out |= {name(t): ("skipped", why) for t, why in result.skipped}
    out |= {name(t): ("failed", text.strip().splitlines()[-1]) for t, text in result.failures + result.errors}
    return out, left


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: hf_tests.py SDIST")
    logging.set_verbosity_error()
    torch.set_num_threads(2)
    bad, reasons = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        module = common(sys.argv[1], pathlib.Path(folder))
        print("| class | passed | skipped | failed, with transformers' class too | failed with infer_prep only | calls left to transformers |\n|---|---|---|---|---|---|")
        for model, options in MODELS.items():
            theirs, _ = run(case(module, model, options, False))
            mine, left = run(case(module, model, options, True))
            count = collections.Counter(o for o, _ in mine.values())
            only = [n for n, (o, _) in mine.items() if o == "failed" and theirs[n][0] != "failed"]
            also = [n for n, (o, _) in mine.items() if o == "failed" and theirs[n][0] == "failed"]
            name = IMAGE_PROCESSOR_MAPPING_NAMES[model]["torchvision"]
            print(f"| {name} | {count['passed']} | {count['skipped']} | {', '.join(also) or 'none'} | {', '.join(only) or 'none'} | {sum(left.values())} |")
            for n in only:
                print(f"hf_tests.py: {name}: {n}: {mine[n][1]}", file=sys.stderr)
            bad += len(only)
            reasons += left
    for reason, n in reasons.most_common():
        print(f"hf_tests.py: left to transformers {n} times: {reason}", file=sys.stderr)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
