"""Writing a `.pco.zip`."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from . import _runs, pco
from ._archive_format import METADATA, SCHEMA, SEAL, crc32
from ._arguments import Phases
from ._buffers import Array, check_type, in_order
from ._output import Path, completely
from .errors import InvalidArgumentError

# Types that are numbers seen differently.
_SEEN_AS = {"b": "u1", "M": "i8", "m": "i8"}
_LOGICAL: dict[str, Any] = {
    "u1": {"integer": {"bits": 8, "signed": False}},
    "u2": {"integer": {"bits": 16, "signed": False}},
    "u4": {"integer": {"bits": 32, "signed": False}},
    "u8": {"integer": {"bits": 64, "signed": False}},
    "i1": {"integer": {"bits": 8, "signed": True}},
    "i2": {"integer": {"bits": 16, "signed": True}},
    "f2": "float16",
}


@dataclass
class Column:
    """An array on its way into an archive."""

    name: str
    numbers: Array
    """Its numbers in C order, those that are masked left out."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    masked: Array | None
    """Which of all numbers are, of a masked array."""

    @property
    def count(self) -> int:
        """Rows that it takes."""
        return self.numbers.size if self.masked is None else self.masked.size

    @staticmethod
    def of(name: str, array: Array) -> Column:
        dtype, masked = array.dtype, None
        ma = sys.modules.get("numpy.ma")
        if ma is not None and isinstance(array, ma.MaskedArray):
            masked, array = in_order(ma.getmaskarray(array)), array.data
        if dtype.isnative is False:
            array = array.astype(dtype.newbyteorder("="))
        flat = in_order(array)
        if dtype.kind in _SEEN_AS:
            flat = flat.view(_SEEN_AS[dtype.kind])
        elif dtype.kind == "c" and dtype.itemsize <= 16:
            flat = flat.view(f"f{dtype.itemsize // 2}")
            masked = None if masked is None else np.repeat(masked, 2)
        try:
            check_type(flat.dtype)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{name}: {error}") from None
        if masked is not None:
            flat = flat[~masked]
        return Column(name, flat, array.shape, dtype, masked)

    def runs(self, rows: int) -> Array:
        """Lengths of runs, in turn valid and null, the first valid; rows after the last are null."""
        if self.masked is None:
            return np.array([self.count, rows - self.count], np.uint64)
        runs, more = _runs.of_mask(self.masked), rows - self.masked.size
        if more and runs.size % 2:
            return np.append(runs, np.uint64(more))
        runs[-1] += np.uint64(more)
        return runs


class _Stems:
    """Names of members: safe on every system, unique in every case."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def stem(self, name: str) -> str:
        base = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in name[:48])
        bare = base.rstrip("0123456789").lower()
        devices = ("", "con", "prn", "aux", "nul", "com", "lpt")
        if bare in devices and (bare or not base) or base.startswith("-") or base.lower() == "schema":
            base = "_" + base
        stem, number = base, 1
        while stem.lower() in self._taken:
            number += 1
            stem = f"{base}-{number}"
        self._taken.add(stem.lower())
        return stem


@dataclass
class Compressing:
    """How columns are compressed."""

    level: int
    threads: int
    progress: Phases


def write(file: Path | IO[bytes], columns: list[Column], compressing: Compressing) -> None:
    """Write an archive to a path, which gets its name when it is complete, or to a file object."""

    def to(temporary: str) -> None:
        with open(temporary, "w+b") as out:
            _write(out, columns, compressing)

    if isinstance(file, (str, os.PathLike)):
        completely(file, to)
        return
    with tempfile.TemporaryFile() as out:
        _write(out, columns, compressing)
        out.seek(0)
        shutil.copyfileobj(out, file, 1 << 20)


def _write(file: IO[bytes], columns: list[Column], compressing: Compressing) -> None:
    rows = max(column.count for column in columns)
    stems, entries = _Stems(), []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:

        def member(name: str, data: bytes) -> dict[str, Any]:
            about = zipfile.ZipInfo(name)
            about.create_system, about.external_attr = 3, 0o100644 << 16
            archive.writestr(about, data)
            return {"file": name, "bytes": len(data)}

        for column in columns:
            stem, numbers = stems.stem(column.name), column.numbers
            spelled = numbers.dtype.str[1:]
            nulls = rows - numbers.size
            bits = numbers.dtype.itemsize * 8
            boolean = column.dtype.kind == "b"
            data = pco.compress(
                numbers,
                level=compressing.level,
                threads=compressing.threads,
                progress=compressing.progress.of(numbers.size),
            )
            entry: dict[str, Any] = {
                "field": {
                    "name": column.name,
                    "storage": "boolean" if boolean else {"number": f"{spelled[0]}{bits}"},
                    "logical": "none" if boolean else _LOGICAL.get(spelled, "none"),
                    "nullable": nulls > 0,
                },
                "nulls": nulls,
                "layout": {"kind": "numbers", "values": member(f"{stem}.pco", data)},
            }
            if nulls:
                entry["valid"] = member(f"{stem}.valid.pco", pco.compress(column.runs(rows)))
            entries.append(entry)
        schema: dict[str, Any] = {
            "format": "latens pco.zip",
            "version": 1,
            "rows": rows,
            "columns": entries,
        }
        first = columns[0]
        plain = first.masked is None and first.numbers.dtype == first.dtype.newbyteorder("=")
        if len(columns) == 1 and plain:
            big = first.dtype.byteorder == ">"
            shape = list(first.shape)
            schema["array"] = {"shape": shape, "fortran_order": False, "big_endian": big}
        else:
            arrays: dict[str, dict[str, Any]] = {}
            for c in columns:
                arrays[c.name] = {"shape": c.shape, "dtype": c.dtype.str}
                if c.masked is not None:
                    arrays[c.name]["masked"] = True
            schema["metadata"] = [{"key": METADATA, "value": json.dumps(arrays)}]
        text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False) + "\n"
        member(SCHEMA, text.encode())
        archive.comment = SEAL + b"00000000"
    file.flush()
    crc = crc32(file, file.seek(0, os.SEEK_END) - 8)
    file.seek(-8, os.SEEK_END)
    file.write(b"%08x" % crc)
