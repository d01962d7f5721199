"""A span of the audit log in words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from smartharvest.printable import counted
from smartharvest.telemetry.day import DIED, LEAST_GAP_S
from smartharvest.telemetry.digest import with_spans
from smartharvest.telemetry.event_words import budget_words, harm_words, sentence
from smartharvest.telemetry.event_words import plain as _plain
from smartharvest.telemetry.spans import Span

MOST_DIVISIONS = 5
"""Sentences on the division of cores in a chapter; it may change every second."""
_REASONS = {
    "predicted": "by the learner's prediction",
    "short-term safeguard": "after the idle buffer ran out",
    "long-term safeguard": "nothing, because the primary had waited too long for CPUs",
    "stale window": "nothing, because the loop had not run in time",
}


@dataclass
class _Chapter:
    """Decisions in a row under the same regime."""

    began_s: float
    held: str | None
    long_term: bool
    ended_s: float = 0.0
    windows: int = 0
    lent: float = 0.0
    """Cores, times windows."""
    most_lent: int = 0
    busy_peak: int = 0
    demand_peak: int = 0
    total: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    harm: dict[str, str] = field(default_factory=dict)
    """By primary, the last that was recorded."""
    spent: dict[str, str] = field(default_factory=dict)
    """The same of its budget."""

    divisions: list[str] = field(default_factory=list)

    def add(self, span: Span) -> None:
        self.ended_s = max(self.ended_s, span.at_s)
        self.windows += span.windows
        self.lent += span.lent * span.windows
        self.most_lent = max(self.most_lent, span.most_lent)
        self.busy_peak = max(self.busy_peak, span.busy)
        self.demand_peak = max(self.demand_peak, span.demand)
        self.total = span.total
        self.reasons.update(span.reasons)

    def describe(self) -> str:
        span = f"{_span(self.began_s, self.ended_s)}: "
        peak = f"The primary used up to {self.busy_peak} of {counted(self.total, 'core')}"
        if self.demand_peak > self.busy_peak:
            peak += f" and wanted {self.demand_peak}"
        if self.held is not None:
            return f"{span}Nothing was lent ({_plain(self.held)}). {peak}."
        if self.long_term:
            return f"{span}Nothing was lent, because the primary had waited too long. {peak}."
        text = (
            f"{span}The agent lent {self.lent / self.windows:.2f} cores on average and "
            f"{self.most_lent} at most, in {counted(self.windows, 'window')}. {peak}."
        )
        broken = self.reasons["short-term safeguard"]
        if broken:
            times = "once" if broken == 1 else f"{broken} times"
            text += f" The idle buffer ran out {times} ({broken / self.windows:.1%} of windows)."
        if stale := self.reasons["stale window"]:
            text += f" {counted(stale, 'window')} came too late to be trusted."
        return text

    def lines(self) -> Iterator[str]:
        yield self.describe()
        for name, harm in self.harm.items():
            yield f"{_clock(self.ended_s)} harm to {name}: {harm}"
        for name, spent in self.spent.items():
            yield f"{_clock(self.ended_s)} By lending {name} took longer: {spent}."
        hidden = len(self.divisions) - MOST_DIVISIONS
        if hidden > 0:
            times = "once" if hidden == 1 else f"{hidden} times"
            yield f"{_clock(self.ended_s)} Before that, the cores were divided otherwise {times}."
        yield from self.divisions[-MOST_DIVISIONS:]


def describe(records: Iterable[Mapping[str, Any]], chapter_s: float = 60.0) -> Iterator[str]:
    """Lines about ``records``: one for each event and for up to ``chapter_s`` of decisions."""
    chapter: _Chapter | None = None
    last_s: float | None = None
    running = False
    for record in with_spans(records):
        if isinstance(record, Span):
            kind, began_s, ended_s = "span", record.at_s - record.seconds, record.at_s
        else:
            kind, began_s, ended_s = record["kind"], record["t"], record["t"]
        silent = last_s is not None and began_s - last_s >= LEAST_GAP_S
        died = running and kind == "started"
        if last_s is not None and (silent or died):
            if chapter is not None:
                yield from chapter.lines()
                chapter = None
            if died:
                yield f"{_clock(last_s)} {DIED}"
            if silent:
                yield f"{_span(last_s, began_s)}: Nothing is known; no agent wrote this log then."
        running = kind in ("span", "started") or (running and kind != "ended")
        last_s = ended_s
        if not isinstance(record, Span):
            if record["kind"] == "usage" and chapter is not None:
                continue  # once a minute, and a report sums it up
            if record["kind"] == "harm" and chapter is not None:
                chapter.harm[_plain(record.get("primary"))] = harm_words(record)
                continue
            if record["kind"] == "budget" and chapter is not None:
                chapter.spent[_plain(record.get("primary"))] = budget_words(record)
                continue
            line = f"{_clock(record['t'])} {sentence(record)}"
            if record["kind"] == "division" and chapter is not None:
                chapter.divisions.append(line)
                continue
            if chapter is not None:
                yield from chapter.lines()
                chapter = None
            yield line
            continue
        at_s = record.at_s
        regime = record.held_by, set(record.reasons) == {"long-term safeguard"}
        if chapter is not None and (
            regime != (chapter.held, chapter.long_term) or at_s - chapter.began_s > chapter_s
        ):
            yield from chapter.lines()
            chapter = None
        if chapter is None:
            chapter = _Chapter(at_s, *regime, ended_s=at_s)
        chapter.add(record)
    if chapter is not None:
        yield from chapter.lines()


def describe_decision(record: Mapping[str, Any]) -> str:
    """One decision in sentences."""
    why = _REASONS.get(record["reason"], _plain(record["reason"]))
    label = record.get("label")
    learned = "" if label is None else f" The learner took {_plain(label)} as the right answer."
    held = f" But nothing was lent ({_plain(record['held_by'])})." if record["held_by"] else ""
    return (
        f"{_clock(record['t'], 3)} Window {record['seq']}: The primary had "
        f"{counted(record['had'], 'core')}, used up to {record['busy']} and wanted "
        f"{record['demand']}.{learned} The agent lends {record['harvest']} {why}.{held}"
    )


def _span(began_s: float, ended_s: float) -> str:
    began, ended = _clock(began_s), _clock(ended_s)
    until = ended.removeprefix(began[: len("2026-05-01 ")])  # of the same day
    return began if ended == began else f"{began} to {until}"


def _clock(at_s: float, digits: int = 0) -> str:
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))
    return f"{whole}.{int(at_s % 1 * 10**digits):0{digits}d}" if digits else whole
