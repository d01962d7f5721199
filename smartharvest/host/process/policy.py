"""Scheduling policies of threads: sched_setscheduler(2), as the ``strict`` mechanism uses it."""

from __future__ import annotations

import os

SCHED_EXT = 7
"""include/uapi/linux/sched.h; Python has no name for it."""
RESET_ON_FORK = 0x4000_0000
FAIR = (os.SCHED_OTHER, os.SCHED_BATCH, os.SCHED_IDLE)
"""The policies that share the class below which SCHED_EXT stands. Niceness goes along."""


def policy_of(tid: int) -> int | None:
    """The policy of thread ``tid``, with RESET_ON_FORK where that is set; None if it is gone."""
    try:
        return os.sched_getscheduler(tid)
    except OSError:
        return None


def is_fair(policy: int | None) -> bool:
    """Whether a thread with ``policy`` may be put under SCHED_EXT: no real-time one is."""
    return policy is not None and policy & ~RESET_ON_FORK in FAIR


def is_ext(policy: int | None) -> bool:
    """Whether ``policy`` is SCHED_EXT."""
    return policy is not None and policy & ~RESET_ON_FORK == SCHED_EXT


def set_policy(tid: int, policy: int) -> None:
    """Gives thread ``tid`` a policy of no real-time class; its niceness stays. Raises OSError."""
    os.sched_setscheduler(tid, policy, os.sched_param(0))
