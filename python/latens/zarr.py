"""The codec `latens.pco` for Zarr 3: an array-to-bytes serializer, one chunk one standalone `.pco`.

>>> import numpy as np, zarr
>>> from latens.zarr import Pco
>>> grid = np.add.outer(np.arange(60.0), np.arange(90.0))
>>> array = zarr.create_array(
...     {}, shape=grid.shape, chunks=(30, 30), dtype=grid.dtype, serializer=Pco(level=9), compressors=None
... )
>>> array[:] = grid
>>> np.array_equal(array[:], grid)
True

Importing this module is not needed to read such a store: Zarr finds the codec by its entry point.
`register_pcodec` reads and writes what numcodecs' PCodec has written, too. For Zarr 2 see
`latens.numcodecs`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .errors import InvalidArgumentError, MissingError

try:
    from zarr import config
except ImportError as error:
    raise MissingError("latens.zarr needs Zarr 3: pip install latens[zarr]") from error

from zarr.abc.codec import ArrayBytesCodec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.registry import register_codec

from . import _codec
from ._buffers import check_type

if TYPE_CHECKING:
    from abc import ABCMeta as _Meta

    from zarr.core.array_spec import ArraySpec
else:
    _Meta = type(ArrayBytesCodec)

__all__ = ["Pco", "register_pcodec"]


class _Named(_Meta):
    """Zarr names the class where a codec stands in the wrong place; the name says which is right."""

    def __repr__(cls) -> str:
        return (
            f"<class '{cls.__module__}.{cls.__qualname__}'> (it takes arrays: write "
            "serializer=latens.zarr.Pco(), compressors=None)"
        )


def _native(dtype: Any) -> np.dtype[Any]:
    """The type of NumPy; Zarr before 3.1 gives that itself."""
    found: np.dtype[Any] = dtype if isinstance(dtype, np.dtype) else dtype.to_native_dtype()
    return found


class Pco(_codec.Configured, ArrayBytesCodec, metaclass=_Named):
    """One chunk as one standalone Pco file; settings are those of `latens.pco.compress`.

    Chunks are of numbers of 8 to 64 bits, booleans, dates or time differences. Fill values are
    Zarr's business: chunks of nothing else are not written, as `write_empty_chunks` says.
    """

    name: ClassVar[str] = "latens.pco"
    is_fixed_size = False

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Pco:
        """The codec of what `zarr.json` says."""
        if data.get("name") != cls.name:
            raise InvalidArgumentError(f"{data.get('name')!r} is not the codec {cls.name!r}")
        return cls(**_codec.known(data.get("configuration") or {}))

    def to_dict(self) -> dict[str, Any]:
        """What `zarr.json` says."""
        return {"name": self.name, "configuration": dict(self._settings)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pco) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, *self._settings.items()))

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Raise where the array is of a type that Pco does not have."""
        check_type(_codec.stored(_native(dtype)))

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """There is none: sizes depend on the numbers."""
        raise NotImplementedError

    def _encode_sync(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        data = _codec.encode(np.asarray(chunk_array.as_ndarray_like()), self._settings)
        return chunk_spec.prototype.buffer.from_bytes(data)

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        dtype = _native(chunk_spec.dtype)
        array = _codec.decode(chunk_bytes.as_array_like(), chunk_spec.shape, dtype, type(self))
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(array)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_data, chunk_spec)


class _Pcodec(Pco):
    """Ours under the name that Zarr gives numcodecs' PCodec."""

    name: ClassVar[str] = "numcodecs.pcodec"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Pco:
        return cls(level=data.get("configuration", {}).get("level", 8), checksum=False)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "configuration": {"level": self._settings["level"]}}


def register_pcodec() -> type[Pco]:
    """From now on read and write what is stored under the name `numcodecs.pcodec` with this codec;
    returns its class, for `serializer=register_pcodec()()`.

    Stores written so name `numcodecs.pcodec`, and numcodecs' own PCodec reads them.
    """
    qualname = "latens.zarr._Pcodec"
    register_codec(_Pcodec.name, _Pcodec, qualname=qualname)
    # The name holds a dot, so it cannot be set by its path.
    config.set({"codecs": {**config.get("codecs", {}), _Pcodec.name: qualname}})
    return _Pcodec
