"""Writing a `.pco.zip`."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from . import pco
from ._archive_format import METADATA, SCHEMA, SEAL, crc32
from ._buffers import Array, check_type
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
    """Its numbers in C order."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @staticmethod
    def of(name: str, array: Array) -> Column:
        dtype = array.dtype
        if dtype.isnative is False:
            array = array.astype(dtype.newbyteorder("="))
        flat = np.ascontiguousarray(array).reshape(-1)
        if dtype.kind in _SEEN_AS:
            flat = flat.view(_SEEN_AS[dtype.kind])
        elif dtype.kind == "c":
            flat = flat.view(f"f{dtype.itemsize // 2}")
        try:
            check_type(flat.dtype)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{name}: {error}") from None
        return Column(name, flat, array.shape, dtype)


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


def write(path: Path, columns: list[Column], level: int, threads: int) -> None:
    """Write an archive, which gets its name when it is complete."""

    def to(temporary: str) -> None:
        with open(temporary, "w+b") as file:
            _write(file, columns, level, threads)

    completely(path, to)


def _write(file: IO[bytes], columns: list[Column], level: int, threads: int) -> None:
    rows = max(column.numbers.size for column in columns)
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
            entry: dict[str, Any] = {
                "field": {
                    "name": column.name,
                    "storage": "boolean" if boolean else {"number": f"{spelled[0]}{bits}"},
                    "logical": "none" if boolean else _LOGICAL.get(spelled, "none"),
                    "nullable": nulls > 0,
                },
                "nulls": nulls,
                "layout": {
                    "kind": "numbers",
                    "values": member(
                        f"{stem}.pco", pco.compress(numbers, level=level, threads=threads)
                    ),
                },
            }
            if nulls:
                runs = np.array([numbers.size, nulls], np.uint64)
                entry["valid"] = member(f"{stem}.valid.pco", pco.compress(runs))
            entries.append(entry)
        schema: dict[str, Any] = {
            "format": "latens pco.zip",
            "version": 1,
            "rows": rows,
            "columns": entries,
        }
        plain = [column.numbers.dtype == column.dtype.newbyteorder("=") for column in columns]
        if len(columns) == 1 and plain[0]:
            big = columns[0].dtype.byteorder == ">"
            shape = list(columns[0].shape)
            schema["array"] = {"shape": shape, "fortran_order": False, "big_endian": big}
        else:
            arrays = {c.name: {"shape": c.shape, "dtype": c.dtype.str} for c in columns}
            schema["metadata"] = [{"key": METADATA, "value": json.dumps(arrays)}]
        text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False) + "\n"
        member(SCHEMA, text.encode())
        archive.comment = SEAL + b"00000000"
    file.flush()
    crc = crc32(file, file.seek(0, os.SEEK_END) - 8)
    file.seek(-8, os.SEEK_END)
    file.write(b"%08x" % crc)
