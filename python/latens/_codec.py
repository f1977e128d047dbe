"""What the codecs for Zarr 2 and 3 share: settings, a chunk to bytes and back."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from . import _arguments, pco
from ._buffers import Array
from ._limits import bounded
from .errors import InvalidArgumentError

# Types that are stored as integers of the same width.
_SEEN_AS = {"b": "u1", "M": "i8", "m": "i8"}

SETTINGS = ("level", "mode", "delta", "favor", "checksum")


def settings(
    level: int, mode: str, delta: str, favor: str, checksum: bool
) -> dict[str, int | str | bool]:
    """The settings, checked as far as that is possible without a type."""
    from . import _latens

    values: dict[str, int | str | bool] = dict(
        zip(SETTINGS, (level, mode, delta, favor, checksum), strict=True)
    )
    _arguments.level(level)
    _arguments.flags(checksum=checksum)
    _latens.PcoConfig(
        level=level, mode=mode, delta=delta, favor=favor, chunk_n=None, checksum=checksum
    )
    return values


def known(given: dict[str, Any]) -> dict[str, Any]:
    """A configuration, of which all are settings."""
    wrong = [repr(name) for name in given if name not in SETTINGS]
    if wrong:
        raise InvalidArgumentError(
            f"the codec latens.pco has no setting {', '.join(wrong)}; it has {', '.join(SETTINGS)}"
        )
    return given


class Configured:
    """Settings of `latens.pco.compress`, kept and shown."""

    max_output: ClassVar[int | None] = None
    """Bytes that a chunk may have; for stores of strangers, whose settings make the codecs, set it of
    the class: `Pco.max_output = 1 << 30`."""
    max_alloc: ClassVar[int | None] = None
    """Bytes that tables of a chunk may have, likewise."""

    def __init__(
        self,
        level: int = 8,
        mode: str = "auto",
        delta: str = "auto",
        favor: str = "balanced",
        checksum: bool = True,
    ) -> None:
        self._settings = settings(level, mode, delta, favor, checksum)

    def __repr__(self) -> str:
        return "Pco(" + ", ".join(f"{k}={v!r}" for k, v in self._settings.items()) + ")"


def stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the numbers that stand for those of `dtype`."""
    if dtype.kind in _SEEN_AS:
        return np.dtype(_SEEN_AS[dtype.kind])
    return dtype.newbyteorder("=")


def encode(array: Array, values: dict[str, Any]) -> bytes:
    """A chunk as one standalone file."""
    if array.dtype.kind in _SEEN_AS:
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        array = np.ascontiguousarray(native).view(_SEEN_AS[array.dtype.kind])
    return pco.compress(array, **values)


def decode(
    data: Any, shape: tuple[int, ...], dtype: np.dtype[Any], limits: type[Configured]
) -> Array:
    """A chunk of known shape and type."""
    kind = stored(dtype)
    bounded(math.prod(shape) * kind.itemsize, limits.max_output)
    out = np.empty(shape, kind)
    done = pco.decompress_into(data, out, max_alloc=limits.max_alloc)
    if not done.finished or done.n != out.size:
        more = "" if done.finished else " or more"
        raise InvalidArgumentError(
            f"the chunk holds {done.n}{more} numbers, its shape {shape} is of {out.size}"
        )
    if dtype.kind in _SEEN_AS:
        return out.view(dtype.newbyteorder("="))
    return out
