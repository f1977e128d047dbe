"""Weights for TensorRT from `.wcodec` files: into an engine by its refitter, or into a network.

>>> import numpy as np
>>> import latens.tensorrt, latens.wcodec
>>> latens.wcodec.save_file({"kernel": np.eye(3, dtype=np.float32)}, "model.wcodec")
>>> with latens.wcodec.open("model.wcodec") as reader:
...     held = latens.tensorrt.set_weights(refitter, reader)
...     refitter.refit_cuda_engine()
True
>>> with latens.wcodec.open("model.wcodec") as reader:
...     constants = latens.tensorrt.Constants(network, reader)
...     constants.add("kernel").name
'kernel'

Tested against doubles of TensorRT's documented interface (`IRefitter.get_all_weights`,
`set_named_weights`; `INetworkDefinition.add_constant`; `Weights`), not against TensorRT itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._dtypes import numpy_dtype
from .errors import InvalidArgumentError
from .wcodec import File

__all__ = ["Constants", "set_weights"]

# TensorRT's types for those that NumPy lacks; a buffer of these is passed by pointer and type.
_BY_POINTER = {"BF16": "BF16", "F8_E4M3": "FP8", "F8_E8M0": "E8M0"}
# Those that it knows by NumPy's.
_BY_ARRAY = ("F32", "F16", "I8", "U8", "I32", "I64", "BOOL")


def _weights(trt: Any, file: File, name: str) -> tuple[Any, Any]:
    """What TensorRT takes, and the array that has to live as long as it is used."""
    info = file.info(name)
    kind = getattr(trt.DataType, _BY_POINTER.get(info.dtype, ""), None)
    if kind is None and info.dtype not in _BY_ARRAY:
        raise InvalidArgumentError(
            f"{name}: this TensorRT has no type for {info.dtype}; it takes "
            f"{', '.join((*_BY_ARRAY, *_BY_POINTER))}: convert the checkpoint, or give the weights yourself"
        )
    data = file.get_bytes(name)
    if kind is not None:
        count = int(np.prod(info.shape, dtype=np.int64))
        return trt.Weights(kind, data.ctypes.data, count), data
    array = data.view(numpy_dtype(info.dtype)).reshape(info.shape)
    return trt.Weights(array), array


def _tensorrt(trt: Any) -> Any:
    if trt is not None:
        return trt
    try:
        import tensorrt
    except ImportError as error:
        raise InvalidArgumentError("TensorRT is not installed; install tensorrt") from error
    return tensorrt


def set_weights(
    refitter: Any,
    reader: File,
    names: Callable[[str], str] | None = None,
    *,
    trt: Any = None,
) -> list[Any]:
    """Give all weights that a refitter asks for from `reader`; returns the arrays that hold them,
    which must live until `refit_cuda_engine` has returned.

    `names` maps a name of the engine to one of the file. `trt` is the module, `tensorrt` by default.
    Raises `InvalidArgumentError` where the file lacks a weight, TensorRT has no type for one, or the
    refitter refuses one.
    """
    trt = _tensorrt(trt)
    held = []
    for wanted in refitter.get_all_weights():
        name = names(wanted) if names else wanted
        if name not in reader:
            raise InvalidArgumentError(f"the engine wants {wanted!r}, the file has no {name!r}")
        weights, array = _weights(trt, reader, name)
        if not refitter.set_named_weights(wanted, weights):
            raise InvalidArgumentError(f"TensorRT refuses the weights {wanted!r}: type or size differ")
        held.append(array)
    return held


class Constants:
    """Constants of a network that is being built; keep it until the engine is built."""

    def __init__(self, network: Any, reader: File, *, trt: Any = None) -> None:
        self._network, self._reader, self._trt = network, reader, _tensorrt(trt)
        self._held: list[Any] = []

    def add(self, name: str) -> Any:
        """A constant layer with tensor `name` of the file; returns the layer."""
        weights, array = _weights(self._trt, self._reader, name)
        self._held.append(array)
        layer = self._network.add_constant(tuple(self._reader.info(name).shape), weights)
        if layer is None:
            raise InvalidArgumentError(f"TensorRT refuses the constant {name!r}")
        layer.name = name
        return layer
