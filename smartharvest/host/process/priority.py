"""How the control plane's thread stands against everybody else's while the loop runs.

Its decisions may come late: the loop reacts without it, and takes everything back from one that
stays away. So it need not compete with the primary, whose CPU it would otherwise keep for the
fraction of a millisecond that a decision takes. Arranging the host and putting it back keep the
priority the agent was started with.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading

_log = logging.getLogger(__name__)

IDLE, NICE, NORMAL = "idle", "nice", "normal"
PRIORITIES = (IDLE, NICE, NORMAL)
_LOWEST_NICE = 19


class ControlPlanePriority:
    """Of the thread that makes it and calls it; Linux schedules threads, not processes."""

    def __init__(self) -> None:
        self._policy = os.sched_getscheduler(0)
        self._nice = os.getpriority(os.PRIO_PROCESS, 0)
        self._lowered = False

    def lower(self, to: str) -> None:
        """One of PRIORITIES; not if the way back is barred (CAP_SYS_NICE), or it is real-time."""
        if to == NORMAL or self._lowered or self._policy != os.SCHED_OTHER:
            return
        if not self._may_come_back(to):
            _log.info("the control plane keeps its priority: no way back without CAP_SYS_NICE")
            return
        self._lowered = True
        self._set(to)

    def put_back(self) -> None:
        """As it was before ``lower``."""
        if self._lowered:
            self._lowered = False
            with contextlib.suppress(OSError):  # it was tried
                self._set(NORMAL)

    def _set(self, to: str) -> None:
        policy = os.SCHED_IDLE if to == IDLE else self._policy
        os.sched_setscheduler(0, policy, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, _LOWEST_NICE if to == NICE else self._nice)

    def _may_come_back(self, to: str) -> bool:
        """Tried by a thread that has nothing to lose."""
        came_back = False

        def go_and_return() -> None:
            nonlocal came_back
            with contextlib.suppress(OSError):
                self._set(to)
                self._set(NORMAL)
                came_back = True

        thread = threading.Thread(target=go_and_return, name="sh-priority")
        thread.start()
        thread.join()
        return came_back
