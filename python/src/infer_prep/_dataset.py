"""Definitions of datasets."""

from __future__ import annotations

import json
import os
from ctypes import byref, c_void_p
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from . import _native
from ._functions import Callback, Columns, Function
from ._graph import Graph
from ._nodes import Nodes

Definition = Union["Dataset", Mapping[str, Any]]


class Dataset(Nodes):
    """The definition of a dataset: a source, and nodes that order, transform and batch.

        Dataset("image_folder", dir="train").shuffle().map(graph).batch(32)

    docs/nodes.md of the project describes all nodes and their parameters. Those
    that are left out have their defaults; an unknown one, or one out of range, is
    an InferPrepError. Paths and Graphs are values too. A node such as zip, concat or
    mix takes several datasets as its inputs:

        Dataset("mix", cats, dogs, weights=[2, 1])

    The data are opened by a Pipeline. A Dataset does not change. It can be pickled
    if its functions can.
    """

    definition: dict[str, Any]
    """The definition as a dict, which json can write."""
    functions: dict[str, Function]
    """The functions that the definition names."""

    def _make(self, node: str, inputs: tuple[Any, ...], params: Mapping[str, Any]) -> None:
        for d in inputs:
            if not isinstance(d, (Dataset, Mapping)) or isinstance(d, Mapping) and "top" not in d:
                raise TypeError(f"infer_prep: Dataset: the input {type(d).__name__} is no Dataset and no definition")
        error = c_void_p()
        p = _native.lib().ip_node(_native.string("Dataset", node), json.dumps(params, default=plain).encode(), byref(error))
        _native.check(error)
        self._set(json.loads(_native.text(p)), inputs)

    def _set(self, top: dict[str, Any], inputs: tuple[Any, ...], *functions: Function) -> None:
        self.functions = {}
        for f in [*(f for d in inputs if isinstance(d, Dataset) for f in d.functions.values()), *functions]:
            if self.functions.setdefault(f.name, f) is not f:
                raise ValueError(f"infer_prep: Dataset: two functions named {f.label!r} of version {f.version}: pass another name= to one of them")
        if inputs:
            top["in"] = [(d.definition if isinstance(d, Dataset) else d)["top"] for d in inputs]
        self.definition = {"infer_prep_dataset": 1, "top": top}

    @classmethod
    def _own(cls, node: str, f: Function, params: Mapping[str, Any], *inputs: Any) -> "Dataset":
        """The dataset of a node that only Python has."""
        d = cls.__new__(cls)
        d._set({"node": node, "version": 1, "params": {"name": f.name, **params}}, inputs, f)
        return d

    def _with(self, node: str, f: Function, params: Mapping[str, Any]) -> "Dataset":
        """The dataset of a node with a function, whose input is this one."""
        d = self.then(node, **params)
        d._set(d.definition["top"], (self,), f)
        return d

    @classmethod
    def from_generator(cls, generator: Callable[..., Iterable[Any]], columns: Columns, *, name: str | None = None, version: int = 1) -> "Dataset":
        """What the iterable yields that a function returns.

        Each epoch calls the function, and gives it the number of the epoch if it has
        a parameter named epoch. A sample is a dict by column or a tuple in the order of
        columns, or the value of the only column. columns has their dtypes, or tuples
        of dtype, shape and layout:

            Dataset.from_generator(read, {"image": ("uint8", (-1, -1, 3), "HWC"), "label": "int64"})

        A resumed run reads the epoch again up to its place, so the function must yield
        the same samples in the same order.
        """
        if not callable(generator):
            raise TypeError(f"infer_prep: from_generator: got {type(generator).__name__}, want a function that returns an iterable")
        return cls._own("from_generator", Function("from_generator", generator, name, version, columns), {})

    @classmethod
    def from_sequence(cls, sequence: Any, columns: Columns, *, name: str | None = None, version: int = 1) -> "Dataset":
        """The elements of a sequence, which has __len__ and __getitem__.

        Several threads call __getitem__, with numbers from 0 to len-1 in any order, so
        that the dataset can be shuffled, divided among ranks and resumed as one of
        files. Samples and columns are those of from_generator.
        """
        if not hasattr(sequence, "__len__") or not hasattr(sequence, "__getitem__"):
            raise TypeError(f"infer_prep: from_sequence: got {type(sequence).__name__}, want a sequence with __len__ and __getitem__")
        f = Function("from_sequence", sequence, name, version, columns)
        f.sequence = True
        return cls._own("from_sequence", f, {})

    def then(self, node: str, /, *others: Any, **params: Any) -> "Dataset":
        """The dataset of a node whose first input is this one."""
        d = Dataset.__new__(Dataset)
        d._make(node, (self, *others), params)
        return d

    def map(self, graph: Graph | Mapping[str, Any] | Callable[..., Any], *, inputs: Sequence[str] = (), outputs: Sequence[str] | Columns = (),
            name: str | None = None, version: int = 1) -> "Dataset":
        """Runs a data graph or a function on every sample, or on every batch after a batching node.

        Of a graph, inputs are the columns of its inputs, by default those with the
        inputs' names. outputs names the columns of its outputs, by default as the graph
        does.

        A function gets the arrays of the columns inputs, and returns the values of
        outputs as a dict, a tuple, or the only value; outputs has their dtypes and
        shapes, as in from_generator. They replace inputs. docs/python.md has the rules.
        """
        if isinstance(graph, (Graph, Mapping)):
            return self.then("map", graph=graph, **{"in": inputs, "out": list(outputs)})
        if not callable(graph):
            raise TypeError(f"infer_prep: map: got {type(graph).__name__}, want a Graph or a function")
        if isinstance(inputs, str) or not inputs or not isinstance(outputs, Mapping) or not outputs:
            raise TypeError("infer_prep: map: a function needs its columns: map(f, inputs=('image',), outputs={'image': ('float32', (-1, -1, 3))})")
        f = Function("map", graph, name, version, outputs)
        return self._with("func", f, {"name": f.name, "in": inputs, "out": f.columns})

    def filter(self, predicate: Callable[..., Any], *, inputs: Sequence[str], name: str | None = None, version: int = 1) -> "Dataset":
        """Keeps the samples for which a function of the columns inputs returns True."""
        if not callable(predicate) or isinstance(inputs, str):
            raise TypeError(f"infer_prep: filter: got {type(predicate).__name__} of {inputs!r}, want a function of a list of columns")
        f = Function("filter", predicate, name, version)
        return self._with("filter", f, {"name": f.name, "in": inputs})

    def batch(self, size: int, *, drop_remainder: bool = False, pad: Sequence[Mapping[str, Any]] = (), per_batch: Callable[..., Any] | None = None,
              inputs: Sequence[str] = (), outputs: Columns | None = None, name: str | None = None, version: int = 1) -> "Dataset":
        """Stacks size samples at a time.

        pad pads samples of different sizes: {"column": "image", "shape": [-1, -1, 3], "value": 0}.
        The function per_batch gets a list of arrays for each of the columns inputs,
        before they are stacked, and returns such lists, as a dict, a tuple, or the only
        one. With outputs, which has dtypes and shapes as in from_generator, they are all
        columns of the batch; else they replace inputs.
        """
        params: dict[str, Any] = {"size": size, "drop_remainder": drop_remainder, "pad": [{"value": 0, **p} for p in pad]}
        if per_batch is None:
            if inputs or outputs is not None:
                raise TypeError("infer_prep: batch: inputs and outputs are those of per_batch")
            return self.then("batch", **params)
        if not callable(per_batch) or isinstance(inputs, str) or not inputs:
            raise TypeError(f"infer_prep: batch: per_batch {type(per_batch).__name__} of {inputs!r}, want a function of a list of columns, inputs=")
        f = Function("batch", per_batch, name, version, outputs or {}, inputs)
        return self._with("batch", f, params | {"per_batch": f.name, "out": f.columns})

    def watch(self, callback: Callback, *, every: int = 1, waited: bool = False, name: str | None = None, version: int = 1) -> "Dataset":
        """Calls the methods of a Callback as samples or batches pass.

        every selects each so many-th step, from the first. Of a waited callback, every
        selected step but the first of the run waits until the loop calls Pipeline.give,
        so that what is made depends on the training; nothing below runs ahead.
        """
        if not isinstance(callback, Callback):
            raise TypeError(f"infer_prep: watch: got {type(callback).__name__}, want a Callback")
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"infer_prep: watch: every={every!r}, want a whole number from 1")
        f = Function("watch", callback, name, version)
        f.waited = waited
        return self._own("watch", f, {"every": every, "waited": waited}, self)

    def __repr__(self) -> str:
        return f"<infer_prep.Dataset {path(self.definition['top'])}>"


def path(node: dict[str, Any]) -> str:
    """The names of a node and of those below it, the last one first."""
    below = [path(n) for n in node.get("in", [])]
    if len(below) > 1:
        return f"{node['node']}({', '.join(below)})"
    return "/".join([node["node"], *below])


def plain(value: Any) -> Any:
    """The JSON form of a value that json does not know."""
    if isinstance(value, Graph):
        return value.to_json()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # a number or an array of NumPy
        return value.tolist()
    raise TypeError(f"infer_prep: Dataset: got {type(value).__name__}, want a string, a number, a list, a path or a Graph")
