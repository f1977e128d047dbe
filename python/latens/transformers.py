"""Models of Hugging Face `transformers` from `.wcodec` files.

    from transformers import AutoModel
    model = latens.transformers.from_pretrained(AutoModel, "folder-with-config-and-wcodec")

The folder holds `config.json`, and `model.wcodec` or another single `.wcodec`, such as `latens
compress model.safetensors` leaves there.
"""

from __future__ import annotations

import os
from typing import Any

from .errors import InvalidArgumentError, MissingError

__all__ = ["from_pretrained"]

Path = str | os.PathLike[str]


def _file(path: Path) -> tuple[str, str]:
    """The folder and the `.wcodec` in it."""
    path = os.fspath(path)
    if not os.path.isdir(path):
        os.stat(path)
        return os.path.dirname(path) or ".", path
    found = sorted(name for name in os.listdir(path) if name.endswith(".wcodec"))
    if "model.wcodec" in found:
        found = ["model.wcodec"]
    if len(found) != 1:
        listed = ", ".join(found) or "no .wcodec file"
        raise InvalidArgumentError(
            f"{path} holds {listed}; name the file, or write latens.wcodec.compress_file(...) first"
        )
    return path, os.path.join(path, found[0])


def from_pretrained(
    cls: Any,
    folder_or_file: Path,
    *,
    config: Any = None,
    base: Path | None = None,
    threads: int = 0,
    **options: Any,
) -> Any:
    """A model of class `cls` (`AutoModel`, `BertModel`, …) with the weights of a `.wcodec` file.

    `config` is the model's configuration; without it `config.json` beside the file says it. `options`
    go to `cls.from_pretrained`, which gets no path, the configuration and the state dictionary.
    """
    # First, for what it says where PyTorch is missing.
    from .torch import load_file

    import torch

    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise MissingError(
            "latens.transformers needs transformers: pip install latens[transformers]"
        ) from error

    folder, file = _file(folder_or_file)
    if config is None:
        config = AutoConfig.from_pretrained(folder)
    if hasattr(cls, "from_config"):
        # Auto classes want a path; which class they stand for says a model without memory.
        with torch.device("meta"):
            cls = type(cls.from_config(config))
    state = load_file(file, base=base, threads=threads)
    return cls.from_pretrained(None, config=config, state_dict=state, **options)
