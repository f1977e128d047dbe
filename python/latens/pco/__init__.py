"""Pco: arrays of numbers of 8 to 64 bits, in one call each way.

Modes are spelled `auto`, `classic`, `int-mult@7`, `trend@3600`, `float-mult@0.01`, `float-quant@29`, `dict`; delta
encodings `auto`, `none`, `consecutive@1` to `consecutive@7`, `lookback`, `conv1@1` to `conv1@32`; as on
the command line. `latens.pco.wrapped` writes and reads the parts of a file one by one, for
containers of your own.

>>> import numpy as np
>>> from latens import pco
>>> ids = np.arange(1000, dtype=np.uint32) * 7
>>> data = pco.compress(ids, mode="int-mult@7", delta="consecutive@1")
>>> out = np.empty(1000, np.uint32)
>>> pco.decompress_into(data, out)
Decompressed(n=1000, finished=True)
>>> pco.inspect(data)["chunks"][0]["mode"]
'int-mult@7'
"""

from typing import Any, NamedTuple

from .. import _arguments, _latens
from .._arguments import Progress
from .._buffers import Array, apart, numbers, octets, target

__all__ = ["Decompressed", "compress", "decompress", "decompress_into", "inspect"]


class Decompressed(NamedTuple):
    """What `decompress_into` has done."""

    n: int
    """Numbers written to the front of the array."""
    finished: bool
    """Whether that was all of them."""


def compress(
    array: Any,
    *,
    level: int = 8,
    mode: str = "auto",
    delta: str = "auto",
    favor: str = "balanced",
    chunk_n: int | None = None,
    checksum: bool = True,
    threads: int = 1,
    progress: Progress | None = None,
) -> bytes:
    """The numbers of `array` as a standalone Pco file.

    `array` is a NumPy array, a buffer or a DLPack object of uint8 to uint64, int8 to int64, float16
    to float64, of any shape; the shape is not kept (`latens.save` keeps it), numbers are taken in C
    order. What is contiguous, aligned and in the machine's byte order is not copied. A masked array
    whose mask masks something is refused.

    `level` is 0 (fastest) to 12 (smallest); `favor` `speed`, `balanced` or `size`; `chunk_n` the most
    numbers in a chunk, 1 to 2^24, the unit of threads, 2^18 where it is not given, with `size` at levels
    10 to 12 up to 2^20; `checksum` adds a trailer of 20 bytes and 16 a chunk that other readers skip;
    `threads` 0 stands for all cores. The bytes do not depend on the threads.

    Raises `InvalidArgumentError` where settings and type do not go together.
    """
    config = _arguments.config(level, mode, delta, favor, chunk_n, checksum)
    try:
        return _latens.pco_compress(numbers(array), config, threads, progress)
    except _arguments.WRONG:
        _arguments.counts(threads=threads)
        raise


def decompress(
    data: Any,
    *,
    max_output: int | None = None,
    max_alloc: int | None = None,
    max_spare_slots: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Array:
    """All numbers of a standalone Pco file, as an array of one dimension of the file's own type.

    `data` is bytes or any buffer of them. `max_output` and `max_alloc` bound the bytes of numbers and
    of tables: set both where files come from strangers. `max_spare_slots` bounds the work of making
    tables that numbers do not earn, at 2^22 slots unless told otherwise: no known encoder writes files
    that come near. Several `threads` share the chunks of a file.

    Raises `CorruptError`, `TruncatedError` (with `offset`), `LimitError`.
    """
    try:
        return _latens.pco_decompress(
            octets(data), max_output, max_alloc, max_spare_slots, threads, progress
        )
    except _arguments.WRONG:
        _arguments.counts(
            max_output=max_output,
            max_alloc=max_alloc,
            max_spare_slots=max_spare_slots,
            threads=threads,
        )
        raise


def decompress_into(
    data: Any,
    out: Any,
    *,
    max_alloc: int | None = None,
    max_spare_slots: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Decompressed:
    """Decode a standalone Pco file to the front of `out`, without another copy of the numbers.

    `out` is a contiguous, aligned, writable array of any shape, or buffer, of the file's own type, that
    shares no memory with `data`. It may be
    shorter than the file (then `finished` is false) or longer. `max_alloc` and `max_spare_slots` are
    those of `decompress`.

    Raises as `decompress`; of `out` then only the first `error.values_before` numbers have changed.
    """
    held, room = octets(data), target(out)
    apart(held, room)
    try:
        done = _latens.pco_decompress_into(
            held, room, max_alloc, max_spare_slots, threads, progress
        )
    except _arguments.WRONG:
        _arguments.counts(max_alloc=max_alloc, max_spare_slots=max_spare_slots, threads=threads)
        raise
    return tuple.__new__(Decompressed, done)


def inspect(
    data: Any,
    *,
    max_output: int | None = None,
    max_alloc: int | None = None,
    max_spare_slots: int | None = None,
) -> dict[str, Any]:
    """What is in a standalone file, as `latens inspect --json` says it: versions, type, count, and
    for each chunk mode, delta encoding, latent variables with bits for each number, bins.

    All of the file is decoded, though no numbers are kept, and its checksum is checked. Limits, and
    what it raises, are those of `decompress`.
    """
    _arguments.counts(max_output=max_output, max_alloc=max_alloc, max_spare_slots=max_spare_slots)
    return _latens.pco_inspect(octets(data), max_output, max_alloc, max_spare_slots)
