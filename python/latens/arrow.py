"""Columns from and to Arrow: anything with `__arrow_c_stream__` or `__arrow_c_array__`.

A table becomes a dictionary of columns, each bytes: the numbers as a standalone `.pco`, nulls left
out, and which rows are null. It comes back as a `pyarrow.Table`, which polars, pandas and DuckDB take
as it is.

>>> import pyarrow as pa
>>> from latens import arrow
>>> table = pa.table({"a": [1, None, 3], "b": [0.5, 1.5, 2.5]})
>>> columns = arrow.compress(table)
>>> arrow.decompress(columns).equals(table)
True
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments, _runs, pco
from ._limits import bounded, earned
from .errors import (
    CorruptError,
    InvalidArgumentError,
    LatensError,
    LimitError,
    MissingError,
    TruncatedError,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["compress", "compress_column", "decompress", "decompress_column"]

# A column is this, length and CRC-32 of a text of JSON (four bytes each, little-endian), the text, the
# numbers as `.pco` and, where rows are null, runs of rows as `.pco`.
_MAGIC = b"latens arrow 2\n"
# Of columns of the first kind, whose text stands without length and CRC, up to the end of its line.
_MAGIC_1 = b"latens arrow 1\n"
_TIMESTAMP = re.compile(r"timestamp\[(s|ms|us|ns)(?:, tz=(.{1,100}))?\]", re.DOTALL)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingError("latens.arrow needs pyarrow: pip install latens[arrow]") from error
    return pyarrow


def _stored(kind: Any) -> Any:
    """The Arrow type of the numbers that stand for a type; None where there is none."""
    pa = _pyarrow()
    types = pa.types
    if types.is_boolean(kind):
        return pa.uint8()
    if types.is_integer(kind) or types.is_floating(kind):
        return kind
    if types.is_date32(kind) or types.is_time32(kind):
        return pa.int32()
    if types.is_temporal(kind) and kind.bit_width == 64:
        return pa.int64()
    return None


def _numpy(stored: Any) -> np.dtype[Any]:
    """The type of NumPy for one of `_stored`; `to_pandas_dtype` wants pandas, before pyarrow 26."""
    name = str(stored)
    return np.dtype({"halffloat": "f2", "float": "f4", "double": "f8"}.get(name, name))


def _type(text: str) -> Any:
    """The type that `str` spells so, of those that columns have; None where there is none."""
    pa = _pyarrow()
    kinds = [pa.bool_(), pa.float16(), pa.float32(), pa.float64(), pa.date32(), pa.date64()]
    kinds += [getattr(pa, f"{u}int{n}")() for u in ("", "u") for n in (8, 16, 32, 64)]
    kinds += [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    kinds += [pa.duration(unit) for unit in ("s", "ms", "us", "ns")]
    timestamp = _TIMESTAMP.fullmatch(text)
    if timestamp:
        return pa.timestamp(timestamp[1], timestamp[2])
    return next((kind for kind in kinds if str(kind) == text), None)


def compress_column(column: Any, **settings: Any) -> bytes:
    """A column as bytes: its type, which rows are null, its numbers.

    `column` is a pyarrow Array or ChunkedArray, a polars Series, or anything else with an Arrow
    stream or array: integers, floats, booleans, dates, times, timestamps, durations. `settings` are
    those of `latens.pco.compress`. Numbers without nulls in one chunk are not copied.
    """
    return _compressed(column, {}, settings)


def _compressed(column: Any, more: dict[str, Any], settings: dict[str, Any]) -> bytes:
    pa = _pyarrow()
    try:
        if not isinstance(column, (pa.Array, pa.ChunkedArray)):
            if hasattr(column, "__arrow_c_stream__"):
                column = pa.chunked_array(column)
            elif hasattr(column, "__arrow_c_array__"):
                column = pa.array(column)
            else:
                raise InvalidArgumentError(
                    f"a {type(column).__name__} has no Arrow stream; write pyarrow.array(...)"
                )
    except pa.ArrowException as error:
        raise InvalidArgumentError(f"pyarrow does not take this column: {error}") from error
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    kind = column.type
    stored = _stored(kind)
    if stored is None or _type(str(kind)) != kind:
        raise InvalidArgumentError(
            f"a column of {kind} is not one of numbers; leave it out, or cast it: "
            "text by dictionary_encode().indices"
        )
    null = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if null is not None:
        column = column.drop_null()
    plain = column.cast(stored) if pa.types.is_boolean(kind) else column.view(stored)
    numbers = pco.compress(plain.to_numpy(zero_copy_only=False), **settings)
    about: dict[str, Any] = {"type": str(kind), "pco": len(numbers)}
    runs = b""
    if null is not None:
        runs = pco.compress(_runs.of_mask(null))
        about["rows"], about["valid"] = int(null.size), len(runs)
    text = json.dumps({**about, **more}).encode()
    head = len(text).to_bytes(4, "little") + zlib.crc32(text).to_bytes(4, "little")
    return _MAGIC + head + text + numbers + runs


def _head(held: memoryview) -> tuple[dict[str, Any], Any, int]:
    """What the head says, the type of the column, and where the numbers begin."""
    pa = _pyarrow()
    magic, at = bytes(held[: len(_MAGIC)]), len(_MAGIC)
    if magic == _MAGIC:
        start, crc = at + 8, bytes(held[at + 4 : at + 8])
        end = start + int.from_bytes(held[at : at + 4], "little")
        if end > len(held):
            raise TruncatedError(f"truncated: the head of the column ends at byte {end}")
        if zlib.crc32(held[start:end]) != int.from_bytes(crc, "little"):
            error = CorruptError(f"corrupt: the head's CRC-32 does not hold (byte {start})")
            error.offset = start
            raise error
        after = end
    elif magic == _MAGIC_1:
        start, end = at, bytes(held[: 1 << 16]).find(b"\n", at)
        after = end + 1
    elif _MAGIC.startswith(magic) or _MAGIC_1.startswith(magic):
        raise TruncatedError("truncated: the column ends within its first line")
    else:
        raise CorruptError("corrupt: this is no column of latens.arrow (byte 0)")
    try:
        if end < 0:
            raise ValueError("it does not end")
        about = json.loads(bytes(held[start:end]))
        if magic == _MAGIC:
            kind = _type(about["type"])
        else:
            known = {"type", "pco", "rows", "valid"}
            if not {"type", "pco"} <= about.keys() <= known or len(about) == 3:
                raise KeyError("rows")
            text = base64.b64decode(about["type"], validate=True)
            kind = pa.ipc.read_schema(pa.py_buffer(text)).field(0).type
        counts = [about["pco"], about.get("rows", 0), about.get("valid", 0)]
        if any(type(n) is not int or not 0 <= n < 1 << 62 for n in counts):
            raise ValueError("a count that is none")
        return about, kind, after
    except (
        *(AttributeError, IndexError, KeyError, TypeError, ValueError, OSError, RecursionError),
        pa.ArrowException,
    ) as error:
        raise CorruptError(f"corrupt: the head of the column is not sound: {error!r}") from error


def decompress_column(
    data: Any,
    *,
    max_output: int | None = None,
    max_alloc: int | None = None,
    threads: int = 1,
) -> pa.Array:
    """A column from the bytes that `compress_column` made, over the memory that it is decoded to.

    Raises `CorruptError` or `TruncatedError` where the bytes are damaged: in columns that latens wrote
    before version 2 of its heads damage of the head may pass for another type. Raises `LimitError`
    where there are more than `max_output` bytes of numbers, or without it far more rows that are null
    than such bytes stand for, and where tables take more than `max_alloc`.
    """
    return _decompressed(data, max_output, max_alloc, threads)[0]


def _decompressed(
    data: Any, max_output: int | None, max_alloc: int | None, threads: int
) -> tuple[Any, dict[str, Any]]:
    pa = _pyarrow()
    _arguments.counts(max_output=max_output, max_alloc=max_alloc, threads=threads)
    held = memoryview(data).cast("B")
    about, kind, start = _head(held)
    size, runs_size, rows = about["pco"], about.get("valid", 0), about.get("rows")
    stored = None if kind is None else _stored(kind)
    if stored is None:
        raise CorruptError(f"corrupt: the type {str(about['type'])[:80]!r} is none of a column")
    if start + size + runs_size < len(held) or (rows is None) != (runs_size == 0):
        raise CorruptError("corrupt: the column does not have the bytes that its head says")
    if start + size + runs_size > len(held):
        error = TruncatedError(f"truncated: the column ends before its numbers (byte {len(held)})")
        error.offset = len(held)
        raise error
    try:
        numbers = pco.decompress(
            held[start : start + size], max_output=max_output, max_alloc=max_alloc, threads=threads
        )
        if numbers.dtype != _numpy(stored):
            raise CorruptError(f"corrupt: numbers of {numbers.dtype} do not go with {kind}")
        plain = pa.array(numbers)
        column = plain.cast(kind) if pa.types.is_boolean(kind) else plain.view(kind)
        if rows is None:
            return column, about
        earned(rows * (numbers.itemsize + 1), len(held), max_output)
        said = CorruptError("corrupt: its runs are not as many rows as its head says")
        try:
            runs = pco.decompress(
                held[start + size :], max_output=8 * (rows + 2), max_alloc=max_alloc
            )
        except LimitError as error:
            raise said if "max_output" in str(error) else error from None
        if runs.dtype != np.uint64 or not _runs.are(runs, rows):
            raise said
        null = _runs.to_mask(runs, rows)
        if rows - int(null.sum()) != numbers.size:
            raise CorruptError("corrupt: not as many values as valid rows")
        places = np.cumsum(~null) - 1
        return column.take(pa.array(places, mask=null)), about
    except pa.ArrowException as error:
        raise CorruptError(f"corrupt: numbers that do not go with {kind}: {error}") from error


def compress(table: Any, **settings: Any) -> dict[str, bytes]:
    """Columns of a table, by name: of a pyarrow Table, a polars or pandas DataFrame, a DuckDB
    relation, or anything else with `__arrow_c_stream__`. See `compress_column`.

    Metadata of the table and of fields, and what may not be null, are kept for `decompress`: an index
    of pandas, a column in Arrow, is an index again after `to_pandas`.
    """
    pa = _pyarrow()
    if not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise InvalidArgumentError(
                f"a {type(table).__name__} has no Arrow stream; write pyarrow.table(...)"
            )
        try:
            table = pa.table(table)
        except pa.ArrowException as error:
            raise InvalidArgumentError(f"pyarrow does not take this table: {error}") from error
    if len(set(table.column_names)) != table.num_columns:
        raise InvalidArgumentError("two columns have the same name; rename one")
    columns: dict[str, bytes] = {}
    for name, field in zip(table.column_names, table.schema, strict=True):
        more: dict[str, Any] = {} if field.nullable else {"nullable": False}
        if field.metadata:
            more["metadata"] = _texts(field.metadata)
        if not columns and table.schema.metadata:
            more["table"] = _texts(table.schema.metadata)
        try:
            columns[name] = _compressed(table[name], more, settings)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"column {name!r}: {error}") from None
    return columns


def _texts(metadata: dict[bytes, bytes]) -> list[list[str]]:
    return [[base64.b64encode(part).decode() for part in pair] for pair in metadata.items()]


def _metadata(texts: Any) -> dict[bytes, bytes] | None:
    try:
        return {base64.b64decode(k): base64.b64decode(v) for k, v in texts or ()} or None
    except (TypeError, ValueError) as error:
        raise CorruptError(f"corrupt: metadata that is none: {error}") from error


def decompress(
    columns: dict[str, bytes],
    *,
    max_output: int | None = None,
    max_alloc: int | None = None,
    threads: int = 1,
) -> pa.Table:
    """The table of columns that `compress` made.

    `max_output` bounds the bytes of numbers of all columns together; else, and in what it raises, this
    is as `decompress_column`.
    """
    pa = _pyarrow()
    fields, arrays, metadata = [], [], {}
    for name, data in columns.items():
        try:
            array, about = _decompressed(data, max_output, max_alloc, threads)
            bounded(array.nbytes, max_output)
        except LatensError as error:
            error.places = [f"column {name!r}", *error.places]
            raise
        if max_output is not None:
            max_output -= array.nbytes
        nullable = about.get("nullable") is not False
        fields.append(pa.field(name, array.type, nullable, _metadata(about.get("metadata"))))
        arrays.append(array)
        metadata.update(_metadata(about.get("table")) or {})
    if len({len(array) for array in arrays}) > 1:
        raise InvalidArgumentError("the columns are not of one table: their rows differ")
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata or None))
