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
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from . import _archive_read, _archive_write, _arguments
from ._arguments import Phases, Progress
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ._buffers import Array

__all__ = ["Archive", "load", "open", "save"]

Path = str | os.PathLike[str]


def save(
    file: Path | IO[bytes],
    *arrays: Any,
    level: Any = 8,
    threads: Any = 1,
    progress: Any = None,
    **named: Any,
) -> None:
    """Write arrays to `file`, as `numpy.savez` does: those without a name are `arr_0`, `arr_1`, …

    Arrays are of any shape, of numbers of 8 to 64 bits, booleans, dates, time differences or complex
    numbers; lists and single numbers become arrays. Masked arrays keep their masks, but not what lies
    under them. `file` is a path, taken as it is, or an object with `write`. The file at a path gets its
    name when it is complete; one that is there is replaced, where `file` is a link the one that it
    names.

    `level` is 0 (fastest) to 12 (smallest), `threads` 0 stands for all cores; where they are no int, but
    an array or a list, they are arrays of these names. So is `progress` where it is neither None nor can be
    called, with numbers done and numbers of all arrays, now and then and at the end.
    """
    from ._buffers import as_array

    settings = {"level": 8, "threads": 1}
    for name, value in (("level", level), ("threads", threads)):
        if isinstance(value, (int, np.integer)):
            settings[name] = int(value)
        else:
            named = {**named, name: value}
    if progress is not None and not callable(progress):
        named, progress = {**named, "progress": progress}, None
    _arguments.level(settings["level"])
    _arguments.counts(threads=settings["threads"])
    for index, array in enumerate(arrays):
        if f"arr_{index}" in named:
            raise InvalidArgumentError(f"two arrays are named arr_{index}")
        named = {**named, f"arr_{index}": array}
    given = [f"arr_{i}" for i in range(len(arrays))]
    names = given + [name for name in named if name not in given]
    if not names:
        raise InvalidArgumentError("there is no array to save")
    columns = []
    for name in names:
        value = named[name]
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InvalidArgumentError(f"the name {name!r} has no bytes in UTF-8") from None
        plain = isinstance(value, (list, tuple, bool, int, float, complex))
        try:
            array = np.asarray(value) if plain else as_array(value)
        except (ValueError, OverflowError) as error:
            raise InvalidArgumentError(f"{name}: {error}") from error
        columns.append(_archive_write.Column.of(name, array))
    if not isinstance(file, (str, os.PathLike)) and not hasattr(file, "write"):
        raise InvalidArgumentError(f"a {type(file).__name__} is neither a path nor a file object")
    total = sum(column.numbers.size for column in columns)
    compressing = _archive_write.Compressing(**settings, progress=Phases(progress, total))
    _archive_write.write(file, columns, compressing)


def _seekable(file: Any) -> IO[bytes]:
    if not (hasattr(file, "read") and hasattr(file, "seek") and hasattr(file, "seekable")):
        raise InvalidArgumentError(
            f"a {type(file).__name__} is neither a path nor a file object; for bytes write io.BytesIO(...)"
        )
    if not file.seekable():
        raise InvalidArgumentError("the file cannot seek; write io.BytesIO(file.read())")
    found: IO[bytes] = file
    return found


class Archive(Mapping[str, Any]):
    """An open `.pco.zip`: names to arrays, each decoded when it is asked for.

    A column with nulls is a `numpy.ma.MaskedArray`; text is an array of objects, and needs the
    package `zstandard`.
    """

    def __init__(
        self,
        file: Path | IO[bytes],
        *,
        threads: int = 1,
        check: bool = True,
        max_output: int | None = None,
        max_alloc: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        _arguments.counts(threads=threads, max_output=max_output, max_alloc=max_alloc)
        self._own = isinstance(file, (str, os.PathLike))
        self._closed = False
        self._file: IO[bytes]
        if isinstance(file, (str, os.PathLike)):
            self._file = builtins.open(file, "rb")
        else:
            self._file = _seekable(file)
        try:
            if check:
                _archive_read.check_seal(self._file)
            self._reader = _archive_read.Reader(self._file, threads, max_output, max_alloc)
            self._progress = progress
        except BaseException:
            self.close()
            raise

    @property
    def files(self) -> list[str]:
        """The names, as `numpy.load` calls them."""
        return list(self._reader.schema.columns)

    def keys(self) -> Any:
        """The names, in the order of the file."""
        return self.files

    def __getitem__(self, name: str) -> Any:
        if name not in self._reader.schema.columns:
            raise KeyError(f"{name} is none of {', '.join(self.files)}")
        if self._closed or self._file.closed:
            raise InvalidArgumentError(f"the file is closed; {name!r} can no longer be read from it")
        return self._reader.column(name, Phases(self._progress, self._reader.numbers(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._reader.schema.columns)

    def __len__(self) -> int:
        return len(self._reader.schema.columns)

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
        """Close the file, where it was opened here."""
        self._closed = True
        if self._own:
            self._file.close()


def open(
    file: Path | IO[bytes],
    *,
    threads: int = 1,
    max_output: int | None = None,
    max_alloc: int | None = None,
    progress: Progress | None = None,
) -> Archive:
    """Open a `.pco.zip` and check its checksum; arrays are decoded when they are asked for. `file` is a
    path, or a file object that can seek and holds nothing else.

    `max_output` bounds the bytes of an array, `max_alloc` those of tables: set both where files come
    from strangers. Without `max_output` rows that are null, which take no bytes of the file, may take
    256 MiB, or 1024 bytes for each of the file. `progress` is called while an array is decoded, with
    numbers done and numbers of that array.

    Raises `CorruptError` or `TruncatedError` (with `offset`, where the damage has a place) where the
    file is damaged, here or when an array is asked for; then also `LimitError`.
    """
    return Archive(
        file, threads=threads, max_output=max_output, max_alloc=max_alloc, progress=progress
    )


def load(
    file: Path | IO[bytes],
    *,
    threads: int = 1,
    max_output: int | None = None,
    max_alloc: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Array]:
    """All arrays of a `.pco.zip`, by name. `max_output` bounds the bytes of all of them together, and
    `progress` is called with numbers done and numbers of all; else, and in what it raises, this is as
    `open`."""
    arrays: dict[str, Array] = {}
    with open(file, threads=threads, max_output=max_output, max_alloc=max_alloc) as archive:
        reader = archive._reader
        phases = Phases(progress, sum(map(reader.numbers, archive)))
        for name in archive:
            arrays[name] = reader.column(name, phases)
            if reader.max_output is not None:
                reader.max_output -= arrays[name].nbytes
    return arrays
