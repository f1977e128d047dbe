"""Lossless compression for numbers.

| module | what |
|---|---|
| `latens.pco` | arrays of numbers: Pco, in one call or in parts |
| `latens.delta_binary_packed` | Parquet's DELTA_BINARY_PACKED |
| `latens.wcodec` | checkpoints of neural networks |
| `latens.save`, `load`, `open` | several arrays of any shape in a `.pco.zip`, as `numpy.savez` |
| `latens.zarr`, `latens.numcodecs` | codecs for Zarr 3 and 2 |
| `latens.arrow` | columns from and to Arrow |
| `latens.torch`, `transformers`, `vllm`, `tensorrt` | checkpoints for these |

>>> import numpy as np
>>> from latens import pco
>>> prices = np.round(np.linspace(1, 99, 10_000), 2)
>>> data = pco.compress(prices)
>>> len(data) < prices.nbytes / 7
True
>>> np.array_equal(pco.decompress(data), prices)
True

Modules are imported when they are first used, NumPy with them: `import latens` takes milliseconds.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .errors import (
    CorruptError,
    InputOutputError,
    InvalidArgumentError,
    LatensError,
    LimitError,
    MissingError,
    TruncatedError,
)

if TYPE_CHECKING:
    from .archive import load, open, save

__version__ = "0.1.0"
__all__ = [
    "CorruptError",
    "InputOutputError",
    "InvalidArgumentError",
    "LatensError",
    "LimitError",
    "MissingError",
    "TruncatedError",
    "load",
    "open",
    "save",
]

_MODULES = (
    "archive",
    "arrow",
    "delta_binary_packed",
    "numcodecs",
    "pco",
    "tensorrt",
    "torch",
    "transformers",
    "vllm",
    "wcodec",
    "zarr",
)


def __getattr__(name: str) -> Any:
    if name in ("save", "load", "open"):
        return getattr(importlib.import_module(".archive", __name__), name)
    if name in _MODULES:
        try:
            return importlib.import_module("." + name, __name__)
        except MissingError as error:
            # So that `hasattr` and `inspect` see what is there; the import statement tells the same.
            raise AttributeError(str(error)) from error
    raise AttributeError(f"module 'latens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
