"""A span of the audit log in words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from smartharvest.algorithm.harm import in_words
from smartharvest.printable import counted

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
    lent: int = 0
    most_lent: int = 0
    busy_peak: int = 0
    demand_peak: int = 0
    total: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    harm: dict[str, str] = field(default_factory=dict)
    """By primary, the last that was recorded."""

    def add(self, record: Mapping[str, Any]) -> None:
        self.ended_s = max(self.ended_s, record["t"])
        self.windows += 1
        self.lent += record["lent"]
        self.most_lent = max(self.most_lent, record["lent"])
        self.busy_peak = max(self.busy_peak, record["busy"])
        self.demand_peak = max(self.demand_peak, record["demand"])
        self.total = record["primary"] + record["harvest"]
        self.reasons[record["reason"]] += 1

    def describe(self) -> str:
        span = f"{_clock(self.began_s)} to {_clock(self.ended_s)}: "
        peak = f"the primary used up to {self.busy_peak} of {counted(self.total, 'core')}"
        if self.demand_peak > self.busy_peak:
            peak += f" and wanted {self.demand_peak}"
        if self.held is not None:
            return f"{span}nothing was lent ({_plain(self.held)}); {peak}"
        if self.long_term:
            return f"{span}nothing was lent, because the primary had waited too long; {peak}"
        text = (
            f"{span}lent {self.lent / self.windows:.2f} cores on average, {self.most_lent} at "
            f"most, in {counted(self.windows, 'window')}; {peak}"
        )
        broken = self.reasons["short-term safeguard"]
        if broken:
            times = "once" if broken == 1 else f"{broken} times"
            text += f"; the idle buffer ran out {times} ({broken / self.windows:.1%} of windows)"
        if stale := self.reasons["stale window"]:
            text += f"; {counted(stale, 'window')} stale"
        return text

    def lines(self) -> Iterator[str]:
        yield self.describe()
        for name, harm in self.harm.items():
            yield f"{_clock(self.ended_s)} harm to {name}: {harm}"


def describe(records: Iterable[Mapping[str, Any]], chapter_s: float = 60.0) -> Iterator[str]:
    """Lines about ``records``: one for each event and for up to ``chapter_s`` of decisions."""
    chapter: _Chapter | None = None
    for record in records:
        at_s = record["t"]
        if record["kind"] == "harm" and chapter is not None:
            chapter.harm[_plain(record.get("primary"))] = _harm(record)
            continue
        if record["kind"] != "decision":
            if chapter is not None:
                yield from chapter.lines()
                chapter = None
            yield f"{_clock(at_s)} {_event(record)}"
            continue
        regime = record["held_by"], record["reason"] == "long-term safeguard"
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
    """One decision in words."""
    why = _REASONS.get(record["reason"], _plain(record["reason"]))
    learned = "" if record.get("label") is None else f", learned that {record['label']} was right"
    held = f", but nothing was lent ({_plain(record['held_by'])})" if record["held_by"] else ""
    return (
        f"{_clock(record['t'], 3)} window {record['seq']}: the primary had "
        f"{counted(record['had'], 'core')}, used up to {record['busy']} and wanted "
        f"{record['demand']}{learned}; lends {record['harvest']} {why}{held}"
    )


def _harm(record: Mapping[str, Any]) -> str:
    try:
        return in_words(record)
    except (KeyError, TypeError, ValueError):  # nobody promises what a file contains
        return "not readable"


def _event(record: Mapping[str, Any]) -> str:
    if record["kind"] == "harm":
        return f"harm to {_plain(record.get('primary'))}: {_harm(record)}"
    details = {key: value for key, value in record.items() if key not in ("t", "kind")}
    text = ", ".join(f"{_plain(key)} {_plain(value)}" for key, value in details.items())
    return f"{_plain(record['kind'])}{': ' if text else ''}{text}"


def _plain(value: object) -> str:
    """On one line, whatever it contains."""
    if isinstance(value, list):
        return " and ".join(map(_plain, value))
    text = str(value)
    return text if text.isprintable() else repr(text)


def _clock(at_s: float, digits: int = 0) -> str:
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))
    return f"{whole}.{int(at_s % 1 * 10**digits):0{digits}d}" if digits else whole
