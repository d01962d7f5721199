"""Decisions summed up by the second, for a compact audit log and for the last quarter of an hour.

A span is a second of windows, or what there was of it. Forty decisions take 10 kB in the audit log,
their span takes 0.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.safeguard import PeriodWaits
from smartharvest.core.window import Window

SPAN_NS = 1_000_000_000


@dataclass
class Span:
    """Of at least one window. Means are over its windows; cores are 0..``total``."""

    at_s: float
    """When it ended, seconds since 1970."""
    seconds: float = 0.0
    windows: int = 0
    lent: float = 0.0
    """Mean."""
    most_lent: int = 0
    had: float = 0.0
    """Cores the primary had, mean."""
    granted: float = 0.0
    """Cores that were decided for the primary, mean."""
    busy: int = 0
    """Peak."""
    busy_mean: float = 0.0
    demand: int = 0
    """Peak of running and waiting tasks."""
    total: int = 0
    exhausted: int = 0
    """Windows in which the idle buffer ran out."""
    reasons: Counter[str] = field(default_factory=Counter)
    held_by: str | None = None
    """Why nothing was lent in any of them whatever was decided, or None."""
    waits: tuple[int, int, int] | None = None
    """(dispatches, those that waited too long, those of them that lending may have caused)."""

    def record(self) -> dict[str, Any]:
        """As it is in the audit log."""
        found: dict[str, Any] = {
            "s": round(self.seconds, 3),
            "n": self.windows,
            "lent": round(self.lent, 3),
            "most": self.most_lent,
            "had": round(self.had, 3),
            "granted": round(self.granted, 3),
            "busy": self.busy,
            "mean": round(self.busy_mean, 3),
            "demand": self.demand,
            "total": self.total,
            "ran_out": self.exhausted,
            "why": dict(self.reasons),
            "held_by": self.held_by,
        }
        return found if self.waits is None else {**found, "waits": list(self.waits)}


def span_of(record: Mapping[str, Any]) -> Span:
    """The span that ``record`` says, one that ``audit.read_audit`` has found sound."""
    waits = record.get("waits")
    return Span(
        at_s=record["t"],
        seconds=record["s"],
        windows=record["n"],
        lent=record["lent"],
        most_lent=record["most"],
        had=record["had"],
        granted=record["granted"],
        busy=record["busy"],
        busy_mean=record["mean"],
        demand=record["demand"],
        total=record["total"],
        exhausted=record["ran_out"],
        reasons=Counter(record["why"]),
        held_by=record["held_by"],
        waits=None if waits is None else (waits[0], waits[1], waits[2]),
    )


_COUNTS = ("n", "most", "busy", "demand", "total", "ran_out")
_NUMBERS = ("s", "lent", "had", "granted", "mean")
_MOST = 1 << 40


def is_sound(record: Mapping[str, Any]) -> bool:
    """Whether ``span_of`` can read it."""
    waits, why = record.get("waits"), record.get("why")
    return (
        all(type(record.get(name)) is int and 0 <= record[name] < _MOST for name in _COUNTS)
        and record["n"] > 0
        and all(
            type(record.get(name)) in (int, float) and 0 <= record[name] < _MOST
            for name in _NUMBERS
        )
        and isinstance(why, dict)
        and all(type(count) is int and 0 <= count < _MOST for count in why.values())
        and isinstance(record.get("held_by", 0), str | None)
        and (
            waits is None
            or (isinstance(waits, list) and len(waits) == 3 and all(type(w) is int for w in waits))
        )
    )


class SpanBuilder:
    """Sums windows up; ``take`` returns a span once a second of them is over."""

    def __init__(self) -> None:
        self._span: Span | None = None
        self._start_ns = 0
        self._held = 0
        self._waits: list[int] | None = None

    def add(
        self, window: Window, decision: Decision, lent: int, held_by: str | None, at_s: float
    ) -> Span | None:
        """Takes in a window that ended at ``at_s``; the span that it completes, if any.

        ``lent``: cores that the elastic group has; ``held_by``: why the decision is not in force.
        """
        if self._span is None:
            self._span, self._start_ns, self._held = Span(at_s), window.start_ns, 0
        span = self._span
        span.at_s = at_s
        span.windows += 1
        span.lent += lent
        span.most_lent = max(span.most_lent, lent)
        span.had += window.primary_cores
        span.granted += decision.primary_cores
        span.busy = max(span.busy, window.busy_max)
        span.busy_mean += window.busy_mean
        span.demand = max(span.demand, window.demand_max)
        span.total = decision.primary_cores + decision.harvest_cores
        span.exhausted += window.exhausted
        span.reasons[decision.reason] += 1
        if held_by is not None:
            self._held += 1
            span.held_by = held_by
        span.seconds = (window.end_ns - self._start_ns) / 1e9
        return self.take() if window.end_ns - self._start_ns >= SPAN_NS else None

    def add_waits(self, waits: PeriodWaits) -> None:
        """What the primary's tasks waited in a period; it belongs to the span that goes on."""
        new = (waits.dispatches, waits.long_waits, waits.blamed)
        self._waits = [a + b for a, b in zip(self._waits or (0, 0, 0), new, strict=True)]

    def take(self) -> Span | None:
        """What there is of the span that goes on, and begins another."""
        span = self._span
        if span is None:
            return None
        self._span = None
        for name in ("lent", "had", "granted", "busy_mean"):
            setattr(span, name, getattr(span, name) / span.windows)
        if self._held < span.windows:
            span.held_by = None
        if self._waits is not None:
            dispatches, long_waits, blamed = self._waits
            span.waits, self._waits = (dispatches, long_waits, blamed), None
        return span
