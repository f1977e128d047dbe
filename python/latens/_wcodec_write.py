"""Writing `.wcodec` files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _latens
from ._buffers import as_array
from ._dtypes import dtype_name
from ._output import Path, completely

Progress = Callable[[int, int], object]


def save_file(
    tensors: Mapping[str, Any],
    path: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    level: int = 8,
    threads: int = 0,
    verify: bool = True,
    progress: Progress | None = None,
) -> None:
    """Write arrays to a `.wcodec` file, as a checkpoint of one safetensors file.

    All are copied once. With `verify` the file is read back and compared before it gets its name. One
    that is there is replaced, as safetensors does; where `path` is a link, the file that it names.
    """
    arrays = {name: np.ascontiguousarray(as_array(t)) for name, t in tensors.items()}
    for name, array in arrays.items():
        arrays[name] = array.astype(array.dtype.newbyteorder("<"), copy=False)
    shapes = {name: np.shape(as_array(t)) for name, t in tensors.items()}
    save_parts(
        {
            name: (dtype_name(array.dtype), shapes[name], array.reshape(-1).view(np.uint8))
            for name, array in arrays.items()
        },
        path,
        metadata,
        level=level,
        threads=threads,
        verify=verify,
        progress=progress,
    )


def save_parts(
    tensors: Mapping[str, tuple[str, tuple[int, ...], npt.NDArray[np.uint8]]],
    path: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    level: int = 8,
    threads: int = 0,
    verify: bool = True,
    progress: Progress | None = None,
) -> None:
    """As `save_file`, for tensors given as safetensors type, shape and bytes."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": list(shape),
            "data_offsets": [at, at + data.size],
        }
        at += data.size
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    front = np.frombuffer(len(text).to_bytes(8, "little") + text, np.uint8)
    parts = [front, *(data for _, _, data in tensors.values())]
    stem = os.path.splitext(os.path.basename(os.fspath(path)))[0]

    def write(temporary: str) -> None:
        _latens.wcodec_compress_bytes(
            f"{stem}.safetensors", parts, temporary, level, threads, verify, progress
        )

    completely(path, write)


def compress_file(
    source: Path,
    path: Path | None = None,
    *,
    base: Path | None = None,
    level: int = 8,
    threads: int = 0,
    verify: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> str:
    """Compress a `.safetensors`, `.safetensors.index.json` or `.gguf` file; returns the path of the
    `.wcodec`, beside the source where no `path` is given.

    `base` is another checkpoint to code against. With `verify` all files are read back and compared
    before the result gets its name. `progress` is told of bytes read and to be read.

    Raises `FileExistsError` where `path` is there already, unless `overwrite`; `InvalidArgumentError`
    where it is the source or the base.
    """
    source = os.fspath(source)
    os.stat(source)
    if path is None:
        path = source.removesuffix(".index.json")
        path = os.path.splitext(path)[0] + ".wcodec"

    def write(temporary: str) -> None:
        _latens.wcodec_compress(source, temporary, base, level, threads, verify, progress)

    sources = [source] if base is None else [source, base]
    completely(path, write, sources=sources, overwrite=overwrite)
    return os.fspath(path)
