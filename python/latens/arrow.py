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
from typing import TYPE_CHECKING, Any

import numpy as np

from . import pco
from ._buffers import Array
from .errors import CorruptError, InvalidArgumentError, LimitError, MissingError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["compress", "compress_column", "decompress", "decompress_column"]

_MAGIC = b"latens arrow 1\n"


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


def compress_column(column: Any, **settings: Any) -> bytes:
    """A column as bytes: its type, which rows are null, its numbers.

    `column` is a pyarrow Array or ChunkedArray, a polars Series, or anything else with an Arrow
    stream or array: integers, floats, booleans, dates, times, timestamps, durations. `settings` are
    those of `latens.pco.compress`. Numbers without nulls in one chunk are not copied.
    """
    pa = _pyarrow()
    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        if hasattr(column, "__arrow_c_stream__"):
            column = pa.chunked_array(column)
        elif hasattr(column, "__arrow_c_array__"):
            column = pa.array(column)
        else:
            raise InvalidArgumentError(
                f"a {type(column).__name__} has no Arrow stream; write pyarrow.array(...)"
            )
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    kind = column.type
    stored = _stored(kind)
    if stored is None:
        raise InvalidArgumentError(
            f"a column of {kind} is not one of numbers; leave it out, or cast it: "
            "text by dictionary_encode().indices"
        )
    valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    if valid is not None:
        column = column.drop_null()
    plain = column.cast(stored) if pa.types.is_boolean(kind) else column.view(stored)
    numbers = pco.compress(plain.to_numpy(zero_copy_only=False), **settings)
    about: dict[str, Any] = {"type": _type_text(kind), "pco": len(numbers)}
    runs = b""
    if valid is not None:
        runs = pco.compress(_runs(valid))
        about["rows"], about["valid"] = int(valid.size), len(runs)
    return _MAGIC + json.dumps(about).encode() + b"\n" + numbers + runs


def _type_text(kind: Any) -> str:
    """The type as base64 of Arrow's own schema message."""
    pa = _pyarrow()
    return base64.b64encode(pa.schema([pa.field("", kind)]).serialize()).decode()


def _runs(valid: Array) -> Array:
    """Lengths of runs, in turn valid and null, the first valid."""
    ends = np.flatnonzero(np.diff(valid)) + 1
    edges = np.concatenate([[0], ends, [valid.size]])
    lengths = np.diff(edges)
    return np.concatenate([[0], lengths] if not valid[0] else [lengths]).astype(np.uint64)


def decompress_column(data: Any, *, max_output: int | None = None, threads: int = 1) -> pa.Array:
    """A column from the bytes that `compress_column` made, over the memory that it is decoded to.

    Raises `CorruptError` or `TruncatedError` where the bytes are damaged, `LimitError` where there
    are more than `max_output` bytes of numbers.
    """
    pa = _pyarrow()
    held = memoryview(data).cast("B")
    line = bytes(held[: 1 << 16]).find(b"\n", len(_MAGIC))
    if bytes(held[: len(_MAGIC)]) != _MAGIC or line < 0:
        raise CorruptError("corrupt: this is no column of latens.arrow (byte 0)")
    try:
        about = json.loads(bytes(held[len(_MAGIC) : line]))
        text = base64.b64decode(about["type"])
        kind = pa.ipc.read_schema(pa.py_buffer(text)).field(0).type
        start, size = line + 1, int(about["pco"])
        rows, runs_size = int(about.get("rows", -1)), int(about.get("valid", 0))
    except (KeyError, TypeError, ValueError, pa.ArrowInvalid, IndexError, OSError) as error:
        raise CorruptError(f"corrupt: the head of the column is not sound: {error}") from error
    stored = _stored(kind)
    if stored is None or min(size, runs_size) < 0 or start + size + runs_size != len(held):
        raise CorruptError("corrupt: the column does not have the bytes that its head says")
    numbers = pco.decompress(held[start : start + size], max_output=max_output, threads=threads)
    if numbers.dtype != np.dtype(stored.to_pandas_dtype()):
        raise CorruptError(f"corrupt: numbers of {numbers.dtype} do not go with {kind}")
    plain = pa.array(numbers)
    column = plain.cast(kind) if pa.types.is_boolean(kind) else plain.view(kind)
    if rows < 0:
        return column
    runs = pco.decompress(held[start + size :], max_output=max_output)
    if int(runs.sum(dtype=object)) != rows or runs.dtype != np.uint64:
        raise CorruptError("corrupt: its runs are not as many rows as its head says")
    if max_output is not None and rows * numbers.itemsize > max_output:
        raise LimitError(f"a column of {rows} rows passes the limit max_output = {max_output}")
    valid = np.repeat(np.arange(runs.size) % 2 == 0, runs.astype(np.int64))
    if int(valid.sum()) != numbers.size:
        raise CorruptError("corrupt: not as many values as valid rows")
    places = np.cumsum(valid) - 1
    return column.take(pa.array(places, mask=~valid))


def compress(table: Any, **settings: Any) -> dict[str, bytes]:
    """Columns of a table, by name: of a pyarrow Table, a polars or pandas DataFrame, a DuckDB
    relation, or anything else with `__arrow_c_stream__`. See `compress_column`."""
    pa = _pyarrow()
    if not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise InvalidArgumentError(
                f"a {type(table).__name__} has no Arrow stream; write pyarrow.table(...)"
            )
        table = pa.table(table)
    if len(set(table.column_names)) != table.num_columns:
        raise InvalidArgumentError("two columns have the same name; rename one")
    columns = {}
    for name in table.column_names:
        try:
            columns[name] = compress_column(table[name], **settings)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"column {name!r}: {error}") from None
    return columns


def decompress(columns: dict[str, bytes], *, threads: int = 1) -> pa.Table:
    """The table of columns that `compress` made."""
    pa = _pyarrow()
    arrays = {name: decompress_column(data, threads=threads) for name, data in columns.items()}
    return pa.table(arrays)
