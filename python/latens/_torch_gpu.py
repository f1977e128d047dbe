"""Tensors decoded on a GPU, for `latens.torch`."""

from __future__ import annotations

import os
from typing import Any

import torch

from . import _latens

Path = str | os.PathLike[str]


class GpuTensors:
    """A file whose tensors are decoded in device memory, which PyTorch takes over without a copy.

    What a call returns has been decoded: it can be used on the current stream, or any other.
    """

    def __init__(self, file: _latens.GpuFile, device: torch.device) -> None:
        self._file, self._device = file, device

    def _tensor(self, data: Any, dtype: torch.dtype, shape: Any) -> torch.Tensor:
        if len(data) == 0:
            return torch.empty(tuple(shape), dtype=dtype, device=self._device)
        # By DLPack, on the current stream; the tensor holds the memory.
        with torch.cuda.device(self._device):
            flat = torch.from_dlpack(data)
        return flat.view(dtype).reshape(tuple(shape))

    def tensors(self, wanted: list[tuple[str, torch.dtype, Any]]) -> list[torch.Tensor]:
        """Tensors of these names, types and shapes."""
        decoded = self._file.tensors([name for name, _, _ in wanted])
        pairs = zip(decoded, wanted, strict=True)
        return [self._tensor(data, dtype, shape) for data, (_, dtype, shape) in pairs]

    def range(
        self, name: str, start: int, stop: int, dtype: torch.dtype, shape: Any
    ) -> torch.Tensor:
        """Bytes `start` to `stop` of a tensor, as a tensor of this type and shape."""
        return self._tensor(self._file.range(name, start, stop), dtype, shape)


def open_on(
    path: Path,
    device: Any,
    base: Path | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> GpuTensors | None:
    """The file for decoding on `device`; `None` where that is no CUDA device or has no driver that
    will do: then the CPU decodes, and what it decodes is copied."""
    target = torch.device(device)
    if target.type != "cuda" or not torch.cuda.is_available():
        return None
    ordinal = torch.cuda.current_device() if target.index is None else target.index
    file, _ = _latens.GpuFile.open(path, base, threads, ordinal, max_output, max_alloc)
    return None if file is None else GpuTensors(file, torch.device("cuda", ordinal))
