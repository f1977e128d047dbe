"""A model loader `wcodec` for vLLM.

    vllm serve folder --load-format wcodec

vLLM finds `register` by the entry point `vllm.general_plugins`. The loader yields name and tensor of
every weight to the model's own `load_weights`. Large tensors are decoded when their numbers are needed:
of what a model takes by `narrow` or a slice, as its layers do for the rank of a tensor-parallel group,
the rows that are cut off are not decoded, and columns that are cut off take no memory. With
`--model-loader-extra-config '{"lazy": false}'` all are decoded at once, whole. `rows` gives the part of a
rank by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .errors import InvalidArgumentError

__all__ = ["make_loader", "register", "rows", "weights"]


def _files(folder: str) -> list[str]:
    if os.path.isfile(folder):
        return [folder]
    names = sorted(name for name in os.listdir(folder) if name.endswith(".wcodec"))
    if not names:
        raise InvalidArgumentError(
            f"{folder} holds no .wcodec file; write latens.wcodec.compress_file(...) first"
        )
    return [os.path.join(folder, name) for name in names]


# Tensors of fewer bytes are decoded at once.
_LAZY = 1 << 20


def weights(folder: str, threads: int = 0, lazy: bool = True) -> Iterator[tuple[str, Any]]:
    """Name and tensor of every weight in the `.wcodec` files of a folder, one at a time.

    With `lazy` tensors of 1 MiB and more are decoded when their numbers are needed, slices of them no
    further than they reach; these keep their file open. They are written to as any tensor is.
    """
    from ._torch_lazy import LazyTensor, can_be_lazy
    from .torch import safe_open

    lazy = lazy and can_be_lazy
    for path in _files(folder):
        file = safe_open(path, threads=threads)
        for name in file.keys():
            info = file.file.info(name)
            later = lazy and info.nbytes >= _LAZY and info.shape
            yield name, LazyTensor(file.get_slice(name)) if later else file.get_tensor(name)
        if not lazy:
            file.close()


def rows(path: str, name: str, rank: int, world: int, dim: int = 0, threads: int = 0) -> Any:
    """The part of a tensor that rank `rank` of `world` holds, cut along `dim`.

    Raises `InvalidArgumentError` where the dimension does not divide.
    """
    from .torch import safe_open

    with safe_open(path, threads=threads) as file:
        part = file.get_slice(name)
        shape = part.get_shape()
        if not 0 <= rank < world or dim >= len(shape) or shape[dim] % world:
            raise InvalidArgumentError(
                f"dimension {dim} of {name!r} {shape} has no part {rank} of {world}"
            )
        size = shape[dim] // world
        index = [slice(None)] * len(shape)
        index[dim] = slice(rank * size, (rank + 1) * size)
        return part[tuple(index)]


def make_loader(base: type[Any]) -> type[Any]:
    """The loader over vLLM's `BaseModelLoader`, given as `base`."""

    class WcodecModelLoader(base):
        """Loads models from `.wcodec` files in a local folder."""

        def download_model(self, model_config: Any) -> None:
            _files(model_config.model)

        def load_weights(self, model: Any, model_config: Any) -> None:
            about = getattr(getattr(self, "load_config", None), "model_loader_extra_config", None)
            lazy = about.get("lazy", True) if isinstance(about, dict) else True
            model.load_weights(weights(model_config.model, lazy=bool(lazy)))

    return WcodecModelLoader


def register() -> None:
    """Register the load format `wcodec`; vLLM calls this."""
    from vllm.model_executor.model_loader import register_model_loader
    from vllm.model_executor.model_loader.base_loader import BaseModelLoader

    register_model_loader("wcodec")(make_loader(BaseModelLoader))
