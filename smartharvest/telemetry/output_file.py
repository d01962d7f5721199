"""Output files that are there whole, or are not there."""

from __future__ import annotations

import contextlib
import os
import stat

from smartharvest.errors import ConfigError, SmartHarvestError
from smartharvest.trusted import open_own


def write_whole(
    path: str,
    data: bytes,
    *,
    mode: int | None = None,
    failure: type[SmartHarvestError] = ConfigError,
) -> None:
    """Writes ``data`` under another name, syncs it, and puts it in the place of ``path``.

    A reader meets the old file or the new one. What is no regular file, such as a pipe or
    /dev/stdout, is written into. ``mode``: who may read it, whatever the umask says. Raises
    ``failure`` if that fails; what was at ``path`` is then still there.
    """
    try:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, "wb") as there:
                there.write(data)
        else:
            _replace(path, data, mode)
    except OSError as error:
        raise failure(f"{path}: cannot be written: {error.strerror or error}") from None


def _replace(path: str, data: bytes, mode: int | None) -> None:
    new = f"{path}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    try:
        fd = open_own(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
