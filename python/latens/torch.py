"""Checkpoints for PyTorch: `.wcodec` files to tensors and back.

A tensor is decoded to memory of its own, which it then has: nothing is copied on the CPU. Types that
NumPy lacks (bfloat16, float8) need no further package here. With `device="cuda"` a GPU decodes, where
its driver is of CUDA 12.9 or later; elsewhere the CPU does, and the tensor is copied.

| | as |
|---|---|
| `load_file`, `save_file` | `safetensors.torch` |
| `safe_open` | `safetensors.safe_open` |
| `load_state_dict` | `model.load_state_dict(load_file(...))`, one tensor in memory at a time |
| `recognised` | a context in which `torch.load` takes `.wcodec` files |
| `StorageReader` | a storage reader of `torch.distributed.checkpoint` (module `latens.torch_dcp`) |

>>> import torch, latens.torch
>>> layer = torch.nn.Linear(4, 3)
>>> latens.torch.save_file(layer.state_dict(), "layer.wcodec")
>>> torch.equal(latens.torch.load_file("layer.wcodec")["weight"], layer.weight)
True
>>> with latens.torch.safe_open("layer.wcodec") as file:
...     sorted(file.keys()), tuple(file.get_slice("weight")[1:].shape)
(['bias', 'weight'], (2, 4))
>>> latens.torch.load_state_dict(torch.nn.Linear(4, 3), "layer.wcodec")
<All keys matched successfully>
>>> with latens.torch.recognised():
...     torch.load("layer.wcodec")["bias"].shape
torch.Size([3])
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InvalidArgumentError, LatensError, MissingError

try:
    import torch
except ImportError as error:
    raise MissingError("latens.torch needs PyTorch: pip install latens[torch]") from error

from . import _arguments, wcodec
from ._limits import bounded
from ._torch_gpu import GpuTensors, open_on
from ._torch_recognised import recognised
from ._wcodec_file import rows_of
from ._wcodec_write import save_parts

if TYPE_CHECKING:
    from .torch_dcp import StorageReader

__all__ = [
    "StorageReader",
    "TensorFile",
    "TensorSlice",
    "load_file",
    "load_state_dict",
    "recognised",
    "safe_open",
    "save_file",
]

Path = str | os.PathLike[str]

_TYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}


def torch_dtype(name: str) -> torch.dtype:
    """The type of PyTorch for a type that safetensors names."""
    dtype = getattr(torch, _TYPES.get(name, ""), None)
    if not isinstance(dtype, torch.dtype):
        raise InvalidArgumentError(
            f"this PyTorch has no type for {name}; latens.wcodec.open(...).get_bytes gives the bytes"
        )
    return dtype


def _tensor(data: Any, dtype: torch.dtype, shape: Any, device: Any) -> torch.Tensor:
    """A tensor over the memory of an array of bytes."""
    if data.size == 0:
        return torch.empty(tuple(shape), dtype=dtype, device=device)
    tensor = torch.from_numpy(data).view(dtype).reshape(tuple(shape))
    return tensor if torch.device(device).type == "cpu" else tensor.to(device)


class TensorSlice:
    """A tensor of which parts are decoded, as `safetensors` has it: `part[2:8]`, `part[5]`, `part[::2, 0]`.

    What the first index leaves out before and behind is not decoded where the tensor's packing allows that.
    """

    def __init__(self, file: TensorFile, name: str) -> None:
        self._file, self._name = file, name
        self._info = file.file.info(name)

    def get_shape(self) -> list[int]:
        """The shape of the whole tensor."""
        return list(self._info.shape)

    def get_dtype(self) -> str:
        """The type, as the source spells it."""
        return self._info.dtype

    def __getitem__(self, index: Any) -> torch.Tensor:
        dtype = torch_dtype(self._info.dtype)
        shape = self._info.shape
        first = index[0] if isinstance(index, tuple) and index else index
        # Steps backwards PyTorch refuses by itself.
        backwards = isinstance(first, slice) and first.step is not None and first.step < 1
        rows = None if backwards else rows_of(index, shape, self._name)
        if rows is None:
            return self._file.get_tensor(self._name)[index]
        row = self._info.nbytes // max(1, shape[0])
        ends, taken = (rows.low * row, rows.high * row), (rows.high - rows.low, *shape[1:])
        if self._file.gpu is not None:
            part = self._file.gpu.range(self._name, *ends, dtype, taken)
        else:
            data = self._file.file._reader.range(self._name, *ends)
            part = _tensor(data, dtype, taken, self._file.device)
        return part[rows.again]


class TensorFile:
    """An open file whose tensors are PyTorch's; `safe_open` makes it."""

    def __init__(
        self, file: wcodec.File, device: Any = "cpu", gpu: GpuTensors | None = None
    ) -> None:
        self.file, self.device, self.gpu = file, device, gpu

    def keys(self) -> list[str]:
        """The names of all tensors."""
        return list(self.file)

    def offset_keys(self) -> list[str]:
        """The names in the order of the file."""
        return list(self.file)

    def metadata(self) -> dict[str, str]:
        """The metadata of the safetensors file."""
        return self.file.metadata()

    def get_tensor(self, name: str) -> torch.Tensor:
        """A tensor, decoded to its own memory."""
        return self.get_tensors([name])[0]

    def get_tensors(self, names: list[str]) -> list[torch.Tensor]:
        """Several tensors: a GPU decodes them in few launches, threads decode small ones side by side."""
        infos = [self.file.info(name) for name in names]
        types = [torch_dtype(info.dtype) for info in infos]
        each = list(zip(names, types, [info.shape for info in infos], strict=True))
        if self.gpu is not None:
            return self.gpu.tensors(each)
        # Elsewhere than in this memory one is moved before the next is decoded.
        here = torch.device(self.device).type == "cpu"
        found = self.file._reader.several(names) if here else map(self.file.get_bytes, names)
        return [_tensor(b, t, shape, self.device) for b, (_, t, shape) in zip(found, each, strict=True)]

    def get_slice(self, name: str) -> TensorSlice:
        """A tensor of which parts can be decoded."""
        return TensorSlice(self, name)

    def close(self) -> None:
        """Close the file; tensors stay. Later calls get `InvalidArgumentError`."""
        self.gpu = None
        self.file.close()

    def __enter__(self) -> TensorFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def safe_open(
    path: Path,
    framework: str = "pt",
    device: Any = "cpu",
    *,
    base: Path | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> TensorFile:
    """Open a `.wcodec` file as `safetensors.safe_open` does a `.safetensors`; `close`, or the end of a
    `with`, closes it. `base`, `threads` and the limits are those of `latens.wcodec.open`, on a GPU too."""
    if framework not in ("pt", "torch", "pytorch"):
        raise InvalidArgumentError(
            f"framework {framework!r}: this gives tensors of PyTorch; latens.wcodec.open gives arrays"
        )
    _arguments.counts(threads=threads, max_output=max_output, max_alloc=max_alloc)
    _arguments.regular(path, base)
    gpu = open_on(path, device, base, threads, max_output, max_alloc)
    file = wcodec.open(
        path, base=base, threads=threads, max_output=max_output, max_alloc=max_alloc
    )
    return TensorFile(file, device, gpu)


def load_file(
    path: Path,
    device: Any = "cpu",
    *,
    base: Path | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> dict[str, torch.Tensor]:
    """All tensors of a `.wcodec` file, by name, on `device`. `max_output` bounds the bytes of all of them together;
    else this is as `safe_open`."""
    with safe_open(
        path, device=device, base=base, threads=threads, max_output=max_output, max_alloc=max_alloc
    ) as file:
        names = file.keys()
        bounded(sum(file.file.info(name).nbytes for name in names), max_output)
        return dict(zip(names, file.get_tensors(names), strict=True))


def save_file(
    tensors: Mapping[str, torch.Tensor],
    path: Path,
    metadata: Mapping[str, str] | None = None,
    **settings: Any,
) -> None:
    """Write tensors to a `.wcodec` file; `settings` are those of `latens.wcodec.save_file`."""
    if not isinstance(tensors, Mapping):
        raise InvalidArgumentError(
            f"a {type(tensors).__name__} is no dictionary of tensors; write dict(...)"
        )
    parts = {name: tensor_part(name, tensor) for name, tensor in tensors.items()}
    save_parts(parts, path, metadata, **settings)


_NAMES = {getattr(torch, t): name for name, t in _TYPES.items() if hasattr(torch, t)}


def tensor_part(name: str, tensor: Any) -> tuple[str, tuple[int, ...], Any]:
    """A tensor as `save_parts` takes it: type, shape and bytes."""
    if not isinstance(tensor, torch.Tensor):
        raise InvalidArgumentError(
            f"{name}: a {type(tensor).__name__} is no torch.Tensor; leave it out, or write "
            "torch.as_tensor(...)"
        )
    if tensor.dtype not in _NAMES or tensor.layout != torch.strided or tensor.is_meta:
        where = " on the meta device, which has no numbers," if tensor.is_meta else ""
        raise InvalidArgumentError(
            f"{name}: a {tensor.layout} tensor of {tensor.dtype}{where} has no place in safetensors"
        )
    # Views that are conjugates or negatives are so only in how they are read.
    held = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    # Of one piece: of a dimension of one the stride may still be any, which other types and NumPy mind.
    flat = held.as_strided((held.numel(),), (1,))
    data = flat.view(torch.uint8).numpy() if flat.numel() else np.zeros(0, np.uint8)
    return _NAMES[tensor.dtype], tuple(tensor.shape), data


def load_state_dict(
    model: torch.nn.Module,
    path: Path,
    strict: bool = True,
    assign: bool = False,
    *,
    base: Path | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> Any:
    """`model.load_state_dict` of a `.wcodec` file: the same hooks, errors, warnings and result, which
    has `missing_keys` and `unexpected_keys`.

    Each tensor is decoded where the model copies it, so that beside the model one is in memory at a
    time. With `assign` the tensors of the file become the model's, as for one on the meta device: then
    all are decoded before, and there is no other copy. So they are either way for a model with tensors
    of classes that dispatch for themselves (DTensor, quantized ones), and in a PyTorch that cannot guard
    the memory of tensors.

    `base` and `threads` are those of `safe_open`; `max_output` bounds the bytes of all tensors together.

    A file that was coded against a base which is not given, one beyond a limit, and one whose index is damaged are refused
    before the model is changed. Where a tensor turns out to be damaged, its `LatensError` is raised, with the
    `RuntimeError` of PyTorch as its cause: then that one is as it was in the model, and others may be those of the file already.
    Load again from a file that is whole, or see to it before: `latens.wcodec.open(path).verify()`.
    """
    from ._torch_lazy import LazyTensor, can_be_lazy, settle

    own = (*model.parameters(), *model.buffers())
    plain = all(type(t).__torch_dispatch__ == torch.Tensor.__torch_dispatch__ for t in own)
    limits: dict[str, Any] = {"max_output": max_output, "max_alloc": max_alloc}
    if assign or not plain or not can_be_lazy:
        state = load_file(path, base=base, threads=threads, **limits)
        return model.load_state_dict(state, strict=strict, assign=assign)
    # It is not closed here: what a hook keeps may be decoded later.
    file = safe_open(path, base=base, threads=threads, **limits)
    bounded(sum(file.file.info(name).nbytes for name in file.keys()), max_output)
    if base is None and file.file.base_name is not None:
        raise InvalidArgumentError(
            f"the file was made against another checkpoint, {file.file.base_name}; give it as base="
        )
    failed: list[LatensError] = []
    lazy = {
        # State that is no tensor of the model's goes to code that may do anything with it.
        name: file.get_tensor(name)
        if name.endswith("_extra_state") or 0 in (len(info.shape), info.nbytes)
        else LazyTensor(_Noted(file, name, failed))
        for name, info in ((name, file.file.info(name)) for name in file.keys())
    }
    try:
        result = model.load_state_dict(lazy, strict=strict)
        settle(model)
    except RuntimeError as error:
        # PyTorch puts into words what it catches of each tensor.
        if failed:
            raise failed[0] from error
        raise
    return result


class _Noted(TensorSlice):
    """A tensor whose errors are kept, whoever catches them."""

    def __init__(self, file: TensorFile, name: str, failed: list[LatensError]) -> None:
        super().__init__(file, name)
        self._failed = failed

    def __getitem__(self, index: Any) -> torch.Tensor:
        try:
            return super().__getitem__(index)
        except LatensError as error:
            self._failed.append(error)
            raise


def __getattr__(name: str) -> Any:
    if name == "StorageReader":
        from .torch_dcp import StorageReader

        return StorageReader
    raise AttributeError(f"module 'latens.torch' has no attribute {name!r}")
