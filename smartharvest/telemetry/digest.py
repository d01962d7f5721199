"""Records of the audit log as spans, whichever level it was written at. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from smartharvest.telemetry.spans import Span, span_of

_WINDOW_S = 0.025
_LONGEST_S = 1.0
"""A longer gap between two decisions is time of which nothing is known."""


def with_spans(records: Iterable[Mapping[str, Any]]) -> Iterator[Span | Mapping[str, Any]]:
    """The ``records`` in their order; spans and decisions as Span, all others as they are."""
    last_s: float | None = None
    for record in records:
        if record["kind"] == "span":
            yield span_of(record)
        elif record["kind"] == "decision":
            gap_s = _WINDOW_S if last_s is None else record["t"] - last_s
            last_s = record["t"]
            yield _of_decision(record, gap_s if 0 < gap_s <= _LONGEST_S else _WINDOW_S)
        else:
            yield record


def spans(records: Iterable[Mapping[str, Any]]) -> Iterator[Span]:
    """Only the spans."""
    return (one for one in with_spans(records) if isinstance(one, Span))


def _of_decision(record: Mapping[str, Any], seconds: float) -> Span:
    mean = record.get("mean")
    known = isinstance(mean, int | float) and not isinstance(mean, bool)
    return Span(
        at_s=record["t"],
        seconds=seconds,
        windows=1,
        lent=record["lent"],
        most_lent=record["lent"],
        had=record["had"],
        granted=record["primary"],
        busy=record["busy"],
        busy_mean=float(mean) if known and mean is not None else float(record["busy"]),
        demand=record["demand"],
        total=record["primary"] + record["harvest"],
        exhausted=int(record["exhausted"]),
        reasons=Counter([record["reason"]]),
        held_by=record["held_by"],
    )
