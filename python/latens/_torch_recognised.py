"""`torch.load` that takes `.wcodec` files."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator
from typing import Any

import torch

from .errors import InvalidArgumentError

_MAGIC = b"WCODEC\0\0"


class _Recognition:
    """What stands for `torch.load` from the first entry of `recognised` to the last exit."""

    def __init__(self) -> None:
        self.entered, self._original = 0, torch.load

        @functools.wraps(torch.load)
        def load(f: Any, map_location: Any = None, *args: Any, **options: Any) -> Any:
            if self.entered and isinstance(f, (str, os.PathLike)):
                with open(f, "rb") as file:
                    found = file.read(len(_MAGIC)) == _MAGIC
                if found:
                    options.update(zip(["pickle_module"], args, strict=False))
                    return _loaded(f, map_location, options)
            return self._original(f, map_location, *args, **options)

        torch.load = self._load = load

    def end(self) -> None:
        # Who has put something else there since still calls ours, which hands on.
        if torch.load is self._load:
            torch.load = self._original


def _loaded(path: str | os.PathLike[str], map_location: Any, options: dict[str, Any]) -> Any:
    """What `torch.load` gives for a `.wcodec`."""
    from .torch import load_file

    for name, value in options.items():
        # There is nothing but weights, and nothing of them to map.
        if value is not None and name not in ("weights_only", "mmap"):
            raise InvalidArgumentError(f"{name} means nothing for a .wcodec; leave it out")
    if callable(map_location) or isinstance(map_location, dict):
        raise InvalidArgumentError("map_location of a .wcodec is a device")
    return load_file(path, "cpu" if map_location is None else map_location)


_recognition: _Recognition | None = None
_recognition_lock = threading.Lock()


@contextlib.contextmanager
def recognised() -> Iterator[None]:
    """Within this context `torch.load` of a path whose file is a `.wcodec`, by its first bytes, gives
    the state dictionary in it; all else goes to PyTorch's own `torch.load`.

    It holds for all threads, until the last of them has left it. `weights_only` and `mmap` change
    nothing for a `.wcodec`, `map_location` is a device; what else is given is refused.
    """
    global _recognition
    with _recognition_lock:
        if _recognition is None:
            _recognition = _Recognition()
        current = _recognition
        current.entered += 1
    try:
        yield
    finally:
        with _recognition_lock:
            current.entered -= 1
            if not current.entered:
                current.end()
                _recognition = None
