"""Makes importer/hf/video/testdata/models.json: the class that AutoVideoProcessor loads from folders with a config.json.

Needs the packages of goldens.py. Running it again gives the same bytes.
"""

import json
import pathlib
import tempfile
import warnings

import transformers
from hf_video_sampling import OUT
from transformers import AutoVideoProcessor
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

warnings.simplefilter("ignore")
transformers.logging.set_verbosity(transformers.logging.CRITICAL)


def load(files):
    with tempfile.TemporaryDirectory() as d:
        for name, content in files.items():
            (pathlib.Path(d) / name).write_text(json.dumps(content))
        try:
            return type(AutoVideoProcessor.from_pretrained(d)).__name__
        except Exception as e:
            return "error: " + type(e).__name__


video, image, processor, config = "video_preprocessor_config.json", "preprocessor_config.json", "processor_config.json", "config.json"
cases = [
    {video: {"video_processor_type": "VivitVideoProcessor"}, config: {"model_type": "videomae"}},
    {video: {}, config: {"model_type": "videomae", "video_processor_type": "VivitVideoProcessor"}},
    {video: {"image_processor_type": "GotOcr2ImageProcessor"}, config: {"model_type": "internvl"}},
    {video: {"image_processor_type": "VivitImageProcessor"}, config: {"model_type": "videomae"}},
    {image: {"image_processor_type": "CLIPImageProcessor"}, config: {"model_type": "video_llava"}},
    {image: {}, config: {"model_type": "timesformer"}},
    {processor: {"video_processor": {"do_resize": False}}, config: {"model_type": "qwen2_5_vl"}},
    {processor: {"video_processor": {"do_resize": False}}, video: {"video_processor_type": "VivitVideoProcessor"}, config: {"model_type": "qwen2_5_vl"}},
    {processor: {"processor_class": "X"}, video: {}, config: {"model_type": "smolvlm"}},
    {video: {}, config: {"model_type": "no such type"}},
    {video: {}, config: {}},
    {video: {}},
]
types = {}
for t in CONFIG_MAPPING_NAMES:
    name = load({video: {}, config: {"model_type": t}})
    if not name.startswith("error"):
        types[t] = name
out = {"types": types, "folders": [{"files": c, "class": load(c)} for c in cases]}
(OUT.parent / "models.json").write_text(json.dumps(out, indent=0) + "\n")
