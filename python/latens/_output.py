"""Files that are written: whole, or not there at all; the habits are those of the tool `latens`.

| the output is | bytes go |
|---|---|
| a regular file | to a temporary neighbour, which is synced and gets the name, then the folder is synced |
| a symbolic link | as above, in the folder of the file that it names: the link stays |
| a FIFO or a device | to a temporary file elsewhere, and from there |
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable

from .errors import InvalidArgumentError

Path = str | os.PathLike[str]


def _there(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _oserror(code: int, what: str, path: Path) -> OSError:
    """Of the class that goes with the code."""
    return OSError(code, what, os.fspath(path))


def exists(path: Path) -> OSError:
    """What is said of a file that is kept."""
    return _oserror(errno.EEXIST, "the file is there already; say overwrite=True", path)


def settle(path: Path, sources: Iterable[Path] = (), overwrite: bool = True) -> tuple[str, int | None]:
    """Where the bytes of `path` really go, and the mode of what is there."""
    final = os.fspath(path)
    there = _there(final)
    if there is not None and not stat.S_ISREG(there.st_mode) and not stat.S_ISDIR(there.st_mode):
        return final, there.st_mode
    for _ in range(40):
        if not os.path.islink(final):
            break
        final = os.path.join(os.path.dirname(final), os.readlink(final))
    if there is None:
        if not os.path.isdir(os.path.dirname(final) or "."):
            raise _oserror(errno.ENOENT, f"there is no folder {os.path.dirname(final)!r}", path)
        return final, None
    if stat.S_ISDIR(there.st_mode):
        raise _oserror(errno.EISDIR, "the output is a folder; name a file in it", path)
    for source in sources:
        read = _there(os.fspath(source))
        if read is not None and os.path.samestat(read, there):
            raise InvalidArgumentError(
                f"{os.fspath(path)!r} is the same file as the input {os.fspath(source)!r}; "
                "name another output"
            )
    if not overwrite:
        raise exists(path)
    return final, there.st_mode


def _sync_folder(folder: str) -> None:
    # Some file systems cannot sync a folder; some folders may be written to but not read.
    with contextlib.suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(handle)


def _name(temporary: str, final: str, path: Path, overwrite: bool) -> None:
    if not overwrite:
        try:
            # Unlike a renaming it fails where a file has appeared meanwhile.
            os.link(temporary, final)
        except FileExistsError:
            raise exists(path) from None
        except OSError:
            if os.path.lexists(final):
                raise exists(path) from None
            os.replace(temporary, final)
        else:
            os.unlink(temporary)
        return
    os.replace(temporary, final)


def completely(
    path: Path,
    write: Callable[[str], None],
    *,
    sources: Iterable[Path] = (),
    overwrite: bool = True,
) -> None:
    """Let `write` make a file whose path it is given, which becomes `path` when it is complete.

    Raises `FileExistsError` without `overwrite` where there is one, `InvalidArgumentError` where it is
    one of `sources`, `FileNotFoundError` where its folder is missing: before anything is written.
    """
    final, mode = settle(path, sources, overwrite)
    if mode is not None and not stat.S_ISREG(mode):
        # Opened first: who waits for it learns of a failure by its end.
        with open(final, "wb") as out, tempfile.TemporaryDirectory(prefix="latens-") as folder:
            temporary = os.path.join(folder, "file")
            write(temporary)
            with open(temporary, "rb") as file:
                shutil.copyfileobj(file, out, 1 << 20)
        return
    folder = os.path.dirname(final) or "."
    temporary = os.path.join(folder, f".latens-{secrets.token_hex(8)}.tmp")
    held = 0o666 if mode is None else 0o600
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, held)
    except OSError as error:
        raise _oserror(error.errno or 0, error.strerror or "", path) from None
    os.close(handle)
    try:
        write(temporary)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        _name(temporary, final, path, overwrite)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)
