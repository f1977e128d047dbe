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
        self.entered: list[dict[str, Any]] = []
        self._original = torch.load

        @functools.wraps(torch.load)
        def load(f: Any, map_location: Any = None, *args: Any, **options: Any) -> Any:
            entered = list(self.entered)
            # What comes through a pipe cannot be looked at first.
            if entered and isinstance(f, (str, os.PathLike)) and os.path.isfile(f):
                with open(f, "rb") as file:
                    found = file.read(len(_MAGIC)) == _MAGIC
                if found:
                    options.update(zip(["pickle_module"], args, strict=False))
                    return _loaded(f, map_location, options, entered)
            return self._original(f, map_location, *args, **options)

        torch.load = self._load = load

    def end(self) -> None:
        # Who has put something else there since still calls ours, which hands on.
        if torch.load is self._load:
            torch.load = self._original


def _loaded(
    path: str | os.PathLike[str],
    map_location: Any,
    options: dict[str, Any],
    entered: list[dict[str, Any]],
) -> Any:
    """What `torch.load` gives for a `.wcodec` in these contexts, of which the last ones are asked first."""
    from .torch import load_file, safe_open

    for name, value in options.items():
        if name in ("base", "threads", "max_output", "max_alloc"):
            raise InvalidArgumentError(
                f"{name} is said to latens.torch.recognised({name}=...), not to torch.load"
            )
        # There is nothing but weights, and nothing of them to map.
        if value is not None and name not in ("weights_only", "mmap"):
            raise InvalidArgumentError(f"{name} means nothing for a .wcodec; leave it out")
    if callable(map_location) or isinstance(map_location, dict):
        raise InvalidArgumentError("map_location of a .wcodec is a device")
    device = "cpu" if map_location is None else map_location
    settings: dict[str, Any] = {"threads": entered[-1]["threads"]}
    for limit in ("max_output", "max_alloc"):
        given = [each[limit] for each in entered if each[limit] is not None]
        settings[limit] = min(given) if given else None
    bases = [each["base"] for each in reversed(entered) if each["base"] is not None]
    with safe_open(path) as file:
        wants = file.file.base_name is not None
    bases = list(dict.fromkeys(bases)) if wants else []
    for base in bases[:-1]:
        # Of contexts that overlap, in several threads, each may have its own.
        with contextlib.suppress(InvalidArgumentError):
            return load_file(path, device, base=base, **settings)
    return load_file(path, device, base=bases[-1] if bases else None, **settings)


_recognition: _Recognition | None = None
_recognition_lock = threading.Lock()


@contextlib.contextmanager
def recognised(
    *,
    base: str | os.PathLike[str] | None = None,
    threads: int = 0,
    max_output: int | None = None,
    max_alloc: int | None = None,
) -> Iterator[None]:
    """Within this context `torch.load` of a path whose file is a `.wcodec`, by its first bytes, gives
    the state dictionary in it; all else goes to PyTorch's own `torch.load`.

    It holds for all threads, until the last of them has left it. `weights_only` and `mmap` change
    nothing for a `.wcodec`, `map_location` is a device; what else is given is refused.

    `base` is the checkpoint that the files which have one were coded against; it, `threads` and the limits are those of
    `load_file`. Of contexts that overlap the smallest limits count, and each one's base is tried.
    """
    global _recognition
    settings = {"base": base, "threads": threads, "max_output": max_output, "max_alloc": max_alloc}
    with _recognition_lock:
        if _recognition is None:
            _recognition = _Recognition()
        current = _recognition
        current.entered.append(settings)
    try:
        yield
    finally:
        with _recognition_lock:
            # This very one: others may be equal to it.
            place = next(i for i, each in enumerate(current.entered) if each is settings)
            del current.entered[place]
            if not current.entered:
                current.end()
                _recognition = None
