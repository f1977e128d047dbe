"""What writing and reading a `.pco.zip` share: names, and the seal at its end."""

from __future__ import annotations

import zlib
from typing import IO

SCHEMA = "schema.json"
"""The member that says what the others are."""
SEAL = b"latens pco.zip crc32 "
"""The archive's comment: this, and the CRC-32 of all bytes before its eight digits."""
METADATA = "latens.arrays"
"""The key of the metadata that says shapes and types of several arrays."""


def crc32(file: IO[bytes], length: int) -> int:
    """CRC-32 of the first `length` bytes."""
    file.seek(0)
    crc = 0
    while length > 0:
        piece = file.read(min(length, 1 << 20))
        if not piece:
            break
        crc, length = zlib.crc32(piece, crc), length - len(piece)
    return crc
