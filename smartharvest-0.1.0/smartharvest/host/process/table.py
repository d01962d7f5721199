"""All processes at one moment, and how they are related."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from smartharvest.host.process.tasks import fields_after_name

_PARENT, _GROUP, _SESSION, _START_TIME = 1, 2, 3, 19  # of proc_pid_stat(5), after the name


class Process(NamedTuple):
    """One process. While a number is in use as a group or session, no new process gets it."""

    pid: int
    parent: int
    """Init, or the nearest subreaper above, once its own parent has ended."""
    group: int
    session: int
    start_time: int
    """Of its first thread, in clock ticks since boot."""


Table = Mapping[int, Process]


def process_table(root: str = "/proc") -> dict[int, Process]:
    """All processes by their ids. One short read for each, however many threads it has."""
    found: dict[int, Process] = {}
    for name in os.listdir(root):
        if not name.isdigit():
            continue
        try:
            # /proc/PID/stat adds up all threads of the process; this one has the same fields.
            with open(f"{root}/{name}/task/{name}/stat", errors="replace") as file:
                fields = fields_after_name(file.read())
        except OSError:
            continue
        if fields:
            numbers = (int(fields[at]) for at in (_PARENT, _GROUP, _SESSION, _START_TIME))
            found[int(name)] = Process(int(name), *numbers)
    return found


def children_of(table: Table) -> dict[int, list[int]]:
    """Parent -> the processes below it that are in the table."""
    found: dict[int, list[int]] = {}
    for process in table.values():
        found.setdefault(process.parent, []).append(process.pid)
    return found


def ancestors(table: Table, pid: int) -> Iterator[int]:
    """The parent of ``pid``, its parent and so on, as far as the table has them."""
    met = {pid}
    while (process := table.get(pid)) is not None and process.parent not in met:
        pid = process.parent
        met.add(pid)
        yield pid


def reapers(table: Table, pids: Iterable[int]) -> set[int]:
    """Who may have become the parent of orphans of ``pids``: init, and all above them."""
    return {1}.union(*(ancestors(table, pid) for pid in pids))
