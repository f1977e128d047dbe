"""Reading a `.pco.zip`."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from typing import IO, Any, Literal

import numpy as np

from . import pco
from ._archive_format import METADATA, SCHEMA, SEAL, crc32
from ._buffers import Array
from .errors import CorruptError, InvalidArgumentError, LatensError, MissingError, TruncatedError


def check_seal(file: IO[bytes]) -> None:
    """Whether the file ends in its checksum, and that holds."""
    length = file.seek(0, os.SEEK_END)
    seal = len(SEAL) + 8
    file.seek(max(0, length - seal))
    end = file.read()
    if not end.startswith(SEAL) or len(end) != seal:
        error: LatensError = TruncatedError(
            "truncated: the file does not end in its checksum: it is no .pco.zip, is cut short, or "
            f"another tool has rewritten it (byte {length})"
        )
        error.offset = length
        raise error
    if end[-8:] != b"%08x" % crc32(file, length - 8):
        error = CorruptError(f"corrupt: the checksum of the file does not hold (byte {length - 8})")
        error.offset = length - 8
        raise error
    file.seek(0)


def read_schema(archive: zipfile.ZipFile) -> dict[str, Any]:
    """`schema.json`, as far as it is used here."""
    try:
        schema = json.loads(archive.read(SCHEMA))
        known = schema["format"] == "latens pco.zip"
        if not known or schema["version"] != 1:
            raise InvalidArgumentError(
                f"{SCHEMA}: {schema['format']} version {schema['version']} is not known here; "
                "a newer latens may read it"
            )
        if not isinstance(schema["rows"], int) or not isinstance(schema["columns"], list):
            raise KeyError("rows")
        for column in schema["columns"]:
            column["field"]["name"], column["field"]["storage"], column["layout"]["kind"]
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, LatensError):
            raise
        raise CorruptError(f"corrupt: {SCHEMA} is not there or not sound: {error!r}") from error
    result: dict[str, Any] = schema
    return result


def _member(archive: zipfile.ZipFile, about: Any) -> bytes:
    try:
        info = archive.getinfo(about["file"])
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != about["bytes"]:
            raise CorruptError(f"corrupt: member {about['file']} is not as {SCHEMA} says")
        return archive.read(info)
    except (KeyError, TypeError, zipfile.BadZipFile) as error:
        raise CorruptError(f"corrupt: a member cannot be read: {error}") from error


def _numbers(archive: zipfile.ZipFile, about: Any, threads: int, most: int) -> Array:
    data = _member(archive, about)
    try:
        return pco.decompress(data, max_output=8 * most, threads=threads)
    except LatensError as error:
        error.places = [about["file"], *error.places]
        raise


def read_column(
    archive: zipfile.ZipFile, schema: dict[str, Any], column: dict[str, Any], threads: int
) -> Any:
    """The array of a column: with its shape where there is one, masked where there are nulls."""
    rows, nulls, layout = schema["rows"], column.get("nulls", 0), column["layout"]
    field = column["field"]
    if layout["kind"] == "numbers":
        values = _numbers(archive, layout["values"], threads, rows)
        if field["storage"] == "boolean":
            if values.size and values.max() > 1:
                raise CorruptError(f"corrupt: {field['name']}: a boolean that is neither 0 nor 1")
            values = values.view(np.bool_)
    elif layout["kind"] in ("plain", "dictionary"):
        values = _text(archive, column, threads, rows)
    else:
        raise InvalidArgumentError(
            f"{field['name']}: numbers of {field['storage']} have no type in NumPy; "
            "latens decompress FILE -o t.parquet reads them"
        )
    if values.size + nulls != rows:
        raise CorruptError(f"corrupt: {field['name']}: {values.size} values and {nulls} nulls "
                           f"are not {rows} rows")
    for entry in schema.get("metadata", []):
        if entry["key"] == METADATA:
            return _shaped(values, json.loads(entry["value"])[field["name"]])
    if "array" in schema:
        about = schema["array"]
        order: Literal["C", "F"] = "F" if about["fortran_order"] else "C"
        values = np.reshape(values, _shape(about["shape"], values.size), order)
        return values.astype(values.dtype.newbyteorder(">")) if about["big_endian"] else values
    return _masked(archive, column, values, rows, threads) if nulls else values


def _shape(shape: Any, size: int) -> list[int]:
    if not all(isinstance(n, int) and n >= 0 for n in shape) or math.prod(shape) != size:
        raise CorruptError(f"corrupt: the shape {shape} does not go with {size} numbers")
    return list(shape)


def _shaped(values: Array, about: dict[str, Any]) -> Array:
    dtype = np.dtype(about["dtype"])
    native = dtype.newbyteorder("=")
    if native.kind == "O" or values.dtype.itemsize * values.size % max(1, dtype.itemsize):
        raise CorruptError(f"corrupt: the type {dtype} does not go with its numbers")
    values = values.view(native)
    return values.reshape(_shape(about["shape"], values.size)).astype(dtype, copy=False)


def _masked(
    archive: zipfile.ZipFile, column: dict[str, Any], values: Array, rows: int, threads: int
) -> Any:
    runs = _numbers(archive, column["valid"], threads, 2 * rows + 2)
    if int(runs.sum(dtype=object)) != rows:
        raise CorruptError(f"corrupt: {column['field']['name']}: its runs are not {rows} rows")
    null = np.repeat(np.arange(runs.size) % 2 == 1, runs.astype(np.int64))
    if rows - int(null.sum()) != values.size:
        raise CorruptError(f"corrupt: {column['field']['name']}: not as many nulls as it says")
    filled = np.zeros(rows, values.dtype)
    filled[~null] = values
    return np.ma.MaskedArray(filled, null)


def _text(archive: zipfile.ZipFile, column: dict[str, Any], threads: int, rows: int) -> Array:
    try:
        import zstandard
    except ImportError as error:
        raise MissingError(
            f"{column['field']['name']} is text, which needs zstandard: pip install zstandard"
        ) from error
    layout, field = column["layout"], column["field"]
    store = layout["values"]
    count = layout.get("distinct", rows)
    if "lengths" in store:
        lengths = _numbers(archive, store["lengths"], threads, count).astype(np.int64)
    else:
        lengths = np.full(rows - column["nulls"] if layout["kind"] == "plain" else count,
                          int(field["storage"]["fixed"]))
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 24).stream_reader(
        io.BytesIO(_member(archive, store["joined"]))
    )
    try:
        joined = reader.read(total + 1)
    except zstandard.ZstdError as error:
        raise CorruptError(f"corrupt: {field['name']}: {error}") from error
    if len(joined) != total:
        raise CorruptError(f"corrupt: {field['name']}: its text is not as long as its lengths say")
    parts: list[Any] = [joined[end - n : end] for end, n in zip(ends, lengths, strict=True)]
    if field["logical"] in ("text", "enum", "json"):
        parts = [part.decode() for part in parts]
    values = np.empty(len(parts), object)
    values[:] = parts
    if layout["kind"] == "dictionary":
        codes = _numbers(archive, layout["codes"], threads, rows)
        if codes.size and int(codes.max()) >= values.size:
            raise CorruptError(f"corrupt: {field['name']}: a code beyond its dictionary")
        values = values[codes]
    return values
