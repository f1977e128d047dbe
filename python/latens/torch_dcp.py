"""A storage reader of `torch.distributed.checkpoint` over a `.wcodec` file.

>>> import torch, torch.distributed.checkpoint, latens.torch
>>> model = torch.nn.Linear(2, 2)
>>> latens.torch.save_file(model.state_dict(), "m.wcodec")
>>> state = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
>>> torch.distributed.checkpoint.load(state, storage_reader=latens.torch.StorageReader("m.wcodec"))
>>> torch.equal(state["weight"], model.weight)
True

Each rank decodes the rows that its shards need, as far as packings allow that.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.distributed.checkpoint import metadata as dcp
from torch.distributed.checkpoint import planner as planning
from torch.distributed.checkpoint import storage
from torch.futures import Future

from .torch import safe_open, torch_dtype

__all__ = ["StorageReader"]


class StorageReader(storage.StorageReader):
    """Reads tensors of the file at `path`; they are not sharded in it. `base`, `threads` and the limits are those of
    `latens.torch.safe_open`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        base: str | os.PathLike[str] | None = None,
        threads: int = 0,
        max_output: int | None = None,
        max_alloc: int | None = None,
    ) -> None:
        self._path, self._base = path, base
        self._settings: dict[str, Any] = {
            "threads": threads,
            "max_output": max_output,
            "max_alloc": max_alloc,
        }

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Read from another file from now on, of the same base."""
        if checkpoint_id is not None:
            self._path = checkpoint_id

    def read_metadata(self, *args: Any, **options: Any) -> dcp.Metadata:
        """Types and shapes of all tensors."""
        tensors: dict[str, Any] = {}
        # The base is not needed for what the index says.
        with safe_open(self._path, **self._settings) as opened:
            file = opened.file
            for name in file:
                info = file.info(name)
                size = torch.Size(info.shape)
                whole = dcp.ChunkStorageMetadata(offsets=torch.Size([0] * len(size)), sizes=size)
                tensors[name] = dcp.TensorStorageMetadata(
                    properties=dcp.TensorProperties(dtype=torch_dtype(info.dtype)),
                    size=size,
                    chunks=[whole],
                )
        # Where each stands in a nested dictionary: here none is nested. Loading by keys looks it up.
        places: Any = {name: (name,) for name in tensors}
        return dcp.Metadata(state_dict_metadata=tensors, planner_data=places)

    def set_up_storage_reader(
        self, metadata: dcp.Metadata, is_coordinator: bool, *args: Any, **options: Any
    ) -> None:
        """Nothing needs to be set up."""

    def prepare_local_plan(self, plan: planning.LoadPlan) -> planning.LoadPlan:
        """The plan as it is."""
        return plan

    def prepare_global_plan(self, plans: list[planning.LoadPlan]) -> list[planning.LoadPlan]:
        """The plans as they are."""
        return plans

    def read_data(
        self, plan: planning.LoadPlan, planner: planning.LoadPlanner
    ) -> "Future[None]":
        """Decode what the plan asks for into the tensors of the planner."""
        with safe_open(self._path, base=self._base, **self._settings) as file:
            for item in plan.items:
                part = file.get_slice(item.storage_index.fqn)
                pairs = zip(item.storage_offsets, item.lengths, strict=True)
                slices = tuple(slice(start, start + length) for start, length in pairs)
                target = planner.resolve_tensor(item).detach()
                target.copy_(part[slices] if slices else file.get_tensor(item.storage_index.fqn))
                planner.commit_tensor(item, target)
        future: Future[None] = Future()
        future.set_result(None)
        return future

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether the path is that of a file."""
        return os.path.isfile(checkpoint_id)
