"""The codec `latens.pco` for numcodecs, thus for Zarr 2.

It turns an array into bytes, so in Zarr 2 it is the `compressor`, with no filters that make bytes
before it:

>>> import numcodecs, numpy as np
>>> codec = numcodecs.get_codec({"id": "latens.pco", "level": 9})
>>> numbers = np.arange(1000.0)
>>> np.array_equal(codec.decode(codec.encode(numbers)), numbers)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .errors import InvalidArgumentError, MissingError

try:
    from numcodecs.abc import Codec
except ImportError as error:
    raise MissingError("latens.numcodecs needs numcodecs: pip install latens[zarr]") from error

from numcodecs.compat import ensure_ndarray_like
from numcodecs.registry import register_codec

from . import _codec, pco
from ._buffers import Array

__all__ = ["Pco", "register_pcodec"]


_ADVICE = (
    "this codec is the compressor of Zarr 2: write compressors=latens.numcodecs.Pco(), filters=None, "
    "zarr_format=2; in Zarr 3 write serializer=latens.zarr.Pco(), compressors=None"
)
if TYPE_CHECKING:
    from abc import ABCMeta as _Meta
else:
    _Meta = type(Codec)


class _Named(_Meta):
    """Zarr names the class where a codec stands in the wrong place; the name says what is right."""

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__qualname__}'> ({_ADVICE})"


class Pco(_codec.Configured, Codec, metaclass=_Named):
    """One chunk as one standalone Pco file; settings are those of `latens.pco.compress`.

    As every codec of numcodecs it takes and gives numbers in the order in which memory holds them:
    for `order="F"` Zarr 2 hands chunks over in Fortran's order, and gives what it gets back its shape.
    """

    codec_id: ClassVar[str] = "latens.pco"

    def encode(self, buf: Any) -> bytes:
        """The bytes of a chunk, an array of numbers in C or Fortran order; of another it is C order."""
        return _codec.encode(_array(buf).reshape(-1, order="A"), self._settings)

    def decode(self, buf: Any, out: Any = None) -> Array:
        """The numbers of a chunk; into the memory of `out` where it is given, an array of as many in C
        or Fortran order."""
        if out is None:
            return pco.decompress(
                ensure_ndarray_like(buf), max_output=self.max_output, max_alloc=self.max_alloc
            )
        held = ensure_ndarray_like(out)
        order = held.flags.c_contiguous or held.flags.f_contiguous
        if not order or not held.flags.writeable or not held.dtype.isnative:
            raise InvalidArgumentError(
                "`out` must be writable, contiguous in C or Fortran order, and in the byte order of "
                "this machine; write numpy.empty(shape, dtype)"
            )
        room = held.reshape(-1, order="A").view(_codec.stored(held.dtype))
        done = pco.decompress_into(ensure_ndarray_like(buf), room, max_alloc=self.max_alloc)
        if not done.finished or done.n != room.size:
            raise InvalidArgumentError(f"the chunk does not hold the {room.size} numbers of `out`")
        result: Array = held
        return result

    def __getitem__(self, index: object) -> None:
        # Zarr 3 goes through what it takes for a list of compressors. By `__iter__` Zarr 2 would know
        # this for a list.
        raise TypeError(_ADVICE)

    def get_config(self) -> dict[str, Any]:
        """The id and the settings."""
        return {"id": self.codec_id, **self._settings}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Pco:
        """The codec of a configuration."""
        return cls(**_codec.known(config))


def _array(buf: Any) -> Array:
    array = ensure_ndarray_like(buf)
    if array.dtype == np.uint8 and array.ndim == 1 and isinstance(buf, (bytes, bytearray)):
        raise InvalidArgumentError(
            "latens.pco takes arrays of numbers and got bytes: no filter or compressor may come "
            "before it; write compressor=latens.numcodecs.Pco(), filters=None"
        )
    result: Array = array
    if not result.dtype.isnative:
        raise InvalidArgumentError(
            f"an array of {result.dtype.str} is not in the byte order of this machine, which Zarr 2 "
            f"takes the decoded bytes to have; write dtype={result.dtype.newbyteorder('=').str!r}"
        )
    return result


class _Pcodec(Pco):
    """Ours under the name that numcodecs gives the reference implementation."""

    codec_id: ClassVar[str] = "pcodec"

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, "level": self._settings["level"]}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Pco:
        return cls(level=config.get("level", 8), checksum=False)


def register_pcodec() -> None:
    """From now on read and write what is stored under the name `pcodec` with this codec.

    Files written so name `pcodec`, and numcodecs' own PCodec reads them.
    """
    register_codec(_Pcodec)
