"""Confining the elastic threads of a journal to the smallest set of CPUs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import tasks_below
from smartharvest.host.journal.contents import AffinityEntry, ConfinedEntry, Entry
from smartharvest.host.process import tasks

_ROUNDS = 3
"""A thread that is not confined yet may start others after it was listed."""


def confine(entries: Iterable[Entry], cpus: Collection[int], files: KernelFiles) -> int:
    """Confines every thread with a journaled affinity to ``cpus``; returns how many.

    Also threads that started since in the journaled processes and their descendants, and all in the
    journaled groups. Threads that have ended, or whose cpuset has none of ``cpus``, are left out.
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
