"""Dispatch waits of the primary without help from the kernel: /proc/TID/schedstat.

The file has a thread's total wait and its number of dispatches (kernel/sched/stats.h,
sched_info_arrive), so a period yields one mean per thread and not the distribution the paper
reads from its hypervisor (section 3.4). A thread whose mean exceeds the threshold counts with all
its dispatches. A wait is credited when it ends: one still going on is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable


class SchedstatWaits:
    """Differences between successive readings; the first one is the base."""

    def __init__(self, wait_threshold_ns: int) -> None:
        self._threshold_ns = wait_threshold_ns
        self._last: dict[int, tuple[int, int]] = {}

    def read(self, threads: Iterable[int]) -> tuple[int, int]:
        """(dispatches, long waits) of ``threads`` since the last call.

        Threads that are new count from the next call on; those that have ended are dropped.
        """
        dispatches = long_waits = 0
        now: dict[int, tuple[int, int]] = {}
        for tid in threads:
            try:
                with open(f"/proc/{tid}/schedstat") as file:
                    _, wait_ns, count = map(int, file.read().split())
            except (OSError, ValueError):
                continue  # it has ended
            now[tid] = (wait_ns, count)
            if tid in self._last:
                waited_ns, dispatched = wait_ns - self._last[tid][0], count - self._last[tid][1]
                dispatches += dispatched
                if dispatched and waited_ns / dispatched > self._threshold_ns:
                    long_waits += dispatched
        self._last = now
        return dispatches, long_waits
