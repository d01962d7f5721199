"""Output files that are there whole, or are not there."""

from __future__ import annotations

import contextlib
import os

from smartharvest.errors import TraceError
from smartharvest.trusted import open_own


def write_whole(path: str, data: bytes) -> None:
    """Writes ``data`` under another name, syncs it, and puts it in the place of ``path``.

    Raises TraceError if that fails; what was at ``path`` is then still there.
    """
    new = f"{path}.new"
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        fd = open_own(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise TraceError(f"{path}: cannot be written: {error.strerror or error}") from None
