"""Threads of the host as /proc and the scheduler's system calls show them.

A thread may end between any two lines here, so every function has a value for "gone".
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence

from smartharvest.core._tasks import start_times
from smartharvest.host.cpulist import parse_cpulist

EVERY_CPU = range(8192)
"""The largest NR_CPUS on x86; of an affinity the kernel takes those that the cpuset has."""

_PF_KTHREAD = 0x0020_0000  # include/linux/sched.h
# Fields 3, 4, 9, 14, 15 and 22 of proc(5), counted after the name.
_FIELDS = re.compile(r"\s\S(?:\s-?[0-9]{1,20}){19}(?=\s)")
_STAT_BYTES = 1024
_STATE, _PARENT, _FLAGS, _USER_TIME, _SYSTEM_TIME, _START_TIME = 0, 1, 6, 11, 12, 19


def process_threads(pid: int) -> list[int]:
    """Thread ids of process ``pid``, ascending; empty if it is gone."""
    try:
        return sorted(int(tid) for tid in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return []


def threads_of(pids: Iterable[int]) -> Iterator[int]:
    """Thread ids of these processes, as the kernel lists them: some hundred at a time."""
    for pid in pids:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/task") as entries:
            for entry in entries:
                yield int(entry.name)


def process_of(tid: int) -> int | None:
    """The process that thread ``tid`` belongs to; None if it is gone."""
    try:
        with open(f"/proc/{tid}/status", errors="replace") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("Tgid:")), None)
    except (OSError, ValueError):
        return None


def process_ids(root: str = "/") -> Iterator[int]:
    """The processes there are, as the kernel lists them: some hundred at a time."""
    with os.scandir(os.path.join(root, "proc")) as entries:
        for entry in entries:
            if entry.name.isdigit():
                yield int(entry.name)


def descendants(*pids: int) -> list[int]:
    """The processes that ``pids`` started, and those that they did, as far as their parents live.

    Parents first; none of ``pids`` itself.
    """
    children: dict[int, list[int]] = {}
    for other in process_ids():
        fields = _stat_fields(other)
        if fields:
            children.setdefault(int(fields[_PARENT]), []).append(other)
    found = list(pids)
    met = set(pids)
    for process in found:  # which grows meanwhile
        new = [child for child in children.get(process, []) if child not in met]
        met.update(new)
        found += new
    return found[len(pids) :]


def start_time(tid: int) -> int | None:
    """When thread ``tid`` started, in clock ticks since boot; None if it is gone.

    Together with the id it names a thread for good, which the id alone does not.
    """
    fields = _stat_fields(tid)
    return int(fields[_START_TIME]) if fields else None


def started(tids: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(thread, its ``start_time``) of those that are not gone, in less time than one by one."""
    return ((tid, at) for tid, at in zip(tids, start_times(tids), strict=True) if at >= 0)


def settled_since(tid: int, settled_s: float) -> int | None:
    """The ``start_time`` of a user-space thread that has lived for ``settled_s``; else None."""
    fields = _stat_fields(tid)
    if not fields or int(fields[_FLAGS]) & _PF_KTHREAD or fields[_STATE] in ("Z", "X"):
        return None
    started = int(fields[_START_TIME])
    latest = start_time_of_newcomers() - settled_s * os.sysconf("SC_CLK_TCK")
    return started if started <= latest else None


def parent_of(pid: int) -> int | None:
    """The process that ``pid`` is a child of; None if ``pid`` is gone, or has none."""
    fields = _stat_fields(pid)
    return int(fields[_PARENT]) or None if fields else None


def start_time_of_newcomers() -> int:
    """The ``start_time`` of a thread that would start now."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def cpu_ticks(pid: int) -> int | None:
    """CPU time of process ``pid``, ended threads included, in clock ticks; None if it is gone."""
    fields = _fields_of(f"/proc/{pid}/stat")
    return int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME]) if fields else None


def alive(tid: int) -> bool:
    """Whether ``tid`` is still scheduled: neither gone nor a zombie."""
    fields = _stat_fields(tid)
    return bool(fields) and fields[_STATE] not in ("Z", "X")


def state(tid: int) -> str:
    """The letter of proc_pid_stat(5), such as R, S or T; empty if ``tid`` is gone."""
    fields = _stat_fields(tid)
    return fields[_STATE] if fields else ""


def affinity(tid: int) -> frozenset[int]:
    """The CPUs ``tid`` may run on: its own affinity within its cpuset; empty if it is gone."""
    try:
        return frozenset(os.sched_getaffinity(tid))
    except OSError:
        return frozenset()


def may_confine(tid: int) -> bool:
    """Whether we have the right to set the affinity of ``tid``. Changes nothing.

    The kernel looks at the right before the mask (sched_setaffinity() in kernel/sched/syscalls.c),
    and refuses one without a CPU.
    """
    try:
        os.sched_setaffinity(tid, ())
    except PermissionError:
        return False
    except OSError:  # EINVAL, or it is gone
        pass
    return True


def name(tid: int) -> str:
    """The thread's command name (``comm``), or ``?`` if it is gone."""
    try:
        with open(f"/proc/{tid}/comm", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "?"


def online_cpus() -> frozenset[int]:
    """The CPUs that are online now."""
    with open("/sys/devices/system/cpu/online") as file:
        return parse_cpulist(file.read())


def pinned_cpus(threads: Iterable[int], allowed: Collection[int]) -> frozenset[int]:
    """The CPUs of ``allowed`` that some of ``threads`` is pinned to.

    Pinned means confined to a part of ``allowed``, the effective CPUs of the threads' group:
    such a thread cannot step aside when one of its CPUs is lent.
    """
    group = frozenset(allowed)
    pinned: set[int] = set()
    for tid in threads:
        own = affinity(tid) & group
        if own != group:
            pinned |= own
    return frozenset(pinned)


def _stat_fields(tid: int) -> list[str]:
    """The fields of proc_pid_stat(5) after the name, from the state on; empty if it is gone.

    Of the thread alone: /proc/TID/stat sums up all threads of the process (do_task_stat() with
    ``whole`` in fs/proc/array.c), which takes half a millisecond where there are thousands.
    """
    return _fields_of(f"/proc/{tid}/task/{tid}/stat")


def _fields_of(path: str) -> list[str]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # open() would take as long again
    except OSError:
        return []
    try:
        return fields_after_name(os.read(fd, _STAT_BYTES).decode(errors="replace"))
    except OSError:
        return []
    finally:
        os.close(fd)


def fields_after_name(text: str) -> list[str]:
    """Of a line of proc_pid_stat(5), up to the start time; empty if it is none.

    The name stands in parentheses and may hold blanks and parentheses itself.
    """
    fields = _FIELDS.match(text.rpartition(")")[2])
    return [] if fields is None else fields[0].split()
