"""Errors. All are `LatensError`; each is also the built-in exception that it comes closest to."""

from typing import Any


class LatensError(Exception):
    """Something went wrong in latens."""

    offset: int | None = None
    """Byte of the input, from its start, where the error has a place in it."""
    values_before: int | None = None
    """Of a call that decodes into an array: numbers that were written before. They are right unless a
    checksum is what failed, which is compared behind what it is of."""
    places: list[str] = []
    """Named places around the error, outermost first: `chunk 3`, `tensor "w"`."""


class CorruptError(LatensError, ValueError):
    """The bytes are not what the format allows."""


class TruncatedError(LatensError, ValueError):
    """The bytes end before what they announce."""


class InvalidArgumentError(LatensError, ValueError):
    """The caller asked for something that cannot be."""


class LimitError(InvalidArgumentError):
    """A limit that the caller has set was passed."""


class InputOutputError(LatensError, OSError):
    """Reading or writing a file failed."""

    def __reduce__(self) -> tuple[Any, ...]:
        # What the system said was set later, so it is none of the arguments, and of no dictionary.
        system = {name: getattr(self, name) for name in ("errno", "strerror", "filename")}
        state = {**self.__dict__, **{k: v for k, v in system.items() if v is not None}}
        return type(self), self.args, state


class MissingError(LatensError, ImportError):
    """A package that is needed for this is not installed."""
