"""A Pipeline for torch. This module imports torch; infer_prep does not."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info

from ._errors import InferPrepError
from ._graph import Path
from ._pipeline import Batch, Pipeline, distributed, ranks


def tensors(batch: Batch, pipeline: Pipeline) -> dict[str, torch.Tensor]:
    """The arrays of a batch as tensors that share its memory."""
    out = {}
    for c in pipeline.columns:
        t = torch.from_dlpack(batch[c.name])
        if c.dtype == "bfloat16":
            t = t.view(torch.bfloat16)
        out[c.name] = t
    return out


def all_done(group: Any = None) -> Callable[[bool], bool]:
    """The argument all_done of Pipeline and Loader for ranks of torch.distributed.

    Every rank must iterate over its own Pipeline, and ask for a batch equally
    often: each batch, and the end of an epoch, is an all-reduce of one number
    over the process group, by default all ranks. It runs on the thread that asks.
    """

    def ask(done: bool) -> bool:
        # "cpu:gloo,cuda:nccl": a tensor on a device that the group can reduce.
        devices = [d.partition(":")[0] for d in dist.get_backend_config(group).split(",")]
        t = torch.tensor([int(done)], dtype=torch.int32, device="cpu" if "cpu" in devices else devices[0])
        dist.all_reduce(t, op=dist.ReduceOp.MAX, group=group)
        return bool(t.item())

    return ask


def _alone(done: bool) -> bool:
    """An all_done of ranks that do not wait for each other."""
    return done


class Loader(IterableDataset[dict[str, torch.Tensor]]):
    """Batches of a definition as dicts of CPU tensors, in place of a DataLoader.

    It takes the arguments of Pipeline, and opens it at the first use, so that it
    can be pickled before. The tensors share the batch's memory, which is reused
    when no tensor refers to it; labels are int64. Epochs, len, state_dict and load_state_dict are
    those of Pipeline.

    It needs no worker processes: its threads are in the library. In those of a
    DataLoader(loader, batch_size=None, num_workers=N) each worker is a rank of its
    own, and there is no state_dict. The workers must be spawned if this process
    used infer_prep before.
    """

    def __init__(self, definition: Path | Mapping[str, Any] | bytes, **options: Any) -> None:
        super().__init__()
        self._definition, self._options = definition, options
        self._pipeline: Pipeline | None = None

    @property
    def pipeline(self) -> Pipeline:
        """The Pipeline, which the first use opens."""
        if self._pipeline is None:
            options = dict(self._options)
            worker = get_worker_info()
            if worker is not None:
                if options.get("all_done") is not None:
                    raise InferPrepError("infer_prep: Loader: all_done in a worker process of a DataLoader: iterate over the Loader itself", "input")
                rank, world = ranks(options.get("rank"), options.get("world"))
                options["rank"], options["world"] = rank * worker.num_workers + worker.id, world * worker.num_workers
                if world == 1:  # a DataLoader's workers may end at different times
                    options["all_done"] = _alone
            self._pipeline = Pipeline(self._definition, **options)
        return self._pipeline

    def __len__(self) -> int:
        return len(self.pipeline)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        pipeline = self.pipeline
        batches = iter(pipeline)  # at once, not at the first next, so that the epoch begins here

        def each() -> Iterator[dict[str, torch.Tensor]]:
            for batch in batches:
                out = tensors(batch, pipeline)
                del batch  # or this loop would keep the memory until the next one
                yield out
                del out

        return each()

    def state_dict(self) -> dict[str, Any]:
        """See Pipeline.state_dict."""
        if get_worker_info() is not None:
            raise InferPrepError("infer_prep: Loader.state_dict: not in a worker process of a DataLoader: iterate over the Loader itself", "input")
        return self.pipeline.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See Pipeline.load_state_dict."""
        self.pipeline.load_state_dict(state)

    def close(self) -> None:
        """Closes the Pipeline; see Pipeline.close."""
        if self._pipeline is not None:
            self._pipeline.close()

    def __getstate__(self) -> dict[str, Any]:
        options, here = self._options, distributed()
        if here is not None and options.get("rank") is None and options.get("world") is None:
            # A worker process that is spawned has no torch.distributed: it is a part of this rank.
            options = options | {"rank": here[0], "world": here[1]}
        return self.__dict__ | {"_pipeline": None, "_options": options}
