"""What a dead agent has left confined, taken over by its successor without being let go.

Only what a later look at the host still shows as it was: masks and switches of the same groups. Who
is confined thread by thread may have had children since, of whom nobody has heard: they are found
by putting everything back (recovery.py).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence

from smartharvest.errors import RightsError
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.journal.confinement import take_back
from smartharvest.host.journal.contents import (
    AffinityEntry,
    Entry,
    FileEntry,
    JournalContents,
    JournalError,
    boot_id,
    head_of,
    inode,
    read_journal,
)
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.places import journal_paths
from smartharvest.host.journal.reach import check_reach
from smartharvest.host.journal.recovery import lock_of_the_dead
from smartharvest.host.journal.removal import remove
from smartharvest.host.process import tasks

_log = logging.getLogger(__name__)

_FREEZERS = ("cgroup.freeze", "freezer.state")


def take_over(
    files: KernelFiles,
    directory: str,
    *,
    claims: Sequence[str],
    root: str,
    arrangement: Mapping[str, str],
) -> Journal | None:
    """This agent's journal with the entries of a dead one, whose host stays at its minimum.

    None unless a dead agent in ``directory`` had the same ``claims`` and ``arrangement``, left
    nothing but what can be taken over, and there is room for a journal; then its journal is as it
    was. ``root`` is as of ``Journal``. Raises AlreadyManaged, and RightsError if ``directory`` may
    not be read.
    """
    try:
        paths = journal_paths(directory)
    except OSError as error:
        raise RightsError(f"{directory}: {error.strerror}; run as root") from error
    for path in paths:
        try:
            lock = lock_of_the_dead(path)
        except OSError:  # whose lock somebody else could have written: recovery tells
            continue
        if lock is None:
            continue
        try:
            left = _readable(path, files)
            if left is None or not _fits(left, claims, arrangement):
                continue
            if take_back(head_of(left), files)[1]:  # who is dead may still have lent cores
                continue
            try:
                journal = Journal(
                    directory,
                    claims=claims,
                    root=root,
                    arrangement=arrangement,
                    predecessor=(path, left),
                )
            except RightsError:  # such as a full disk: nobody follows, so recovery lets go
                continue
            remove(path)
        finally:
            os.close(lock)
        _log.warning(
            "An earlier agent (pid %d) did not end well; the batch stays at its minimum", left.pid
        )
        return journal
    return None


def _readable(path: str, files: KernelFiles) -> JournalContents | None:
    """None for what recovery has to look at, or has just done away with."""
    try:
        left = read_journal(path)
        check_reach(path, left, files)
    except (OSError, JournalError):
        return None
    return left


def _fits(left: JournalContents, claims: Sequence[str], arrangement: Mapping[str, str]) -> bool:
    return (
        left.boot_id == boot_id()
        and not (tasks.start_time(left.pid) == left.start_time and tasks.alive(left.pid))
        and left.arrangement == arrangement
        and left.claims == tuple(claims)
        and bool(left.minimum)
        and not left.given.nudging
        and all(map(_stays, left.entries))
    )


def _stays(entry: Entry) -> bool:
    """Whether a successor can go on with it, and put it back as its predecessor would have."""
    if isinstance(entry, AffinityEntry):  # what a group's mask overwrites before Linux 6.2
        return entry.newcomers_since is None
    if not isinstance(entry, FileEntry):
        return False
    directory, name = os.path.split(entry.path)
    return name not in _FREEZERS and entry.inode in (0, inode(directory))
