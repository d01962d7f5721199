"""What a strategy knows of a function's past."""

from __future__ import annotations

from dataclasses import dataclass

NOTICE_S = 30.0
"""Between the notice and the eviction (Azure's Harvest VMs, SOSP'21)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One function, as its invocations have been."""

    name: str
    longest_s: float
    rate_per_s: float
    """Invocations a second."""
    beyond_notice: float
    """Share of its invocations, 0..1, that run longer than the notice."""
    seconds_beyond: float
    """Mean, over all its invocations, of the seconds by which one outlives the notice."""
