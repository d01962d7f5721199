"""What a primary and a batch are put through: a Linux user's own means, and the agent's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Condition:
    """One row of a table."""

    name: str
    policy: str | None = None
    """The agent's; None if no agent runs."""
    batch: bool = True
    settings: Mapping[str, object] = field(default_factory=dict)
    """Of the agent, beyond the defaults."""


BASELINE = "alone"

CONDITIONS = (
    Condition(BASELINE, batch=False),
    Condition("sensing-only", policy="no-harvest", batch=False),
    Condition("nice-19"),
    Condition("cpu-idle"),
    Condition("fixed-buffer:1", policy="fixed-buffer:1"),
    Condition("prev-peak", policy="prev-peak"),
    Condition("smartharvest", policy="smartharvest"),
)
