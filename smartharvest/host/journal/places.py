"""Where an agent keeps its journal and what belongs to it, and whether it lives.

Apart from the journal's contents, so that a question to an agent starts without them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os

from smartharvest.trusted import open_directory, open_trusted

DEFAULT_DIRECTORY = "/run/smartharvest"
STATUS_DIRECTORY = "status"
"""Below the state directory: the sockets that only tell."""
UNNAMED = ".bound"
"""Suffix of a control socket on which the agent does not listen yet."""


def journal_path(state_dir: str, pid: int) -> str:
    """Where the agent with that pid keeps its journal."""
    return os.path.join(state_dir, f"agent-{pid}.journal")


def lock_path(journal_path: str) -> str:
    return journal_path.removesuffix(".journal") + ".lock"


def page_path(journal_path: str) -> str:
    return journal_path.removesuffix(".journal") + ".shared"


def journal_paths(directory: str) -> list[str]:
    """All journals in ``directory``; empty if there is no such directory. Raises OSError, also
    (Untrusted) for a directory that somebody else can write."""
    try:
        opened = open_directory(directory)
    except FileNotFoundError:
        return []
    try:
        names = sorted(os.listdir(opened))
    finally:
        os.close(opened)
    return [os.path.join(directory, name) for name in names if name.endswith(".journal")]


def try_lock(path: str, *, create: bool = False) -> int | None:
    """Locks the file at ``path``; its descriptor, or None if it is locked already.

    The lock is gone when the descriptor is closed. Raises FileNotFoundError without ``create``.
    """
    while True:
        try:
            fd = open_trusted(path, os.O_RDWR | (os.O_CREAT if create else 0))
        except OSError as error:
            if create or error.errno != errno.EROFS:
                raise
            fd = open_trusted(path)  # of an agent of the host, seen in a container
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
        os.close(fd)  # a recovery removed the file between open and flock


def is_live(journal_path: str) -> bool:
    """Whether the agent of this journal is alive."""
    try:
        fd = try_lock(lock_path(journal_path))
    except FileNotFoundError:
        return False
    if fd is None:
        return True
    os.close(fd)
    return False


def sync_directory(directory: str) -> None:
    """Its names are on disk. Raises OSError."""
    fd = open_directory(directory)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
