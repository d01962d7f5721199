"""The priority of the control plane's thread while the loop runs.

Its decisions may come late: the loop reacts without it, and takes everything back if they do not
come at all. So it need not compete with the primary, whose CPU it would otherwise keep for the
milliseconds that a turn takes: a task that wakes waits until the running one has had its slice.
But it preempts one with a longer slice at once, in whatever cpu group (EEVDF's PREEMPT_SHORT, Linux
6.12). The agent arranges the host and puts it back with the priority it was
started with.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading

from smartharvest.core._tasks import ask_for_slice

_log = logging.getLogger(__name__)

IDLE, NICE, NORMAL = "idle", "nice", "normal"
PRIORITIES = (IDLE, NICE, NORMAL)
_LOWEST_NICE = 19
_SLICE_NS = 100_000_000
"""The longest that the kernel grants; it costs nothing where nobody waits."""


class ControlPlanePriority:
    """Of the thread that creates and calls it; Linux schedules threads, not processes."""

    def __init__(self) -> None:
        self._policy = os.sched_getscheduler(0)
        self._nice = os.getpriority(os.PRIO_PROCESS, 0)
        self._lowered = False

    def lower(self, to: str) -> None:
        """Lowers it to one of PRIORITIES, unless that is final or the thread is real-time.

        Whatever it is lowered to, who wakes preempts it.
        """
        if self._policy != os.SCHED_OTHER:
            return
        _ask_for_slice(_SLICE_NS)
        if to == NORMAL or self._lowered:
            return
        if not self._can_undo(to):
            _log.info("the control plane keeps its priority: raising it again needs CAP_SYS_NICE")
            return
        self._lowered = True
        self._set(to)

    def put_back(self) -> None:
        """Undoes ``lower``."""
        if self._lowered:
            self._lowered = False
            with contextlib.suppress(OSError):  # it was tried
                self._set(NORMAL)
        if self._policy == os.SCHED_OTHER:
            _ask_for_slice(0)

    def _set(self, to: str) -> None:
        policy = os.SCHED_IDLE if to == IDLE else self._policy
        os.sched_setscheduler(0, policy, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, _LOWEST_NICE if to == NICE else self._nice)

    def _can_undo(self, to: str) -> bool:
        """Tries it in a thread of its own, which then ends."""
        undone = False

        def try_it() -> None:
            nonlocal undone
            with contextlib.suppress(OSError):
                self._set(to)
                self._set(NORMAL)
                undone = True

        thread = threading.Thread(target=try_it, name="sh-priority")
        thread.start()
        thread.join()
        return undone


def _ask_for_slice(slice_ns: int) -> None:
    with contextlib.suppress(OSError):  # a sandbox forbids the call
        ask_for_slice(slice_ns)
