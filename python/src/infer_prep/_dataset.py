"""Definitions of datasets."""

from __future__ import annotations

import json
import os
from ctypes import byref, c_void_p
from typing import Any, Mapping, Union

from . import _native
from ._graph import Graph

Definition = Union["Dataset", Mapping[str, Any]]


class Dataset:
    """The definition of a dataset: a source, and nodes that order, transform and batch.

        Dataset("image_folder", dir="train").then("shuffle").map(graph).then("batch", size=32)

    docs/nodes.md of the project describes all nodes and their parameters. Those
    that are left out have their defaults; an unknown one, or one out of range, is
    an InferPrepError. Paths and Graphs are values too. A node such as zip, concat or
    mix takes several datasets as its inputs:

        Dataset("mix", cats, dogs, weights=[2, 1])

    The data are opened by a Pipeline. A Dataset does not change, and can be pickled.
    """

    def __init__(self, node: str, /, *inputs: Definition, **params: Any) -> None:
        for d in inputs:
            if not isinstance(d, (Dataset, Mapping)) or isinstance(d, Mapping) and "top" not in d:
                raise TypeError(f"infer_prep: Dataset: the input {type(d).__name__} is no Dataset and no definition")
        error = c_void_p()
        p = _native.lib().ip_node(_native.string("Dataset", node), json.dumps(params, default=plain).encode(), byref(error))
        _native.check(error)
        top: dict[str, Any] = json.loads(_native.text(p))
        if inputs:
            top["in"] = [(d.definition if isinstance(d, Dataset) else d)["top"] for d in inputs]
        self.definition: dict[str, Any] = {"infer_prep_dataset": 1, "top": top}
        """The definition as a dict, which json can write."""

    def then(self, node: str, /, **params: Any) -> "Dataset":
        """The dataset of a node whose input is this one."""
        return Dataset(node, self, **params)

    def map(self, graph: Graph | Mapping[str, Any], *, inputs: tuple[str, ...] | list[str] = (), outputs: tuple[str, ...] | list[str] = ()) -> "Dataset":
        """Runs a data graph on every sample, or on every batch after a batching node.

        inputs are the columns of the graph's inputs, by default those with the inputs'
        names. outputs names the columns of its outputs, by default as the graph does.
        """
        return self.then("map", graph=graph, **{"in": inputs, "out": outputs})

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
