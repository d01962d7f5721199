"""A day of an agent, from its audit log: the sums of a report, and bins to draw. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from smartharvest.errors import ConfigError
from smartharvest.telemetry.digest import with_spans
from smartharvest.telemetry.event_words import INCIDENTS, sentence
from smartharvest.telemetry.spans import Span
from smartharvest.telemetry.verdict import QUANTILES, USUAL_BUDGET

MOST_INCIDENTS = 200
MOST_BINS = 480
MOST_GAPS = 20
LEAST_GAP_S = 60.0
"""A restart takes less."""
NO_DECISION = (
    "the audit log has no decision in that time, or none yet; smartharvest explain says what it has"
)
DIED = "The agent has ended without a last word: it was killed, or the host stopped."
_LEAST_BIN_S = 1.0


@dataclass
class Bin:
    """A stretch of time; what is not covered by spans is not known."""

    start_s: float
    seconds: float = 0.0
    """Of it that spans cover."""
    lent: float = 0.0
    """Core-seconds, as are the next two."""
    granted: float = 0.0
    used: float = 0.0
    lent_least: float = float("inf")
    lent_most: float = 0.0
    busy: int = 0
    """Peak, as is the next."""
    demand: int = 0
    exhausted: int = 0
    held_s: float = 0.0
    """Time in which nothing might be lent."""

    def add(self, span: Span) -> None:
        self.seconds += span.seconds
        self.lent += span.lent * span.seconds
        self.granted += span.granted * span.seconds
        self.used += span.busy_mean * span.seconds
        self.lent_least = min(self.lent_least, span.lent)
        self.lent_most = max(self.lent_most, span.lent)
        self.busy = max(self.busy, span.busy)
        self.demand = max(self.demand, span.demand)
        self.exhausted += span.exhausted
        self.held_s += span.seconds if span.held_by is not None else 0.0

    def mean(self, name: str) -> float:
        """Cores: the mean of ``lent``, ``granted`` or ``used`` over the time that is known."""
        return float(getattr(self, name) / self.seconds) if self.seconds else 0.0


@dataclass
class GroupDay:
    """What one elastic group came to; core-hours include its minimum."""

    had_core_hours: float = 0.0
    used_core_hours: float | None = None
    """None where the kernel does not count it."""
    guarantee_violations: int = 0
    violated_s: float = 0.0
    """From each violation to the moment it was met again; one that still lasts is left out."""
    below_minimum: int = 0
    """How often it had less than its minimum."""
    notices: int = 0
    """Of an eviction."""
    evictions: int = 0
    """Also by the operator."""
    last_eviction: str | None = None
    """Why it was evicted last; None: it was not."""


@dataclass
class BudgetDay:
    """How the budget of one primary was kept, by the minutes that were recorded."""

    protect: float = 0.0
    """The budget, as it was last."""
    minutes: int = 0
    beyond: int = 0
    """Minutes in which a quantile was longer than it might be."""
    mean: dict[str, float] = field(default_factory=dict)
    """By quantile, by what part it was longer; the most in the next."""
    most: dict[str, float] = field(default_factory=dict)

    known: dict[str, int] = field(default_factory=dict)
    """Minutes that had enough tasks to tell."""

    def add(self, protect: float, longer: Mapping[str, float]) -> None:
        self.protect = protect
        self.minutes += 1
        self.beyond += any(part >= protect for part in longer.values())
        for key, part in longer.items():
            self.known[key] = self.known.get(key, 0) + 1
            before = self.mean.get(key, 0.0)
            self.mean[key] = before + (part - before) / self.known[key]
            self.most[key] = max(part, self.most.get(key, 0.0))


@dataclass
class Day:
    """What the records of a time span come to. Cores beyond the elastic minimum, core-hours."""

    since_s: float
    until_s: float
    known_s: float = 0.0
    """Time that decisions or spans cover."""
    cores: int = 0
    primary: list[str] = field(default_factory=list)
    elastic: str = ""
    policy: str = ""
    lent_core_hours: float = 0.0
    used_core_hours: float = 0.0
    """By the primary."""
    most_lent: int = 0
    windows: int = 0
    exhausted: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    """Windows by what they were answered for."""
    held_s: dict[str, float] = field(default_factory=dict)
    """Seconds in which nothing was lent, by why."""
    dispatches: int = 0
    long_waits: int = 0
    blamed: int = 0
    """Long waits that lending may have caused."""
    budget: float = USUAL_BUDGET
    """The share of the dispatches that may be blamed on lending."""
    harm: dict[str, Any] = field(default_factory=dict)
    """By primary, the last that the sensor said of it."""
    budgets: dict[str, BudgetDay] = field(default_factory=dict)
    """By primary, where the policy keeps a budget of its own."""
    group_core_hours: dict[str, float] = field(default_factory=dict)
    """What each group used by the kernel's accounts, where that is recorded."""
    groups: dict[str, GroupDay] = field(default_factory=dict)
    """By name, of elastic groups that have one."""
    starts: int = 0
    gaps: list[tuple[float, float]] = field(default_factory=list)
    """From and to, seconds since 1970: stretches that no span covers, of LEAST_GAP_S or more; at
    most MOST_GAPS, the longest of all."""
    more_gaps: int = 0
    dropped: int = 0
    """Records that the log could not take."""
    incidents: list[tuple[float, str]] = field(default_factory=list)
    more_incidents: int = 0
    bins: list[Bin] = field(default_factory=list)

    @property
    def harm_share(self) -> float | None:
        """Of the dispatches, those that waited too long by lending; None where not recorded."""
        return self.blamed / self.dispatches if self.dispatches else None

    def document(self) -> dict[str, Any]:
        """As JSON: every field but the bins, and the shares."""
        found = {name: value for name, value in asdict(self).items() if name != "bins"}
        return {**found, "harm_share": self.harm_share, "mean_lent": self.mean_lent}

    @property
    def mean_lent(self) -> float:
        return self.lent_core_hours * 3600 / self.known_s if self.known_s else 0.0


def read_day(records: Iterable[Mapping[str, Any]]) -> Day:
    """Sums up ``records``. Raises ConfigError if there is neither a decision nor a span."""
    found: list[Span] = []
    day = Day(0.0, 0.0)
    reasons: Counter[str] = Counter()
    held: Counter[str] = Counter()
    running_s: float | None = None
    for record in with_spans(records):
        if isinstance(record, Span):
            found.append(record)
            _add(day, record, reasons, held)
            running_s = record.at_s
            continue
        if record["kind"] == "started" and running_s is not None:
            _add_incident(day, running_s, DIED)
        if record["kind"] in ("started", "ended"):
            running_s = float(record["t"]) if record["kind"] == "started" else None
        _note(day, record)
    if not found:
        raise ConfigError(NO_DECISION)
    day.since_s = min(span.at_s - span.seconds for span in found)
    day.until_s = max(span.at_s for span in found)
    day.reasons = dict(reasons.most_common())
    day.held_s = {why: round(seconds, 3) for why, seconds in held.most_common()}
    day.bins = bins_of(found, day.since_s, day.until_s)
    gaps = _gaps(found)
    longest = sorted(gaps, key=lambda gap: gap[0] - gap[1])[:MOST_GAPS]
    day.gaps, day.more_gaps = sorted(longest), len(gaps) - len(longest)
    return day


def _gaps(found: Iterable[Span]) -> list[tuple[float, float]]:
    gaps = []
    for before, after in pairwise(sorted(found, key=lambda span: span.at_s)):
        began_s = after.at_s - after.seconds
        if began_s - before.at_s >= LEAST_GAP_S:
            gaps.append((before.at_s, began_s))
    return gaps


def bins_of(found: Iterable[Span], since_s: float, until_s: float) -> list[Bin]:
    """At most MOST_BINS + 1 bins of one width; those in which nothing is known are left out."""
    width_s = max(_LEAST_BIN_S, (until_s - since_s) / MOST_BINS)
    bins: dict[int, Bin] = {}
    for span in found:
        middle_s = span.at_s - span.seconds / 2
        number = int(max(0.0, middle_s - since_s) // width_s)
        if number not in bins:
            bins[number] = Bin(since_s + number * width_s)
        bins[number].add(span)
    return [bins[number] for number in sorted(bins)]


def _add(day: Day, span: Span, reasons: Counter[str], held: Counter[str]) -> None:
    day.known_s += span.seconds
    day.cores = span.total
    day.lent_core_hours += span.lent * span.seconds / 3600
    day.used_core_hours += span.busy_mean * span.seconds / 3600
    day.most_lent = max(day.most_lent, span.most_lent)
    day.windows += span.windows
    day.exhausted += span.exhausted
    reasons.update(span.reasons)
    if span.held_by is not None:
        held[span.held_by] += span.seconds  # type: ignore[assignment]
    elif set(span.reasons) == {"long-term safeguard"}:
        held["the long-term safeguard rests"] += span.seconds  # type: ignore[assignment]
    if span.waits is not None:
        day.dispatches += span.waits[0]
        day.long_waits += span.waits[1]
        day.blamed += span.waits[2]


def _note(day: Day, record: Mapping[str, Any]) -> None:
    kind = record["kind"]
    if isinstance(record.get("dropped"), int):
        day.dropped += record["dropped"]
    if kind == "started":
        day.starts += 1
        primary = record.get("primary")
        day.primary = [str(one) for one in primary] if isinstance(primary, list) else []
        day.elastic, day.policy = _elastic(record), str(record.get("policy"))
        budget = record.get("budget")
        if isinstance(budget, int | float) and 0 < budget <= 1:
            day.budget = float(budget)
    elif kind == "harm":
        day.harm[str(record.get("primary"))] = {
            name: record[name] for name in ("lent", "not_lent", "longer") if name in record
        }
    elif kind == "budget":
        _note_budget(day, record)
    elif kind == "usage":
        for name, hours in _hours(record.get("core_seconds")):
            day.group_core_hours[name] = day.group_core_hours.get(name, 0.0) + hours
        _note_usage(day, record.get("groups"))
    _note_group(day, record)
    if kind in INCIDENTS:
        _add_incident(day, float(record["t"]), sentence(record))


def _note_budget(day: Day, record: Mapping[str, Any]) -> None:
    protect, parts = _part(record.get("protect")), {q: _part(record.get(q)) for q in QUANTILES}
    longer = {q: part for q, part in parts.items() if part is not None}
    if protect and longer:
        day.budgets.setdefault(str(record.get("primary")), BudgetDay()).add(protect, longer)


def _part(value: object) -> float | None:
    """A share that a file has; None: it is none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1 << 40:
        return None
    return float(value)


def _add_incident(day: Day, at_s: float, text: str) -> None:
    if len(day.incidents) < MOST_INCIDENTS:
        day.incidents.append((at_s, text))
    else:
        day.more_incidents += 1


def _elastic(record: Mapping[str, Any]) -> str:
    """Whom the cores were lent to."""
    groups = record.get("groups")
    named = [one for one in groups if isinstance(one, Mapping)] if isinstance(groups, list) else []
    return ", ".join(str(one.get("name")) for one in named) or str(record.get("elastic"))


def _hours(sums: object) -> list[tuple[str, float]]:
    """Core-hours by name, of core-seconds that a file has."""
    return [
        (str(name), seconds / 3600)
        for name, seconds in (sums.items() if isinstance(sums, Mapping) else ())
        if type(seconds) in (int, float) and 0 <= seconds < 1 << 40
    ]


def _note_usage(day: Day, groups: object) -> None:
    for name, sums in groups.items() if isinstance(groups, Mapping) else ():
        group = day.groups.setdefault(str(name), GroupDay())
        for what, hours in _hours(sums):
            if what == "had":
                group.had_core_hours += hours
            elif what == "used":
                group.used_core_hours = (group.used_core_hours or 0.0) + hours


_OF_A_GROUP = (
    *("guarantee violated", "guarantee met", "guarantee rests", "minimum not reached"),
    *("eviction notice", "group evicted", "group evicted by the operator"),
)


def _note_group(day: Day, record: Mapping[str, Any]) -> None:
    kind, name = record["kind"], record.get("group")
    if kind not in _OF_A_GROUP:
        return
    group = day.groups.setdefault(str(name), GroupDay())
    if kind == "eviction notice":
        group.notices += 1
    elif kind in ("group evicted", "group evicted by the operator"):
        group.evictions += 1
        group.last_eviction = str(record.get("why") or "the operator asked for it")
    elif kind == "guarantee violated":
        group.guarantee_violations += 1
    elif kind == "minimum not reached":
        group.below_minimum += 1
    else:
        group.violated_s += 3600 * sum(hours for _, hours in _hours({"": record.get("after_s")}))
