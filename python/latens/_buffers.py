"""What callers hand over as NumPy arrays, without a copy where that is possible."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidArgumentError

Array = npt.NDArray[Any]
NUMBER_TYPES = frozenset(
    ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"],
)
# Those of the machine's byte order, and the names by which callers may say them.
_NATIVE = frozenset(np.dtype(name) for name in NUMBER_TYPES)
_NAMES = {key: kind.name for kind in _NATIVE for key in (kind, kind.type, kind.name, kind.str[1:])}
# Types of the package `ml_dtypes`.
_EXTENSIONS = ("bfloat16", "float8_", "float6_", "float4_", "int4", "uint4", "int2", "uint2")
_ADVICE = {
    "b": "write array.view('u1') for booleans",
    "M": "write array.view('i8') for dates",
    "m": "write array.view('i8') for time differences",
    "c": "write array.view('f4') or array.view('f8') for complex numbers",
    "O": "write numpy.asarray(..., dtype='f8') or another type of numbers",
}


def _has_nulls(source: Any) -> bool:
    """Whether a column or a table of pandas, polars or pyarrow has nulls; NaN are numbers."""
    columns = getattr(source, "columns", None)
    if columns is not None and hasattr(source, "__arrow_c_stream__"):
        parts = [part if hasattr(part, "null_count") else source[part] for part in columns]
        kinds = {str(getattr(part, "type", getattr(part, "dtype", None))) for part in parts}
        if len(kinds) > 1:
            raise InvalidArgumentError(
                f"columns of {' and '.join(sorted(kinds))} would become one type; write "
                "latens.arrow.compress(...), which keeps them, or take one column"
            )
        return any(map(_has_nulls, parts))
    count = getattr(source, "null_count", None)
    count = count() if callable(count) else count
    if isinstance(count, (int, np.integer)):
        return bool(count)
    # Types of pandas that are none of NumPy's.
    dtype = getattr(source, "dtype", np.dtype("u1"))
    return not isinstance(dtype, np.dtype) and hasattr(source, "isna") and bool(np.any(source.isna()))


def _by_copy(source: Any) -> Array | None:
    """What `__array__` gives, where that is an array of numbers."""
    try:
        array = np.asarray(source) if hasattr(source, "__array__") else None
    except (RuntimeError, TypeError, ValueError):
        return None
    return None if array is None or array.dtype.hasobject else array


def as_array(source: Any) -> Array:
    """An array over the memory of a NumPy array, a buffer, or anything with DLPack."""
    if isinstance(source, np.ndarray):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return np.asarray(memoryview(source))
    if _has_nulls(source):
        raise InvalidArgumentError(
            f"a {type(source).__name__} with nulls would become one of floats, which have no nulls and "
            "round integers; write latens.arrow.compress(...) for a table, compress_column(...) for a "
            "column, which keep them, or fill them first: fillna(0), fill_null(0)"
        )
    if hasattr(source, "__array_interface__") or hasattr(source, "__array_struct__"):
        return np.asarray(source)
    if hasattr(source, "__dlpack__"):
        try:
            return np.from_dlpack(source)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            # Types of `ml_dtypes`, which jax has, are none of DLPack in NumPy.
            array = _by_copy(source)
            if array is not None:
                return array
            raise InvalidArgumentError(
                f"NumPy cannot use this {type(source).__name__} through DLPack ({error}); "
                "a tensor must be on the CPU, without gradient, and of a type that NumPy has: "
                "write tensor.detach().cpu()"
            ) from error
    try:
        return np.asarray(memoryview(source))
    except TypeError:
        pass
    if hasattr(source, "__array__"):
        return np.asarray(source)
    raise InvalidArgumentError(
        f"a {type(source).__name__} is no array, buffer or DLPack object; "
        "write numpy.asarray(..., dtype=...) so that the type of the numbers is known"
    )


def mask_of(array: Array) -> Array | None:
    """Which numbers of a masked array are masked, where some are."""
    ma = sys.modules.get("numpy.ma")
    if ma is None or not isinstance(array, ma.MaskedArray):
        return None
    mask: Array = ma.getmaskarray(array)
    return mask if mask.any() else None


def unmasked(array: Array) -> Array:
    """The array, which must have no mask: it would be lost."""
    if mask_of(array) is not None:
        raise InvalidArgumentError(
            "some numbers of the array are masked, and masks are not kept here; latens.save keeps "
            "them; write array.filled(...) or array.data"
        )
    return array


def apart(source: bytes | Array, out: Array) -> None:
    """Refuse memory to decode into that is also decoded from."""
    # Nobody may write to bytes. Arrays here are of one piece, so bounds say all.
    if not isinstance(source, bytes) and np.may_share_memory(source, out):
        raise InvalidArgumentError("`out` overlaps the bytes that are decoded; give memory of its own")


def check_type(dtype: "np.dtype[Any]") -> None:
    """Refuse what is none of the eleven number types, with a word on what to write instead."""
    if dtype.str[1:] not in NUMBER_TYPES or dtype.names is not None:
        advice = _ADVICE.get(dtype.kind, "convert it first")
        if dtype.name.startswith(_EXTENSIONS):
            advice = (
                f"write array.view('u{dtype.itemsize}') for the bits, or array.astype('f4'); "
                "latens.wcodec.save_file takes it as it is"
            )
        raise InvalidArgumentError(
            f"an array of {dtype} is none of uint8 to uint64, int8 to int64, float16, float32, "
            f"float64; {advice}"
        )


def type_name(dtype: Any) -> str:
    """The name of a type of numbers."""
    try:
        return _NAMES[dtype]
    except (KeyError, TypeError):
        pass
    try:
        return str(np.dtype(dtype).name)
    except TypeError as error:
        raise InvalidArgumentError(f"{dtype!r} is no type of numbers") from error


def numbers(source: Any) -> Array:
    """The numbers in C order, one dimension, in the machine's byte order."""
    if type(source) is np.ndarray and source.dtype in _NATIVE:
        return in_order(source)
    array = unmasked(as_array(source))
    check_type(array.dtype)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return in_order(array)


def in_order(array: Array) -> Array:
    """The same in C order, one dimension and aligned; copied only where it is not."""
    flags = array.flags
    if array.ndim == 1 and flags.c_contiguous and flags.aligned:
        return array
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat if flat.flags.aligned else flat.copy()


def octets(source: Any) -> bytes | npt.NDArray[np.uint8]:
    """The bytes of a buffer."""
    if type(source) is bytes:
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        view = memoryview(source)
        if view.c_contiguous:
            return np.frombuffer(view, np.uint8)
    array = as_array(source)
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def target(out: Any) -> Array:
    """An array of one dimension over memory to decode into."""
    # `carray`: contiguous in C order, aligned and writable.
    if type(out) is np.ndarray and out.dtype in _NATIVE and out.flags.carray:
        return out if out.ndim == 1 else out.reshape(-1)
    array = as_array(out)
    given = isinstance(out, np.ndarray) or array.size == 0
    if not given and not np.may_share_memory(array, as_array(out)):
        raise InvalidArgumentError(
            f"`out`, a {type(out).__name__}, gives NumPy a copy, which it would not see written to; "
            "write numpy.empty(shape, dtype)"
        )
    if not array.flags.writeable and hasattr(out, "numpy"):
        array = out.numpy()
    check_type(array.dtype)
    if mask_of(array) is not None:
        raise InvalidArgumentError("some numbers of `out` are masked; write out.data")
    flags = array.flags
    native = array.dtype.isnative
    if not native or not flags.writeable or not flags.c_contiguous or not flags.aligned:
        what = "memory" if native else "byte order"
        raise InvalidArgumentError(
            f"`out` must be writable, contiguous, aligned, and in the byte order of this machine "
            f"({sys.byteorder}-endian); its {what} is not: write numpy.empty(shape, dtype)"
        )
    return array.reshape(-1)
