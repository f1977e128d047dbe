"""A model loader `wcodec` for vLLM.

    vllm serve folder --load-format wcodec

vLLM finds `register` by the entry point `vllm.general_plugins`. The loader yields name and tensor of
every weight to the model's own `load_weights`, and raises `ValueError` where that leaves weights of the
model without numbers, as vLLM's own loader does. Where there are several ranks, large tensors are
decoded when their numbers are needed: of what a model takes by `narrow` or a slice, as its layers do for
the rank of a tensor-parallel group, the rows that are cut off are not decoded, and columns that are cut
off take no memory. `rows` gives the part of a rank by itself.

>>> import torch
>>> import latens.torch, latens.vllm
>>> latens.torch.save_file({"proj.weight": torch.arange(12.0).reshape(4, 3)}, "model.wcodec")
>>> latens.vllm.rows("model.wcodec", "proj.weight", rank=1, world=2)
tensor([[ 6.,  7.,  8.],
        [ 9., 10., 11.]])
>>> [(name, tuple(tensor.shape)) for name, tensor in latens.vllm.weights("model.wcodec")]
[('proj.weight', (4, 3))]

`--model-loader-extra-config` takes a dictionary: `lazy` for whether tensors are so; `threads`, `base`, `max_output`
and `max_alloc` as `latens.torch.safe_open` has them; and `enable_weights_track`, which is vLLM's.
"""

from __future__ import annotations

import copy
import fnmatch
import inspect
import os
from collections.abc import Iterator
from typing import Any

from .errors import InvalidArgumentError, MissingError

__all__ = ["make_loader", "register", "rows", "weights"]

# How files are opened.
_OPENING = ("base", "threads", "max_output", "max_alloc")
_SETTINGS = ("lazy", *_OPENING, "enable_weights_track")


def _files(folder: str) -> list[str]:
    if os.path.isfile(folder):
        return [folder]
    if not os.path.isdir(folder):
        raise InvalidArgumentError(
            f"{folder} is no folder here; download the model, write latens.wcodec.compress_file(...) of "
            "its weights, and name the folder"
        )
    names = sorted(name for name in os.listdir(folder) if name.endswith(".wcodec"))
    if not names:
        raise InvalidArgumentError(
            f"{folder} holds no .wcodec file; write latens.wcodec.compress_file(...) first"
        )
    return [os.path.join(folder, name) for name in names]


def _matching(folder: str, patterns: Any) -> list[str]:
    """The `.wcodec` files of a folder; with patterns those that were made of files they match."""
    if not os.path.isdir(folder):
        return []
    names = sorted(name for name in os.listdir(folder) if name.endswith(".wcodec"))
    if patterns is not None:
        stems = [os.path.splitext(pattern)[0] for pattern in patterns]
        names = [n for n in names if any(fnmatch.fnmatch(n.removesuffix(".wcodec"), s) for s in stems)]
    return [os.path.join(folder, name) for name in names]


# Tensors of fewer bytes are decoded at once.
_LAZY = 1 << 20


def weights(
    folder: str,
    threads: int = 0,
    lazy: bool = True,
    *,
    base: str | os.PathLike[str] | None = None,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> Iterator[tuple[str, Any]]:
    """Name and tensor of every weight in the `.wcodec` files of a folder, one at a time.

    With `lazy` tensors of 1 MiB and more are decoded when their numbers are needed, slices of them no
    further than they reach; these keep their file open. They are written to as any tensor is.

    `base`, `threads` and the limits are those of `latens.torch.safe_open`. The base is that of all files that were coded
    against one: `InvalidArgumentError` says which was coded against another.
    """
    opening = {"threads": threads, "base": base, "max_output": max_output, "max_alloc": max_alloc}
    return _weights(_files(folder), opening, lazy)


def _open(safe_open: Any, path: str, opening: dict[str, Any]) -> Any:
    """A file as `opening` says; its base is looked at only where the file has one."""
    if opening.get("base") is not None:
        without = {name: value for name, value in opening.items() if name != "base"}
        with safe_open(path, **without) as file:
            if file.file.base_name is None:
                opening = without
    try:
        return safe_open(path, **opening)
    except InvalidArgumentError as error:
        raise type(error)(f"{path}: {error}") from error


def _weights(
    paths: list[str], opening: dict[str, Any], lazy: bool, unused: Any = None
) -> Iterator[tuple[str, Any]]:
    # First, for what it says where PyTorch is missing.
    from .torch import safe_open

    from ._torch_lazy import LazyTensor, can_be_lazy

    lazy = lazy and can_be_lazy
    for path in paths:
        file = _open(safe_open, path, opening)
        for name in file.keys():
            if unused is not None and unused(name):
                continue
            info = file.file.info(name)
            later = lazy and info.nbytes >= _LAZY and info.shape
            yield name, LazyTensor(file.get_slice(name)) if later else file.get_tensor(name)
        if not lazy:
            file.close()


def rows(
    path: str,
    name: str,
    rank: int,
    world: int,
    dim: int = 0,
    threads: int = 0,
    *,
    base: str | os.PathLike[str] | None = None,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> Any:
    """The part of a tensor that rank `rank` of `world` holds, cut along `dim`. `base`, `threads` and the limits are
    those of `latens.torch.safe_open`.

    Raises `InvalidArgumentError` where the dimension does not divide.
    """
    from .torch import safe_open

    with safe_open(
        path, base=base, threads=threads, max_output=max_output, max_alloc=max_alloc
    ) as file:
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


def _several_ranks() -> bool:
    from torch import distributed

    return bool(
        distributed.is_available()
        and distributed.is_initialized()
        and distributed.get_world_size() > 1
    )


def _default_loader() -> Any:
    """vLLM's own loader; None where it has none of this name."""
    try:
        from vllm.model_executor.model_loader.default_loader import DefaultModelLoader
    except ImportError:
        return None
    return DefaultModelLoader


def _others(load_config: Any, source: Any) -> Iterator[tuple[str, Any]]:
    """Weights of a source that is none of ours."""
    loader = _default_loader()
    if not hasattr(loader, "_get_weights_iterator"):
        raise InvalidArgumentError(
            f"the model wants weights of {source.model_or_path} too, which is no folder with .wcodec "
            "files, and this vLLM gives no way to read them; write latens.wcodec.compress_file(...)"
        )
    config = copy.copy(load_config)
    config.load_format, config.model_loader_extra_config = "auto", {}
    return iter(loader(config)._get_weights_iterator(source))


def _check(model: Any, loaded: Any, quantized: bool) -> None:
    """Raise `ValueError` where weights of the model were not loaded."""
    check = getattr(_default_loader(), "track_weights_loading", None)
    if check is not None:
        known = inspect.signature(check).parameters
        check(None, model, loaded, **({"quantized": quantized} if "quantized" in known else {}))
        return
    missing = {name for name, _ in model.named_parameters()} - set(loaded)
    if missing:
        raise ValueError(f"Following weights were not initialized from checkpoint: {missing}")


def make_loader(base: type[Any]) -> type[Any]:
    """The loader over vLLM's `BaseModelLoader`, given as `base`."""

    class WcodecModelLoader(base):
        """Loads models from `.wcodec` files in a local folder."""

        def __init__(self, load_config: Any) -> None:
            super().__init__(load_config)
            settings = getattr(load_config, "model_loader_extra_config", None) or {}
            if not isinstance(settings, dict) or not settings.keys() <= set(_SETTINGS):
                raise InvalidArgumentError(
                    f"model_loader_extra_config {settings!r}; of the load format wcodec it is a "
                    f"dictionary of {', '.join(_SETTINGS)}"
                )
            self._settings = settings

        def download_model(self, model_config: Any) -> None:
            _files(model_config.model)

        def get_all_weights(self, model_config: Any, model: Any) -> Iterator[tuple[str, Any]]:
            """Name and tensor of every weight that the model asks for, one at a time."""
            lazy = self._settings.get("lazy")
            opening = {name: self._settings[name] for name in _OPENING if name in self._settings}
            lazy = _several_ranks() if lazy is None else bool(lazy)
            patterns = getattr(model, "allow_patterns_overrides", None)
            paths = _matching(model_config.model, patterns) or _files(model_config.model)
            more = []
            for source in getattr(model, "secondary_weights", ()):
                folder = os.path.join(source.model_or_path, getattr(source, "subfolder", None) or "")
                patterns = getattr(source, "allow_patterns_overrides", None)
                found = _matching(folder, patterns)
                more.append((source, found))
                if patterns is not None:
                    # It may lie beside those of the model, which have other names.
                    paths = [path for path in paths if path not in found]
            unused = getattr(model, "is_unused_checkpoint_weight", None)
            yield from _weights(paths, opening, lazy, unused)
            for source, found in more:
                unused = getattr(source, "is_unused_weight", None)
                if found:
                    pairs = _weights(found, opening, lazy, unused)
                    yield from ((source.prefix + name, tensor) for name, tensor in pairs)
                else:
                    yield from _others(self.load_config, source)

        def load_weights(self, model: Any, model_config: Any) -> None:
            loaded = model.load_weights(self.get_all_weights(model_config, model))
            quantized = getattr(model_config, "quantization", None) is not None
            track = self._settings.get("enable_weights_track")
            track = not quantized if track is None else track
            if track and loaded is not None:
                _check(model, loaded, quantized)

    return WcodecModelLoader


def register() -> None:
    """Register the load format `wcodec`; vLLM calls this. Once registered it stays as it is."""
    try:
        from vllm.model_executor import model_loader
        from vllm.model_executor.model_loader.base_loader import BaseModelLoader
    except ImportError as error:
        raise MissingError("latens.vllm.register needs vLLM: pip install vllm") from error
    known = getattr(model_loader, "_LOAD_FORMAT_TO_MODEL_LOADER", {}).get("wcodec")
    if getattr(known, "__module__", None) != __name__:
        model_loader.register_model_loader("wcodec")(make_loader(BaseModelLoader))
