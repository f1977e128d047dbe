"""`schema.json` of a `.pco.zip`: what the archive holds. Nothing in it is believed before it is checked."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from ._archive_format import METADATA, SCHEMA
from .errors import CorruptError, InvalidArgumentError

_T = TypeVar("_T", dict[str, Any], list[Any], str, int, bool)

NUMBERS = {f"{kind}{8 * n}": np.dtype(f"{kind}{n}") for kind in "iu" for n in (1, 2, 4, 8)}
NUMBERS |= {f"f{8 * n}": np.dtype(f"f{n}") for n in (2, 4, 8)}

# Types that `save` writes.
_DTYPE = re.compile(
    r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[Mm]8(\[\d{0,9}([YMWDhms]|[munpfa]s)\])?)", re.ASCII
)
# NumPy has arrays of no more dimensions.
_DIMENSIONS = 64


def corrupt(what: str) -> CorruptError:
    """Damage of `schema.json`."""
    error = CorruptError(f"corrupt: {SCHEMA}: {what}")
    error.places = [SCHEMA]
    return error


def _as(value: Any, kind: type[_T], what: str) -> _T:
    # Not isinstance: a bool is no number here.
    if type(value) is not kind or (isinstance(value, int) and not 0 <= value < 1 << 64):
        raise corrupt(f"{what} is not what it has to be")
    return value


def _of(about: dict[str, Any], key: str, kind: type[_T]) -> _T:
    return _as(about.get(key), kind, f"`{key}`")


@dataclass(frozen=True)
class Member:
    """A member of the archive."""

    file: str
    bytes: int

    @staticmethod
    def of(about: Any) -> Member:
        about = _as(about, dict, "a member")
        return Member(_of(about, "file", str), _of(about, "bytes", int))


@dataclass(frozen=True)
class Store:
    """Byte strings: all of them joined, bytes of that when decoded, their lengths."""

    joined: Member
    total: int
    lengths: Member | None

    @staticmethod
    def of(about: Any) -> Store:
        about = _as(about, dict, "`values`")
        lengths = Member.of(about["lengths"]) if "lengths" in about else None
        return Store(Member.of(about.get("joined")), _of(about, "total", int), lengths)


@dataclass(frozen=True)
class Shape:
    """What an array is beside its numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    masked: bool

    @property
    def stored(self) -> np.dtype[Any]:
        """The type of its numbers in the column."""
        native = self.dtype.newbyteorder("=")
        if native.kind in "Mm":
            return np.dtype("i8")
        return np.dtype(f"f{native.itemsize // 2}") if native.kind == "c" else native

    @property
    def count(self) -> int:
        """Numbers in the column."""
        return math.prod(self.shape) * (2 if self.dtype.kind == "c" else 1)


@dataclass(frozen=True)
class Column:
    """A column, and which members hold it."""

    name: str
    number: np.dtype[Any] | None
    """Of numbers and booleans."""
    fixed: int | None
    """Of byte strings of one length."""
    text: bool
    nulls: int
    values: Member | Store | None
    """None: numbers of two words, which NumPy does not have."""
    storage: str
    codes: Member | None
    distinct: int
    valid: Member | None
    shape: Shape | None

    def members(self) -> list[Member]:
        """All its members, but those of two words."""
        found = [self.codes, self.valid]
        if isinstance(self.values, Store):
            found += [self.values.joined, self.values.lengths]
        else:
            found.append(self.values)
        return [member for member in found if member is not None]


@dataclass(frozen=True)
class Schema:
    """All of it."""

    rows: int
    columns: dict[str, Column]


def _shape(about: Any) -> tuple[int, ...]:
    shape = [_as(n, int, "a length in `shape`") for n in _of(about, "shape", list)[: _DIMENSIONS + 1]]
    if len(shape) > _DIMENSIONS or math.prod(shape) >= 1 << 62:
        raise corrupt("a shape that no array has")
    return tuple(shape)


def _dtype(text: str) -> np.dtype[Any]:
    try:
        if _DTYPE.fullmatch(text):
            return np.dtype(text)
    except (TypeError, ValueError, OverflowError):
        pass
    raise corrupt(f"{text[:40]!r} is no type of an array")


def _parsed(text: bytes | str) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(word)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise corrupt(f"it is no sound JSON: {str(error)[:200]}") from None


def _shapes(
    about: dict[str, Any], rows: int, columns: list[dict[str, Any]]
) -> dict[str, Shape] | None:
    """Shapes of columns by name; None where the table is not of arrays."""
    for entry in _as(about.get("metadata", []), list, "`metadata`"):
        if _of(_as(entry, dict, "`metadata`"), "key", str) != METADATA:
            continue
        found = _as(_parsed(_of(entry, "value", str)), dict, METADATA)
        shapes = {}
        for name, array in found.items():
            array = _as(array, dict, METADATA)
            masked = _as(array.get("masked", False), bool, "`masked`")
            shapes[name] = Shape(_shape(array), _dtype(_of(array, "dtype", str)), "C", masked)
        return shapes
    if "array" not in about:
        return None
    array = _of(about, "array", dict)
    order = "F" if _of(array, "fortran_order", bool) else "C"
    byte_order: Literal[">", "="] = ">" if _of(array, "big_endian", bool) else "="
    shape = _shape(array)
    if len(columns) != 1 or math.prod(shape) != rows:
        raise corrupt("the shape does not go with the column")
    field = _of(columns[0], "field", dict)
    storage = field.get("storage")
    number = NUMBERS.get(str(storage.get("number"))) if isinstance(storage, dict) else None
    if number is None:
        raise corrupt("an array that is not of numbers")
    return {_of(field, "name", str): Shape(shape, number.newbyteorder(byte_order), order, False)}


def _column(about: dict[str, Any], rows: int, shapes: dict[str, Shape] | None) -> Column:
    field, layout = _of(about, "field", dict), _of(about, "layout", dict)
    name, kind, nulls = _of(field, "name", str), _of(layout, "kind", str), _of(about, "nulls", int)
    storage, number, fixed = field.get("storage"), None, None
    if isinstance(storage, dict) and len(storage) == 1:
        if "fixed" in storage:
            fixed = _of(storage, "fixed", int)
        number = NUMBERS.get(str(storage.get("number")))
    elif storage == "boolean":
        number = np.dtype(np.bool_)
    text = storage == "bytes" or fixed is not None
    wide = storage == "int96" or (isinstance(storage, dict) and "wide" in storage)
    expected = {"numbers": number is not None, "plain": text, "dictionary": text, "words": wide}
    if not expected.get(kind):
        raise corrupt(f"column {name!r}: its layout does not go with its storage")
    values: Member | Store | None = None
    codes, distinct = None, 0
    if kind == "numbers":
        values = Member.of(layout.get("values"))
    elif text:
        values = Store.of(layout.get("values"))
        if (values.lengths is None) != (fixed is not None):
            raise corrupt(f"column {name!r}: lengths and storage do not go together")
    if kind == "dictionary":
        codes, distinct = Member.of(layout.get("codes")), _of(layout, "distinct", int)
    valid = Member.of(about["valid"]) if about.get("valid") is not None else None
    if nulls > rows or (nulls > 0) != (valid is not None):
        raise corrupt(f"column {name!r}: its nulls do not go with what says which rows are null")
    shape = None if shapes is None else shapes.get(name)
    if shapes is not None and (shape is None or number is None):
        raise corrupt(f"column {name!r} is no array as the others are")
    if shape is not None:
        # Rows after the last of a shorter array are null.
        right = shape.count <= rows if shape.masked and nulls else shape.count == rows - nulls
        if shape.stored != number or not right:
            raise corrupt(f"column {name!r}: shape and type do not go with its numbers")
    logical = field.get("logical")
    is_text = isinstance(logical, str) and logical in ("text", "enum", "json")
    return Column(
        name, number, fixed, is_text, nulls, values, str(storage)[:80], codes, distinct, valid, shape
    )


def parse(text: bytes) -> Schema:
    """The schema, checked as far as it can be without the other members."""
    about = _as(_parsed(text), dict, "it")
    known, version = _of(about, "format", str), _of(about, "version", int)
    if known != "latens pco.zip" or version != 1:
        raise InvalidArgumentError(
            f"{SCHEMA}: {known[:80]} version {version} is not known here; a newer latens may read it"
        )
    rows, entries = _of(about, "rows", int), _of(about, "columns", list)
    entries = [_as(entry, dict, "a column") for entry in entries]
    shapes = _shapes(about, rows, entries)
    columns: dict[str, Column] = {}
    for entry in entries:
        column = _column(entry, rows, shapes)
        if column.name in columns:
            raise InvalidArgumentError(
                f"two columns are named {column.name!r}, which arrays by name cannot be; "
                "latens decompress FILE -o t.parquet reads them"
            )
        columns[column.name] = column
    return Schema(rows, columns)
