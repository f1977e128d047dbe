"""Writing `.wcodec` files."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arguments, _latens
from ._arguments import Progress
from ._buffers import as_array, unmasked
from ._dtypes import dtype_name
from ._output import Path, completely
from .errors import InvalidArgumentError

# Safetensors type, shape and bytes of a tensor.
Part = tuple[str, tuple[int, ...], npt.NDArray[np.uint8]]
# Tools, as the extension takes them.
_Forced = tuple[tuple[int, int], list[str], list[str], str, bool]


@dataclasses.dataclass(frozen=True)
class Tools:
    """What all quantised weights are coded with, whether that pays or not; else the encoder chooses.

    Of several predictors each tile gets its best, of several transforms each block of 8×8 its cheapest.
    """

    tile: tuple[int, int] = (16, 16)
    """Rows and columns of a tile, 1 to 4096."""
    predictors: Sequence[str] = ("NONE",)
    """Of NONE LEFT TOP AVG PLANAR DC COLUMN, REFERENCE (with a base, else it is refused); or LINEAR alone."""
    transforms: Sequence[str] = ()
    """Of NONE DCT ADST."""
    coder: str = "direct"
    """`direct`, or `bitplane`, whose first planes `File.logical` can read alone."""
    contexts: bool = True
    """Whether weights have classes."""

    def _parts(self) -> _Forced:
        tile = _arguments.pair(tile=self.tile)
        _arguments.flags(contexts=self.contexts)
        chosen = []
        for names in (self.predictors, self.transforms):
            if isinstance(names, str):
                raise InvalidArgumentError(f"{names!r} is one name; write [{names!r}]")
            if not isinstance(names, Iterable):
                raise InvalidArgumentError(f"{names!r} is no list of names")
            chosen.append(list(names))
        for name in (*chosen[0], *chosen[1], self.coder):
            if not isinstance(name, str):
                raise InvalidArgumentError(f"{name!r} is no name of a tool")
        predictors, transforms = chosen
        return tile, predictors, transforms, self.coder, self.contexts


def _chosen(
    level: int,
    tools: Tools | None,
    packings: Mapping[str, str] | None,
    group_symbols: int | None,
) -> tuple[int, _Forced | None, list[tuple[str, str]], int]:
    """What is chosen, as the extension takes it."""
    _arguments.level(level)
    _arguments.counts(group_symbols=group_symbols)
    if not isinstance(tools, Tools | None):
        raise InvalidArgumentError(
            f"tools, a {type(tools).__name__}, are none; write latens.wcodec.Tools(...)"
        )
    if not isinstance(packings, Mapping | None):
        raise InvalidArgumentError(
            f"packings {packings!r}; it is a dictionary, such as {{'*.weight': 'int4-high'}}"
        )
    pairs = list(packings.items()) if packings else []
    for text in (text for pair in pairs for text in pair):
        if not isinstance(text, str):
            raise InvalidArgumentError(f"packings: {text!r} is no text")
    return level, tools._parts() if tools else None, pairs, group_symbols or 0


def save_file(
    tensors: Mapping[str, Any],
    path: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    base: Path | None = None,
    level: int = 8,
    tools: Tools | None = None,
    packings: Mapping[str, str] | None = None,
    group_symbols: int | None = None,
    threads: int = 0,
    verify: bool = True,
    progress: Progress | None = None,
) -> None:
    """Write arrays to a `.wcodec` file, as a checkpoint of one safetensors file.

    All are copied once. `base` is another checkpoint to code against, such as the one saved before: it is
    needed again to read this one. With `verify` the file is read back and compared before it gets its
    name. One that is there is replaced, as safetensors does; where `path` is a link, the file that it names.

    `packings` says how tensors are packed, in place of what their names tell: by patterns of names, in which `*` stands for
    any text, one of none, int4, uint4 and int4-offset, with -high where the higher nibble comes first, then with -in-32
    for that of words of 32 bits. The last pattern of a tensor counts; `File.logical` gives these numbers. `group_symbols`
    are decoded together at least; the encoder chooses where it is None.

    Raises `InvalidArgumentError` where a type is none of safetensors, a name or the metadata no text, a
    name longer than 1024 bytes, numbers are masked, a packing does not fit or is for no tensor, or `path` is the base.
    """
    parts = parts_of(tensors)
    save_parts(
        parts,
        path,
        metadata,
        base=base,
        level=level,
        tools=tools,
        packings=packings,
        group_symbols=group_symbols,
        threads=threads,
        verify=verify,
        progress=progress,
    )


def parts_of(tensors: Mapping[str, Any]) -> dict[str, Part]:
    """Safetensors type, shape and bytes of arrays."""
    if tensors is None:
        raise InvalidArgumentError("None is no dictionary of names and arrays")
    _arguments.mapping("of names and arrays", tensors=tensors)
    parts = {}
    torch_tensor = getattr(sys.modules.get("torch"), "Tensor", ())
    for name, tensor in tensors.items():
        if isinstance(tensor, torch_tensor):
            # It has types that NumPy lacks, and some that `ml_dtypes` lacks.
            from .torch import tensor_part

            parts[name] = tensor_part(name, tensor)
            continue
        try:
            array = unmasked(as_array(tensor))
            kind = dtype_name(array.dtype)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{name}: {error}") from error.__cause__
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        parts[name] = (kind, array.shape, np.ascontiguousarray(little).reshape(-1).view(np.uint8))
    return parts


def save_layers(
    layers: Iterable[Mapping[str, Any]],
    path: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    base: Path | None = None,
    level: int = 8,
    tools: Tools | None = None,
    packings: Mapping[str, str] | None = None,
    group_symbols: int | None = None,
    threads: int = 0,
    verify: bool = True,
) -> None:
    """As `save_file`, for arrays that are not all there at once: a generator of some at a time, which are written
    before the next ones are asked for.

    What belongs to a tensor, such as scales and zero points, is to come with it. The file is that of all of them. With
    `verify` it is decoded again and compared with its checksums and the hash of what came before it gets its name. As a
    base it stands for itself: its tensors are in the order in which they came, which a file that is decompressed from it does not keep.

    Raises as `save_file`, and `InvalidArgumentError` where a name comes twice.
    """
    _arguments.counts(threads=threads)
    _arguments.flags(verify=verify)
    _arguments.mapping("of texts", metadata=metadata)
    _check_texts((), metadata or {})
    _arguments.regular(base)
    chosen = _chosen(level, tools, packings, group_symbols)
    if isinstance(layers, Mapping) or not isinstance(layers, Iterable):
        raise InvalidArgumentError(
            f"layers, a {type(layers).__name__}, are no generator or list of dictionaries; one dictionary is for save_file"
        )

    def write(temporary: str) -> None:
        writer = _latens.WcodecWriter(
            _source_name(path), dict(metadata or {}), temporary, base, chosen, threads
        )
        for tensors in layers:
            parts = parts_of(tensors)
            _check_texts(tensors, {})
            writer.write([(name, *part) for name, part in parts.items()])
        writer.finish(verify)

    completely(path, write, sources=files_read(base))


def _source_name(path: Path) -> str:
    """What the safetensors file is called that a `.wcodec` at `path` gives back: by its name, in text that both the format
    and file systems take."""
    stem = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    text = os.fsencode(stem).decode(errors="replace").translate(_NO_NAME)
    # Where it is cut, no part of a character stays.
    text = text.encode()[: _LONGEST_FILE_NAME - len(_ENDING)].decode(errors="ignore")
    return text + _ENDING


_ENDING = ".safetensors"
# What file systems take, bytes.
_LONGEST_FILE_NAME = 255
# What the format keeps out of names of files, as folders are not for it to say.
_NO_NAME = str.maketrans({character: "_" for character in "\\:\ufffd"})
# What the reader of safetensors takes.
_LONGEST_NAME = 1024


def _check_texts(names: Iterable[Any], metadata: Mapping[Any, Any]) -> None:
    """Refuse what a safetensors header does not hold, or holds as something else."""
    for text in (*names, *metadata, *metadata.values()):
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"{text!r} is no text: names of tensors, and keys and values of the metadata, are"
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidArgumentError(f"{text!r} has no bytes in UTF-8") from None
    for name in names:
        if name == "__metadata__":
            raise InvalidArgumentError(
                "a tensor cannot be named '__metadata__'; rename it, or say metadata="
            )
        if len(name.encode()) > _LONGEST_NAME:
            raise InvalidArgumentError(
                f"the name {name[:40]!r}… has {len(name.encode())} bytes, {_LONGEST_NAME} at most; "
                "rename the tensor"
            )


def save_parts(
    tensors: Mapping[str, Part],
    path: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    base: Path | None = None,
    level: int = 8,
    tools: Tools | None = None,
    packings: Mapping[str, str] | None = None,
    group_symbols: int | None = None,
    threads: int = 0,
    verify: bool = True,
    progress: Progress | None = None,
) -> None:
    """As `save_file`, for tensors given as safetensors type, shape and bytes."""
    _arguments.counts(threads=threads)
    _arguments.flags(verify=verify)
    _arguments.mapping("of texts", metadata=metadata)
    _arguments.regular(base)
    _check_texts(tensors, metadata or {})
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
    chosen = _chosen(level, tools, packings, group_symbols)

    def write(temporary: str) -> None:
        _latens.wcodec_compress_bytes(
            _source_name(path), parts, temporary, base, chosen, threads, verify, progress
        )

    completely(path, write, sources=files_read(base))


def files_read(*checkpoints: Path | None) -> list[Path]:
    """The files of these checkpoints: of a sharded one its index and each of its shards. What cannot be
    read is told by whoever reads it."""
    found: list[Path] = []
    for path in checkpoints:
        if path is None:
            continue
        found.append(path)
        text = os.fspath(path)
        if text.lower().endswith(".json"):
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
                with open(text, "rb") as index:
                    shards = set(json.load(index)["weight_map"].values())
                names = [name for name in shards if os.path.basename(name) == name and "\0" not in name]
                found += [os.path.join(os.path.dirname(text), name) for name in names]
    return found


def compress_file(
    source: Path,
    path: Path | None = None,
    *,
    base: Path | None = None,
    level: int = 8,
    tools: Tools | None = None,
    packings: Mapping[str, str] | None = None,
    group_symbols: int | None = None,
    threads: int = 0,
    verify: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> str:
    """Compress a `.safetensors`, `.safetensors.index.json` or `.gguf` file; returns the path of the
    `.wcodec`, beside the source where no `path` is given.

    `base` is another checkpoint to code against; `packings` and `group_symbols` are those of `save_file`. With `verify`
    all files are read back and compared before the result gets its name. `progress` is told of bytes read and to be read,
    of all files and both times.

    Raises `FileExistsError` where `path` is there already, unless `overwrite`; `InvalidArgumentError`
    where it is the source or the base, or a shard of one, or one of these is a named pipe or a device.
    """
    _arguments.counts(threads=threads)
    _arguments.flags(verify=verify, overwrite=overwrite)
    chosen = _chosen(level, tools, packings, group_symbols)
    source = os.fspath(source)
    os.stat(source)
    if base is not None:
        os.stat(base)
    _arguments.regular(source, base)
    if path is None:
        path = source.removesuffix(".index.json")
        path = os.path.splitext(path)[0] + ".wcodec"

    def write(temporary: str) -> None:
        with _arguments.of_file(source):
            _latens.wcodec_compress(
                source, temporary, base, chosen, threads, verify, progress
            )

    completely(path, write, sources=files_read(source, base), overwrite=overwrite)
    return os.fspath(path)
