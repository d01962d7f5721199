"""Confining the elastic threads of a journal to the smallest set of CPUs."""

from __future__ import annotations

import os
from collections.abc import Iterator

from smartharvest.core._confine import confine_threads
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import directories_below
from smartharvest.host.journal.affinities import OurAffinities
from smartharvest.host.journal.contents import AffinityEntry, Head, JournalContents, processes_of
from smartharvest.host.journal.families import BirthEvents, Families
from smartharvest.host.process import tasks
from smartharvest.host.process.table import children_of, process_table

_PASSES = 4
"""A thread that is not confined yet may start others after it was listed."""


def confine(head: Head, files: KernelFiles, *, once: bool = False) -> int:
    """Confines all threads of the journaled processes and groups to the journal's minimum.

    Returns how many affinities it has set. Everybody in a journaled process or group, then the
    processes' living descendants. With ``once`` nobody is looked at, and those born meanwhile are
    left to the restoring: so 20,000 threads take some 60 ms. Threads whose cpuset has none of
    these CPUs stay as they are.
    """
    cpus = head.minimum_cpus
    if not cpus:
        return 0
    processes = [pid for pid, started in head.processes if tasks.start_time(pid) == started]
    passes = 1 if once else _PASSES
    count = confine_threads(map(_threads_of, processes), cpus, passes)
    count += confine_threads(
        (f"{group}/{name}" for top in head.groups for group, name in _lists(files, top)),
        cpus,
        passes,
    )
    if processes:
        count += confine_threads(map(_threads_of, _descendants(processes)), cpus, passes)
    return count


def take_back(head: Head, files: KernelFiles, *, once: bool = False) -> tuple[int, list[str]]:
    """Leaves the elastic side of the journal its minimum; ``once`` is as of ``confine``.

    Returns how many affinities it has set, and what was refused.
    """
    refused = []
    for path, value in head.minimum:
        try:
            files.write(path, value)
        except OSError as error:
            refused.append(f"{path}: writing {value!r} was refused: {error.strerror}")
    return confine(head, files, once=once), refused


def confine_families(journal: JournalContents, unheard_since: int | None) -> None:
    """Confines what else belongs to the journaled processes, until nobody is born unconfined.

    ``unheard_since`` is as of ``Families``.
    """
    if not (journal.minimum_cpus and processes_of(journal.entries)):
        return
    entries = [entry for entry in journal.entries if isinstance(entry, AffinityEntry)]
    minimum = frozenset(journal.minimum_cpus)
    ours = OurAffinities(journal.given, {frozenset(entry.cpus) for entry in entries})
    births = BirthEvents()
    try:
        families = Families(entries, births, ours.were_given, unheard_since)
        families.visit(lambda members: sum(_confine_one(tid, minimum) for tid, _ in members) > 0)
    finally:
        births.close()


def _confine_one(tid: int, cpus: frozenset[int]) -> bool:
    """Whether it was elsewhere, too, and may no longer be."""
    if tasks.affinity(tid) <= cpus:
        return False
    try:
        os.sched_setaffinity(tid, cpus)
    except OSError:  # it has ended, or its cpuset has none of these
        return False
    return True


def _threads_of(pid: int) -> str:
    return f"/proc/{pid}/task"


def _lists(files: KernelFiles, top: str) -> Iterator[tuple[str, str]]:
    """(group, name of its list of threads) of a group and those below it."""
    for group in directories_below(files, top):
        yield group, "tasks" if files.exists(f"{group}/tasks") else "cgroup.threads"


def _descendants(processes: list[int]) -> list[int]:
    children = children_of(process_table())
    found = list(processes)
    met = set(processes)
    for pid in found:  # which grows meanwhile
        new = [child for child in children.get(pid, ()) if child not in met]
        met.update(new)
        found += new
    return found[len(processes) :]
