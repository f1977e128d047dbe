"""Reading a `.pco.zip`.

Files may come from strangers: what the schema says is checked against the bytes that are there before
memory is taken for it.
"""

from __future__ import annotations

import errno
import io
import os
import threading
import weakref
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any, Literal

import numpy as np

from . import _runs, pco
from ._archive_format import SCHEMA, SEAL, crc32
from ._archive_schema import Column, Member, Schema, Shape, Store, parse
from ._arguments import Phases, Progress
from ._buffers import Array
from ._limits import bounded, earned
from .errors import (
    CorruptError,
    InvalidArgumentError,
    LatensError,
    LimitError,
    MissingError,
    TruncatedError,
)

# Largest dictionary of text, in values and bytes, that is written.
_DICTIONARY_VALUES, _DICTIONARY_BYTES = 1 << 20, 16 << 20
# Text is decoded by so many bytes.
_PIECE = 1 << 20


def _error(kind: type[LatensError], what: str, at: int | None = None, *places: str) -> LatensError:
    inside = "".join(f" in {place}" for place in places)
    error = kind(what + inside + ("" if at is None else f" (byte {at})"))
    error.offset, error.places = at, list(places)
    return error


def check_seal(file: IO[bytes]) -> None:
    """Whether the file ends in its checksum, and that holds."""
    length = file.seek(0, os.SEEK_END)
    seal = len(SEAL) + 8
    file.seek(max(0, length - seal))
    end = file.read()
    if not end.startswith(SEAL) or len(end) != seal:
        file.seek(0)
        # However short it is: what begins otherwise is not cut off.
        if not b"PK\3\4".startswith(file.read(4)):
            what = "corrupt: this is no .pco.zip file: it does not begin as a ZIP archive does"
            raise _error(CorruptError, what, 0)
        raise _error(
            TruncatedError,
            "truncated: the file does not end in its checksum: it is cut short, or another tool "
            "has rewritten it",
            length,
        )
    if end[-8:] != b"%08x" % crc32(file, length - 8):
        raise _error(CorruptError, "corrupt: the checksum of the file does not hold", length - 8)
    file.seek(0)


@dataclass(frozen=True)
class _Place:
    start: int
    size: int
    crc: int


def _at_offsets(file: Any) -> bool:
    """Whether the bytes of a file are those of its descriptor, which the system reads by their place."""
    raw = file.raw if isinstance(file, io.BufferedReader) else file
    return isinstance(raw, io.FileIO) and hasattr(os, "pread")


class Members:
    """The members of an archive: where they lie, checked against the file. Threads may read them, and
    processes that were forked, which share the place in the file where others read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._lock, self._placed = file, threading.Lock(), _at_offsets(file)
        _OPEN.add(self)
        self.length = file.seek(0, os.SEEK_END)
        try:
            infos = zipfile.ZipFile(file).infolist()
        except Exception as error:  # What it raises on hostile archives is no matter of record.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            raise _error(CorruptError, f"corrupt: no sound ZIP archive: {error}") from error
        self._places = {info.filename: self._place(info) for info in infos}
        if sum(info.file_size for info in infos) > self.length:
            raise _error(CorruptError, "corrupt: members share bytes")
        if len(self._places) != len(infos):
            raise _error(CorruptError, "corrupt: two members of the same name")

    def _place(self, info: zipfile.ZipInfo) -> _Place:
        name, at = info.filename[:80], info.header_offset
        plain = info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1
        head = self._at(at, 30) if 0 <= at < self.length else b""
        start = at + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        inside = len(head) == 30 and head[:4] == b"PK\3\4" and start + info.file_size <= self.length
        if not plain or not inside or info.compress_size != info.file_size:
            raise _error(CorruptError, f"corrupt: member {name!r} is not a stored one", max(0, at))
        return _Place(start, info.file_size, info.CRC)

    def _at(self, at: int, size: int) -> bytes:
        if self._placed:
            pieces = []
            while size > 0 and (piece := os.pread(self._file.fileno(), min(size, 1 << 30), at)):
                pieces.append(piece)
                at, size = at + len(piece), size - len(piece)
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        with self._lock:
            self._file.seek(at)
            return self._file.read(size)

    def check(self, schema: Schema) -> None:
        """Whether the members that the schema names are there."""
        for column in schema.columns.values():
            for member in column.members():
                place = self._places.get(member.file)
                if member.file == SCHEMA or place is None or place.size != member.bytes:
                    name = member.file[:80]
                    raise _error(CorruptError, f"corrupt: member {name!r} is not as {SCHEMA} says")

    def read(self, name: str) -> bytes:
        """All bytes of a member."""
        place = self._places.get(name)
        if place is None:
            raise _error(CorruptError, f"corrupt: there is no member {name[:80]}")
        data = self._at(place.start, place.size)
        if len(data) != place.size or zlib.crc32(data) != place.crc:
            raise _error(CorruptError, "corrupt: its CRC-32 does not hold", place.start, name[:80])
        return data

    def start(self, name: str) -> int:
        """Where the bytes of a member begin."""
        return self._places[name].start


_OPEN: weakref.WeakSet[Members] = weakref.WeakSet()


def _unlock() -> None:
    # In a new process, whose parent may have been reading: who would unlock it is not here.
    for members in list(_OPEN):
        members._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


class Reader:
    """Columns of an archive, within limits."""

    def __init__(
        self, file: IO[bytes], threads: int, max_output: int | None, max_alloc: int | None
    ) -> None:
        self._members, self._threads, self._max_alloc = Members(file), threads, max_alloc
        self.max_output = max_output
        try:
            self.schema = parse(self._members.read(SCHEMA))
        except CorruptError as error:
            if error.offset is None and SCHEMA in error.places:
                error.offset = self._members.start(SCHEMA)
            raise
        self._members.check(self.schema)

    def numbers(self, name: str) -> int:
        """How many values a column has."""
        return self.schema.rows - self.schema.columns[name].nulls

    def column(self, name: str, phases: Phases) -> Any:
        """The array of a column: with its shape where there is one, masked where there are nulls."""
        column = self.schema.columns[name]
        try:
            return self._column(column, phases.of(self.numbers(name)))
        except MemoryError:
            raise LimitError(
                f"{name[:80]}: there is no memory for so many rows; bound them by max_output"
            ) from None

    def _column(self, column: Column, progress: Progress | None) -> Any:
        name, rows, nulls = column.name[:80], self.schema.rows, column.nulls
        if column.values is None:
            raise InvalidArgumentError(
                f"{name}: numbers of {column.storage} have no type in NumPy; "
                "latens decompress FILE -o t.parquet reads them"
            )
        if isinstance(column.values, Store):
            values = self._text(column, column.values)
            if progress is not None:
                progress(values.size, values.size)
        else:
            number = column.number or np.dtype("u1")
            bounded((rows - nulls) * number.itemsize, self.max_output)
            values = self._numbers(column.values, column.number, rows - nulls, progress)
        if values.size != rows - nulls:
            raise _error(
                CorruptError,
                f"corrupt: {name}: {values.size} values and {nulls} nulls are not {rows} rows",
            )
        shape = column.shape
        if shape is not None and not shape.masked:
            return _shaped(values, shape)
        if column.valid is not None:
            wanted = rows if shape is None else shape.count
            held = self._masked(column.valid, name, values, wanted)
        else:
            held = values if shape is None else np.ma.MaskedArray(values)
        if shape is None:
            return held
        mask = np.ma.getmaskarray(held)[:: 2 if shape.dtype.kind == "c" else 1]
        return np.ma.MaskedArray(_shaped(np.ma.getdata(held), shape), mask.reshape(shape.shape))

    def _earned(self, size: int) -> None:
        earned(size, self._members.length, self.max_output)

    def _numbers(
        self,
        member: Member,
        dtype: np.dtype[Any] | None,
        most: int,
        progress: Progress | None = None,
    ) -> Array:
        """At most so many numbers, of this type; booleans are of uint8 in the file."""
        data = self._members.read(member.file)
        kind = np.dtype("u1") if dtype is None or dtype.kind == "b" else dtype
        try:
            values = pco.decompress(
                data,
                max_output=min(most * kind.itemsize, (1 << 64) - 1),
                max_alloc=self._max_alloc,
                threads=self._threads,
                progress=progress,
            )
        except LatensError as error:
            raise self._within(error, member, most) from None
        if values.dtype != kind and values.size:
            raise self._damaged(member, f"it holds {values.dtype}, {SCHEMA} says {kind}")
        if dtype is None or dtype.kind != "b":
            return values.astype(kind, copy=False)
        if values.size and values.max() > 1:
            raise self._damaged(member, "a boolean that is neither 0 nor 1")
        return values.view(np.bool_) if values.size else np.zeros(0, np.bool_)

    def _damaged(self, member: Member, what: str) -> LatensError:
        at = self._members.start(member.file)
        return _error(CorruptError, f"corrupt: {what}", at, member.file[:80])

    def _within(self, error: LatensError, member: Member, most: int) -> LatensError:
        """An error of a member, with its place in the archive."""
        if isinstance(error, LimitError) and "max_output" in str(error):
            return self._damaged(member, f"more numbers than the {most} of {SCHEMA}")
        said = str(error)
        if error.offset is not None:
            at = error.offset + self._members.start(member.file)
            said = said.replace(f"byte {error.offset}", f"byte {at}")
        again = type(error)(f"{member.file[:80]}: {said}")
        again.offset = None if error.offset is None else at
        again.places = [member.file[:80], *error.places]
        return again

    def _masked(self, member: Member, name: str, values: Array, wanted: int) -> Any:
        """The first `wanted` of all rows; those after them must be null."""
        rows = self.schema.rows
        self._earned(wanted * (values.dtype.itemsize + 1))
        runs = self._numbers(member, np.dtype("u8"), rows + 2)
        if not _runs.are(runs, rows):
            raise self._damaged(member, f"its runs are not {rows} rows")
        null = _runs.to_mask(runs, wanted)
        valid = int(runs[::2].sum())
        if not valid == wanted - int(null.sum()) == values.size:
            raise self._damaged(member, "not as many nulls as it says")
        filled = np.zeros(wanted, values.dtype)
        filled[~null] = values
        return np.ma.MaskedArray(filled, null)

    def _text(self, column: Column, store: Store) -> Array:
        try:
            import zstandard
        except ImportError as error:
            raise MissingError(
                f"{column.name} is text, which needs zstandard: pip install zstandard"
            ) from error
        rows = self.schema.rows - column.nulls
        count = rows if column.codes is None else column.distinct
        if column.codes is not None and (
            count > _DICTIONARY_VALUES or store.total > _DICTIONARY_BYTES
        ):
            raise self._damaged(store.joined, "a dictionary larger than any that is written")
        bounded(store.total + 8 * max(count, rows), self.max_output)
        if store.lengths is not None:
            lengths = self._numbers(store.lengths, np.dtype("u4"), count)
            ends = np.cumsum(lengths, dtype=np.uint64)
            if lengths.size != count or (int(ends[-1]) if count else 0) != store.total:
                raise self._damaged(store.lengths, "its lengths are not those of the text")
        elif (column.fixed or 0) * count != store.total:
            raise self._damaged(store.joined, "its lengths are not those of the text")
        elif column.fixed == 0:
            self._earned(8 * count)
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 24).stream_reader(
            io.BytesIO(self._members.read(store.joined.file))
        )
        held = bytearray()
        try:
            # Memory grows with what is decoded; one byte more would be too many.
            while len(held) <= store.total:
                piece = reader.read(min(_PIECE, store.total + 1 - len(held)))
                if not piece:
                    break
                held += piece
        except zstandard.ZstdError as error:
            raise self._damaged(store.joined, str(error)) from error
        if len(held) != store.total:
            raise self._damaged(store.joined, "its text is not as long as its lengths say")
        if store.lengths is None:
            ends = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(column.fixed or 0)
        joined, at = bytes(held), 0
        values = np.empty(count, object)
        for i, end in enumerate(map(int, ends)):
            part = joined[at:end]
            try:
                values[i] = part.decode() if column.text else part
            except UnicodeDecodeError as error:
                raise self._damaged(store.joined, f"text that is not UTF-8: {error}") from None
            at = end
        if column.codes is None:
            return values
        codes = self._numbers(column.codes, np.dtype("u4"), rows)
        if codes.size and int(codes.max()) >= values.size:
            raise self._damaged(column.codes, "a code beyond its dictionary")
        return values[codes]


def _shaped(values: Array, shape: Shape) -> Array:
    order: Literal["C", "F"] = "F" if shape.order == "F" else "C"
    native = values.view(shape.dtype.newbyteorder("="))
    return np.reshape(native, shape.shape, order).astype(shape.dtype, copy=False)
