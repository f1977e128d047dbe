"""Parquet's DELTA_BINARY_PACKED: streams of int32, int64, uint32 or uint64.

>>> import numpy as np
>>> from latens import delta_binary_packed as dbp
>>> ids = np.arange(1_700_000_000, 1_700_060_000, 60)
>>> stream = dbp.encode(ids)
>>> values, consumed = dbp.decode(stream, "int64")
>>> np.array_equal(values, ids), consumed == len(stream)
(True, True)
"""

from typing import Any, NamedTuple

from . import _arguments, _latens
from ._arguments import Progress
from ._buffers import Array, apart, numbers, octets, target, type_name

__all__ = ["Decoded", "decode", "decode_into", "encode"]


class Decoded(NamedTuple):
    """What `decode_into` has done."""

    n: int
    """Values written to the front of the array: all that the stream has."""
    consumed: int
    """Bytes that the stream takes; what follows it begins there."""


def encode(
    array: Any,
    *,
    block_size: int | None = None,
    miniblocks: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> bytes:
    """The stream of the values of `array`, taken in C order.

    `block_size` is in values, a multiple of 128; `miniblocks` divides it into multiples of 32. The
    defaults, 128 in 4 for 32 bits and 256 in 4 for 64, give the bytes of the crate `parquet`.

    `threads` 0 stands for all cores; the bytes do not depend on it. `progress` is called with values done
    and values in all, now and then and at the end.
    """
    try:
        return _latens.dbp_encode(numbers(array), block_size, miniblocks, threads, progress)
    except _arguments.WRONG:
        _arguments.counts(block_size=block_size, miniblocks=miniblocks, threads=threads)
        raise


def decode(
    data: Any,
    dtype: Any,
    *,
    max_output: int | None = None,
    strict: bool = False,
    count: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Array, int]:
    """The values of the stream at the start of `data`, and the bytes that it takes.

    `dtype` is what the stream holds: `int32`, `int64`, `uint32` or `uint64`; nothing in it says so.
    `max_output` bounds the bytes of values: a short stream may legally stand for billions. `strict`
    refuses what writers must not do; `count` is how many values there must be. `threads` and `progress`
    are those of `encode`.

    Raises `CorruptError`, `TruncatedError` (with `offset`), `LimitError`.
    """
    try:
        return _latens.dbp_decode(
            octets(data), type_name(dtype), max_output, strict, count, threads, progress
        )
    except _arguments.WRONG:
        _arguments.counts(max_output=max_output, count=count, threads=threads)
        _arguments.flags(strict=strict)
        raise


def decode_into(
    data: Any,
    out: Any,
    *,
    strict: bool = False,
    count: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Decoded:
    """Decode the stream at the start of `data` to the front of `out`, an array of its type that has
    room for all of it and shares no memory with `data`.

    The rest is as in `decode`. Several `threads` pay where the memory is new, as that of `numpy.empty`; to
    memory that was in use one is faster, as stores bound it. Where it raises, only the first `error.values_before` values of `out` have
    changed.
    """
    held, room = octets(data), target(out)
    apart(held, room)
    try:
        done = _latens.dbp_decode_into(held, room, strict, count, threads, progress)
    except _arguments.WRONG:
        _arguments.counts(count=count, threads=threads)
        _arguments.flags(strict=strict)
        raise
    return tuple.__new__(Decoded, done)
