"""Data graphs: an encoded image, or a sound, to a model's input."""

from __future__ import annotations

import json
import operator
import os
import weakref
from ctypes import byref, c_void_p
from typing import Any, Callable, Iterable, Literal, NamedTuple, Sequence, Union, overload

import numpy as np

from . import _images, _native
from ._errors import InferPrepError
from ._native import Array

Path = Union[str, "os.PathLike[str]"]
Image = Any  # a buffer, for which typing has no name before 3.12, an array, a tensor, or an image of Pillow


class Column(NamedTuple):
    """An output of a graph, or a column of a pipeline. A size of -1 depends on
    the data. dtype is NumPy's name, or "bfloat16" (bits in uint16), or "bytes" (a
    list of uint8). batch is the rule of a batch: "stack", "pad" to the largest,
    "concat" along the first axis, or "single", which has batches of one image only."""

    name: str
    dtype: str
    layout: str
    shape: tuple[int, ...]
    batch: str = "stack"


class Written(NamedTuple):
    """What became of the inputs of Graph.write. first is the error of the first image that failed, or ""."""

    done: int
    failed: int
    skipped: int
    present: int
    dropped: int
    first: str


# The longest time in milliseconds that a call of the library waits for a run.
WAIT = 100


def columns(info: dict[str, Any]) -> tuple[Column, ...]:
    return tuple(Column(c["name"], c["dtype"], c["layout"], tuple(c["shape"]), c["batch"]) for c in info["columns"])


class Graph:
    """A data graph, which turns an image or a sound into a model's input.

    A Graph is safe for use by several threads; run releases the GIL. It can be
    pickled, also for processes that are spawned.
    """

    def __init__(self, source: dict[str, Any], content: bytes) -> None:
        """Opens a graph; use the class methods from_... instead."""
        if not isinstance(source, dict):
            raise TypeError(f"infer_prep: Graph: got {type(source).__name__}; want a class method: Graph.from_json, from_preset, from_hf, from_importer or from_bundle")
        if "path" in source and "://" not in source["path"]:
            os.stat(source["path"])  # a missing file is Python's FileNotFoundError
        info, error = c_void_p(), c_void_p()
        lib = _native.lib()
        opened = source | {"device": _native.device(source.get("device", ""))}
        handle = lib.ip_graph_open(json.dumps(opened).encode(), content, len(content), byref(info), byref(error))
        _native.check(error)
        d = json.loads(_native.text(info))
        self.columns = columns(d)
        self.reference: str = d["reference"]
        self._on = source.get("device", ""), source.get("least", "")
        self._handle = handle
        self._finish = weakref.finalize(self, _native.close, handle)

    @classmethod
    def open(cls, name: Path, *, backend: str | None = None, decoder: str | None = None, ignore_keys: Sequence[str] = ()) -> "Graph":
        """Opens a model's preprocessing, whatever it is.

        name is a model's folder, a file of an importer (preprocessor_config.json,
        config.json, printed transforms, metadata.yaml, a TFLite, ONNX or MindIR model),
        a bundle, a graph, or "preset:imagenet". The content says which. backend,
        decoder and ignore_keys are those of from_importer.
        """
        return cls._imported("", name, backend, decoder, ignore_keys)

    @classmethod
    def from_json(cls, graph: Path | dict[str, Any] | bytes) -> "Graph":
        """Opens a data graph: a file in JSON or msgp, or its content as a dict or as bytes."""
        source: dict[str, Any] = {"kind": "graph"}
        if isinstance(graph, dict):
            return cls(source, json.dumps(graph).encode())
        if isinstance(graph, bytes):
            return cls(source, graph)
        return cls(source | {"path": path_of("Graph.from_json", graph)}, b"")

    @classmethod
    def from_ops(cls, *ops: str | tuple[str, dict[str, Any]]) -> "Graph":
        """Makes a graph of ops that run one after another on an encoded image.

            Graph.from_ops("decode", ("random_resized_crop", {"height": 96, "width": 96}), "to_tensor")

        An op is its name, or its name and its parameters; those that are left out have
        their defaults. docs/ops.md of the project describes all ops.
        """
        return cls({"kind": "ops"}, json.dumps([(op, {}) if isinstance(op, str) else op for op in ops]).encode())

    @classmethod
    def from_preset(cls, name: str) -> "Graph":
        """Opens a preset: "imagenet", "clip", "yolo" or another that `infer-prep run --help` lists."""
        return cls({"kind": "preset"}, _native.string("Graph.from_preset", name))

    @classmethod
    def from_bundle(cls, path: Path) -> "Graph":
        """Opens the graph of a bundle."""
        return cls({"kind": "bundle", "path": path_of("Graph.from_bundle", path)}, b"")

    @classmethod
    def from_hf(cls, source: Path | dict[str, Any], *, backend: str | None = None, decoder: str | None = None, ignore_keys: Sequence[str] = ()) -> "Graph":
        """Imports a preprocessor_config.json: its path, a model's folder, or its content as a dict.

        backend is "torchvision" (the default of transformers) or "pil". decoder is the
        program that reads image files: "pillow" (the default), "load_image",
        "torchcodec", "vllm" or "sglang" (docs/graphs.md of the project). Keys of the
        file in ignore_keys may be unknown to the importer.
        """
        return cls._imported("hf", source, backend, decoder, ignore_keys)

    @classmethod
    def from_importer(cls, name: str, source: Path | dict[str, Any] | bytes, *, backend: str | None = None, decoder: str | None = None, ignore_keys: Sequence[str] = ()) -> "Graph":
        """Imports the preprocessing of another ecosystem: a file, or its content.

        name is an importer of `infer-prep importers`: "torchvision", "timm", "keras",
        "onnx" and others.
        """
        _native.string("Graph.from_importer", name)
        return cls._imported(name, source, backend, decoder, ignore_keys)

    @classmethod
    def _imported(cls, name: str, source: Path | dict[str, Any] | bytes, backend: str | None, decoder: str | None, ignore_keys: Sequence[str]) -> "Graph":
        options = {"kind": name, "backend": backend or "", "decoder": decoder or "", "ignore_keys": list(ignore_keys)}
        if isinstance(source, dict):
            return cls(options, json.dumps(source).encode())
        if isinstance(source, bytes):
            return cls(options, source)
        return cls(options | {"path": path_of("Graph.from_importer" if name else "Graph.open", source)}, b"")

    def on(self, device: str, *, least: str = "exact") -> "Graph":
        """The same graph on a device: "ort:cpu", "ort:cuda" or another of ONNX Runtime.

        The device runs the last steps that it can run, and the host all others.
        least is the worst class of a step to accept: "exact" (equal bytes),
        "within1" or "approximate". The library is that of the Python package
        onnxruntime, if it is installed. docs/python.md has the rules.
        """
        return Graph({"kind": "graph", "device": device, "least": least}, json.dumps(self.to_json()).encode())

    def to_json(self) -> dict[str, Any]:
        """The graph as a dict, which from_json opens."""
        error = c_void_p()
        p = _native.lib().ip_graph_json(self._live(), byref(error))
        _native.check(error)
        d: dict[str, Any] = json.loads(_native.text(p))
        return d

    def sizes(self, height: int, width: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the outputs by name for an image of a height and a width in
        pixels, each 1 to 16777216, as decoded. It needs no image and decodes nothing. A
        size of -1 depends on the pixels. If the graph refuses the image's size, sizes
        raises an InferPrepError.
        """
        height, width = operator.index(height), operator.index(width)
        if not (1 <= height <= 1 << 24 and 1 <= width <= 1 << 24):
            raise ValueError(f"infer_prep: sizes: {height} x {width}, want sides of 1 to 16777216 pixels")
        out = _native.tensors(len(self.columns))
        error = c_void_p()
        _native.lib().ip_graph_sizes(self._live(), height, width, out, byref(error))
        if error.value:
            _native.check(error)
        return {c.name: tuple(t.shape[: t.rank]) for c, t in zip(self.columns, out)}

    @overload
    def run(self, image: Image, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: Literal[True]) -> dict[str, Array]: ...

    @overload
    def run(self, image: Image, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: Literal[False]) -> Array: ...

    @overload
    def run(self, image: Image, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: None = None) -> Array | dict[str, Array]: ...

    def run(self, image: Image, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: bool | None = None) -> Array | dict[str, Array]:
        """Runs the graph on an image or a sound: a JPEG, PNG, GIF, BMP, TIFF, WebP, PNM, QOI, TGA or ICO file, or pixels.

        A file is bytes or another buffer of bytes with one axis. Pixels are an array or
        a CPU tensor (DLPack) of uint8: (H, W), (H, W, C) or (C, H, W), in RGB and not in
        OpenCV's BGR, or an image of Pillow in the mode L, LA, RGB or RGBA. They are
        upright: an orientation of EXIF is the caller's. The graph treats them as a PNG
        file of the same pixels. It reads arrays and tensors where they lie, with any
        strides; they must not change until run returns.

        input_data_format is "channels_first" or "channels_last". By default transformers'
        rule decides: the channels are the first axis if it has 1, 3 or 4 elements, else
        the last. If both axes have, there is a warning.

        A graph of sounds takes a WAV or FLAC file as bytes, or samples with their
        sampling_rate in Hz: an array or a CPU tensor of float32, usually -1 to 1, or of
        int16, which is divided by 32768. The axes are (samples) or (channels, samples).
        The samples are copied. Another rate than the graph's is an InferPrepError:
        nothing resamples unasked.

        Returns the array of the only output, or a dict of all outputs by name. With
        as_dict=True it is always a dict, and with as_dict=False always the array, or a
        ValueError if there are several outputs: type checkers know which. The arrays are memory of the library, without a copy; it is reused when no array
        refers to it. They have no axis for a batch.
        """
        i = _native.Image()
        keep = _images.fill(i, image, input_data_format, sampling_rate)
        return self._lent(lambda out, error: _native.lib().ip_graph_run(self._live(), byref(i), out, byref(error)), keep, as_dict)

    @overload
    def run_batch(self, images: Sequence[Image] | Array, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: Literal[True]) -> dict[str, Array]: ...

    @overload
    def run_batch(self, images: Sequence[Image] | Array, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: Literal[False]) -> Array: ...

    @overload
    def run_batch(self, images: Sequence[Image] | Array, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: None = None) -> Array | dict[str, Array]: ...

    def run_batch(self, images: Sequence[Image] | Array, *, input_data_format: str | None = None, sampling_rate: int | None = None, as_dict: bool | None = None) -> Array | dict[str, Array]:
        """Runs the graph on a list of images, each as in run, or on an array or a tensor of four axes.

        With sampling_rate it is a list of sounds, whose samples all have this rate.

        Returns what run returns, with the batch that the reference makes of the images:
        an axis in front, patches of all images in a row, or padding to the largest; the
        attribute batch of columns says which. All processors are used. An image that
        fails is an InferPrepError that names its place in the list; so are images whose
        outputs make no batch.
        """
        l, n, keep = _images.images(images, input_data_format, sampling_rate)
        return self._lent(lambda out, error: _native.lib().ip_graph_run_batch(self._live(), l, n, out, byref(error)), keep, as_dict)

    def _lent(self, run: Callable[[Any, c_void_p], int], keep: Any, as_dict: bool | None) -> Array | dict[str, Array]:
        """The outputs of a call that lends them; keep is what the call reads."""
        if as_dict is False and len(self.columns) != 1:
            raise ValueError(f"infer_prep: as_dict=False: the graph has the outputs {[c.name for c in self.columns]}, want one")
        out = _native.tensors(len(self.columns))
        error = c_void_p()
        info = _native.BatchInfo()
        lease = _native.Lease(info)
        info.lease = run(out, error)
        del keep
        if error.value:
            _native.check(error)
        if len(self.columns) == 1 and not as_dict:
            return _native.array(out[0], lease)
        return {c.name: _native.array(t, lease) for c, t in zip(self.columns, out)}

    def run_into(self, image: Image, out: Array | dict[str, Array], *, input_data_format: str | None = None, sampling_rate: int | None = None) -> None:
        """Runs the graph on an image, as run does, and writes the output to an array.

        out is an array of the output's dtype and shape, contiguous and writable; for
        several outputs it is a dict of them. An array of another shape is an error. Its
        contents are undefined after an error.
        """
        given = out if isinstance(out, dict) else {self.columns[0].name: out} if len(self.columns) == 1 else {}
        if given.keys() != {c.name for c in self.columns}:
            raise ValueError(f"infer_prep: run_into: got {list(given) or 'one array'}, want a dict with arrays for {[c.name for c in self.columns]}")
        into = _native.tensors(len(self.columns))
        for c, t in zip(self.columns, into):
            a = given[c.name]
            want = _native.NUMPY[c.dtype]
            if not isinstance(a, np.ndarray):
                raise TypeError(f"infer_prep: run_into: {c.name} is {type(a).__name__}, want a NumPy array of {want} {c.shape}")
            if a.dtype.hasobject:
                raise TypeError(f"infer_prep: run_into: {c.name} is an array of {a.dtype}, want one of {want} {c.shape}")
            if a.dtype != want or a.ndim != len(c.shape) or not (a.flags.c_contiguous and a.flags.writeable and a.flags.aligned):
                raise ValueError(f"infer_prep: run_into: {c.name} is {a.dtype} {a.shape}, want a contiguous writable array of {want} {c.shape}")
            if any(have != n for have, n in zip(a.shape, c.shape) if n >= 0):
                raise ValueError(f"infer_prep: run_into: {c.name} has the shape {a.shape}, want {c.shape}")
            t.data, t.bytes = a.ctypes.data, a.nbytes
        i = _native.Image()
        keep = _images.fill(i, image, input_data_format, sampling_rate)
        error = c_void_p()
        _native.lib().ip_graph_run_into(self._live(), byref(i), into, len(self.columns), byref(error))
        del keep
        _native.check(error)
        for c, t in zip(self.columns, into):
            if tuple(t.shape[: t.rank]) != given[c.name].shape:
                raise ValueError(f"infer_prep: run_into: {c.name} has the shape {given[c.name].shape}, this image's output has {tuple(t.shape[: t.rank])}")

    def write(self, inputs: Path | Iterable[Path], out: Path, *, format: str = "npy", batch_size: int = 0, last_batch: str = "short",
              existing: str | None = None, report: Path | None = None, force: bool = False) -> Written:
        """Runs the graph on many images and writes the tensors to a folder, as `infer-prep run` does.

        inputs are paths or URIs of images, folders, tar and record files, and globs. out
        is a folder, or its URI, which is created. format is "npy", "npz", "safetensors"
        or another that `infer-prep run --help` lists; "webdataset", "recordio" and
        "tfrecord" write shards. batch_size joins the tensors of so many images; the last
        batch is "short", is "pad"-ded or "drop"-ped. existing skips images that have their
        outputs, by "name" or by "content": so an interrupted run goes on. report is a
        file with a JSON object for each input. force removes batches and shards of an
        earlier run.

        Returns what became of the inputs; images that failed are counted. All processors
        are used, without the GIL. Ctrl-C finishes the images that were begun.
        """
        names = list(inputs) if isinstance(inputs, Iterable) and not isinstance(inputs, (str, bytes)) else [inputs]
        options: dict[str, Any] = {
            "inputs": [path_of("Graph.write", p) for p in names], "out": path_of("Graph.write", out), "format": format, "batch_size": batch_size,
            "last_batch": last_batch, "existing": existing or "", "report": path_of("Graph.write", report) if report is not None else "", "force": force,
        }
        error, summary = c_void_p(), c_void_p()
        lib = _native.lib()
        run = lib.ip_graph_write(self._live(), json.dumps(options).encode(), byref(error))
        _native.check(error)
        try:
            while lib.ip_write_wait(run, WAIT, byref(summary), byref(error)) == 2:
                pass
            _native.check(error)
            return Written(**json.loads(_native.text(summary)))
        finally:
            _native.close(run)

    def close(self) -> None:
        """Releases the memory. Arrays of run stay valid. A second close does nothing."""
        self._finish()

    def _live(self) -> int:
        if not self._finish.alive:
            raise InferPrepError("infer_prep: the graph is closed", "closed")
        return int(self._handle)

    def __repr__(self) -> str:
        return f"<infer_prep.Graph {', '.join(f'{c.name}: {c.dtype} {c.shape}' for c in self.columns)}>"

    def __reduce__(self) -> tuple[Callable[..., "Graph"], tuple[dict[str, Any], bytes]]:
        device, least = self._on
        return Graph, ({"kind": "graph", "device": device, "least": least}, json.dumps(self.to_json()).encode())


def path_of(what: str, p: Path) -> str:
    """A path as a string, or a TypeError."""
    try:
        s = os.fspath(p)
    except TypeError:
        raise TypeError(f"infer_prep: {what}: got {type(p).__name__}, want a path, a dict or bytes") from None
    if not isinstance(s, str):
        raise TypeError(f"infer_prep: {what}: the path {s!r} is bytes, want a string")
    if s.lstrip().startswith("{"):
        raise ValueError(f"infer_prep: {what}: {s[:40]!r} is JSON, want a path; pass its content as bytes or as a dict")
    return s
