"""WCodec: checkpoints of neural networks, exact, readable by the tensor and by the slice.

>>> import numpy as np
>>> from latens import wcodec
>>> weights = np.arange(12, dtype=np.float32).reshape(4, 3)
>>> wcodec.save_file({"w": weights, "b": np.zeros(3, np.float32)}, "tiny.wcodec")
>>> with wcodec.open("tiny.wcodec") as file:
...     file.keys(), file.get_slice("w")[1:3].shape
(['w', 'b'], (2, 3))

Types that NumPy does not have, such as BF16, need the package `ml_dtypes`, whose types the arrays
then have; `get_bytes` gives the bytes of any tensor.
"""

from __future__ import annotations

import errno
import os
from typing import Any

from . import _arguments, _latens
from ._arguments import Progress
from ._buffers import Array, octets
from ._limits import bounded
from ._output import Path, completely, settle
from ._wcodec_file import Damage, Fault, File, Slice, TensorInfo
from ._wcodec_write import Tools, compress_file, files_read, save_file, save_layers
from .errors import InvalidArgumentError

__all__ = [
    "Damage",
    "Fault",
    "File",
    "Slice",
    "TensorInfo",
    "Tools",
    "compress_file",
    "decompress_file",
    "load_file",
    "open",
    "save_file",
    "save_layers",
]


def open(
    source: Any,
    *,
    base: Path | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
    salvage: bool = False,
) -> File:
    """Open a `.wcodec` file: a path, or its bytes. Only its index is read.

    `base` is the checkpoint that it was coded against, where there is one; `threads` 0 stands for all
    cores; `max_output` bounds the bytes of what is asked for at once, a tensor or rows of it, `max_alloc` those of the
    index and of tables.

    With `salvage`, a file whose header, index or footer is damaged is opened as far as that goes, and its
    `damage` says what is wrong. Tensors are compared with their checksums as ever: those that are whole
    can be had, others raise `CorruptError`, also small ones that stand in a damaged index where nothing proves them.

    Raises `InvalidArgumentError` where the path, or that of the base, is a named pipe or a device: the file is read
    by position. Bytes are borrowed, those of another buffer copied once.
    """
    _arguments.counts(threads=threads, max_output=max_output, max_alloc=max_alloc)
    _arguments.flags(salvage=salvage)
    _arguments.regular(base)
    if isinstance(source, (str, os.PathLike)):
        os.stat(source)
        if base is not None:
            os.stat(base)
        _arguments.regular(source)
        with _arguments.of_file(source):
            reader = _latens.WcodecReader(
                source, None, base, threads, max_output, max_alloc, salvage
            )
        return File(reader)
    if hasattr(source, "read"):
        raise InvalidArgumentError(
            f"a {type(source).__name__} is a file object; give its path, or its bytes: file.read()"
        )
    data = bytes(octets(source))
    if isinstance(source, bytes) and data[:6] != b"WCODEC" and _is_path(source):
        raise InvalidArgumentError(
            f"{source!r} are bytes, which stand for the file itself; for its path write "
            "os.fsdecode(path)"
        )
    return File(
        _latens.WcodecReader(None, data, base, threads, max_output, max_alloc, salvage)
    )


def _is_path(source: bytes) -> bool:
    return len(source) < 4096 and b"\0" not in source and os.path.lexists(source)


def load_file(
    path: Path,
    *,
    base: Path | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> dict[str, Array]:
    """All tensors of a `.wcodec` file, by name. `max_output` bounds the bytes of all of them together;
    else this is as `open`."""
    with open(
        path, base=base, threads=threads, max_output=max_output, max_alloc=max_alloc
    ) as file:
        bounded(sum(file.info(name).nbytes for name in file), max_output)
        return dict(zip(file, file.get_tensors(list(file)), strict=True))


def decompress_file(
    source: Path,
    folder: Path | None = None,
    *,
    base: Path | None = None,
    threads: int = 0,
    overwrite: bool = False,
    max_output: int | None = None,
    max_alloc: int | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """Write the files that a `.wcodec` was made of, byte for byte, to `folder` (that of the source
    where none is given); returns their paths. `max_output` bounds the bytes of all files together,
    `max_alloc` those of tables. `progress` is told of bytes written and to be written, of all files.

    Raises `FileExistsError` where one is there already, unless `overwrite`, `FileNotFoundError` where
    there is no such folder: before anything is written.
    """
    _arguments.flags(overwrite=overwrite)
    folder = os.path.dirname(os.fspath(source)) if folder is None else os.fspath(folder)
    with open(
        os.fspath(source), base=base, threads=threads, max_output=max_output, max_alloc=max_alloc
    ) as file:
        if folder and not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
        bounded(sum(file.files().values()), max_output)
        sources, paths = files_read(source, base), []
        for name in file.files():
            if os.path.basename(name) != name or name in ("", ".", ".."):
                raise InvalidArgumentError(f"{name!r} is no name of a file")
            paths.append(os.path.join(folder, name))
            settle(paths[-1], sources, overwrite)
        lengths = list(file.files().values())
        phases = _arguments.Phases(progress, sum(lengths))
        for number, (path, length) in enumerate(zip(paths, lengths, strict=True)):
            told = phases.of(length)

            def write(temporary: str, number: int = number, told: Progress | None = told) -> None:
                file._reader.write_file(number, temporary, told)

            completely(path, write, sources=sources, overwrite=overwrite)
    return paths
