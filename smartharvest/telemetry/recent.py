"""The last quarter of an hour of an agent: a sample a second, and the last decisions.

The agent keeps it, so that a page that is opened has a past without anybody having watched.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.telemetry.spans import Span

KEPT = 900
"""Spans, of a second each."""
MOST_DECISIONS = 30
COLUMNS = ("t", "lent", "granted", "busy", "demand")
_LATEST = 5


@dataclass
class Run:
    """Decisions in a row with the same outcome for the same reason."""

    since_s: float
    until_s: float
    reason: str
    granted: int
    """Cores for the primary."""
    harvest: int
    """Cores that it says may be lent."""
    held_by: str | None
    windows: int = 0
    busy: int = 0
    demand: int = 0

    def describe(self) -> dict[str, Any]:
        return {
            "since": round(self.since_s, 3),
            "until": round(self.until_s, 3),
            "windows": self.windows,
            "reason": self.reason,
            "granted": self.granted,
            "harvest": self.harvest,
            "busy": self.busy,
            "demand": self.demand,
            "held_by": self.held_by,
        }


class Recent:
    """What lasts from one arrangement of the host to the next."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, ...]] = deque(maxlen=KEPT)
        self._runs: deque[Run] = deque(maxlen=MOST_DECISIONS)

    def add(self, span: Span) -> None:
        self._samples.append(
            (
                round(span.at_s, 2),
                round(span.lent, 2),
                round(span.granted, 2),
                span.busy,
                span.demand,
            )
        )

    def note(self, window: Window, decision: Decision, held_by: str | None, at_s: float) -> None:
        """Takes in a decision made at ``at_s``."""
        run = self._runs[-1] if self._runs else None
        if run is None or (run.reason, run.granted, run.held_by) != (
            decision.reason,
            decision.primary_cores,
            held_by,
        ):
            run = Run(
                at_s, at_s, decision.reason, decision.primary_cores, decision.harvest_cores, held_by
            )
            self._runs.append(run)
        run.until_s = at_s
        run.windows += 1
        run.busy = max(run.busy, window.busy_max)
        run.demand = max(run.demand, window.demand_max)

    def describe(self, most: int = KEPT) -> dict[str, Any]:
        """``samples``: a list for each of COLUMNS, oldest first; ``decisions``: newest first."""
        rows = list(self._samples)[-most:]
        columns = zip(*rows, strict=True) if rows else ([] for _ in COLUMNS)
        return {
            "samples": {name: list(column) for name, column in zip(COLUMNS, columns, strict=True)},
            "decisions": [run.describe() for run in reversed(self._runs)],
        }

    def latest(self) -> dict[str, Any]:
        """The end of it, for who asks every second."""
        return self.describe(_LATEST)
