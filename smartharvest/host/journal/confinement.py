"""Leaving elastic threads the smallest set of CPUs, from what a journal says of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import tasks_below
from smartharvest.host.journal.contents import AffinityEntry, ConfinedEntry, Entry
from smartharvest.host.process import tasks

_ROUNDS = 3
"""What is not confined yet may start others after we looked."""


def confine(entries: Iterable[Entry], cpus: Collection[int], files: KernelFiles) -> int:
    """Confines every thread that has a journaled affinity to ``cpus``, with all that started since
    in the journaled processes and those they started, and all in the journaled groups. How many
    there were.

    A thread that has ended, or whose cpuset has none of ``cpus``, is left out.
    """
    entries = list(entries)
    journaled = [entry for entry in entries if isinstance(entry, AffinityEntry)]
    groups = [entry.directory for entry in entries if isinstance(entry, ConfinedEntry)]
    confined: set[int] = set()
    for _ in range(_ROUNDS):
        in_groups = {tid for group in groups for tid in tasks_below(files, group)}
        new = (set(_threads(journaled)) | in_groups) - confined
        for tid in new:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(tid, cpus)
        if not new:
            break
        confined |= new
    return len(confined)


def _threads(entries: Iterable[AffinityEntry]) -> Iterator[int]:
    roots: dict[int, int] = {}
    for entry in entries:
        if tasks.start_time(entry.tid) != entry.start_time:
            continue
        yield entry.tid
        if entry.newcomers_since is not None:
            roots[entry.tid] = entry.newcomers_since
    if not roots:
        return
    since = min(roots.values())
    for process in (*roots, *tasks.descendants(*roots)):
        for tid in tasks.process_threads(process):
            if (tasks.start_time(tid) or 0) >= since:
                yield tid
