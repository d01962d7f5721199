"""Dispatch waits of the primary where the sensor does not see them: totals of each thread.

The kernel keeps a thread's total wait and its number of dispatches (kernel/sched/stats.h,
sched_info_arrive), so a period yields one mean per thread and not the distribution the paper
reads from its hypervisor (section 3.4). A thread whose mean exceeds the threshold counts with all
its dispatches. A wait is credited when it ends: one still going on is not seen.

Two sources have the same two numbers, in this order:

1. ``schedstat``: /proc/TID/schedstat, about 10 us a thread, readable by every user.
2. ``taskstats``: delay accounting over netlink, about 130 us a thread, with CAP_NET_ADMIN. Up to
   Linux 5.13 it has them only of tasks that started while ``kernel.task_delayacct`` was 1; later
   kernels do without.

The second is for hosts that have no readable schedstat.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from smartharvest.errors import RightsError

_log = logging.getLogger(__name__)

DELAYACCT_SWITCH = "/proc/sys/kernel/task_delayacct"
SOURCES = ("schedstat", "taskstats")
"""Best first."""

MOST_THREADS = 4096
"""Read at once, in some 50 ms."""

ReadWaits = Callable[[int], tuple[int, int] | None]
"""(total wait in ns, number of dispatches) of a thread; None if it is gone."""


def read_schedstat(tid: int) -> tuple[int, int] | None:
    """From /proc/TID/schedstat."""
    try:
        fd = os.open(f"/proc/{tid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _, wait_ns, count = map(int, os.read(fd, 256).split())
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return None
    return wait_ns, count


class Taskstats:
    """Reads over netlink (include/uapi/linux/taskstats.h). Raises RightsError without it."""

    def __init__(self) -> None:
        # Imported here: it takes memory that most agents do not need.
        from pyroute2 import TaskStats
        from pyroute2.netlink.exceptions import NetlinkError

        self._refusal = NetlinkError
        try:
            self._socket = TaskStats()
            self._socket.bind()
        except (OSError, NetlinkError) as error:
            raise RightsError(f"taskstats: {error} (needs CONFIG_TASKSTATS)") from error

    def read(self, tid: int) -> tuple[int, int] | None:
        """Raises RightsError without CAP_NET_ADMIN."""
        try:
            (message,) = self._socket.get_pid_stat(tid)
        except self._refusal as error:
            if error.code == 3:  # ESRCH
                return None
            raise RightsError(f"taskstats: {error} (needs CAP_NET_ADMIN)") from error
        stats = message.get_attr("TASKSTATS_TYPE_AGGR_PID").get_attr("TASKSTATS_TYPE_STATS")
        return int(stats["cpu_delay_total"]), int(stats["cpu_count"])

    def close(self) -> None:
        self._socket.close()


def delay_accounting(path: str = DELAYACCT_SWITCH) -> bool | None:
    """Whether the kernel accounts delays; None if there is no switch (before Linux 5.14)."""
    with contextlib.suppress(OSError, ValueError), open(path) as file:
        return int(file.read()) != 0
    return None


@dataclass(frozen=True)
class WaitSource:
    """A source of waits, its name, and why it was chosen."""

    read: ReadWaits
    name: str
    reason: str
    close: Callable[[], None] = lambda: None


def open_wait_source(wanted: str = "auto") -> WaitSource:
    """The source called ``wanted``, or with ``auto`` the first of SOURCES that works here.

    A source works if it shows dispatches of the calling thread. Raises RightsError if none works.
    """
    why_not: list[str] = []
    for name in SOURCES if wanted == "auto" else (wanted,):
        try:
            source = _open(name, "; ".join(why_not) or "selected automatically")
        except RightsError as error:
            why_not.append(str(error))
            continue
        if (of_mine := source.read(threading.get_native_id())) and of_mine[1] > 0:
            return source
        source.close()
        why_not.append(f"{name}: shows nothing of this thread{_delay_accounting_hint(name)}")
    raise RightsError(f"waits: {'; '.join(why_not)}")


def _open(name: str, reason: str) -> WaitSource:
    if name == "schedstat":
        return WaitSource(read_schedstat, name, reason)
    taskstats = Taskstats()
    try:
        taskstats.read(threading.get_native_id())
    except RightsError:
        taskstats.close()
        raise
    return WaitSource(taskstats.read, name, reason + _delay_accounting_hint(name), taskstats.close)


def _delay_accounting_hint(name: str) -> str:
    if name != "taskstats" or delay_accounting() is not False:
        return ""
    return "; kernel.task_delayacct is off: kernels up to 5.13 then show nothing"


class ThreadWaits:
    """Differences between successive readings; the first one is the base."""

    def __init__(self, wait_threshold_ns: int, read: ReadWaits = read_schedstat) -> None:
        self._threshold_ns = wait_threshold_ns
        self._read = read
        self._last: dict[int, tuple[int, int]] = {}
        self.waited_ns = 0
        """Wait of all dispatches counted so far."""

    def read(self, threads: Iterable[int]) -> tuple[int, int]:
        """(dispatches, long waits) of ``threads`` since the last call.

        Threads that are new count from the next call on; those that have ended are dropped. Of
        more than MOST_THREADS those count that were read the last time, as a sample.
        """
        dispatches = long_waits = 0
        now: dict[int, tuple[int, int]] = {}
        threads = list(threads)
        if len(threads) > MOST_THREADS:
            threads.sort(key=lambda tid: tid not in self._last)
        for tid in threads[:MOST_THREADS]:
            seen = self._read(tid)
            if seen is None:
                continue
            now[tid] = seen
            if tid in self._last:
                waited_ns, dispatched = (a - b for a, b in zip(seen, self._last[tid], strict=True))
                dispatches += dispatched
                self.waited_ns += waited_ns
                if dispatched and waited_ns / dispatched > self._threshold_ns:
                    long_waits += dispatched
        self._last = now
        return dispatches, long_waits
