"""Training pipelines: an iterator of batches."""

from __future__ import annotations

import base64
import json
import logging
import os
import sys
import weakref
from ctypes import byref, c_int64, c_void_p, string_at
from operator import index
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _native
from ._dataset import Dataset
from ._errors import InferPrepError
from ._functions import Caller, Function, calling
from ._graph import Path, columns, path_of
from ._native import Array

log = logging.getLogger("infer_prep")

# The longest time in milliseconds that a call of the library waits for a batch.
# Python handles signals between two calls, so that ctrl-C ends a slow next().
WAIT = 50


class Batch(Mapping[str, Array]):
    """A batch, or a sample if the definition makes no batches: arrays by column.

    The arrays but labels are memory of the library, without a copy, and may be
    written. It is reused when neither the Batch nor an array, tensor or view of it exists any
    more. release() and `with` give up the Batch's own references: without them a
    loop holds the batch until the loop variable has another value.
    """

    __slots__ = ("__weakref__", "_arrays", "epoch", "key", "step")

    def __init__(self, arrays: dict[str, Array], epoch: int, step: int, key: str) -> None:
        self._arrays: dict[str, Array] | None = arrays
        self.epoch = epoch
        """The pass over the source, from 0; several in an epoch with a Repeat."""
        self.step = step
        """The number of the batch in the epoch, from 1."""
        self.key = key
        """The name of the first sample."""

    def _live(self) -> dict[str, Array]:
        if self._arrays is None:
            raise InferPrepError(f"infer_prep: batch {self.step} of epoch {self.epoch} is released", "closed")
        return self._arrays

    def __getitem__(self, name: str) -> Array:
        a = self._live()
        try:
            return a[name]
        except KeyError:
            raise KeyError(f"infer_prep: no column {name!r}: the batch has {list(a)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._live())

    def __len__(self) -> int:
        return len(self._live())

    def release(self) -> None:
        """Gives up the batch. A second release does nothing.

        Arrays and tensors that are still referred to stay valid, and keep the memory.
        """
        self._arrays = None

    @property
    def released(self) -> bool:
        """Whether release was called."""
        return self._arrays is None

    def __enter__(self) -> "Batch":
        self._live()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        if self._arrays is None:
            return f"<infer_prep.Batch {self.step} of epoch {self.epoch}, released>"
        return f"<infer_prep.Batch {self.step} of epoch {self.epoch}: {', '.join(f'{k}: {a.dtype} {a.shape}' for k, a in self._arrays.items())}>"

    def __reduce__(self) -> Any:
        raise TypeError("infer_prep: a Batch cannot be pickled: make a dict of copies of its arrays")


def number(name: str, value: Any) -> int:
    """An option that is a whole number, or a TypeError."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"infer_prep: pipeline: {name} is {type(value).__name__}, want a whole number") from None


def ranks(rank: int | None, world: int | None) -> tuple[int, int]:
    """The rank and the number of ranks: as given, or those of torch.distributed."""
    if (rank is None) != (world is None):
        raise ValueError(f"infer_prep: rank {rank} of {world}: want both or none of them")
    if rank is not None and world is not None:
        return number("rank", rank), number("world", world)
    return distributed() or (0, 1)


def distributed() -> tuple[int, int] | None:
    """The rank and the number of ranks of torch.distributed; None without it."""
    d = sys.modules.get("torch.distributed")  # a program that uses it has imported it
    if d is not None and d.is_available() and d.is_initialized():
        return int(d.get_rank()), int(d.get_world_size())
    return None


class Pipeline:
    """A dataset that is run in parallel, ahead of its consumer.

    Iterating yields the batches of one epoch. Each later iteration is the next
    epoch, also if the one before was left half-way. After load_state_dict, the
    first iteration is the rest of the epoch of the state.

    definition is a dataset's definition: a file in JSON or msgp, or its content
    as a dict or as bytes. Options, all by keyword:

    seed           determines all random numbers; default 0
    rank, world    the process and their number; default: those of
                   torch.distributed if it is initialised, else 0 of 1
    drop_uneven    drop the last samples of an epoch that not all ranks have
    all_done       a function that ends an epoch on all ranks together: it gets
                   True if this rank has no more batches, and returns whether
                   any rank has none; see infer_prep.torch.all_done. Needed for
                   several ranks if the length of an epoch depends on the data
    workers        threads of each stage; default: one for each core. A dict has
                   those of single stages, by their paths in stats()
    prefetch       batches that are ready ahead, 1 to 65,536; default 2
    queue          samples that a stage may hold, or a dict as for workers;
                   default: 2 for each worker and 2
    memory         bytes of samples in all queues; default 1 GiB
    cache          bytes of samples that are kept for later epochs: as files, or
                   transformed as far as no random op changes them, whichever
                   lets more fit; default: none
    on_error       "fail" (default), "skip" or "replace" bad samples, which are
                   logged as warnings of the logger infer_prep
    max_skips      bad samples in succession that end the run; default 1,000; -1
                   for no bound
    allow_changed  resume although the data is not that of the state
    allow_outside  follow links and paths of lists out of the data's folder
    device, least  a device for the last steps of the maps, such as "ort:cpu",
                   and the worst class of a step on it; see Graph.on. Default:
                   none
    autotune       adapt workers and queues to the load

    Labels of int32, in columns named label or ..._label, become int64, as
    torchvision's are; all other arrays have the types of the definition.

    Several threads may use a Pipeline: each batch goes to one of them. It cannot
    be pickled, nor used after a fork.
    """

    def __init__(
        self,
        definition: Dataset | Path | Mapping[str, Any] | bytes,
        *,
        seed: int = 0,
        rank: int | None = None,
        world: int | None = None,
        drop_uneven: bool = False,
        all_done: Callable[[bool], bool] | None = None,
        workers: int | Mapping[str, int] | None = None,
        prefetch: int | None = None,
        queue: int | Mapping[str, int] | None = None,
        memory: int | None = None,
        cache: int | None = None,
        on_error: str = "fail",
        max_skips: int | None = None,
        allow_changed: bool = False,
        allow_outside: bool = False,
        device: str | None = None,
        least: str = "exact",
        autotune: bool = False,
    ) -> None:
        functions: dict[str, Function] = {}
        if isinstance(definition, Dataset):
            functions = definition.functions
            definition = definition.definition
        if isinstance(definition, Mapping):
            content = json.dumps(definition).encode()
        elif isinstance(definition, (bytes, bytearray)):
            content = bytes(definition)
        else:
            path = path_of("Pipeline", definition)
            if os.path.isdir(path):
                raise IsADirectoryError(f"infer_prep: Pipeline: {path} is a folder, want a definition, such as Dataset('image_folder', dir=…)")
            with open(path, "rb") as f:
                content = f.read()
        self.rank, self.world = ranks(rank, world)
        seed = number("seed", seed)
        if not 0 <= seed < 1 << 64:
            raise ValueError(f"infer_prep: pipeline: seed {seed}: want 0 to 2**64 - 1")
        options: dict[str, Any] = {"seed": seed, "rank": self.rank, "world": self.world, "on_error": on_error}
        options |= {"drop_uneven": drop_uneven, "allow_changed": allow_changed, "allow_outside": allow_outside}
        if all_done is not None and not callable(all_done):
            raise TypeError(f"infer_prep: pipeline: all_done is {type(all_done).__name__}, want a function of a bool, such as infer_prep.torch.all_done()")
        options["all_done"] = all_done is not None
        options["autotune"] = bool(autotune)
        options["functions"] = [f.describe() for f in functions.values()]
        self._all_done = all_done
        if device is not None:
            options |= {"device": _native.device(device), "least": least}
        for name, value in ("workers", workers), ("queue", queue):
            if isinstance(value, Mapping):
                options[f"stage_{name}"] = {str(path): number(name, n) for path, n in value.items()}
        for name, value, low in ("workers", workers, 1), ("prefetch", prefetch, 1), ("queue", queue, 1), ("memory", memory, 1), ("cache", cache, 1), ("max_skips", max_skips, -1):
            if value is not None and not isinstance(value, Mapping):
                value = number(name, value)
                if value < low or value == 0:
                    raise ValueError(f"infer_prep: pipeline: {name} {value}: want at least {max(low, 1)}" + (", or -1 for no bound" if low < 0 else ""))
                options["bytes" if name == "memory" else name] = value
        info, error = c_void_p(), c_void_p()
        lib = _native.lib()
        self._handle = lib.ip_pipeline_open(content, len(content), json.dumps(options).encode(), byref(info), byref(error))
        _native.check(error)
        self._finish = weakref.finalize(self, _native.close, self._handle)
        self._caller = Caller(self, self._handle, list(functions.values()), None if on_error == "fail" else 16)
        if functions:
            self._caller.start()
        d = json.loads(_native.text(info))
        self.columns = columns(d)
        # Labels are int64, as torchvision's are and torch's losses need them.
        self._labels = {c.name for c in self.columns if c.dtype == "int32" and (c.name == "label" or c.name.endswith("_label"))}
        self.columns = tuple(c._replace(dtype="int64") if c.name in self._labels else c for c in self.columns)
        self._len: int = d["len"]
        self._fresh = True  # the next iteration is of this epoch
        self._iteration = 0
        self._undelivered: tuple[_native.BatchInfo, Any, _native.Lease] | None = None

    def __len__(self) -> int:
        """The number of batches of a whole epoch. TypeError if it depends on the data or is endless."""
        if self._len < 0:
            why = "depends on the data" if self._len == -1 else "is endless"
            raise TypeError(f"infer_prep: pipeline: the length of an epoch {why}")
        return self._len

    def __iter__(self) -> Iterator[Batch]:
        handle = self._outside()
        if not self._fresh:
            self._undelivered = None
            error = c_void_p()
            _native.lib().ip_pipeline_next_epoch(handle, byref(error))
            _native.check(error)
        self._fresh = False
        self._iteration += 1
        return _Iterator(self, self._iteration)

    def _next(self) -> Batch:
        info = _native.BatchInfo()
        out = _native.tensors(len(self.columns))
        lease = _native.Lease(info)
        try:
            if self._undelivered is not None:
                info, out, lease = self._undelivered
                self._undelivered = None
            elif not self._wait(info, out):
                raise StopIteration
            arrays = {c.name: _native.array(t, lease) for c, t in zip(self.columns, out)}
            for name in self._labels:
                arrays[name] = arrays[name].astype(np.int64)
            return Batch(arrays, info.epoch, info.step, string_at(info.key).decode("utf-8", "replace"))
        except BaseException:
            # Ctrl-C during the call is raised after it, when it may have a batch:
            # the next call returns it, and state_dict does not count it.
            if info.lease:
                self._undelivered = info, out, lease
            raise

    def _wait(self, info: _native.BatchInfo, out: Any) -> bool:
        """Waits for the next batch; False at the end of the epoch."""
        error = c_void_p()
        self._outside()
        while True:
            status = _native.lib().ip_pipeline_next(self._live(), WAIT, byref(info), out, byref(error))
            if status in (3, 4):
                self._ask(status == 4)
            elif status != 2:
                break
        if status != 0 or info.notes:
            self._warn()
        self._caller.check(error)
        return bool(status == 0)

    def _ask(self, done: bool) -> None:
        """Asks all ranks whether any is done, and passes their answer on."""
        assert self._all_done is not None
        answer, error = -1, c_void_p()  # after an exception the ranks may disagree: the epoch ends, before this batch
        try:
            answer = int(bool(self._all_done(done)))
        finally:
            _native.lib().ip_pipeline_answer(self._live(), answer, byref(error))
            _native.check(error)

    def _warn(self) -> None:
        notes, error = c_void_p(), c_void_p()
        _native.lib().ip_pipeline_notes(self._live(), byref(notes), byref(error))
        if error.value:  # it was closed meanwhile
            _native.text(error)
            return
        for n in json.loads(_native.text(notes)):
            log.warning("%s", n)

    def state_dict(self) -> dict[str, Any]:
        """The place after the last batch, for load_state_dict.

        It is a dict of numbers, strings and lists, so json, pickle and torch.save can write
        it. At the end of an epoch it is the start of the next one.
        """
        state, n, error = c_void_p(), c_int64(), c_void_p()
        lib = _native.lib()
        lib.ip_pipeline_state(self._outside(), self._undelivered is not None, byref(state), byref(n), byref(error))
        _native.check(error)
        b = string_at(state, n.value)
        lib.ip_free(state)
        out = {"infer_prep_state": 1, "state": base64.b64encode(b).decode()}
        return out | {"functions": self._caller.names()} if self._caller.functions else out

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues at a state of a Pipeline with the same definition, seed and data.

        Others are errors with the code "state", and the Pipeline stays where it is.
        """
        try:
            if state["infer_prep_state"] != 1:
                raise ValueError
            b = base64.b64decode(state["state"], validate=True)
        except (KeyError, TypeError, ValueError):
            raise InferPrepError("infer_prep: load_state_dict: want a dict that state_dict of a Pipeline returned", "state") from None
        was, now = list(state.get("functions", [])), self._caller.names()
        if was != now:
            raise InferPrepError(f"infer_prep: load_state_dict: the state is of the functions {', '.join(map(str, was)) or 'none'}, this pipeline has {', '.join(now) or 'none'}", "state")
        error = c_void_p()
        _native.lib().ip_pipeline_restore(self._outside(), b, len(b), byref(error))
        _native.check(error)
        self._undelivered = None
        self._fresh = True
        self._iteration += 1

    def weights(self, policy: str) -> list[float]:
        """The weights of a feedback policy in this epoch."""
        weights, error = c_void_p(), c_void_p()
        _native.lib().ip_pipeline_weights(self._live(), _native.string("weights", policy), None, byref(weights), byref(error))
        _native.check(error)
        l: list[float] = json.loads(_native.text(weights))
        return l

    def set_weights(self, policy: str, weights: Sequence[float]) -> None:
        """Sets the weights of a feedback policy for the epochs that begin afterwards.

        Call it after the last batch of an epoch, or in epoch_end of a callback. The
        weights are part of state_dict. Callbacks may call it.
        """
        error, text = c_void_p(), json.dumps([float(w) for w in weights]).encode()
        _native.lib().ip_pipeline_weights(self._live(), _native.string("set_weights", policy), text, None, byref(error))
        _native.check(error)

    def give(self, answer: Any) -> None:
        """Gives an answer of the loop to the waited callbacks: each gets it in a later step_begin, in order."""
        for f in self._caller.functions:
            if f.waited:
                error = c_void_p()
                _native.lib().ip_pipeline_give(self._live(), f.name.encode(), self._caller.keep_answer(answer), byref(error))
                _native.check(error)

    def stats(self) -> dict[str, Any]:
        """Figures: epoch, step, skipped (bad samples), lent (batches that are in use),
        heap (bytes of the library's heap) and stages, which docs/datasets.md describes."""
        stats, error = c_void_p(), c_void_p()
        _native.lib().ip_pipeline_stats(self._outside(), byref(stats), byref(error))
        _native.check(error)
        d: dict[str, Any] = json.loads(_native.text(stats))
        return d

    def close(self) -> None:
        """Ends the run, also under a next() of another thread, and its threads.

        Batches stay valid. A second close does nothing.
        """
        self._finish()

    def __enter__(self) -> "Pipeline":
        self._live()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live(self) -> int:
        if not self._finish.alive:
            raise InferPrepError("infer_prep: the pipeline is closed", "closed")
        return int(self._handle)

    def _outside(self) -> int:
        """The handle, for calls that would wait for the functions of the pipeline."""
        if calling() == self._handle:
            raise InferPrepError("infer_prep: pipeline: a function of the pipeline may call only weights, set_weights, give and close", "input")
        return self._live()

    def __repr__(self) -> str:
        return f"<infer_prep.Pipeline {', '.join(f'{c.name}: {c.dtype} {c.shape}' for c in self.columns)}>"

    def __reduce__(self) -> Any:
        raise TypeError("infer_prep: a Pipeline cannot be pickled: pass its definition to the process, and make the Pipeline there")


class _Iterator(Iterator[Batch]):
    def __init__(self, pipeline: Pipeline, number: int) -> None:
        self._pipeline = pipeline
        self._number = number
        self._ended = False

    def __next__(self) -> Batch:
        if self._ended:
            raise StopIteration
        p = self._pipeline
        if p._iteration != self._number:
            raise RuntimeError("infer_prep: pipeline: a later iteration or load_state_dict took over from this iterator")
        try:
            return p._next()
        except StopIteration:
            self._ended = True
            raise
