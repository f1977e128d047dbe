"""Errors. All are `LatensError`; each is also the built-in exception that it comes closest to."""


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


class MissingError(LatensError, ImportError):
    """A package that is needed for this is not installed."""
