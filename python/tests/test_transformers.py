"""infer_prep.transformers beside transformers itself. It needs transformers, torch and torchvision: python/test-transformers.sh."""

import json
import os
import pathlib
import pickle
import sys
import warnings

import conftest
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="test_transformers.py needs torch: make python-transformers-test installs it")
hf = pytest.importorskip("transformers", reason="test_transformers.py needs transformers: make python-transformers-test installs it")
pytest.importorskip("torchvision", reason="test_transformers.py needs torchvision: make python-transformers-test installs it")

from PIL import Image
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES, get_image_processor_class_from_name
from transformers.models.auto.video_processing_auto import VIDEO_PROCESSOR_MAPPING_NAMES
from transformers.utils import logging
from transformers.video_utils import VideoMetadata

import infer_prep.transformers as ours
from infer_prep import ImageProcessor, InferPrepError, VideoProcessor

logging.set_verbosity_error()
# torch resizes floats by another rule with one thread.
torch.set_num_threads(2)

CLASSES = sorted({d["torchvision"] for d in IMAGE_PROCESSOR_MAPPING_NAMES.values() if d.get("torchvision")})
CONFIGS = sorted((conftest.ROOT / "testdata" / "configs" / "hf").glob("*.json"))

# Classes that are left to transformers for every image, with what the warning says.
LEFT = {
    "EfficientLoFTR": "inputs are image", "Fuyu": "a list for each prompt", "ImageGPT": "clusters", "Kosmos2_5": "do_normalize",
    "LightGlue": "inputs are image", "MiniCPMOcr": "along the last axis", "MiniCPMV4_6": "along the last axis", "Molmo2": "image_token_pooling",
    "Pix2Struct": "do_normalize", "SLANeXt": "unknown key", "Step3p7": "are lists", "SuperGlue": "inputs are image", "UVDoc": "original images",
    "VitMatte": "trimaps", "VitPose": "boxes",
}
# The same for a configuration of a class that is computed.
LEFT_FILES = {"lfm2-vl": "return_row_col_info"}
# Arguments of classes whose defaults want more than images.
MADE = {"LayoutLMv2": {"apply_ocr": False}, "LayoutLMv3": {"apply_ocr": False}}

rng = np.random.default_rng(7)
A, B, C = (rng.integers(0, 256, (*size, 3), np.uint8) for size in ((90, 130), (140, 101), (140, 101)))
ALPHA = rng.integers(0, 256, (90, 130, 1), np.uint8)
FORMS = {
    "an array": A,
    "channels first": A.transpose(2, 0, 1),
    "a view": np.dstack([A, A])[:, ::2, 2:5],
    "arrays of two sizes": [A, B],
    "an array of four axes": np.stack([B, C]),
    "a tensor": torch.from_numpy(A.transpose(2, 0, 1).copy()),
    "tensors, channels last": [torch.from_numpy(A), torch.from_numpy(B)],
    "Pillow": Image.fromarray(A),
    "images of Pillow": [Image.fromarray(B), Image.fromarray(C)],
    "lists of lists": [[A], [B]],
    "lists of several": [[A, B], [C]],
    "gray": A[:, :, :1],
    "RGBA": np.dstack([A, ALPHA]),
    "Pillow's L": Image.fromarray(A[:, :, 0]),
    "Pillow's RGBA": Image.fromarray(np.dstack([A, ALPHA])),
    "Pillow's P": Image.fromarray(A).convert("P"),
    "Pillow's 1": Image.fromarray(A).convert("1"),
    "Pillow's CMYK": Image.fromarray(A).convert("CMYK"),
    "Pillow's I;16": Image.fromarray(A[:, :, 0].astype(np.uint16) * 99),
    "floats": A.astype(np.float32) / 255,
}


def call(processor, images, **options):
    """The result or the error of a call, and the reason if it was left to transformers."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            out = processor(images, **options)
        except Exception as e:
            out = e
    left = [str(w.message) for w in seen if issubclass(w.category, ours.FallbackWarning)]
    return out, left[0] if left else ""


def unlike(want, got):
    """The first difference of two results, "" if there is none: types, keys and their order, dtypes, shapes, bytes."""
    if type(want) is not type(got):
        return f"{type(want)} and {type(got)}"
    if isinstance(want, (torch.Tensor, np.ndarray)):
        if want.dtype != got.dtype or want.shape != got.shape:
            return f"{want.dtype} {tuple(want.shape)} and {got.dtype} {tuple(got.shape)}"
        if isinstance(want, np.ndarray):
            want, got = torch.from_numpy(want), torch.from_numpy(got)
        same = want.numel() == 0 or torch.equal(*(torch.cat([t.reshape(-1)]).view(torch.uint8) for t in (want, got)))
        return "" if same else f"values, up to {(want.double() - got.double()).abs().max()}"
    if isinstance(want, hf.feature_extraction_utils.BatchFeature):
        if list(want) != list(got):
            return f"keys {list(want)} and {list(got)}"
        return next((f"{k}: {d}" for k in want if (d := unlike(want[k], got[k]))), "")
    if isinstance(want, (list, tuple)):
        if len(want) != len(got):
            return f"lengths {len(want)} and {len(got)}"
        return next((f"[{i}]: {d}" for i, (w, g) in enumerate(zip(want, got)) if (d := unlike(w, g))), "")
    return "" if want == got else f"{want} and {got}"


def same_bytes(theirs, mine, images, **options):
    """Compares a call; returns why it was left to transformers, or ""."""
    want, _ = call(theirs, images, **options)
    got, left = call(mine, images, **options)
    if isinstance(want, UnboundLocalError):  # Vilt with return_tensors="np"
        return left
    if isinstance(want, Exception):
        assert type(got) is type(want), got
        return left
    assert not isinstance(got, Exception), got
    assert unlike(want, got) == ""
    return left


@pytest.mark.parametrize("name", CLASSES)
def test_class(name):
    """Every class with its defaults: forms of images, tensors of torch and arrays."""
    short = name.removesuffix("ImageProcessor")
    parent = get_image_processor_class_from_name(name)
    if short == "Vivit":
        pytest.skip("its code is none of transformers' backends: register leaves it as it is")
    theirs, mine = parent(**MADE.get(short, {})), ours.class_for(parent)(**MADE.get(short, {}))
    assert isinstance(mine, parent) and mine.to_dict() == theirs.to_dict() and mine.backend == "infer_prep"
    if short in LEFT:
        needs = {"VitMatte": {"trimaps": A[:, :, 0]}, "VitPose": {"boxes": [[[3, 4, 50, 60]]]}}.get(short, {})
        for images in [A] if needs else [A, [A, B]]:
            assert LEFT[short] in same_bytes(theirs, mine, images, return_tensors="pt", **needs)
        return
    done = 0
    for form, images in FORMS.items():
        for tensors in ("pt", "np") if form in ("an array", "arrays of two sizes") else ("pt",):
            left = same_bytes(theirs, mine, images, return_tensors=tensors)
            assert bool(left) or form != "floats"
            done += not left
            if form in ("an array", "channels first", "a view", "a tensor", "Pillow"):
                assert left == "" or "bfloat16" in left, f"{form} {tensors}: {left}"
    assert done >= 6


@pytest.mark.parametrize("name", [n for n in CLASSES if n.removesuffix("ImageProcessor") not in LEFT and n != "VivitImageProcessor"])
def test_flags(name):
    """Every option of a class that is on or off, the other way, in a call; whole numbers are doubled."""
    made = MADE.get(name.removesuffix("ImageProcessor"), {})
    parent = get_image_processor_class_from_name(name)
    theirs, mine = parent(**made), ours.class_for(parent)(**made)
    for option, kind in parent.valid_kwargs.__annotations__.items():
        value = getattr(theirs, option, None)
        if option == "return_image_mask":
            continue  # Flava's, at random
        if isinstance(value, bool) or "bool" in str(kind) and value is None:
            same_bytes(theirs, mine, [A], return_tensors="pt", **{option: not value})
        elif isinstance(value, int):
            same_bytes(theirs, mine, [A], return_tensors="pt", **{option: type(value)(2 * value) if option != "resample" else 0})


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_config(path, tmp_path):
    """The real configurations, loaded by AutoImageProcessor; the common classes without return_tensors, too."""
    text = path.read_text()
    (tmp_path / ("config.json" if "pretrained_cfg" in text else "preprocessor_config.json")).write_text(text)
    theirs = hf.AutoImageProcessor.from_pretrained(tmp_path)
    ours.register()
    try:
        mine = hf.AutoImageProcessor.from_pretrained(tmp_path, backend="infer_prep")
    finally:
        ours.unregister()
    if type(mine) is type(theirs):
        pytest.skip(f"{type(theirs).__name__} has no torchvision backend")
    left = {same_bytes(theirs, mine, images, **options) for images in (A, [B, Image.fromarray(C)]) for options in ({"return_tensors": "pt"}, {})}
    short = type(theirs).__name__.removesuffix("ImageProcessor")
    if short in LEFT:
        assert all(LEFT[short] in l for l in left)
    elif path.stem in LEFT_FILES:
        assert all(left) and any(LEFT_FILES[path.stem] in l for l in left)
    else:
        assert "" in left, left


def test_options():
    """Options of a call, those of transformers' own."""
    for name, calls in {
        "ViT": [{"size": {"height": 40, "width": 30}}, {"size": 50, "do_normalize": False}, {"do_resize": False, "do_rescale": False}, {"resample": 0},
                {"resample": hf.image_utils.PILImageResampling.BICUBIC}, {"image_mean": [0.1, 0.2, 0.3], "image_std": (0.4, 0.5, 0.6)}, {"rescale_factor": 1 / 127.5},
                {"do_convert_rgb": True}, {"input_data_format": "channels_last"}, {"data_format": "channels_first"}, {"device": "cpu"}, {"disable_grouping": True}],
        "CLIP": [{"crop_size": 32}, {"crop_size": {"height": 30, "width": 40}, "do_center_crop": True}, {"do_center_crop": False, "size": {"height": 20, "width": 20}}],
        "Detr": [{"size": {"shortest_edge": 50, "longest_edge": 70}}, {"do_pad": False}, {"pad_size": {"height": 1400, "width": 1400}}, {"format": "coco_detection"}],
        "Qwen2VL": [{"min_pixels": 28 * 28, "max_pixels": 56 * 56}, {"size": {"shortest_edge": 784, "longest_edge": 12544}}],
        "SmolVLM": [{"do_image_splitting": False}, {"return_row_col_info": True}, {"size": {"longest_edge": 728}, "return_row_col_info": True}],
        "LlavaNext": [{"image_grid_pinpoints": [[224, 448], [448, 224]]}, {"do_pad": False}],
        "Beit": [{"do_reduce_labels": True}],
        "OneFormer": [{"task_inputs": ["semantic"]}, {"task_inputs": ["semantic", "instance"]}],
        "Phi4Multimodal": [{"dynamic_hd": 4}],
        "Donut": [{"size": [300, 200]}, {"size": {"height": 40, "width": 30}}, {"size": 70}],
        "Yolos": [{"size": {"shortest_edge": 100, "longest_edge": 200}}],
        "GlmImage": [{"min_pixels": 28 * 28, "max_pixels": 56 * 56}],
    }.items():
        parent = getattr(hf, name + "ImageProcessor")
        theirs, mine = parent(), ours.class_for(parent)()
        for options in calls:
            for images in A, [A, B]:
                left = same_bytes(theirs, mine, images, return_tensors="pt", **options)
                assert left == "" or images is not A, (name, options, left)
    big = rng.integers(0, 256, (900, 1500, 3), np.uint8)
    for name in "Phi4Multimodal", "DeepseekOcr2", "UnlimitedOcr", "Llama4", "GotOcr2":  # tiles
        for images in big, [A, big, big.transpose(1, 0, 2)]:
            assert same_bytes(getattr(hf, name + "ImageProcessor")(), getattr(ours, name + "ImageProcessor")(), images, return_tensors="pt") == "", name
    # Options that a constructor makes another option of mean something else in a file.
    # So do those that its code reads from self.
    for name, options in [("Idefics", {"image_size": 100}), ("Swin2SR", {"pad_size": {"height": 200, "width": 200}}), ("PerceptionLM", {"max_num_tiles": 9}),
                          ("LlavaOnevision", {"image_mean": [0.1, 0.2, 0.3]}), ("DeepseekOcr2", {"background_color": [9, 8, 7]})]:
        left = same_bytes(getattr(hf, name + "ImageProcessor")(), getattr(ours, name + "ImageProcessor")(), A, return_tensors="pt", **options)
        assert "which the class reads from the processor, too" in left
    same_bytes(hf.YolosImageProcessor(), ours.YolosImageProcessor(), A, return_tensors="pt", size=100)  # no longest_edge, unlike in a file
    p = ours.ViTImageProcessor()
    want = hf.ViTImageProcessor()
    for options in {"segmentation_maps": None}, {"do_resize": None}, {"size": None}, {"size": "large"}, {"sise": 3}, {"data_format": "channels_last"}, {"return_tensors": "tf"}:
        same_bytes(want, p, A, **({"return_tensors": "pt"} | options))
    _, left = call(p, A, do_resize=None, return_tensors="pt")
    assert "ViTImageProcessor: this call is left to transformers: its argument do_resize is None" in left
    maps = np.zeros((90, 130), np.uint8)
    assert "segmentation_maps" in same_bytes(hf.BeitImageProcessor(), ours.BeitImageProcessor(), A, segmentation_maps=maps, return_tensors="pt")
    # Attributes that change later count, as they do in transformers.
    p.size = want.size = hf.image_utils.SizeDict(height=30, width=20)
    assert same_bytes(want, p, A, return_tensors="pt") == ""


def test_fork(child):
    """In a process that was forked after the first use, transformers processes the images."""
    child("""
import os, warnings
import numpy as np
import torch
import transformers
import infer_prep.transformers as ours
torch.set_num_threads(1)
image = np.random.default_rng(1).integers(0, 256, (40, 50, 3), np.uint8)
mine, theirs = ours.ViTImageProcessor(), transformers.ViTImageProcessor()
want = mine(image, return_tensors="np")["pixel_values"].copy()
pid = os.fork()
if pid == 0:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        got = mine(image, return_tensors="np")["pixel_values"]
    ok = np.array_equal(got, want) and any("was forked" in str(w.message) for w in seen if w.category is ours.FallbackWarning)
    os._exit(0 if ok else 3)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
""", timeout=300)


def test_derived_colours():
    """Janus derives a colour from the mean when it is made, and does not when a call has another mean."""
    mean = [0.1, 0.2, 0.3]
    for options in {}, {"image_mean": mean}:
        same_bytes(hf.JanusImageProcessor(), ours.JanusImageProcessor(), A, return_tensors="pt", **options)
    assert same_bytes(hf.JanusImageProcessor(image_mean=mean), ours.JanusImageProcessor(image_mean=mean), A, return_tensors="pt") == ""


def test_channels():
    """Images of 3 rows or columns: the rule of transformers, and input_data_format."""
    for shape in (3, 40, 3), (3, 40, 50), (40, 50, 3), (1, 40, 3), (4, 40, 3), (3, 3, 3):
        a = rng.integers(0, 256, shape, np.uint8)
        for options in {}, {"input_data_format": "channels_first"}, {"input_data_format": hf.image_utils.ChannelDimension.LAST}:
            for name in "CLIP", "ViT":
                same_bytes(getattr(hf, name + "ImageProcessor")(), getattr(ours, name + "ImageProcessor")(), a, return_tensors="pt", **options)


def test_image_processor():
    """ImageProcessor, which needs no transformers, beside it: every mode of Pillow, both backends."""
    config = {"image_processor_type": "CLIPImageProcessor"}
    for backend, theirs in ("torchvision", hf.CLIPImageProcessor()), ("pil", hf.models.clip.CLIPImageProcessorPil()):
        mine = ImageProcessor(config, backend=backend)
        for form, images in FORMS.items():
            if form == "floats":
                continue
            want = theirs(images, return_tensors="pt")["pixel_values"]
            assert unlike(want, mine(images, return_tensors="pt")["pixel_values"]) == "", (backend, form)
    got = mine([A, B], return_tensors="pt")["pixel_values"]
    assert got.shape == (2, 3, 224, 224) and got.dtype == torch.float32


VIDEO_CLASSES = sorted({d["torchvision"] for d in VIDEO_PROCESSOR_MAPPING_NAMES.values() if d and d["torchvision"]})
MOVIE, SHORT = rng.integers(0, 256, (9, 60, 90, 3), np.uint8), rng.integers(0, 256, (6, 80, 48, 3), np.uint8)


def same_video(theirs, mine, videos, **options):
    """Fails unless both processors treat the videos alike. Returns why the call was left to transformers, and what they returned."""
    def call(p):
        known = [VideoMetadata(total_num_frames=len(v), fps=5.0, duration=len(v) / 5, frames_indices=list(range(len(v)))) for v in (videos if isinstance(videos, list) else [videos])]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                out = p(videos, video_metadata=known, **({"return_tensors": "pt"} | options))
            except Exception as e:  # noqa: BLE001
                out = e
        return out, "; ".join(str(w.message) for w in seen if w.category is ours.FallbackWarning)

    want, _ = call(theirs)
    got, left = call(mine)
    if isinstance(want, Exception):
        assert type(got) is type(want), (want, got)
        return left, None
    assert type(got) is type(want) and list(got) == list(want), (options, got, list(want))
    for k, a in want.items():
        assert str(a) == str(got[k]) if k == "video_metadata" else unlike(a, got[k]) == "", (options, k)
    return left, want


def test_video_classes():
    assert len(VIDEO_CLASSES) == 34


@pytest.mark.parametrize("name", VIDEO_CLASSES)
def test_video_class(name):
    """Every video processor beside its parent: forms of videos, batches, options that are on or off."""
    parent = getattr(hf, name)
    made_with = {
        "Ernie4_5_VLMoeVideoProcessor": {"draw_on_frames": False},  # the font is to be downloaded
        "NemotronH_Omni_Reasoning_V3VideoProcessor": {"norm_mean": [0.5, 0.4, 0.3], "norm_std": [0.2, 0.3, 0.4]},  # it has no defaults
    }.get(name, {})
    theirs, mine = parent(**made_with), getattr(ours, name)(**made_with)
    assert isinstance(mine, ours.InferPrepVideoMixin) and isinstance(mine, parent) and mine.to_dict() == theirs.to_dict()
    made, lefts = 0, []
    turned = [{k: not getattr(theirs, k)} for k in parent.valid_kwargs.__annotations__ if isinstance(getattr(theirs, k, None), bool) and k != "return_metadata"]
    few = [MOVIE, [SHORT, MOVIE, MOVIE[::-1].copy()]]
    more = [torch.from_numpy(MOVIE).permute(0, 3, 1, 2), MOVIE[:, ::-1], MOVIE[:1], [MOVIE], [SHORT, SHORT]]
    for options in [{}, {"do_sample_frames": False}, {"return_tensors": "np"}, {"return_metadata": True}, {"do_sample_frames": True, "num_frames": 4}] + turned:
        for videos in few + more if not options else few:
            left, want = same_video(theirs, mine, videos, **options)
            made += want is not None
            lefts += [(options, left)] if left and want is not None else []
    assert made >= 6 and all("is left to transformers: importer" in l or "reads from the processor, too" in l for _, l in lefts), (made, lefts)


def test_videos(tmp_path):
    """Floats and other calls that are left to transformers; the loaders; VideoProcessor, which needs no transformers."""
    theirs, mine = hf.Qwen2VLVideoProcessor(), ours.Qwen2VLVideoProcessor()
    left, _ = same_video(theirs, mine, MOVIE.astype(np.float32))
    assert "want uint8" in left
    left, _ = same_video(theirs, mine, MOVIE, return_tensors=None)
    assert "return_tensors None" in left
    for options in {"size": {"shortest_edge": 3136, "longest_edge": 20000}}, {"min_pixels": 3136, "max_pixels": 30000}, {"fps": 1}, {"image_mean": [0.1, 0.2, 0.3]}, {"rescale_factor": 1 / 127.5}:
        left, want = same_video(theirs, mine, MOVIE, **options)
        assert want is not None and left == "", options
    theirs.save_pretrained(tmp_path)
    try:
        ours.register()
        assert type(hf.AutoVideoProcessor.from_pretrained(tmp_path)) is hf.Qwen2VLVideoProcessor
        assert type(hf.AutoVideoProcessor.from_pretrained(tmp_path, backend="infer_prep")) is ours.Qwen2VLVideoProcessor
        ours.register(replace=True)
        loaded = hf.AutoVideoProcessor.from_pretrained(tmp_path)
        assert type(loaded) is ours.Qwen2VLVideoProcessor and type(pickle.loads(pickle.dumps(loaded))) is type(loaded)
    finally:
        ours.unregister()
    assert type(hf.AutoVideoProcessor.from_pretrained(tmp_path)) is hf.Qwen2VLVideoProcessor
    p = VideoProcessor(tmp_path)
    for videos, forms in [(MOVIE, [MOVIE, list(MOVIE), torch.from_numpy(MOVIE).permute(0, 3, 1, 2), [Image.fromarray(f) for f in MOVIE], MOVIE[None]]), ([MOVIE, SHORT], [[MOVIE, SHORT], [list(MOVIE), list(SHORT)]])]:
        known = [{"total_num_frames": len(v), "fps": 5.0} for v in (videos if isinstance(videos, list) else [videos])]
        want = theirs(videos, video_metadata=[VideoMetadata(**m) for m in known], return_tensors="pt")
        for form in forms:
            got = p(form, video_metadata=known, return_tensors="pt")
            assert list(got) == list(want) and all(unlike(want[k], got[k]) == "" for k in want)
    with pytest.raises(InferPrepError, match="fps"):
        p(MOVIE, do_sample_frames=True)
    with pytest.raises(ValueError, match="video_metadata of 1 videos, want 2"):
        p([MOVIE, SHORT], video_metadata=[None])
    with pytest.raises(TypeError, match="got str"):
        p("movie.mp4")


def save(folder, model, processor):
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models with random weights: {task: folder}."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models")
    tiny = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    vit = hf.ViTConfig(**tiny, image_size=32, patch_size=8, num_labels=3)
    yolos = hf.YolosConfig(**tiny, image_size=[64, 64], patch_size=16, num_detection_tokens=5, num_labels=3)
    words = ["<unk>", "<pad>", "<s>", "</s>", "<image>", "what", "is", "this", "user", ":"]
    t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t = hf.PreTrainedTokenizerFast(tokenizer_object=t, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", additional_special_tokens=["<image>"])
    llava = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**tiny, image_size=32, patch_size=8), image_token_index=4,
        text_config=hf.LlamaConfig(**tiny, vocab_size=len(words), num_key_value_heads=2, pad_token_id=1, bos_token_id=2, eos_token_id=3))
    chat = ("{% for m in messages %}{{ m['role'] }} : {% for p in m['content'] %}{% if p['type'] == 'image' %}<image> {% else %}{{ p['text'] }}{% endif %}"
            "{% endfor %}{% endfor %}")
    processor = hf.LlavaProcessor(hf.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=32), t, patch_size=8, vision_feature_select_strategy="default",
                                  num_additional_image_tokens=1, chat_template=chat)
    return {
        "image-classification": save(folder / "vit", hf.ViTForImageClassification(vit), hf.ViTImageProcessor(size={"height": 32, "width": 32})),
        "object-detection": save(folder / "yolos", hf.YolosForObjectDetection(yolos), hf.YolosImageProcessor(size={"shortest_edge": 64, "longest_edge": 96})),
        "image-text-to-text": save(folder / "llava", hf.LlavaForConditionalGeneration(llava), processor),
    }


@pytest.mark.parametrize("task", ["image-classification", "object-detection", "image-text-to-text"])
def test_pipeline(task, models):
    """transformers' pipelines: equal results with and without register(replace=True), and nothing left to transformers."""
    images = [Image.fromarray(A), Image.fromarray(B)]

    def run():
        p = hf.pipeline(task, models[task])
        seen = []
        if task != "image-text-to-text":
            p.model.register_forward_pre_hook(lambda m, args, kw: seen.append(kw["pixel_values"].clone()), with_kwargs=True)
            return p.image_processor, p(images, threshold=0.0) if task == "object-detection" else p(images), seen
        p.model.model.vision_tower.register_forward_pre_hook(lambda m, args, kw: seen.append((args or [kw.get("pixel_values")])[0].clone()), with_kwargs=True)
        chat = [{"role": "user", "content": [{"type": "image", "image": images[0]}, {"type": "text", "text": "what is this"}]}]
        return p.processor.image_processor, p(text=chat, max_new_tokens=5, do_sample=False), seen

    theirs, want, saw = run()
    assert not isinstance(theirs, ours.InferPrepMixin)
    ours.register(replace=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ours.FallbackWarning)
            mine, got, sees = run()
    finally:
        ours.unregister()
    assert isinstance(mine, ours.InferPrepMixin) and isinstance(mine, type(theirs))
    assert got == want and len(saw) > 0 and unlike(saw, sees) == ""


def test_register(models, tmp_path):
    """Which classes the loaders of transformers give."""
    folder = models["image-classification"]
    try:
        ours.register()
        ours.register()
        assert type(hf.AutoImageProcessor.from_pretrained(folder)) is hf.ViTImageProcessor
        mine = hf.AutoImageProcessor.from_pretrained(folder, backend="infer_prep")
        assert type(mine) is ours.ViTImageProcessor and type(mine).__module__ == "infer_prep.transformers"
        assert type(hf.AutoImageProcessor.from_pretrained(folder, backend="pil")) is hf.models.vit.ViTImageProcessorPil
        assert type(hf.AutoProcessor.from_pretrained(models["image-text-to-text"], backend="infer_prep").image_processor) is ours.CLIPImageProcessor
        assert type(hf.AutoProcessor.from_pretrained(models["image-text-to-text"]).image_processor) is hf.CLIPImageProcessor
        # A file without a class: that of config.json's model_type.
        (tmp_path / "preprocessor_config.json").write_text(json.dumps({"size": {"height": 20, "width": 20}}))
        (tmp_path / "config.json").write_text(pathlib.Path(folder, "config.json").read_text())
        assert type(hf.AutoImageProcessor.from_pretrained(tmp_path, backend="infer_prep")) is ours.ViTImageProcessor
        ours.register(replace=True)
        assert type(hf.AutoImageProcessor.from_pretrained(tmp_path)) is ours.ViTImageProcessor
        assert type(hf.AutoImageProcessor.from_pretrained(folder)) is ours.ViTImageProcessor
    finally:
        ours.unregister()
    assert type(hf.AutoImageProcessor.from_pretrained(folder)) is hf.ViTImageProcessor
    assert all(type(d) is dict for d in IMAGE_PROCESSOR_MAPPING_NAMES.values())
    again = pickle.loads(pickle.dumps(mine))
    assert type(again) is type(mine) and again.to_dict() == mine.to_dict()
    mine.save_pretrained(tmp_path / "saved")
    assert json.loads((tmp_path / "saved" / "preprocessor_config.json").read_text())["image_processor_type"] == "ViTImageProcessor"
    with pytest.raises(AttributeError, match="no attribute 'NoImageProcessor'"):
        ours.NoImageProcessor
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        ours.other


def test_imports_after_register(child):
    """Classes and processors that a program imports after register are those of transformers."""
    child("""
import infer_prep.transformers as ours
ours.register(replace=True)
import transformers as hf
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES as names
for backends in names.values():
    name = dict(backends).get("torchvision")
    assert name is None or not issubclass(getattr(hf, name), ours.InferPrepMixin), name
from transformers.models.idefics3.processing_idefics3 import Idefics3Processor
""", timeout=300)


def test_without_torchvision(tmp_path, child):
    """Without torchvision, and without torch: the parents are the PIL classes, and the bytes those of torchvision's."""
    import importlib.util

    site = os.path.dirname(os.path.dirname(importlib.util.find_spec("transformers").origin))
    package = os.path.dirname(os.path.dirname(ours.__file__))
    names = ["ViT", "CLIP", "Detr", "Qwen2VL", "SmolVLM", "LlavaNext"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "preprocessor_config.json").write_text(json.dumps({"image_processor_type": name + "ImageProcessor"}))
        out = getattr(hf, name + "ImageProcessor")()([A], return_tensors="np")
        np.savez(tmp_path / f"{name}.npz", **out)
    np.save(tmp_path / "image.npy", A)
    for missing in ("torchvision",), ("torchvision", "torch"):
        folder = tmp_path / "-".join(missing)
        folder.mkdir()
        for entry in os.listdir(site):
            if entry.split("-")[0].split(".")[0] not in missing and not entry.endswith(".pth"):
                os.symlink(os.path.join(site, entry), folder / entry)
        child("""
import sys
sys.path[:0] = sys.argv[2:4]
import warnings
import numpy as np
import infer_prep.transformers as ours
from transformers import AutoImageProcessor
from transformers.utils import is_torch_available, is_torchvision_available
assert not is_torchvision_available() and is_torch_available() == (sys.argv[4] == "1")
warnings.simplefilter("error", ours.FallbackWarning)
ours.register()
image = np.load(sys.argv[1] + "/image.npy")
for name in sys.argv[5:]:
    p = AutoImageProcessor.from_pretrained(sys.argv[1] + "/" + name, backend="infer_prep")
    assert [c.__name__ for c in type(p).__mro__[:3]] == [name + "ImageProcessorPil", "InferPrepMixin", name + "ImageProcessorPil"], type(p).__mro__
    out, want = p([image], return_tensors="np"), np.load(sys.argv[1] + "/" + name + ".npz")
    assert sorted(out) == sorted(want) and all(out[k].dtype == want[k].dtype and np.array_equal(out[k], want[k]) for k in want), name
""", tmp_path, package, folder, int("torch" not in missing), *names, python=[sys.executable, "-S", "-E"], timeout=300)


def test_defaults_without_torchvision():
    """The PIL classes, which are the parents then, have the defaults of torchvision's."""
    unequal = set()
    for d in IMAGE_PROCESSOR_MAPPING_NAMES.values():
        if d.get("torchvision") and d.get("pil"):
            a, b = (get_image_processor_class_from_name(d[k])().to_dict() for k in ("torchvision", "pil"))
            if a != b:
                unequal.add(d["torchvision"])
    assert unequal == set()
