"""Models of Hugging Face `transformers` from `.wcodec` files.

The folder holds `config.json`, and `model.wcodec` or another single `.wcodec`, such as `latens
compress model.safetensors` leaves there.

>>> from transformers import AutoModel, BertConfig, BertModel
>>> import latens.transformers, latens.wcodec
>>> small = BertConfig(
...     hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=64
... )
>>> BertModel(small).save_pretrained("folder")
>>> latens.wcodec.compress_file("folder/model.safetensors")
'folder/model.wcodec'
>>> model = latens.transformers.from_pretrained(AutoModel, "folder")
>>> type(model).__name__, model.config.hidden_size
('BertModel', 16)
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


# What the configuration would take for its own, though it is for the model.
_OF_MODEL = ("dtype", "torch_dtype", "quantization_config", "generation_config", "output_loading_info")


def from_pretrained(
    cls: Any,
    folder_or_file: Path,
    *,
    config: Any = None,
    base: Path | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
    **options: Any,
) -> Any:
    """A model of class `cls` (`AutoModel`, `BertModel`, …) with the weights of a `.wcodec` file.

    `config` is the model's configuration, or the path of one; without it `config.json` beside the file
    says it. `base`, `threads` and the limits are those of `latens.torch.load_file`; `options` are those of `cls.from_pretrained`: where no configuration is given as such, the
    names of its settings (`num_labels`, `use_cache`) change it. `generation_config.json` beside the
    file is read.
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

    if "state_dict" in options:
        raise InvalidArgumentError("state_dict: the weights are those of the .wcodec; leave it out")
    folder, file = _file(folder_or_file)
    automatic = hasattr(cls, "from_config")
    trust = {k: v for k, v in options.items() if k in ("trust_remote_code", "code_revision")}
    if config is None or isinstance(config, (str, os.PathLike)):
        # A part of a composite model has its own class of configuration, which finds its part.
        reader = None if automatic else getattr(cls, "config_class", None)
        kept = {name: options.pop(name) for name in _OF_MODEL if name in options}
        config, options = (reader or AutoConfig).from_pretrained(
            folder if config is None else config, return_unused_kwargs=True, **options
        )
        options = {**options, **kept}
        options.pop("code_revision", None)
        if "trust_remote_code" in trust:
            options["trust_remote_code"] = trust["trust_remote_code"]
    if automatic:
        # Auto classes want a path; which class they stand for says a model without memory.
        with torch.device("meta"):
            found = cls.from_config(config, **trust)
        cls = type(found)
        # Of a composite model they may take the part that is text.
        config = config if isinstance(found.config, type(config)) else found.config
    state = load_file(
        file, base=base, threads=threads, max_output=max_output, max_alloc=max_alloc
    )
    made = cls.from_pretrained(None, config=config, state_dict=state, **options)
    model = made[0] if isinstance(made, tuple) else made
    model.config.name_or_path = model.name_or_path = folder
    if options.get("generation_config") is None and model.can_generate():
        _read_generation(model, folder)
    return made


def _read_generation(model: Any, folder: str) -> None:
    """The settings for generation that lie beside the file, as transformers reads them."""
    from transformers import GenerationConfig

    # Older models have them in the configuration.
    for name, options in (("generation_config.json", {}), ("config.json", {"_from_model_config": True})):
        if os.path.isfile(os.path.join(folder, name)):
            model.generation_config = GenerationConfig.from_pretrained(
                folder, config_file_name=name, **options
            )
            return
