"""Tensors that are decoded when their numbers are needed, and then no more of them than that."""

from __future__ import annotations

import math
import threading
from typing import Any

import torch
from torch.utils._pytree import tree_map

from .errors import InvalidArgumentError
from .torch import TensorSlice, torch_dtype

# Where columns are cut off: bytes of rows that are decoded at a time.
_STRETCH = 1 << 24
# First and one past the last along each dimension of the tensor in the file.
Box = tuple[tuple[int, int], ...]

# What goes past all hooks, such as `other.data = lazy`, finds no memory. Without this of PyTorch it
# would follow a null pointer.
_set_message = getattr(torch._C, "_set_storage_data_ptr_access_error_msg", None)
can_be_lazy = _set_message is not None
_MESSAGE = (
    "the numbers of this tensor of a .wcodec are not decoded, and there is no memory to share; write "
    "tensor.clone(), or for vLLM --model-loader-extra-config '{\"lazy\": false}'"
)


def _index(box: Box, within: Box | None = None) -> tuple[slice, ...]:
    """The slices of a box, in a tensor that is itself the box `within` or the whole."""
    starts = [low for low, _ in within] if within else [0] * len(box)
    return tuple(slice(a - at, b - at) for (a, b), at in zip(box, starts, strict=True))


def _common(one: Box, other: Box) -> Box | None:
    both = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))
    return both if all(low < high for low, high in both) else None


class _Source:
    """A tensor of a file, and memory for what of it is aliased: views and what was written stay."""

    def __init__(self, part: TensorSlice) -> None:
        self.part, self.dtype = part, torch_dtype(part.get_dtype())
        self.device = torch.device(part._file.device)
        self.shape = tuple(part.get_shape())
        behind = (self.shape[i + 1 :] for i in range(len(self.shape)))
        self.strides = [math.prod(max(1, n) for n in dims) for dims in behind]
        self._memory: torch.Tensor | None = None
        self._held: list[Box] = []
        self._lock = threading.RLock()

    def read(self, box: Box) -> torch.Tensor:
        """A part: in memory of its own, unless some of it is held."""
        with self._lock:
            if any(_common(box, held) for held in self._held):
                return self.hold(box)
        return self._decoded(box)

    def hold(self, box: Box) -> torch.Tensor:
        """A part as a view of the memory for the whole, of which it takes its own pages."""
        with self._lock:
            if self._memory is None and tuple(b - a for a, b in box) == self.shape:
                self._memory, self._held = self._decoded(box), [box]
            if self._memory is None:
                self._memory = torch.empty(self.shape, dtype=self.dtype, device=self.device)
            view = self._memory[_index(box)]
            if view.numel() and not any(_common(box, held) == box for held in self._held):
                fresh = self._decoded(box)
                for held in self._held:
                    # What was written there since is what counts.
                    common = _common(box, held)
                    if common is not None:
                        fresh[_index(common, box)] = self._memory[_index(common)]
                view.copy_(fresh)
                self._held = [held for held in self._held if _common(box, held) != held] + [box]
            return view

    def _decoded(self, box: Box) -> torch.Tensor:
        (low, high), *inner = box
        whole = [(0, n) for n in self.shape[1:]]
        if inner == whole:
            return self.part[low:high]
        out = torch.empty([b - a for a, b in box], dtype=self.dtype, device=self.device)
        step = max(1, _STRETCH // max(1, self.strides[0] * self.dtype.itemsize))
        for at in range(low, high, step):
            end = min(high, at + step)
            out[at - low : end - low] = self.part[(slice(at, end), *_index(tuple(inner)))]
        return out


class LazyTensor(torch.Tensor):
    """A tensor of a file of which slices, single rows and splits are tensors of the same kind, which
    decode their own part alone.

    What reads it decodes that part, each time anew. What writes to it, views it in another way or
    takes its memory (`numpy`, DLPack, storages) decodes it to memory that it has from then on, together
    with all slices of it, whether taken before or after: numbers that are written are seen in all of
    them, as with any tensor. It keeps its file open.

    Changing its own shape (`resize_`, `t_`, `set_`) or its `data` raises `InvalidArgumentError`. After
    `other.data = lazy` the other has no memory: using it raises `RuntimeError`.
    """

    _source: _Source
    _box: Box
    _dims: tuple[int, ...]

    @staticmethod
    def __new__(cls, part: TensorSlice) -> LazyTensor:
        source = _Source(part)
        return cls._of(source, tuple((0, n) for n in source.shape), tuple(range(len(source.shape))))

    @classmethod
    def _of(cls, source: _Source, box: Box, dims: tuple[int, ...]) -> LazyTensor:
        """The part `box`, without the dimensions of one that are none of `dims`."""
        made: LazyTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            [box[d][1] - box[d][0] for d in dims],
            strides=[source.strides[d] for d in dims],
            storage_offset=sum(a * s for (a, _), s in zip(box, source.strides, strict=True)),
            dtype=source.dtype,
            device=source.device,
        )
        if _set_message is not None:
            _set_message(torch.Tensor.untyped_storage(made)._cdata, _MESSAGE)
        made._source, made._box, made._dims = source, box, dims
        return made

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"LazyTensor(shape={tuple(self.shape)}, dtype={self.dtype})"

    def decoded(self) -> torch.Tensor:
        """The tensor itself, to be read."""
        return self._without(self._source.read(self._box))

    def held(self) -> torch.Tensor:
        """The tensor itself, in memory that is shared with all slices of the tensor of the file."""
        return self._without(self._source.hold(self._box))

    def _without(self, part: torch.Tensor) -> torch.Tensor:
        return part[tuple(slice(None) if d in self._dims else 0 for d in range(len(self._box)))]

    def _cut(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function of `_CUTS` gives, still lazy; None where that cannot be."""
        names = [argument.name for argument in func._schema.arguments]
        place = names.index("dim")
        dim = args[place] if len(args) > place else kwargs.get("dim", 0)
        # Where the parts lie, and whether they are parts at all, PyTorch says of a tensor like this.
        offset, strides = self.storage_offset(), self.stride()
        shadow = torch.empty(self._source.shape, dtype=self.dtype, device="meta")
        shadow = shadow.as_strided(self.shape, strides, offset)
        found = func(shadow, *args[1:], **kwargs)
        dim %= max(1, self.dim())
        rest = self._dims[:dim] + self._dims[dim + 1 :]
        made = []
        for part in [found] if isinstance(found, torch.Tensor) else found:
            dropped = part.dim() < self.dim()
            if part.stride() != (strides[:dim] + strides[dim + 1 :] if dropped else strides):
                return None
            low = self._box[self._dims[dim]][0] + (part.storage_offset() - offset) // strides[dim]
            box = list(self._box)
            box[self._dims[dim]] = (low, low + (1 if dropped else part.shape[dim]))
            made.append(type(self)._of(self._source, tuple(box), rest if dropped else self._dims))
        return made[0] if isinstance(found, torch.Tensor) else made

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        first = args[0] if args else None
        if isinstance(first, cls):
            if func in _SAME:
                return cls._of(first._source, first._box, first._dims)
            if func is torch.ops.aten.is_pinned.default:
                return False
            cut = first._cut(func, args, kwargs) if func in _CUTS else None
            if cut is not None:
                return cut
        arguments = {argument.name: argument for argument in func._schema.arguments}
        swapped: list[tuple[torch.Tensor, LazyTensor]] = []

        def swap(name: str, value: Any) -> Any:
            alias = arguments[name].alias_info

            def one(lazy: Any) -> Any:
                if not isinstance(lazy, cls):
                    return lazy
                if alias is not None and alias.is_write and torch.Tag.inplace_view in func.tags:
                    raise InvalidArgumentError(
                        f"{func} changes the shape of a tensor that is lazy; write tensor.clone() first"
                    )
                swapped.append((lazy.decoded() if alias is None else lazy.held(), lazy))
                return swapped[-1][0]

            return tree_map(one, value)

        taken = [swap(name, value) for name, value in zip(arguments, args, strict=False)]
        named = {name: swap(name, value) for name, value in kwargs.items()}

        def back(value: Any) -> Any:
            return next((lazy for tensor, lazy in swapped if tensor is value), value)

        return tree_map(back, func(*taken, **named))

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        return memo.setdefault(id(self), self.decoded().clone())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.decoded().clone().__reduce_ex__(protocol)

    def share_memory_(self) -> LazyTensor:
        """Move the memory that it is decoded to to shared memory."""
        self.held().share_memory_()
        return self

    @property
    def data(self) -> Any:
        """The same without its history."""
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        raise InvalidArgumentError(
            "the data of a tensor that is lazy cannot be another's; write tensor.clone() first"
        )


def settle(model: torch.nn.Module) -> None:
    """Decode what is still lazy of a model that was given lazy tensors."""
    for module in model.modules():
        for name, lazy in module._parameters.items():
            if isinstance(lazy, LazyTensor):
                module._parameters[name] = torch.nn.Parameter(lazy.held(), lazy.requires_grad)
        for name, lazy in module._buffers.items():
            if isinstance(lazy, LazyTensor):
                module._buffers[name] = lazy.held()


_aten = torch.ops.aten
_SAME = (_aten.detach.default, _aten.alias.default)
_CUTS = (
    *(_aten.slice.Tensor, _aten.select.int, _aten.unbind.int),
    *(_aten.split.Tensor, _aten.split_with_sizes.default),
)


def _of_memory(name: str) -> Any:
    def call(self: LazyTensor, *args: Any, **options: Any) -> Any:
        return getattr(self.held(), name)(*args, **options)

    call.__name__ = name
    return call


# Methods that take the memory without asking `__torch_dispatch__`.
for _name in (
    *("__array__", "__dlpack__", "numpy", "tolist", "data_ptr", "is_shared"),
    *("as_subclass", "storage", "untyped_storage", "_typed_storage"),
):
    setattr(LazyTensor, _name, _of_memory(_name))

# What `Tensor` does to results of subclasses: here they are none.
LazyTensor.__torch_function__ = torch._C._disabled_torch_function_impl
