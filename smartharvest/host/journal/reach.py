"""What a journal may name: groups, the files of them that the agent writes, and one parameter.

A journal says which values to write where, and root obeys it. Whatever else it names it was not
this program that wrote it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.journal.contents import (
    AffinityEntry,
    ConfinedEntry,
    CreatedEntry,
    FileEntry,
    Head,
    JournalContents,
    JournalError,
    MovedEntry,
    OccupiedEntry,
    PolicyEntry,
    ScheduledEntry,
)
from smartharvest.host.parameters import PARAMETERS

_NAMES = re.compile(
    r"(?:cpuset|cpu|cgroup|freezer)\.[a-z_.]+|tasks|memory\.(?:high|soft_limit_in_bytes)"
)
_MOST_SHOWN = 200


def check_reach(path: str, journal: JournalContents | Head, files: KernelFiles) -> None:
    """Raises JournalError if the journal at ``path`` names what no agent writes to on ``files``."""
    mounts = [os.path.realpath(mount) for mount in files.mounts()]
    directories = set(_directories(journal))
    for named in _files(journal):
        if named in PARAMETERS:
            continue
        directory, name = os.path.split(named)
        if not _NAMES.fullmatch(name):
            raise _refusal(path, named, "is no file that the agent writes")
        directories.add(directory)
    for directory in sorted(directories):
        if not _is_below(directory, mounts):
            raise _refusal(path, directory, f"lies below none of {', '.join(mounts) or 'none'}")


def _is_below(directory: str, mounts: Sequence[str]) -> bool:
    if not os.path.isabs(directory) or "\0" in directory:
        return False
    real = os.path.realpath(directory)
    return any(f"{real}/".startswith(f"{mount}/") for mount in mounts)


def _files(journal: JournalContents | Head) -> Iterator[str]:
    yield from (path for path, _ in journal.minimum)
    if isinstance(journal, Head):
        return
    yield from (entry.path for entry in journal.entries if isinstance(entry, FileEntry))
    yield from journal.ours
    yield from journal.chosen


def _directories(journal: JournalContents | Head) -> Iterator[str]:
    # The last claim is the elastic group, whose list of tasks is read.
    yield from filter(os.path.isabs, journal.claims[-1:])
    if isinstance(journal, Head):
        yield from journal.groups
        return
    for entry in journal.entries:
        match entry:
            case CreatedEntry(directory) | ConfinedEntry(directory) | OccupiedEntry(directory):
                yield directory
            case ScheduledEntry(directory):
                yield directory
            case MovedEntry(origin=origin, destination=destination):
                yield from (origin, destination)
            case FileEntry() | AffinityEntry() | PolicyEntry():
                pass


def _refusal(path: str, named: str, why: str) -> JournalError:
    return JournalError(
        f"{path}: the journal is damaged: {named[:_MOST_SHOWN]!r} {why}; nothing in it is done; "
        "give its agent's --cgroup-root, or read it, put its values back by hand and remove it"
    )
