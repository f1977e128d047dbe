"""An open `.wcodec` file, and slices of its tensors."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _arguments, _latens
from ._arguments import Progress
from ._buffers import Array
from ._dtypes import numpy_dtype
from .errors import CorruptError, InvalidArgumentError

# What the readers of safetensors take.
_LONGEST_HEADER = 100_000_000


class TensorInfo(NamedTuple):
    """What the file says of a tensor."""

    dtype: str
    """As the source spells it: `F32`, `BF16`, `I8`, `Q4_K`, …"""
    shape: tuple[int, ...]
    nbytes: int
    """Bytes when decoded."""
    stored: int
    """Bytes in the file."""
    copy_of: str | None
    """The tensor whose bytes it shares, if it has none of its own."""


class Fault(NamedTuple):
    """Something that is wrong with a tensor, or with what is beside tensors."""

    tensor: str | None
    """The tensor that cannot be read, if it is one."""
    offset: int | None
    """Its byte in the file, where one is known."""
    what: str
    """What it is, with the group that it is in."""


class Damage(NamedTuple):
    """Something that is wrong with a file beside its tensors."""

    offset: int
    """Its byte in the file."""
    what: str
    """What it is, and what was done about it."""


class Rows(NamedTuple):
    """What the first index leaves of a tensor."""

    low: int
    """The first row that is wanted."""
    high: int
    """One past the last."""
    again: tuple[Any, ...]
    """The index into these rows that gives what the whole index gives of the tensor."""


def rows_of(index: Any, shape: tuple[int, ...], name: str) -> Rows | None:
    """The rows of a tensor that an index asks for; None where it says that otherwise than by a number or a slice."""
    first = index[0] if isinstance(index, tuple) and index else index
    plain = isinstance(first, (int, np.integer, slice)) and not isinstance(first, bool)
    if not shape or not plain:
        return None
    length = shape[0]
    if isinstance(first, slice):
        chosen = range(*first.indices(length))
        low, high = (min(chosen), max(chosen) + 1) if chosen else (0, 0)
        # Both ends are chosen ones, so the step alone says which of those between are.
        again: Any = slice(None, None, chosen.step)
    else:
        low = int(first) + (length if first < 0 else 0)
        if not 0 <= low < length:
            raise IndexError(f"index {first} is out of bounds for {length} rows of {name!r}")
        high, again = low + 1, 0
    return Rows(low, high, (again, *(index[1:] if isinstance(index, tuple) else ())))


class Slice:
    """A tensor of which parts are decoded: `part[2:8]`, `part[0, :, ::2]`.

    What the first index leaves out is not decoded where the tensor's packing allows that.
    """

    def __init__(self, file: File, name: str) -> None:
        self._file, self._name, self._info = file, name, file.info(name)

    def get_shape(self) -> list[int]:
        """The shape of the whole tensor."""
        return list(self._info.shape)

    def get_dtype(self) -> str:
        """The type, as the source spells it."""
        return self._info.dtype

    def __getitem__(self, index: Any) -> Array:
        info, name = self._info, self._name
        width = _latens.WcodecReader.width(info.dtype)
        rows = None if width is None else rows_of(index, info.shape, name)
        if width is None or rows is None:
            return np.asarray(self._file.get_tensor(name)[index])
        row = math.prod(info.shape[1:]) * width
        data = self._file._reader.range(name, rows.low * row, rows.high * row)
        part = data.view(numpy_dtype(info.dtype)).reshape(rows.high - rows.low, *info.shape[1:])
        return np.asarray(part[rows.again])


class File(Mapping[str, Any]):
    """An open `.wcodec` file: names to arrays, each decoded when it is asked for.

    Several threads may use it. It is equal to itself alone, and may be the key of a dictionary. `latens.wcodec.open` makes it; `close`, or the end of a `with`, closes it.
    """

    def __init__(self, reader: _latens.WcodecReader) -> None:
        self._open: _latens.WcodecReader | None = reader
        self._tensors = {
            name: TensorInfo(dtype, tuple(shape), nbytes, stored, copy)
            for name, dtype, shape, nbytes, stored, copy in reader.tensors()
        }

    @property
    def _reader(self) -> _latens.WcodecReader:
        if self._open is None:
            raise InvalidArgumentError("the file is closed; open it again")
        return self._open

    def close(self) -> None:
        """Close the file, and its base; what was decoded stays. Threads that read end with the file
        open, others get `InvalidArgumentError`. Closing twice does nothing."""
        self._open = None

    @property
    def closed(self) -> bool:
        """Whether `close` was called, or the `with` that held the file has ended."""
        return self._open is None

    def keys(self) -> Any:
        """The names of all tensors, in the order of the file."""
        return list(self._tensors)

    @property
    def damage(self) -> list[Damage]:
        """What is wrong with header, index, footer or tables of a file opened with `salvage=True`, in the
        order in which it was found; of a damaged index, tensors up to the damage are there."""
        return [Damage(*found) for found in self._reader.damage]

    def info(self, name: str) -> TensorInfo:
        """Type, shape and sizes of a tensor."""
        if name not in self._tensors:
            raise KeyError(f"there is no tensor {name!r}")
        return self._tensors[name]

    def inspect(self, name: str) -> dict[str, Any]:
        """How a tensor is coded, with the names of `latens inspect --json`, and part by part (`parts`).

        It is decoded for its order-0 entropy.
        """
        self.info(name)
        return self._reader.inspect(name)

    def get_bytes(self, name: str) -> npt.NDArray[np.uint8]:
        """The bytes of a tensor, of any type, as they stand in the source file."""
        self.info(name)
        return self._reader.bytes(name)

    def get_tensor(self, name: str) -> Array:
        """A tensor as an array of its type and shape, over the memory that it was decoded to.

        Raises `MissingError` where the type needs `ml_dtypes`, `InvalidArgumentError` where no array
        can have it: blocks of GGUF, packed floats. `get_bytes` gives these.
        """
        return self.get_tensors([name])[0]

    def get_tensors(self, names: list[str]) -> list[Array]:
        """Several tensors, as `get_tensor` gives them: threads decode small ones side by side."""
        infos = [self.info(name) for name in names]
        types = [numpy_dtype(info.dtype) for info in infos]
        found = self._reader.several(names)
        return [
            data.view(dtype).reshape(info.shape)
            for data, dtype, info in zip(found, types, infos, strict=True)
        ]

    def get_slice(self, name: str) -> Slice:
        """A tensor of which parts can be decoded."""
        return Slice(self, name)

    def logical(
        self,
        name: str,
        rows: tuple[int, int] | None = None,
        cols: tuple[int, int] | None = None,
        *,
        without_planes: int = 0,
    ) -> Array:
        """Weights as their packing means them: INT4 comes as one number an int8 or uint8.

        The array has two dimensions, rows and columns of the logical weights; `rows` and `cols` are
        pairs of first and one past the last. Its type is the tensor's own, but that of BOOL (0 and 1) and
        F8_E8M0 (exponents plus 127) is uint8.

        Of a tensor that is coded in bitplanes (`Tools(coder="bitplane")`) the lowest ones may be left out: weights
        come to within less than 2^`without_planes` where nothing is predicted or transformed, in less time.
        """
        info = self.info(name)
        all_rows, all_cols, _ = self._reader.layout(name)
        a, b = (0, all_rows) if rows is None else _arguments.pair(rows=rows)
        c, d = (0, all_cols) if cols is None else _arguments.pair(cols=cols)
        _arguments.counts(without_planes=without_planes)
        values, own = self._reader.logical(name, (a, b), (c, d), without_planes)
        if own:
            values = values.view(numpy_dtype(info.dtype))
        return values.reshape(b - a, -1 if values.size else d - c)

    def __getitem__(self, name: str) -> Array:
        return self.get_tensor(name)

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    # Two mappings are compared item by item, which arrays are not made for.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def metadata(self) -> dict[str, str]:
        """The metadata of the first safetensors file that the checkpoint was made of.

        Nothing is decoded but its header, so they are there where tensors are damaged, or want a base.
        """
        for number, (name, _) in enumerate(self._reader.files()):
            if name.endswith(".safetensors"):
                length = int.from_bytes(self._reader.head(number, 8), "little")
                header = self._reader.head(number, 8 + min(length, _LONGEST_HEADER))[8:]
                try:
                    return dict(json.loads(header).get("__metadata__") or {})
                except (AttributeError, RecursionError, TypeError, ValueError) as error:
                    raise CorruptError(f"the header of {name!r} is none of safetensors") from error
        return {}

    def files(self) -> dict[str, int]:
        """Names and bytes of the files that the checkpoint was made of."""
        return dict(self._reader.files())

    @property
    def model_hash(self) -> str:
        """SHA-256 over names, types, shapes and bytes of all tensors, hexadecimal."""
        return self._reader.model_hash

    @property
    def base_name(self) -> str | None:
        """The name of the checkpoint that it was coded against, where there is one."""
        return self._reader.base_name

    def verify(self, progress: Progress | None = None) -> None:
        """Decode everything and check every checksum; raises the first error."""
        self._reader.verify(progress)

    def faults(self, progress: Progress | None = None) -> list[Fault]:
        """All that is wrong with the file, of each tensor and group that cannot be read; empty where nothing is."""
        return [Fault(*found) for found in self._reader.faults(progress)]

    def __enter__(self) -> File:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
