"""Types of safetensors and types of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidArgumentError, MissingError

_PLAIN = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "C64": "<c8",
}
_EXTENDED = {
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The type of NumPy, or of `ml_dtypes`, for a type that safetensors names."""
    if name in _PLAIN:
        return np.dtype(_PLAIN[name])
    if name not in _EXTENDED:
        raise InvalidArgumentError(f"no array has elements of {name}; get_bytes gives their bytes")
    try:
        import ml_dtypes
    except ImportError as error:
        raise MissingError(
            f"{name} needs ml_dtypes: pip install ml_dtypes; or write get_bytes for the bytes"
        ) from error
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _EXTENDED[name]))
    return found


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name in safetensors for a type of NumPy or `ml_dtypes`."""
    for name, spelled in _PLAIN.items():
        if np.dtype(spelled) == dtype.newbyteorder("<"):
            return name
    for name, spelled in _EXTENDED.items():
        if dtype.name == spelled:
            return name
    raise InvalidArgumentError(f"safetensors has no type for an array of {dtype}")
