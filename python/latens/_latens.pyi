"""The extension module. Use the modules of `latens`, which take more and say more."""

import builtins
from collections.abc import Callable
from os import PathLike
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "ChunkDecoder",
    "ChunkEncoder",
    "DeviceBytes",
    "FileDecoder",
    "FileEncoder",
    "GpuFile",
    "PcoConfig",
    "WcodecReader",
    "dbp_decode",
    "dbp_decode_into",
    "dbp_encode",
    "pco_compress",
    "pco_decompress",
    "pco_decompress_into",
    "pco_inspect",
    "WcodecWriter",
    "wcodec_compress",
    "wcodec_compress_bytes",
]

_Array = npt.NDArray[Any]
_Bytes = npt.NDArray[np.uint8]
_Octets = bytes | _Bytes
_Progress = Callable[[int, int], object] | None
_Path = str | PathLike[str]
_Tools = tuple[tuple[int, int], list[str], list[str], str, bool]
_Chosen = tuple[int, _Tools | None, list[tuple[str, str]], int]

@final
class PcoConfig:
    def __new__(
        cls, *, level: int, mode: str, delta: str, favor: str, chunk_n: int | None, checksum: bool
    ) -> PcoConfig: ...

def pco_compress(
    array: _Array, config: PcoConfig, threads: int, progress: _Progress
) -> bytes: ...
def pco_decompress(
    file: _Octets,
    max_output: int | None,
    max_alloc: int | None,
    max_spare_slots: int | None,
    threads: int,
    progress: _Progress,
) -> _Array: ...
def pco_decompress_into(
    file: _Octets,
    out: _Array,
    max_alloc: int | None,
    max_spare_slots: int | None,
    threads: int,
    progress: _Progress,
) -> tuple[int, bool]: ...
def pco_inspect(
    file: _Octets, max_output: int | None, max_alloc: int | None, max_spare_slots: int | None
) -> dict[str, Any]: ...
@final
class FileEncoder:
    def __new__(cls, config: PcoConfig) -> FileEncoder: ...
    def header(self) -> bytes: ...
    def chunk(
        self, array: _Array, page_lens: list[int], progress: _Progress
    ) -> ChunkEncoder: ...

@final
class ChunkEncoder:
    @property
    def mode(self) -> str: ...
    @property
    def delta(self) -> str: ...
    @property
    def pages(self) -> int: ...
    def meta(self) -> bytes: ...
    def page(self, index: int) -> bytes: ...

@final
class FileDecoder:
    def __new__(
        cls, header: _Octets, max_output: int | None, max_alloc: int | None
    ) -> FileDecoder: ...
    @property
    def consumed(self) -> int: ...
    @property
    def format_version(self) -> str: ...
    def chunk(self, meta: _Octets, dtype: str) -> ChunkDecoder: ...

@final
class ChunkDecoder:
    @property
    def consumed(self) -> int: ...
    @property
    def mode(self) -> str: ...
    @property
    def delta(self) -> str: ...
    @property
    def type(self) -> str: ...
    def page(
        self, page: _Octets, n: int, progress: _Progress
    ) -> tuple[_Array, int]: ...
    def page_into(self, page: _Octets, out: _Array, progress: _Progress) -> int: ...
    def pages_into(
        self, pages: list[_Octets], lens: list[int], out: _Array, progress: _Progress
    ) -> list[int]: ...

def dbp_encode(
    array: _Array,
    block_size: int | None,
    miniblocks: int | None,
    threads: int,
    progress: _Progress,
) -> bytes: ...
def dbp_decode(
    stream: _Octets,
    dtype: str,
    max_output: int | None,
    strict: bool,
    expect_count: int | None,
    threads: int,
    progress: _Progress,
) -> tuple[_Array, int]: ...
def dbp_decode_into(
    stream: _Octets,
    out: _Array,
    strict: bool,
    expect_count: int | None,
    threads: int,
    progress: _Progress,
) -> tuple[int, int]: ...
@final
class WcodecReader:
    def __new__(
        cls,
        path: _Path | None,
        data: builtins.bytes | None,
        base: _Path | None,
        threads: int,
        max_output: int | None,
        max_alloc: int | None,
        salvage: bool,
    ) -> WcodecReader: ...
    @property
    def damage(self) -> list[tuple[int, str]]: ...
    @property
    def model_hash(self) -> str: ...
    @property
    def base_name(self) -> str | None: ...
    def tensors(self) -> list[tuple[str, str, list[int], int, int, str | None]]: ...
    def files(self) -> list[tuple[str, int]]: ...
    def layout(self, name: str) -> tuple[int, int, str]: ...
    def inspect(self, name: str) -> dict[str, Any]: ...
    def bytes(self, name: str) -> _Bytes: ...
    def several(self, names: list[str]) -> list[_Bytes]: ...
    def range(self, name: str, start: int, stop: int) -> _Bytes: ...
    def logical(
        self, name: str, rows: tuple[int, int], cols: tuple[int, int], without_planes: int
    ) -> tuple[_Array, bool]: ...
    def head(self, file: int, most: int) -> builtins.bytes: ...
    def write_file(self, file: int, path: _Path, progress: _Progress) -> None: ...
    def verify(self, progress: _Progress) -> None: ...
    def faults(self, progress: _Progress) -> list[tuple[str | None, int | None, str]]: ...
    @staticmethod
    def width(dtype: str) -> int | None: ...

@final
class DeviceBytes:
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...

@final
class GpuFile:
    @staticmethod
    def open(
        path: _Path,
        base: _Path | None,
        threads: int,
        ordinal: int,
        max_output: int | None,
        max_alloc: int | None,
    ) -> tuple[GpuFile | None, str]: ...
    def tensors(self, names: list[str]) -> list[DeviceBytes]: ...
    def range(self, name: str, start: int, stop: int) -> DeviceBytes: ...

@final
class WcodecWriter:
    def __new__(
        cls,
        name: str,
        metadata: dict[str, str],
        out: _Path,
        base: _Path | None,
        chosen: _Chosen,
        threads: int,
    ) -> WcodecWriter: ...
    def write(self, tensors: list[tuple[str, str, tuple[int, ...], _Bytes]]) -> None: ...
    def finish(self, verify: bool) -> int: ...

def wcodec_compress(
    source: _Path,
    out: _Path,
    base: _Path | None,
    chosen: _Chosen,
    threads: int,
    verify: bool,
    progress: _Progress,
) -> tuple[int, int]: ...
def wcodec_compress_bytes(
    name: str,
    parts: list[_Bytes],
    out: _Path,
    base: _Path | None,
    chosen: _Chosen,
    threads: int,
    verify: bool,
    progress: _Progress,
) -> tuple[int, int]: ...
