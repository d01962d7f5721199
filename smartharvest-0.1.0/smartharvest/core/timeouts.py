"""For how long nothing needs to be heard before cores are given back, in nanoseconds.

Four windows, for one that is late or lost is no reason yet, and long enough for a thread that waits
for a CPU.
"""

from __future__ import annotations

WINDOWS = 4
LEAST_PLAN_TTL_NS = 100_000_000
LEAST_PERMIT_NS = 500_000_000
LEAST_STALE_POLLS = 20


def plan_ttl_ns(window_ns: int) -> int:
    """Without a new plan for so long nothing stays lent; so patient is the guardian, too."""
    return max(WINDOWS * window_ns, LEAST_PLAN_TTL_NS)


def permit_ns(window_ns: int) -> int:
    """So long a loop that decides itself may lend after the control plane's last look."""
    return max(WINDOWS * window_ns, LEAST_PERMIT_NS)


def stale_ns(window_ns: int, poll_ns: int, *, event_driven: bool) -> int:
    """Without a poll for so long a window is void; event-driven, a quiet one has a single poll."""
    return max(window_ns * (1 + event_driven), LEAST_STALE_POLLS * poll_ns)
