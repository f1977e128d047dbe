"""Tensors that are decoded when their numbers are needed, and then no more of them than that."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from .torch import TensorSlice, torch_dtype

# Where columns are cut off: bytes of rows that are decoded at a time.
_STRETCH = 1 << 24


class LazyTensor(torch.Tensor):
    """A tensor of a file: `narrow`, slices and single rows of it decode their own part alone.

    Whatever else is done with it decodes all of it, each time anew. It keeps its file open.
    """

    _part: TensorSlice
    _bounds: list[tuple[int, int]]

    @staticmethod
    def __new__(cls, part: TensorSlice, bounds: list[tuple[int, int]] | None = None) -> LazyTensor:
        bounds = [(0, n) for n in part.get_shape()] if bounds is None else bounds
        shape = [high - low for low, high in bounds]
        dtype = torch_dtype(part.get_dtype())
        made: LazyTensor = torch.Tensor._make_wrapper_subclass(cls, shape, dtype=dtype)
        made._part, made._bounds = part, bounds
        return made

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"LazyTensor(shape={tuple(self.shape)}, dtype={self.dtype})"

    def decoded(self) -> torch.Tensor:
        """The tensor itself."""
        (low, high), *inner = self._bounds
        whole = [(0, n) for n in self._part.get_shape()[1:]]
        if inner == whole:
            return self._part[low:high]
        out = torch.empty(tuple(self.shape), dtype=self.dtype)
        row = self.element_size()
        for _, n in whole:
            row *= n
        step = max(1, _STRETCH // max(1, row))
        index = tuple(slice(a, b) for a, b in inner)
        for at in range(low, high, step):
            end = min(high, at + step)
            out[at - low : end - low] = self._part[(slice(at, end), *index)]
        return out

    def _cut(self, dim: int, start: int, stop: int) -> LazyTensor:
        bounds = list(self._bounds)
        low = bounds[dim][0]
        bounds[dim] = (low + start, low + max(start, stop))
        return LazyTensor(self._part, bounds)

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        aten = torch.ops.aten
        lazy = args[0] if args and isinstance(args[0], cls) else None
        if lazy is not None and not kwargs:
            if func in (aten.detach.default, aten.alias.default):
                return LazyTensor(lazy._part, lazy._bounds)
            if func is aten.slice.Tensor and (len(args) < 5 or args[4] == 1):
                dim, start, stop = args[1:4] + (0, None, None)[len(args[1:4]) :]
                dim %= lazy.dim()
                start, stop, _ = slice(start, stop).indices(lazy.shape[dim])
                return lazy._cut(dim, start, stop)
            if func is aten.select.int:
                dim, index = args[1] % lazy.dim(), args[2]
                index += lazy.shape[dim] if index < 0 else 0
                return lazy._cut(dim, index, index + 1).decoded().squeeze(dim)
        args = tree_map_only(cls, cls.decoded, args)
        return func(*args, **tree_map_only(cls, cls.decoded, kwargs or {}))


# What `Tensor` does to results of subclasses: here they are none.
LazyTensor.__torch_function__ = torch._C._disabled_torch_function_impl
