"""The end of a journal and of the files beside it."""

from __future__ import annotations

import contextlib
import os

from smartharvest.host.journal import registry
from smartharvest.host.journal.group_locks import directory_locked
from smartharvest.host.journal.notices import remove_notices
from smartharvest.host.journal.places import (
    STATUS_DIRECTORY,
    UNNAMED,
    lock_path,
    page_path,
    sync_directory,
    try_lock,
)

_SUFFIXES = (".lock", ".shared", ".sock", UNNAMED)


def remove(journal_path: str) -> None:
    """Removes a journal with its lock; the caller holds the lock."""
    directory, name = os.path.split(journal_path.removesuffix(".journal"))
    stems = (os.path.join(directory, name), os.path.join(directory, STATUS_DIRECTORY, name))
    sockets = (stem + suffix for stem in stems for suffix in (".sock", UNNAMED))
    files = (journal_path, journal_path + ".new", page_path(journal_path), *sockets)
    remove_notices(journal_path)
    for path in (*files, lock_path(journal_path)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    registry.drop(journal_path)
    with contextlib.suppress(FileNotFoundError):
        sync_directory(os.path.dirname(journal_path))


def sweep(directory: str) -> None:
    """Removes the files of agents that ended before they had a journal and changed anything."""
    with contextlib.suppress(FileNotFoundError), directory_locked(directory):
        names = os.listdir(directory)
        stems = {os.path.splitext(name)[0] for name in names if name.endswith(_SUFFIXES)}
        for stem in stems - {os.path.splitext(n)[0] for n in names if n.endswith(".journal")}:
            path = os.path.join(directory, f"{stem}.journal")
            lock = try_lock(lock_path(path), create=True)
            if lock is not None:
                remove(path)
                os.close(lock)
