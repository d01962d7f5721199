"""What a run did, as its end tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Report:
    """What a run did. Cores are means over its time."""

    policy: str
    sensor: str
    sensor_drift: int
    """How often a resynchronisation found the in-kernel sensor off, in CPUs and tasks."""
    displacements: int
    """How often an elastic task got a CPU that others waited for (0 where nobody rescues)."""
    primary_on_lent_cores: float
    """Lent cores that primary tasks ran on, mean; 0 where the in-kernel sensor is missing."""
    scheduling: str
    seconds: float
    total: int
    windows: int
    harvested_cores: float
    busy_cores: float
    short_safeguards: int
    long_safeguards: int
    assignments: int
    polls: int
    late_polls: int
    missed_polls: int
    lateness_us: dict[str, float]
    plans_expired: int
    stale_windows: int
    dropped_windows: int
    wake_ups: int
    """Of an event-driven loop, by its sensor."""
    lessons: int
    agent_cpu_seconds: float
    fallbacks: list[str]
    """Policies that failed and what took their place."""
    give_backs: dict[str, int]
    """Why doubt took the cores back, and how often."""
    groups: list[dict[str, Any]] = field(default_factory=list)
    """Of each elastic group ``name``, ``mean_cores``, ``core_seconds``, ``cpu_seconds`` (None: not
    known) and ``guarantee_violations``; in a dry run what it would have had."""
