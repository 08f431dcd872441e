"""The image and video processors of transformers, computed by infer_prep. This module imports transformers; infer_prep does not.

    import infer_prep.transformers

    infer_prep.transformers.register()
    processor = AutoImageProcessor.from_pretrained("model/", backend="infer_prep")
    videos = AutoVideoProcessor.from_pretrained("model/", backend="infer_prep")

The class of the processor is a subclass of the one of transformers, with its name, options and methods; preprocess is
computed by infer_prep. What infer_prep does not do exactly is left to the parent class, with a FallbackWarning that
names the reason. infer_prep.transformers.CLIPImageProcessor and the like are the classes themselves.
docs/python-transformers.md of the project says what was compared.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import threading
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import transformers

try:
    from transformers.image_processing_backends import PilBackend, TorchvisionBackend
except ImportError as e:  # transformers 4 has other classes
    raise ImportError(f"infer_prep.transformers: transformers {transformers.__version__} is installed, want 5.23.0: {e}") from None
from transformers.image_processing_base import BatchFeature
from transformers.image_processing_utils import BaseImageProcessor
from transformers.models.auto import image_processing_auto as auto
from transformers.models.auto import video_processing_auto

from . import _processor, _video
from ._errors import InferPrepError

BACKEND = "infer_prep"
# The version whose bytes the graphs return.
VERSION = "5.23.0"


class FallbackWarning(UserWarning):
    """transformers itself processed the images of a call, as without infer_prep. The text says why."""


class _Unsupported(Exception):
    """The reason why a call is left to transformers."""


# Classes whose results are not the outputs of a graph, with the reason for the warning.
REFUSED = {
    "FuyuImageProcessor": "its result has a list for each prompt",
    "MiniCPMOcrImageProcessor": "its pixel_values of several images are joined along the last axis",
    "MiniCPMV4_6ImageProcessor": "its pixel_values of several images are joined along the last axis",
    "Molmo2ImageProcessor": "its image_token_pooling counts the patches of all images",
    "Step3p7ImageProcessor": "its patch_newline_masks are lists",
    "UVDocImageProcessor": "its result has the original images",
}

# Classes that scale all images of a batch by the widest.
ALONE = ("PPOCRV5ServerRecImageProcessor", "PPOCRV6SmallRecImageProcessor")

# Classes for which a list is the images of one text, or the frames of one video: tiles and frames of a sample are joined.
JOINED = ("GraniteDoclingImageProcessor", "Idefics2ImageProcessor", "Idefics3ImageProcessor", "SmolVLMImageProcessor", "TvpImageProcessor",
          "UltraVBertImageProcessor", "VideoMAEImageProcessor", "VivitImageProcessor")
# The same, where they are stacked.
STACKED = ("MllamaImageProcessor",)

# Classes whose results begin with the mask.
MASK_FIRST = ("BridgeTowerImageProcessor", "ConditionalDetrImageProcessor", "DeformableDetrImageProcessor", "DetrImageProcessor",
              "GroundingDinoImageProcessor", "RTDetrImageProcessor", "RfDetrImageProcessor", "YolosImageProcessor")

# Video processors whose preprocess renames what _preprocess returns.
RENAMED = ("TimesformerVideoProcessor", "VideoMAEVideoProcessor", "VivitVideoProcessor")

# Their outputs that remain tensors of torch, and lists, behind all others.
VIDEO_TENSORS = ("grids_videos", "num_patches_per_frame")
VIDEO_LISTS = ("num_frames_per_video",)

# Outputs that remain lists, behind all others.
LISTS = {
    "GraniteDoclingImageProcessor": ("rows", "cols"),
    "MllamaImageProcessor": ("num_tiles",),
    "UnlimitedOcrImageProcessor": ("num_local_patches", "patches_grid"),
}

# Attributes that a class derives from another when it is made; the importer derives them from the file.
DERIVED = {"background_color": "image_mean", "high_res_background_color": "high_res_image_mean"}

# Options that are not of the graph.
OF_CALL = ("device", "disable_grouping", "do_sample_frames", "input_data_format", "return_metadata", "return_row_col_info", "return_tensors", "video_metadata")

# Options that constructors read, too, and that mean the same in a call once they are complete.
MADE = ("do_convert_annotations", "do_normalize", "do_pad", "do_rescale", "image_mean", "image_std", "size")
# Methods that do not compute pixels of a call.
NOT_PIXELS = ("_validate_preprocess_kwargs", "postprocess", "prepare_annotation", "preprocess_with_tokenizer_info", "sample_frames")

_cache = _processor.Cache(_processor.prepare, 64)
_video_cache = _processor.Cache(_video.Prepared, 64)


class InferPrepMixin:
    """The base of the classes of this module."""

    @property
    def backend(self) -> str:
        """The name of the backend, "infer_prep"."""
        return BACKEND

    def _preprocess_image_like_inputs(self, images: Any, *args: Any, **kwargs: Any) -> Any:
        """Processes images as the parent class does, once its preprocess has checked and completed the options.

        The memory of arrays and of CPU tensors is read during the call only. The tensors of the result are memory of
        infer_prep, without a copy.
        """
        parent = super()._preprocess_image_like_inputs  # type: ignore[misc]
        try:
            return _process(self, images, _arguments(self, parent, images, args, kwargs), kwargs)
        except _Unsupported as e:
            reason = str(e)
        except InferPrepError as e:
            reason = str(e).partition("\n")[0]
        warnings.warn(f"infer_prep: {type(self).__name__}: this call is left to transformers: {reason}", FallbackWarning, stacklevel=4)
        return parent(images, *args, **kwargs)


class InferPrepVideoMixin:
    """The base of the classes of this module for videos."""

    @property
    def backend(self) -> str:
        """The name of the backend, "infer_prep"."""
        return BACKEND

    def _preprocess(self, videos: Any, *args: Any, **kwargs: Any) -> Any:
        """Processes frames as the parent class does, once its preprocess has chosen them and has completed the options.

        The memory of CPU tensors is read during the call only. The tensors of the result are memory of infer_prep,
        without a copy if there is one video.
        """
        parent = super()._preprocess  # type: ignore[misc]
        try:
            if args:
                raise _Unsupported("arguments without names")
            return _process_videos(self, videos, kwargs)
        except _Unsupported as e:
            reason = str(e)
        except InferPrepError as e:
            reason = str(e).partition("\n")[0]
        warnings.warn(f"infer_prep: {type(self).__name__}: this call is left to transformers: {reason}", FallbackWarning, stacklevel=4)
        return parent(videos, *args, **kwargs)


def _process_videos(self: Any, videos: Any, options: dict[str, Any]) -> Any:
    """The result for tensors (T, 3, H, W) with the options that preprocess completed."""
    for v in videos:
        if str(v.dtype) != "torch.uint8" or v.ndim != 4 or v.shape[1] != 3:
            raise _Unsupported(f"a video of {v.dtype} {tuple(v.shape)}: want uint8 and three channels, for which the graphs are exact")
        if v.device.type != "cpu":
            raise _Unsupported(f"device {v.device}: want the CPU")
    tensors = options.get("return_tensors")
    tensors = getattr(tensors, "value", tensors)
    if tensors not in ("np", "pt"):
        raise _Unsupported(f"return_tensors {tensors!r}: want 'np' or 'pt'")
    p = _video_cache.get(_config(self, options, "video_processor_type", {"do_sample_frames": False}))
    data: dict[str, Any] = p.run(videos, "channels_first")
    name = type(self).__name__
    if name in RENAMED:
        data = {"pixel_values_videos" if k == "pixel_values" else k: a for k, a in data.items()}
    if name == "Sam2VideoVideoProcessor":
        data["pixel_values_videos"] = data.pop("pixel_values_videos")
    after = _video.tensors({k: data.pop(k) for k in VIDEO_TENSORS if k in data})
    after |= {k: data.pop(k).tolist() for k in VIDEO_LISTS if k in data}
    out = _feature(self)(_video.tensors(data) if tensors == "pt" else data, tensor_type=tensors)
    for k, v in after.items():
        out[k] = v
    return out


_signature = lru_cache(maxsize=None)(inspect.signature)


def _arguments(self: Any, method: Any, images: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What a call passes beside images and options, by name."""
    valid = type(self).valid_kwargs.__annotations__
    if method.__func__ is not BaseImageProcessor._preprocess_image_like_inputs:
        named = _signature(method.__func__).bind(self, images, *args, **kwargs).arguments
    elif args:  # that method passes them on
        named = _signature(self._preprocess.__func__).bind_partial(self, images, *args).arguments
    else:
        return {}
    return {k: v for k, v in list(named.items())[2:] if k != "kwargs" and k not in valid}  # behind self and images


def _process(self: Any, images: Any, arguments: dict[str, Any], options: dict[str, Any]) -> Any:
    """The result of a call with the options that preprocess completed."""
    name = _base(type(self).__name__)
    if name in REFUSED:
        raise _Unsupported(REFUSED[name])
    for k, v in arguments.items():
        if v is None or v is False or k == "batch_num_images" and all(n == 1 for n in v) or k == "task_inputs" and name == "OneFormerImageProcessor":
            continue
        raise _Unsupported(f"its argument {k}")
    device = options.get("device")
    if device is not None and str(device) != "cpu":
        raise _Unsupported(f"device {device}: want the CPU")
    p = _cache.get(_config(self, options), "torchvision")
    samples, each = self._prepare_images_structure(images), True
    if not isinstance(samples, (list, tuple)) or not len(samples):
        raise _Unsupported("no images")
    if name in JOINED + STACKED:
        flat, each = [i for l in samples for i in l], all(len(l) == 1 for l in samples)
    else:
        flat = list(samples)
    if len(arguments.get("batch_num_images", samples)) != len(samples):
        raise _Unsupported("its argument batch_num_images")
    if name in ALONE and len(flat) > 1:
        raise _Unsupported("it scales all images of a batch by the widest; want one image")
    try:
        flat = p.images(flat, options.get("input_data_format"))
    except (TypeError, ValueError) as e:
        raise _Unsupported(str(e)) from None

    tensors = options.get("return_tensors")
    tensors = getattr(tensors, "value", tensors)
    if tensors is None:
        return _lists(self, p, flat)
    if tensors not in ("np", "pt"):
        raise _Unsupported(f"return_tensors {tensors!r}")
    if tensors == "np" and any(c.dtype == "bfloat16" for c in p.graph.columns):
        raise _Unsupported("NumPy has no bfloat16")
    if each:
        data: dict[str, Any] = p.graph.run_batch(flat, input_data_format="channels_last", as_dict=True)
        if name in STACKED:
            data = {k: a[:, None] for k, a in data.items()}
    else:
        data = _joined(p, flat, [len(l) for l in samples], name in JOINED)
    extra = _extras(self, name, options, arguments.get("task_inputs"), samples, flat, data, p)
    if tensors == "pt":
        data = _processor.tensors(p.graph, data)
    if name in MASK_FIRST and "pixel_mask" in data:
        data = {"pixel_mask": data.pop("pixel_mask"), **data}
    out = _feature(self)(data, tensor_type=tensors)
    for k, v in extra.items():
        out[k] = v
    return out


def _feature(self: Any) -> Any:
    """The type of a class's results: transformers has two of this name."""
    classes = type(self).__mro__
    parent = classes[next(i for i, c in enumerate(classes) if c in (InferPrepMixin, InferPrepVideoMixin)) + 1]
    return getattr(sys.modules[parent.__module__], "BatchFeature", BatchFeature)


def _config(self: Any, options: dict[str, Any], key: str = "image_processor_type", fixed: dict[str, Any] = {}) -> str:
    """The configuration of a call in JSON: that of the processor with the options of the call, as preprocess completed them.

    key is the one of the class's name; fixed replaces options."""
    cls = type(self)
    config = {k: _processor.plain(v) for k, v in self.to_dict().items() if k not in OF_CALL}
    config[key] = _base(cls.__name__)
    changed = {}
    for k in cls.valid_kwargs.__annotations__:
        if k in options and k not in OF_CALL and (v := _processor.plain(options[k])) != _processor.plain(getattr(self, k, None)):
            if v is None:
                raise _Unsupported(f"its argument {k} is None")
            changed[k] = v
    for attribute, source in DERIVED.items():
        if attribute in config:
            mean = config.get(source)
            if source in changed or config.pop(attribute) != ([127] * 3 if mean is None else [int(x * 255) for x in mean]):
                raise _Unsupported(f"{attribute} is not that of {source}")
    for k in changed:
        if k in _of_object(cls, bool(changed[k])):
            raise _Unsupported(f"its argument {k}, which the class reads from the processor, too")
    try:
        return json.dumps(config | changed | fixed)
    except (TypeError, ValueError) as e:
        raise _Unsupported(f"its options: {e}") from None


@lru_cache(maxsize=None)
def _of_object(cls: type, true: bool) -> frozenset[str]:
    """The options of a class that may mean something else in a call than in a file, if their truth value is true.

    They are those of which __init__ may make another option, and those that the code of the class reads from self in
    place of the call's options. "size or self.size" reads a false value only.
    """
    found = set()
    for name, f in inspect.getmembers(cls, inspect.isfunction):
        if not f.__module__.startswith("transformers.models."):
            continue
        text = inspect.getsource(f)
        for k in cls.valid_kwargs.__annotations__:  # type: ignore[attr-defined]
            if name == "__init__":
                if k not in MADE and f'"{k}"' in text:
                    found.add(k)
            elif name not in NOT_PIXELS and not name.startswith(("post_process", "get_num")) and re.search((rf"(?<!\b{k} or )" if true else "") + rf"\bself\.{k}\b(?!\()", text):
                found.add(k)
    return frozenset(found)


def _base(name: str) -> str:
    """The name of a class without the suffix of the PIL backend."""
    return name[:-3] if name.endswith("Pil") else name


def _lists(self: Any, p: _processor.Prepared, flat: list[Any]) -> Any:
    """The result without return_tensors: tensors of single images, of classes whose code for it is the common one."""
    if not isinstance(self, TorchvisionBackend) or type(self)._preprocess is not TorchvisionBackend._preprocess or len(p.graph.columns) != 1:
        raise _Unsupported("return_tensors is None: want 'np' or 'pt'")
    name = p.graph.columns[0].name
    runs = [p.graph.run(i, input_data_format="channels_last", as_dict=True) for i in flat]
    if p.graph.columns[0].batch != "stack":
        raise _Unsupported("return_tensors is None, and the class pads: want 'np' or 'pt'")
    return _feature(self)({name: [_processor.tensors(p.graph, r)[name] for r in runs]})


def _joined(p: _processor.Prepared, flat: list[Any], counts: list[int], join: bool) -> dict[str, Any]:
    """The batch of samples of several images."""
    runs = [p.graph.run(i, input_data_format="channels_last", as_dict=True) for i in flat]
    data = {}
    for c in p.graph.columns:
        parts, at = [r[c.name] for r in runs], 0
        if not join:
            parts = [a[None] for a in parts]
        inner = [max(s) for s in zip(*(a.shape[1:] for a in parts))]
        if c.batch != "pad" and any(list(a.shape[1:]) != inner for a in parts):
            raise _Unsupported(f"{c.name} of the images have different sizes")
        samples = []
        for n in counts:
            samples.append(np.concatenate([_padded(a, [len(a), *inner]) for a in parts[at : at + n]]))
            at += n
        most = max(map(len, samples))
        if c.batch != "pad" and any(len(s) != most for s in samples):
            raise _Unsupported(f"the samples have different numbers of images, and {c.name} is not padded")
        data[c.name] = np.stack([_padded(s, [most, *inner]) for s in samples])
    return data


def _padded(a: Any, shape: list[int]) -> Any:
    """a with zeros behind it."""
    return a if list(a.shape) == shape else np.pad(a, [(0, n - m) for n, m in zip(shape, a.shape)])


def _extras(self: Any, name: str, options: dict[str, Any], tasks: Any, samples: Any, flat: list[Any], data: dict[str, Any], p: _processor.Prepared) -> dict[str, Any]:
    """What a class returns beside a graph's outputs, in lists; it adapts data, too."""
    if name == "AriaImageProcessor":
        data["num_crops"] = np.asarray(data["num_crops"].max())
    if name == "EomtImageProcessor":
        if "patch_offsets" in data:
            raise _Unsupported("its result has patch_offsets of a batch")
        return {"patch_offsets": []}
    if "pixel_values_local" in data:
        local = data.pop("pixel_values_local")
        if len(local):
            data["pixel_values_local"] = local
    if name == "OneFormerImageProcessor":
        return {"task_inputs": [f"the task is {task}" for task in (["panoptic"] if tasks is None else tasks)]}
    if name == "Phi4MultimodalImageProcessor":
        data["num_img_tokens"] = np.array([_phi4_tokens(m, *s // data["image_pixel_values"].shape[-1])
                                           for m, s in zip(data["image_attention_mask"], data["image_sizes"])])
    if name in LISTS:
        return {k: data.pop(k).tolist() for k in LISTS[name]}
    if not options.get("return_row_col_info"):
        return {}
    if not hasattr(self, "get_number_of_image_patches"):
        raise _Unsupported("its argument return_row_col_info")
    rows, columns, images = [], [], iter(flat)
    for l in samples:
        grids = []
        for image in [next(images) for _ in l]:
            n, r, c = self.get_number_of_image_patches(image.shape[0], image.shape[1], options)
            tiles = p.graph.sizes(image.shape[0], image.shape[1])["pixel_values"][0]
            if max(n, 1) != tiles:
                raise _Unsupported(f"its rows and columns: {n} tiles, the graph has {tiles}")
            grids.append((r, c))
        rows.append([r for r, _ in grids])
        columns.append([c for _, c in grids])
    return {"rows": rows, "cols": columns}


def _phi4_tokens(mask: Any, rows: int, columns: int) -> int:
    """The number of tokens of an image whose mask has a whole image and then rows x columns crops."""
    crops = mask[1 : 1 + rows * columns, ::2, ::2].astype(np.int64)
    return int(256 + 1 + crops.sum() + crops[::columns, :, 0].sum() + 16)


_classes: dict[str, type] = {}
_lock = threading.RLock()
_replace = False
_registered = False


def _takes(parent: Any) -> bool:
    """Whether this module has a class for a class of transformers: not for one whose libraries are missing, or with code of its own."""
    return parent is not None and not getattr(parent, "is_dummy", False) and (issubclass(parent, (TorchvisionBackend, PilBackend)) or _is_video(parent))


def _is_video(parent: type) -> bool:
    """Whether a class is one of transformers' video processors, which need torch and torchvision."""
    return issubclass(parent, BaseImageProcessor) and hasattr(parent, "_decode_and_sample_videos")


def class_for(parent: type) -> type:
    """The class of this module for a class of image or video processors. It has the same name, so that saved files name that."""
    name = parent.__name__
    with _lock:
        if name not in _classes or _classes[name].__mro__[2] is not parent:
            _classes[name] = type(name, (InferPrepVideoMixin if _is_video(parent) else InferPrepMixin, parent), {"__module__": __name__, "__qualname__": name, "__doc__": parent.__doc__})
            # The options' type is found beside the class, as in the modules of transformers.
            kwargs = getattr(parent, "valid_kwargs", None)
            if getattr(kwargs, "__name__", "") == _base(name) + "Kwargs":
                globals()[_base(name) + "Kwargs"] = kwargs
        return _classes[name]


def __getattr__(name: str) -> Any:
    if name.endswith(("ImageProcessor", "ImageProcessorPil")):
        parent = auto.get_image_processor_class_from_name(name)
        if _takes(parent):
            return class_for(parent)
    if name.endswith("VideoProcessor"):
        parent = video_processing_auto.video_processor_class_from_name(name)
        if _takes(parent):
            return class_for(parent)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _class_of(value: Any) -> Any:
    """The class of an entry of transformers' mappings, which is a name or a class."""
    if not isinstance(value, str):
        return value
    return video_processing_auto.video_processor_class_from_name(value) if value.endswith("VideoProcessor") else auto.get_image_processor_class_from_name(value)


class _Backends(dict):  # type: ignore[type-arg]
    """A mapping of transformers from backends to classes, with those of this module, which are made when they are asked for."""

    def get(self, key: Any, *default: Any) -> Any:
        # The loaders ask without a default. With one, the code of docstrings asks for a name, while modules are imported.
        if default or key != BACKEND and not (_replace and key == "torchvision"):
            return super().get(key, *default)
        parent = _class_of(super().get("torchvision"))
        if parent is None or getattr(parent, "is_dummy", False):  # torchvision is not installed
            parent = _class_of(super().get("pil"))
        return class_for(parent) if _takes(parent) else super().get(key)


# transformers' mappings from models to backends: of names, and of the classes that it loads.
_MAPPINGS = (
    (auto.IMAGE_PROCESSOR_MAPPING_NAMES, auto.IMAGE_PROCESSOR_MAPPING),
    (video_processing_auto.VIDEO_PROCESSOR_MAPPING_NAMES, video_processing_auto.VIDEO_PROCESSOR_MAPPING),
)


def register(*, replace: bool = False) -> None:
    """Makes backend="infer_prep" of from_pretrained of AutoImageProcessor, AutoVideoProcessor and AutoProcessor give the classes of this module.

    With replace the backend "torchvision", the default, gives them, too: for programs that cannot choose a backend. It
    is for all image and video processors of transformers that have a torchvision backend, and for processors that are
    loaded later. A class that a program imports by name is that of transformers. Registering again changes replace.

    The graphs return the bytes of transformers 5.23.0; another version is a warning.
    """
    global _replace, _registered
    if transformers.__version__ != VERSION:
        warnings.warn(f"infer_prep: transformers {transformers.__version__} is installed; the results are those of {VERSION}", stacklevel=2)
    with _lock:
        _replace = replace
        if _registered:
            return
        for names, classes in _MAPPINGS:
            for model, backends in list(names.items()):
                if backends and backends.get("torchvision"):
                    names[model] = _Backends(backends)
            classes._load_attr_from_module = _loader(classes._load_attr_from_module)
        _registered = True


def _loader(load: Any) -> Any:
    """What loads the classes of a mapping, given what transformers does it with."""

    def loaded(model_type: str, attr: Any) -> Any:
        found = load(model_type, attr)
        return _Backends(found) if isinstance(attr, _Backends) else found

    return loaded


def unregister() -> None:
    """Undoes register, for processors that are loaded later."""
    global _replace, _registered
    with _lock:
        _replace = False
        if not _registered:
            return
        for names, classes in _MAPPINGS:
            for model, backends in list(names.items()):
                if isinstance(backends, _Backends):
                    names[model] = dict(backends)
            del classes._load_attr_from_module
        _registered = False
