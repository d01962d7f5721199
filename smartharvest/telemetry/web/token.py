"""The word that lets somebody look from another machine."""

from __future__ import annotations

import os
import string

from smartharvest.errors import ConfigError
from smartharvest.trusted import Untrusted, open_trusted

SHORTEST = 16
_LONGEST = 256
_ALLOWED = frozenset(string.ascii_letters + string.digits + "-_.~")


def read_token(path: str, key: str) -> str:
    """The one line of the file at ``path``, which only root and the caller may write.

    Raises ConfigError, naming ``key``, for a file that cannot be read or is no token.
    """
    try:
        fd = open_trusted(path)
        try:
            text = os.read(fd, _LONGEST + 2).decode("ascii", "replace").strip()
        finally:
            os.close(fd)
    except Untrusted as error:
        raise ConfigError(f"{key}: {error}") from None
    except OSError as error:
        raise ConfigError(f"{key}: {path}: cannot be read: {error.strerror}") from None
    if not SHORTEST <= len(text) <= _LONGEST or not _ALLOWED.issuperset(text):
        raise ConfigError(
            f"{key}: {path}: is no token; write {SHORTEST} to {_LONGEST} letters, digits and -_.~ "
            "into it, such as those of: openssl rand -hex 24"
        )
    return text
