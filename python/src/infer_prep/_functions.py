"""Functions of Python in datasets: what calls them, and what they get and return."""

from __future__ import annotations

import collections
import inspect
import threading
import weakref
from ctypes import Structure, byref, c_int32, c_int64, c_uint64, c_void_p, string_at
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from . import _native
from ._errors import InferPrepError
from ._native import Array

# The kinds of a call; python/internal/binding/calls.go has them in Go.
SAMPLE, START, NEXT, STOP = range(4)
METHODS = {4: "epoch_begin", 5: "epoch_end", 6: "step_begin", 7: "step_end"}

# What a column is: a dtype such as "uint8" or numpy.float32, or a tuple of a
# dtype, a shape, whose unknown sizes are -1, and a layout such as "HWC".
Columns = Mapping[str, Any]


class CallInfo(Structure):
    _fields_ = [("id", c_int64), ("lease", c_int64), ("epoch", c_int64), ("ordinal", c_uint64), ("seed", c_uint64), ("reader", c_int64),
                ("key", c_void_p), ("function", c_int32), ("kind", c_int32), ("samples", c_int32), ("tensors", c_int32), ("more", c_int32)]


class Call(NamedTuple):
    """The call of a function, for one that has a parameter named `call`."""

    seed: int
    """A random number of this sample: `numpy.random.default_rng(call.seed)`. A resumed run has the same."""
    epoch: int
    """The pass over the source, from 0."""
    ordinal: int
    """The place of the sample in the order of the epoch, from 0; of a batch that of its first sample."""
    key: str
    """The name of the sample, or of the first one of a batch."""


class Progress(NamedTuple):
    """Where a run is at a callback."""

    epoch: int
    """From 0."""
    step: int
    """Of the epoch, from 1; 0 in epoch_begin, and in epoch_end the number of steps."""
    answer: Any
    """In step_begin of a waited callback, what Pipeline.give gave; None at the first step."""
    pipeline: Any
    """The Pipeline, for set_weights."""


class Callback:
    """Base class of callbacks for Dataset.watch. Override the methods that you need; the others are not called.

    Each method is called at the callback's place in the definition, ahead of the
    loop if the callback is not waited. An exception ends the run.
    """

    def epoch_begin(self, at: Progress) -> None:
        """Is called before the first sample of an epoch is made."""

    def epoch_end(self, at: Progress) -> None:
        """Is called after the last sample of an epoch."""

    def step_begin(self, at: Progress) -> None:
        """Is called before a sample or batch is made."""

    def step_end(self, at: Progress) -> None:
        """Is called after a sample or batch was made."""


class Function:
    """A function, sequence, generator or callback in a definition."""

    def __init__(self, what: str, f: Any, name: str | None, version: int, columns: Columns = {}, inputs: Sequence[str] = ()) -> None:
        if name is None:
            name = getattr(f, "__name__", None) or type(f).__name__
            if name == "<lambda>":
                raise ValueError(f"infer_prep: {what}: a lambda has no name for the state: pass name=")
        if isinstance(version, bool) or not isinstance(version, int) or version < 0:
            raise ValueError(f"infer_prep: {what}: version {version!r}, want a whole number from 0")
        self.f, self.label, self.version = f, _native.string(what + ": name", name).decode(), version
        self.name = f"python:{self.label}@{version}"
        """The name in definitions."""
        self.waited = self.sequence = False
        self.columns, self.inputs = described(what, columns), list(inputs)
        self.takes = frozenset[str]()
        if callable(f):
            try:
                self.takes = frozenset(inspect.signature(f).parameters)
            except (TypeError, ValueError):  # some functions of C have no signature
                pass

    def describe(self) -> dict[str, Any]:
        """The binding.Function."""
        d: dict[str, Any] = {"name": self.name, "columns": self.columns, "in": self.inputs}
        if isinstance(self.f, Callback):
            d["methods"] = [m for m in METHODS.values() if getattr(type(self.f), m) is not getattr(Callback, m)]
        elif self.sequence:
            d["len"] = len(self.f)
        return d


def described(what: str, columns: Columns) -> list[dict[str, Any]]:
    """The columns of a function in their JSON form."""
    if not isinstance(columns, Mapping):
        raise TypeError(f"infer_prep: {what}: the columns are {type(columns).__name__}, want a dict such as {{'image': ('uint8', (224, 224, 3))}}")
    out = []
    for name, spec in columns.items():
        dtype, shape, layout = ((*spec, (), "none")[:3] if len(spec) < 2 else (*spec, "none")[:3]) if isinstance(spec, tuple) else (spec, (), "none")
        if dtype is bytes:
            dtype = "bytes"
        if isinstance(shape, int):
            shape = (shape,)
        if dtype not in ("bytes", "bfloat16", None):
            try:
                dtype = np.dtype(dtype).name
            except TypeError:
                dtype = str(dtype)
        if dtype not in _native.NUMPY:
            raise ValueError(f"infer_prep: {what}: column {name!r}: dtype {dtype!r}, want one of {list(_native.NUMPY)}")
        sizes = [-1 if n is None else int(n) for n in shape]
        out.append({"name": name, "dtype": dtype, "layout": layout, "shape": sizes})
    return out


def value(what: str, x: Any, dtype: str | None) -> tuple[Array, str]:
    """The array in C order of a value that a function returned, and its dtype."""
    if dtype == "bytes":
        if isinstance(x, np.ndarray):
            if x.dtype != np.uint8:
                raise TypeError(f"infer_prep: {what} returned an array of {x.dtype}, want bytes")
            return np.ascontiguousarray(x), "bytes"
        m = memoryview(x.encode() if isinstance(x, str) else x)
        return np.frombuffer(m, np.uint8) if m.nbytes else np.empty(0, np.uint8), "bytes"
    if dtype is not None and not hasattr(x, "dtype"):  # a number or a list, which has no dtype of its own
        a = np.asarray(x)
        want = _native.NUMPY[dtype]
        if a.dtype != want and a.dtype.kind in "biuf" and "biuf".index(a.dtype.kind) <= "biuf".index(want.kind):
            given, a = a, a.astype(want)
            if want.kind in "iu" and np.any(a != given):
                raise OverflowError(f"infer_prep: {what} returned {x}, want numbers of {dtype}")
    else:
        a = np.asarray(x)
    if dtype == "bfloat16" and a.dtype == np.uint16:
        return np.asarray(a, order="C"), dtype
    name = a.dtype.name
    if name not in _native.NUMPY or name == "bytes":
        raise TypeError(f"infer_prep: {what} returned {type(x).__name__} of {a.dtype}, want numbers{f' of {dtype}' if dtype else ''}")
    return np.asarray(a, a.dtype.newbyteorder("<"), order="C"), name


def row(f: Function, x: Any) -> list[Any]:
    """The values of the columns in a sample that a function returned."""
    names = [c["name"] for c in f.columns]
    if isinstance(x, Mapping):
        if set(x) != set(names):
            raise ValueError(f"infer_prep: {f.label} returned the columns {list(x)}, want {names}")
        return [x[n] for n in names]
    if isinstance(x, tuple):
        if len(x) != len(names):
            raise ValueError(f"infer_prep: {f.label} returned {len(x)} values, want {len(names)}: {names}")
        return list(x)
    if len(names) != 1:
        raise ValueError(f"infer_prep: {f.label} returned {type(x).__name__}, want a dict or a tuple of {names}")
    return [x]


_thread = threading.local()


def calling() -> Any:
    """The handle of the pipeline whose function this thread is in; None outside."""
    return getattr(_thread, "handle", None)


class Caller:
    """Calls the functions of a pipeline, on threads of its own."""

    def __init__(self, pipeline: Any, handle: int, functions: list[Function], keep: int | None) -> None:
        self.functions = functions
        self.handle = handle
        self.pipeline = weakref.ref(pipeline)
        self.lock = threading.Lock()
        self.raised: collections.OrderedDict[int, BaseException] = collections.OrderedDict()
        self.keep = keep  # so many exceptions at most
        self.readers: dict[int, tuple[threading.Lock, Any]] = {}
        self.answers: dict[int, Any] = {}
        self.given = 0

    def start(self) -> None:
        """Starts a thread that waits for calls. It does not keep the Caller, so that a pipeline can be dropped."""
        threading.Thread(target=serve, args=(weakref.ref(self), self.handle), name="infer_prep", daemon=True).start()

    def names(self) -> list[str]:
        """The names and versions of the functions, for a state."""
        return [f"{f.label} version {f.version}" for f in self.functions]

    def keep_answer(self, answer: Any) -> int:
        """Keeps an answer for a callback and returns its number."""
        with self.lock:
            self.given += 1
            self.answers[self.given] = answer
            return self.given

    def check(self, error: c_void_p) -> None:
        """Raises the error of a call of the library, with the exception of a function as its cause."""
        try:
            _native.check(error)
        except InferPrepError as e:
            cause = self.raised.get(e._call)
            with self.lock:
                self.raised.clear()
            if cause is None:
                raise
            raise e from cause

    def run(self, info: CallInfo, arrays: list[Any]) -> tuple[bool, list[tuple[Array, str]]]:
        """Calls a function."""
        f = self.functions[info.function]
        what = f.label
        if info.kind in METHODS:
            with self.lock:
                answer = self.answers.pop(info.reader, None)
            getattr(f.f, METHODS[info.kind])(Progress(info.epoch, info.ordinal, answer, self.pipeline()))
            return True, []
        if info.kind == START:
            self.readers[info.reader] = threading.Lock(), iter(f.f(epoch=info.epoch) if "epoch" in f.takes else f.f())
            return True, []
        if info.kind == STOP:
            lock, it = self.readers.pop(info.reader, (threading.Lock(), None))
            with lock:  # it may be yielding still
                close = getattr(it, "close", None)
                if close is not None:
                    close()
            return True, []
        if info.kind == NEXT:
            lock, it = self.readers[info.reader]
            with lock:
                try:
                    got = next(it)
                except StopIteration:
                    return False, []
        elif f.sequence:
            got = f.f[info.ordinal]
        else:
            named = {"call": Call(info.seed, info.epoch, info.ordinal, string_at(info.key).decode("utf-8", "replace"))} if "call" in f.takes else {}
            if info.samples:
                n = info.samples
                got = f.f(*(arrays[i:i + n] for i in range(0, len(arrays), n)), **named)
                return True, self.batch(f, got, n)
            got = f.f(*arrays, **named)
            if not f.columns:  # a predicate
                return bool(got), []
        return True, [value(what, x, c["dtype"]) for x, c in zip(row(f, got), f.columns)]

    @staticmethod
    def batch(f: Function, got: Any, n: int) -> list[tuple[Array, str]]:
        """The values of a batch, column by column."""
        what = f.label
        names = [c["name"] for c in f.columns] or f.inputs
        if isinstance(got, Mapping):
            if set(got) != set(names):
                raise ValueError(f"infer_prep: {what} returned the columns {list(got)}, want {names}")
            lists = [got[name] for name in names]
        else:
            lists = list(got) if isinstance(got, tuple) else [got]
        if len(lists) != len(names):
            raise ValueError(f"infer_prep: {what} returned {len(lists)} lists, want {len(names)}: {names}")
        dtypes = [c["dtype"] for c in f.columns] or [None] * len(names)
        out = []
        for name, l, dtype in zip(names, lists, dtypes):
            if len(l) != n:
                raise ValueError(f"infer_prep: {what} returned {len(l)} samples of {name}, want {n}")
            out += [value(what, x, dtype) for x in l]
        return out


def serve(caller: "weakref.ref[Caller]", handle: int) -> None:
    """Calls functions until the pipeline is closed."""
    lib = _native.lib()
    _thread.handle = handle
    first = 1
    while True:
        info = CallInfo()
        if lib.ip_call_next(handle, first, byref(info)):
            return
        first = 0
        c = caller()
        if c is None:
            return
        if info.more:
            try:
                c.start()
            except RuntimeError:  # Python ends
                pass
        answer(lib, c, info)
        del c, info  # the thread keeps nothing while it waits


def answer(lib: Any, c: Caller, info: CallInfo) -> None:
    """Calls a function and hands over what it returned or raised."""
    try:
        arrays: list[Any] = []
        if info.lease:
            held = _native.BatchInfo(lease=info.lease)
            lease = _native.Lease(held)
            out = _native.tensors(info.tensors)
            lib.ip_call_values(info.lease, out)
            arrays = [a[()] if a.ndim == 0 else a for a in (_native.array(t, lease) for t in out)]
        ok, values = c.run(info, arrays)
        given = _native.tensors(len(values))
        for t, (a, dtype) in zip(given, values):
            if a.ndim > _native.MAX_RANK:
                raise ValueError(f"infer_prep: {c.functions[info.function].label} returned {a.ndim} axes, want at most {_native.MAX_RANK}")
            t.data, t.bytes, t.dtype, t.rank = a.ctypes.data, a.nbytes, CODES[dtype], a.ndim
            t.shape[: a.ndim] = a.shape
    except BaseException as e:  # also KeyboardInterrupt and SystemExit, which would end this thread only
        with c.lock:
            c.raised[info.id] = e
            while c.keep is not None and len(c.raised) > c.keep:
                c.raised.popitem(last=False)
        text = f"the function {c.functions[info.function].label}: {type(e).__name__}: {e}"
        lib.ip_call_raise(c.handle, info.id, text.encode("utf-8", "replace").replace(b"\0", b"\\0"))
    else:
        lib.ip_call_return(c.handle, info.id, ok, given, len(values))
    finally:
        lib.ip_free(info.key)


CODES = {name: i for i, (name, _) in enumerate(_native.DTYPES)}
