"""Image processors of Hugging Face, called as in transformers, without it."""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from typing import Any, Callable, Sequence

import numpy as np

from . import _images
from ._graph import Graph, Path, path_of
from ._native import Array

# The number of graphs of different options that are kept: each holds memory for as many images as there are processors.
KEPT = 16


class Prepared:
    """The graph of a configuration, and how it treats images that are not RGB."""

    __slots__ = ("convert", "graph", "torchvision")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        # Importer hf puts colour keys on white just if do_convert_rgb is on.
        self.convert = any(s["op"] == "decode" and s["params"]["alpha"] == "key_white" for s in graph.to_json()["steps"])
        self.torchvision = graph.reference.endswith("backend torchvision")

    def images(self, images: Sequence[Any], data_format: Any) -> list[Any]:
        """The images as pixels or files that run_batch takes."""
        out = []
        for image in images:
            image, where = _images.rgb(image, data_format, self.convert, self.torchvision)
            # Graphs find the channels themselves, and warn, unless they are told.
            out.append(image.transpose(1, 2, 0) if where == _images.FIRST else image)
        return out


class Cache:
    """What was made of the configurations that were used last. It is safe for use by several threads."""

    def __init__(self, make: Callable[..., Any], size: int = KEPT) -> None:
        self._make, self._size = make, size
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def get(self, config: str, *options: Any) -> Any:
        """What make returns for a configuration in JSON and options, which is kept."""
        key = config, *options
        with self._lock:
            found = self._made.get(key)
            if found is not None:
                self._made.move_to_end(key)
                return found
        made = self._make(config, *options)
        with self._lock:
            self._made[key] = made
            while len(self._made) > self._size:
                self._made.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._made)


def prepare(config: str, backend: str | None = None, ignore_keys: tuple[str, ...] = ()) -> Prepared:
    """Imports a configuration in JSON."""
    return Prepared(Graph.from_importer("hf", config.encode(), backend=backend, ignore_keys=ignore_keys))


def plain(value: Any) -> Any:
    """An option of transformers as JSON has it: enumerations, sizes and numbers of NumPy."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "value") and hasattr(value, "name"):  # an enumeration
        return plain(value.value)
    if hasattr(value, "__dataclass_fields__"):  # SizeDict
        return {k: plain(getattr(value, k)) for k in value.__dataclass_fields__ if getattr(value, k) is not None}
    return value


class ImageProcessor:
    """An image processor of Hugging Face's preprocessor_config.json.

        processor = ImageProcessor("model/")                            # a folder, the file, or a dict
        inputs = processor(images, size={"height": 384, "width": 384})  # a dict of arrays

    A call takes what transformers takes: an image or a list of images; arrays and CPU tensors of uint8, (H, W),
    (H, W, C) or (C, H, W), or with four axes a batch; images of Pillow in any mode if do_convert_rgb is on, else in
    mode RGB; and encoded images as bytes. It returns the bytes that transformers 5.23.0 returns. Floats are a
    TypeError: the graphs are exact for 8 bits.

    backend is "torchvision" (the default of transformers) or "pil". An ImageProcessor is safe for use by several
    threads, and can be pickled.
    """

    def __init__(self, config: Path | dict[str, Any], *, backend: str | None = None, ignore_keys: Sequence[str] = ()) -> None:
        self.config = config if isinstance(config, dict) else read(path_of("ImageProcessor", config))
        self._backend, self._ignore = backend, tuple(ignore_keys)
        self._cache = Cache(prepare)
        self._cache.get(json.dumps(self.config), backend, self._ignore)

    def graph(self, **options: Any) -> Graph:
        """The graph with options in place of the configuration's."""
        return self._prepared(options).graph

    def _prepared(self, options: dict[str, Any]) -> Prepared:
        for k, v in options.items():
            if v is None:
                raise ValueError(f"infer_prep: ImageProcessor: {k} is None: leave it out, or give it a value")
        p: Prepared = self._cache.get(json.dumps(self.config | {k: plain(v) for k, v in options.items()}), self._backend, self._ignore)
        return p

    def __call__(self, images: Any, *, return_tensors: str | None = "np", input_data_format: Any = None, **options: Any) -> dict[str, Any]:
        """Processes images: a batch, also of a single image.

        Options are keys of the configuration (size, crop_size, resample, do_resize, do_rescale, rescale_factor,
        do_normalize, image_mean, image_std, do_center_crop, do_convert_rgb and those of the class): a call with options
        is a call of a processor whose file has these values. The graphs of the last 16 combinations are kept.

        return_tensors is "np", "pt" for tensors of torch that share the arrays' memory, or None for lists with one
        array for each image, before any padding.
        """
        if return_tensors not in ("np", "pt", None):
            raise ValueError(f"infer_prep: ImageProcessor: return_tensors {return_tensors!r}: want 'np', 'pt' or None")
        p = self._prepared(options)
        l = p.images(flat(images), input_data_format)
        if return_tensors is None:
            each = [p.graph.run(i, input_data_format=_images.LAST, as_dict=True) for i in l]
            return {c.name: [e[c.name] for e in each] for c in p.graph.columns}
        out = p.graph.run_batch(l, input_data_format=_images.LAST, as_dict=True)
        return out if return_tensors == "np" else tensors(p.graph, out)

    def __repr__(self) -> str:
        return f"<infer_prep.ImageProcessor {self.graph().reference}>"

    def __reduce__(self) -> Any:
        return _restored, (self.config, self._backend, self._ignore)


def _restored(config: dict[str, Any], backend: str | None, ignore_keys: tuple[str, ...]) -> ImageProcessor:
    return ImageProcessor(config, backend=backend, ignore_keys=ignore_keys)


def tensors(graph: Graph, out: dict[str, Array]) -> dict[str, Any]:
    """The outputs as tensors of torch, without a copy."""
    import torch  # type: ignore[import-not-found, unused-ignore]

    dtypes = {c.name: c.dtype for c in graph.columns}
    return {k: torch.from_numpy(a).view(torch.bfloat16) if dtypes.get(k) == "bfloat16" else torch.from_numpy(a) for k, a in out.items()}


def flat(images: Any) -> list[Any]:
    """The images of a list, a list of lists, an array of four axes, or one image, as make_flat_list_of_images finds them."""
    if isinstance(images, (list, tuple)):
        if images and all(isinstance(i, (list, tuple)) for i in images):
            images = [i for l in images for i in l]
        elif any(isinstance(i, (list, tuple)) for i in images):
            raise TypeError("infer_prep: got a list of images and of lists: want one of both")
        return [i for image in images for i in (list(image) if getattr(image, "ndim", 0) == 4 else [image])]
    return list(images) if getattr(images, "ndim", 0) == 4 else [images]


def read(path: str) -> dict[str, Any]:
    """The configuration of a file, or of a model's folder: that of processor_config.json before preprocessor_config.json."""
    if os.path.isdir(path):
        files = [os.path.join(path, name) for name in ("processor_config.json", "preprocessor_config.json")]
    else:
        files = [path]
    config: dict[str, Any] = {}
    for file in files:
        if file != files[-1] and not os.path.exists(file):
            continue
        with open(file, encoding="utf-8") as f:
            config = json.load(f)
        if not isinstance(config, dict):
            raise ValueError(f"infer_prep: ImageProcessor: {file}: want an object in JSON")
        nested = config.get("image_processor")
        if isinstance(nested, dict):
            return nested
    return config
