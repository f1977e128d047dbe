"""Several arrays of any shape in one `.pco.zip`: what `latens.save`, `load` and `open` are.

A `.pco.zip` is a plain ZIP of `.pco` members, with `schema.json` and a checksum; the tool `latens`
reads and writes the same. One array is stored with its shape. Of several, each is a column; shorter
ones are followed by nulls, and the shapes are in the key-value metadata under `latens.arrays`.

>>> import latens, numpy as np
>>> latens.save("both.pco.zip", grid=np.eye(3), ids=np.arange(5))
>>> latens.load("both.pco.zip")["grid"].shape
(3, 3)
>>> with latens.open("both.pco.zip") as file:
...     file.keys(), int(file["ids"][4])
(['grid', 'ids'], 4)
"""

from __future__ import annotations

import builtins
import os
import zipfile
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _archive_read, _archive_write
from .errors import CorruptError, InvalidArgumentError

if TYPE_CHECKING:
    from ._buffers import Array

__all__ = ["Archive", "load", "open", "save"]

Path = str | os.PathLike[str]


def save(file: Path, *arrays: Any, level: int = 8, threads: int = 1, **named: Any) -> None:
    """Write arrays to `file`, as `numpy.savez` does: those without a name are `arr_0`, `arr_1`, …

    Arrays are of any shape, of numbers of 8 to 64 bits, booleans, dates, time differences or complex
    numbers. The file gets its name when it is complete; one that is there is replaced.
    """
    from ._buffers import as_array

    for index, array in enumerate(arrays):
        if f"arr_{index}" in named:
            raise InvalidArgumentError(f"two arrays are named arr_{index}")
        named = {**named, f"arr_{index}": array}
    given = [f"arr_{i}" for i in range(len(arrays))]
    names = given + [name for name in named if name not in given]
    if not names:
        raise InvalidArgumentError("there is no array to save")
    columns = [_archive_write.Column.of(name, as_array(named[name])) for name in names]
    _archive_write.write(os.fspath(file), columns, level, threads)


class Archive(Mapping[str, Any]):
    """An open `.pco.zip`: names to arrays, each decoded when it is asked for.

    A column with nulls is a `numpy.ma.MaskedArray`; text is an array of objects, and needs the
    package `zstandard`.
    """

    def __init__(self, file: Path, *, threads: int = 1, check: bool = True) -> None:
        self._threads = threads
        self._file = builtins.open(file, "rb")
        try:
            if check:
                _archive_read.check_seal(self._file)
            try:
                self._zip = zipfile.ZipFile(self._file)
            except (zipfile.BadZipFile, NotImplementedError) as error:
                raise CorruptError(f"corrupt: {error}") from error
            self._schema = _archive_read.read_schema(self._zip)
        except BaseException:
            self._file.close()
            raise
        self._columns = {column["field"]["name"]: column for column in self._schema["columns"]}

    @property
    def files(self) -> list[str]:
        """The names, as `numpy.load` calls them."""
        return list(self._columns)

    def keys(self) -> Any:
        """The names, in the order of the file."""
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            raise KeyError(f"{name} is none of {', '.join(self._columns)}")
        return _archive_read.read_column(self._zip, self._schema, self._columns[name], self._threads)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()


def open(file: Path, *, threads: int = 1) -> Archive:
    """Open a `.pco.zip` and check its checksum; arrays are decoded when they are asked for."""
    return Archive(file, threads=threads)


def load(file: Path, *, threads: int = 1) -> dict[str, Array]:
    """All arrays of a `.pco.zip`, by name.

    Raises `CorruptError` or `TruncatedError` where the file is damaged.
    """
    with open(file, threads=threads) as archive:
        return {name: archive[name] for name in archive}
