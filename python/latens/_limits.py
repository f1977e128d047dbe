"""What a reader written here may emit, as `latens::Limits` says it for the decoders of the library."""

from __future__ import annotations

from .errors import LimitError

# Rows without a value of their own take no bytes of a file. Unless the caller says otherwise they may
# take so many bytes of memory, or so many for each byte of the file.
_FREE_BYTES, _BYTES_EACH = 1 << 28, 1 << 10


def bounded(size: int, max_output: int | None) -> None:
    """Refuse `size` bytes of output beyond the caller's limit."""
    if max_output is not None and size > max_output:
        raise LimitError(
            f"the output of {size} bytes or more passes the limit max_output = {max_output}; raise it "
            "if you trust this input"
        )


def earned(size: int, source: int, max_output: int | None) -> None:
    """Refuse `size` bytes of memory that no bytes of a file of `source` bytes stand for."""
    bounded(size, max_output)
    if max_output is None and size > max(_FREE_BYTES, _BYTES_EACH * source):
        raise LimitError(
            f"rows without a value take {size} bytes, which a file of {source} bytes does not earn; "
            "set max_output if you trust it"
        )
