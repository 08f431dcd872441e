"""Loads the shared library and calls it. python/lib/main.go has the same
declarations in Go."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import sys
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import ForkError, InferPrepError

ABI = 7
MAX_RANK = 8
MAX_OUTPUTS = 16  # of a video processor
Array = npt.NDArray[Any]


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_int64), ("shape", c_int64 * MAX_RANK), ("dtype", c_int32), ("rank", c_int32)]


class Image(Structure):
    """An encoded image of bytes bytes, or pixels if height is not 0; strides are in bytes."""

    _fields_ = [("data", c_void_p), ("bytes", c_int64), ("height", c_int64), ("width", c_int64), ("channels", c_int64),
                ("row", c_int64), ("pixel", c_int64), ("sample", c_int64)]


class Video(Structure):
    """A video of frames, which lie elsewhere; a rate or a duration of 0 is unknown."""

    _fields_ = [("fps", c_double), ("duration", c_double), ("frames", c_int32)]


class BatchInfo(Structure):
    _fields_ = [("lease", c_int64), ("epoch", c_int64), ("step", c_int64), ("key", c_void_p), ("tensors", c_int32), ("notes", c_int32)]


# The element types in the order of package tensor. NumPy has no bfloat16: its
# bits are uint16. Bytes are a list of uint8.
DTYPES: tuple[tuple[str, str], ...] = (
    ("", ""), ("uint8", "|u1"), ("int8", "|i1"), ("uint16", "<u2"), ("int16", "<i2"), ("int32", "<i4"), ("int64", "<i8"),
    ("float16", "<f2"), ("bfloat16", "<u2"), ("float32", "<f4"), ("float64", "<f8"), ("bool", "|b1"), ("bytes", "|u1"),
)
NUMPY = {name: np.dtype(s) for name, s in DTYPES if name}

ERROR = POINTER(c_void_p)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ip_abi": (c_int32, []),
    "ip_free": (None, [c_void_p]),
    "ip_graph_open": (c_int64, [c_char_p, c_char_p, c_int64, ERROR, ERROR]),
    "ip_graph_json": (c_void_p, [c_int64, ERROR]),
    "ip_graph_run": (c_int64, [c_int64, POINTER(Image), POINTER(Tensor), ERROR]),
    "ip_graph_run_batch": (c_int64, [c_int64, POINTER(Image), c_int32, POINTER(Tensor), ERROR]),
    "ip_graph_run_into": (c_int32, [c_int64, POINTER(Image), POINTER(Tensor), c_int32, ERROR]),
    "ip_video_config": (c_void_p, [c_char_p, ERROR]),
    "ip_video_open": (c_int64, [c_char_p, c_int64, ERROR]),
    "ip_video_run": (c_int64, [c_int64, POINTER(Image), POINTER(Video), c_int32, POINTER(Tensor), ERROR, ERROR]),
    "ip_graph_sizes": (c_int32, [c_int64, c_int64, c_int64, POINTER(Tensor), ERROR]),
    "ip_graph_write": (c_int64, [c_int64, c_char_p, ERROR]),
    "ip_write_wait": (c_int32, [c_int64, c_int64, ERROR, ERROR]),
    "ip_release": (None, [c_int64]),
    "ip_node": (c_void_p, [c_char_p, c_char_p, ERROR]),
    "ip_pipeline_open": (c_int64, [c_char_p, c_int64, c_char_p, ERROR, ERROR]),
    "ip_pipeline_next": (c_int32, [c_int64, c_int64, POINTER(BatchInfo), POINTER(Tensor), ERROR]),
    "ip_pipeline_answer": (c_int32, [c_int64, c_int32, ERROR]),
    "ip_pipeline_next_epoch": (c_int32, [c_int64, ERROR]),
    "ip_pipeline_state": (c_int32, [c_int64, c_int32, ERROR, POINTER(c_int64), ERROR]),
    "ip_pipeline_restore": (c_int32, [c_int64, c_char_p, c_int64, ERROR]),
    "ip_pipeline_stats": (c_int32, [c_int64, ERROR, ERROR]),
    "ip_pipeline_notes": (c_int32, [c_int64, ERROR, ERROR]),
    "ip_pipeline_weights": (c_int32, [c_int64, c_char_p, c_char_p, ERROR, ERROR]),
    "ip_pipeline_give": (c_int32, [c_int64, c_char_p, c_int64, ERROR]),
    "ip_call_next": (c_int32, [c_int64, c_int32, c_void_p]),
    "ip_call_values": (None, [c_int64, POINTER(Tensor)]),
    "ip_call_return": (None, [c_int64, c_int64, c_int32, POINTER(Tensor), c_int32]),
    "ip_call_raise": (None, [c_int64, c_int64, c_char_p]),
    "ip_close": (c_int32, [c_int64, ERROR]),
}

_lock = threading.Lock()
_lib: ctypes.CDLL | None = None
_loaded_in = 0  # the process that loaded the library
_forked = False  # this process is a fork of that one


def _after_fork() -> None:
    global _forked, _lock
    _lock = threading.Lock()  # another thread may have held it
    if _lib is not None:
        _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _name() -> str:
    if sys.platform == "win32":
        return "libinferprep.dll"
    return "libinferprep.dylib" if sys.platform == "darwin" else "libinferprep.so"


def usable() -> bool:
    """Whether the library is loaded and may be called in this process."""
    return _lib is not None and not _forked


def lib() -> Any:
    """The library, which the first call loads."""
    if _lib is not None and not _forked:
        return _lib
    return _load()


def _load() -> ctypes.CDLL:
    global _lib, _loaded_in
    with _lock:
        if _forked:
            raise ForkError(
                f"infer_prep: process {os.getpid()} was forked after process {_loaded_in} had loaded the library, and Go's threads do not "
                'survive fork: start processes with "spawn" (multiprocessing.get_context("spawn"), or '
                'DataLoader(..., multiprocessing_context="spawn")), or make no Graph or Pipeline before the fork', "fork")
        if _lib is None:
            path = os.path.join(os.path.dirname(os.path.abspath(__file__)), _name())
            try:
                loaded = ctypes.CDLL(path)
            except OSError as e:
                raise InferPrepError(f"infer_prep: load {path}: {e}; want a wheel for this platform (docs/python.md lists them)", "io") from None
            for name, (result, arguments) in _SIGNATURES.items():
                f = getattr(loaded, name)
                f.restype, f.argtypes = result, arguments
            abi = loaded.ip_abi()
            if abi != ABI:
                raise InferPrepError(f"infer_prep: load {path}: the library has interface {abi}, want {ABI}: install the package again", "version")
            _lib, _loaded_in = loaded, os.getpid()
    return _lib


def text(p: Any) -> str:
    """The text at an address that a function returned, which it frees."""
    b = ctypes.string_at(p)
    lib().ip_free(p)
    return b.decode("utf-8", "replace")


def string(what: str, value: Any) -> bytes:
    """A string for the library, or a TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"infer_prep: {what}: got {type(value).__name__}, want a string")
    return value.encode()


def check(error: c_void_p) -> None:
    """Raises the error of a call, if there is one."""
    if error.value:
        e = json.loads(text(error))
        raised = InferPrepError(e["error"], e["code"])
        raised._call = e.get("call", 0)
        raise raised


def close(handle: int) -> None:
    """Closes a graph, a pipeline or a run, unless this process may not call the library."""
    if not usable():
        return
    error = c_void_p()
    lib().ip_close(handle, byref(error))
    check(error)


class Lease:
    """Memory of the library that is lent until nobody refers to the Lease.

    It is made before the call that lends, so that no exception comes between.
    """

    __slots__ = ("__weakref__", "_info")

    def __init__(self, info: BatchInfo) -> None:
        self._info = info

    def __del__(self, usable: Any = usable, lib: Any = lib) -> None:
        if self._info.lease and usable():
            lib().ip_free(self._info.key)
            lib().ip_release(self._info.lease)


class _View:
    """What NumPy makes an array of; the array keeps it, and it keeps the lease."""

    __slots__ = ("__array_interface__", "_lease")

    def __init__(self, interface: dict[str, Any], lease: Lease) -> None:
        self.__array_interface__ = interface
        self._lease = lease


def array(t: Tensor, lease: Lease) -> Array:
    """The array of a lent tensor, without a copy."""
    shape = tuple(t.shape[: t.rank])
    kind = DTYPES[t.dtype][1]
    if not t.data:  # no elements
        return np.empty(shape, kind)
    return np.asarray(_View({"version": 3, "shape": shape, "typestr": kind, "data": (t.data, False)}, lease))


def device(spec: str) -> str:
    """A device's name and options, with the library of the Python package
    onnxruntime for a device of ONNX Runtime that names no library."""
    if not isinstance(spec, str):
        raise TypeError(f"infer_prep: device {spec!r}: want a name such as 'ort:cpu'")
    if spec == "cpu":  # the host
        return ""
    if not spec.startswith("ort:") or any(o.startswith("lib=") for o in spec.split(",")[1:]) or os.environ.get("INFER_PREP_ORT"):
        return spec
    found = importlib.util.find_spec("onnxruntime")  # imports nothing
    folders = found.submodule_search_locations if found is not None else None
    for folder in folders or ():
        capi = os.path.join(folder, "capi")
        if os.path.isdir(capi) and "," not in capi:
            return f"{spec},lib={capi}"
    return spec


def tensors(n: int) -> ctypes.Array[Tensor]:
    """Room for the descriptions of n tensors."""
    return (Tensor * n)()
