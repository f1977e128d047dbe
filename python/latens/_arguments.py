"""What callers say beside the data, checked before the extension sees it."""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import _latens
from .errors import InputOutputError, InvalidArgumentError

Progress = Callable[[int, int], object]
"""Is called with what is done and what there is in all, numbers or bytes, now and then and at the end."""


class Phases:
    """A call whose progress is that of several calls, one after the other."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def of(self, count: int) -> Progress | None:
        """The progress of the next call, of `count` of the whole."""
        before, told = self._done, self._progress
        self._done += count
        if told is None:
            return None
        return lambda done, _: told(min(before + done, self._total), self._total)


_MOST = (1 << 64) - 1


# Where microseconds count, the extension is called first: it takes no other values either, and what it
# raises then is put into words here.
WRONG = (OverflowError, TypeError)


def counts(**given: Any) -> None:
    """Refuse numbers that are no counts; None stands for none."""
    for name, value in given.items():
        if value is None:
            continue
        try:
            number = operator.index(value)
        except TypeError:
            raise InvalidArgumentError(f"{name} {value!r}; it is a whole number") from None
        if not 0 <= number <= _MOST:
            raise InvalidArgumentError(f"{name} {number}; 0 to {_MOST} exist") from None


def pair(**given: Any) -> tuple[int, int]:
    """The one argument that is given, which must be two counts."""
    ((name, value),) = given.items()
    if not isinstance(value, (tuple, list)) or len(value) != 2 or any(n is None for n in value):
        raise InvalidArgumentError(f"{name} {value!r}; it is a pair of whole numbers, such as (8, 16)")
    counts(**{name: value[0]})
    counts(**{name: value[1]})
    return operator.index(value[0]), operator.index(value[1])


def mapping(what: str, **given: Any) -> None:
    """Refuse what is no dictionary; None stands for an empty one."""
    for name, value in given.items():
        if not isinstance(value, Mapping | None):
            raise InvalidArgumentError(f"{name}, a {type(value).__name__}, is no dictionary {what}")


_OTHERS = (
    *((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket")),
    *((stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device")),
)


def regular(*paths: Any) -> None:
    """Refuse what is no regular file before it is opened: that would wait for whoever writes into a pipe. What cannot be
    looked at is told by whoever opens it."""
    for path in paths:
        try:
            mode = os.stat(os.fspath(path)).st_mode
        except (OSError, TypeError, ValueError):
            continue
        for holds, what in _OTHERS:
            if holds(mode):
                raise InvalidArgumentError(
                    f"{os.fspath(path)!r} is {what}, and checkpoints are read by position; write its bytes "
                    "to a file first"
                )


def level(value: Any) -> None:
    """Refuse what is no level."""
    counts(level=max(value, 0) if isinstance(value, int) else value)
    if not 0 <= operator.index(value) <= 12:
        raise InvalidArgumentError(f"level {value}; 0 to 12 exist")


def flags(**given: Any) -> None:
    """Refuse what is neither True nor False."""
    for name, value in given.items():
        # The bool of NumPy has no `is`.
        if type(value).__name__ not in ("bool", "bool_"):
            raise InvalidArgumentError(f"{name} {value!r}; True and False exist") from None


# By type, too: 8.0 is equal to a level.
@functools.lru_cache(maxsize=64, typed=True)
def _config(*given: Any) -> _latens.PcoConfig:
    return _made(*given)


def _made(
    level_: int, mode: str, delta: str, favor: str, chunk_n: int | None, checksum: bool
) -> _latens.PcoConfig:
    level(level_)
    counts(chunk_n=chunk_n)
    flags(checksum=checksum)
    return _latens.PcoConfig(
        level=level_, mode=mode, delta=delta, favor=favor, chunk_n=chunk_n, checksum=checksum
    )


def config(*given: Any) -> _latens.PcoConfig:
    """Settings of `latens.pco.compress` in its order, checked; the same ones are made once."""
    try:
        return _config(*given)
    except TypeError:
        pass
    # What has no hash is no setting either: that is said here.
    return _made(*given)


@contextlib.contextmanager
def of_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system in here are of this file."""
    try:
        yield
    except InputOutputError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise
