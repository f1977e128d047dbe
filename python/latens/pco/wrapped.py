"""The wrapped format: header, metadata of chunks and pages one by one, for containers of your own.

The container keeps what is written, and what it says of it: the type of the numbers, and how many
are in each page. All objects may be used by several threads at once, chunks and pages side by side: the
extension lets go of the GIL. `progress` is called with numbers done and in all, now and then and at the
end.

>>> import numpy as np
>>> from latens.pco import wrapped
>>> prices = np.arange(3000) / 100
>>> encoder = wrapped.FileEncoder(level=8)
>>> chunk = encoder.chunk(prices, pages=[1000, 2000])
>>> header, meta, pages = encoder.header(), chunk.meta(), [chunk.page(i) for i in range(2)]
>>> decoder = wrapped.FileDecoder(header).chunk(meta, "float64")
>>> decoder.page(pages[1], 2000)[0]
np.float64(10.0)
>>> back = np.empty(3000)
>>> decoder.pages_into(pages, [1000, 2000], back) == [len(page) for page in pages]
True
"""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from .. import _arguments, _latens
from .._arguments import Progress
from .._buffers import Array, apart, numbers, octets, target, type_name

__all__ = ["ChunkDecoder", "ChunkEncoder", "FileDecoder", "FileEncoder"]


Inner = TypeVar("Inner", _latens.ChunkEncoder, _latens.ChunkDecoder)


class _Chunk(Generic[Inner]):
    """A chunk in either direction."""

    def __init__(self, inner: Inner) -> None:
        self._inner: Inner = inner

    @property
    def mode(self) -> str:
        """The mode of the chunk, as the command line spells it."""
        return self._inner.mode

    @property
    def delta(self) -> str:
        """The delta encoding of the chunk."""
        return self._inner.delta


class ChunkEncoder(_Chunk[_latens.ChunkEncoder]):
    """A chunk with everything chosen, ready to be written in parts."""

    @property
    def pages(self) -> int:
        """How many pages the chunk has."""
        return self._inner.pages

    def meta(self) -> bytes:
        """The chunk's metadata."""
        return self._inner.meta()

    def page(self, index: int) -> bytes:
        """Page `index`, which takes some tenths of a second at most."""
        _arguments.counts(index=index)
        return self._inner.page(index)


class FileEncoder:
    """Writes the header and makes chunks; settings are those of `latens.pco.compress`."""

    def __init__(
        self, *, level: int = 8, mode: str = "auto", delta: str = "auto", favor: str = "balanced"
    ) -> None:
        _arguments.level(level)
        config = _latens.PcoConfig(
            level=level, mode=mode, delta=delta, favor=favor, chunk_n=1 << 24, checksum=False
        )
        self._inner = _latens.FileEncoder(config)

    def header(self) -> bytes:
        """The header of the file."""
        return self._inner.header()

    def chunk(
        self, array: Any, pages: list[int] | None = None, *, progress: Progress | None = None
    ) -> ChunkEncoder:
        """A chunk of 1 to 2^24 numbers, in pages of these many numbers; one page without `pages`."""
        held = numbers(array)
        for n in () if pages is None else pages:
            _arguments.counts(pages=n)
        lens = [held.size] if pages is None else pages
        return ChunkEncoder(self._inner.chunk(held, lens, progress))


class ChunkDecoder(_Chunk[_latens.ChunkDecoder]):
    """The metadata of a chunk; several threads may decode its pages."""

    @property
    def consumed(self) -> int:
        """Bytes that the metadata takes."""
        return self._inner.consumed

    def page(self, data: Any, n: int, *, progress: Progress | None = None) -> Array:
        """The `n` numbers of the page at the start of `data`."""
        _arguments.counts(n=n)
        return self._inner.page(octets(data), n, progress)[0]

    def page_into(self, data: Any, out: Any, *, progress: Progress | None = None) -> int:
        """Decode a page of as many numbers as `out` holds; returns the bytes that the page takes."""
        held, room = octets(data), target(out)
        apart(held, room)
        return self._inner.page_into(held, room, progress)

    def pages_into(
        self, pages: Iterable[Any], lens: Iterable[int], out: Any, *, progress: Progress | None = None
    ) -> list[int]:
        """Decode pages of `lens` numbers, as many in all as `out` holds; returns the bytes that each takes.

        Faster than one page at a time where a dozen or more short pages of as many numbers each follow one another.
        """
        held, numbers, room = [octets(page) for page in pages], list(lens), target(out)
        for n in numbers:
            _arguments.counts(n=n)
        for page in held:
            apart(page, room)
        return self._inner.pages_into(held, numbers, room, progress)


class FileDecoder:
    """Reads the header of a wrapped file at the start of `header`."""

    def __init__(
        self, header: Any, *, max_output: int | None = None, max_alloc: int | None = None
    ) -> None:
        _arguments.counts(max_output=max_output, max_alloc=max_alloc)
        self._inner = _latens.FileDecoder(octets(header), max_output, max_alloc)

    @property
    def consumed(self) -> int:
        """Bytes that the header takes."""
        return self._inner.consumed

    @property
    def format_version(self) -> str:
        """The version of the format, such as `4.1`."""
        return self._inner.format_version

    def chunk(self, meta: Any, dtype: Any) -> ChunkDecoder:
        """Read the metadata of a chunk of numbers of `dtype` at the start of `meta`."""
        return ChunkDecoder(self._inner.chunk(octets(meta), type_name(dtype)))
