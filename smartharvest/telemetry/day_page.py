"""A day on one page: HTML with pictures in it that needs nothing else, and the same in words."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from smartharvest.printable import counted, printable, spoken_span
from smartharvest.telemetry.day import Bin, BudgetDay, Day, GroupDay
from smartharvest.telemetry.verdict import percent

_STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--quiet:#59636e;--line:#d5d9de;
--lent:#1a7f37;--granted:#1f5fbf;--used:#8a6100;--held:#c0262d}
@media (prefers-color-scheme:dark){:root{--back:#12161c;--text:#e8ecf1;--quiet:#9eaab6;
--line:#39424e;--lent:#4ac26b;--granted:#6ea8ff;--used:#e0b341;--held:#ff7b72}}
body{font:16px/1.5 system-ui,"Liberation Sans",sans-serif;background:var(--back);color:var(--text);
margin:0 auto;max-width:62rem;padding:1rem}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin-top:1.6rem}.quiet{color:var(--quiet)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.2rem .8rem .2rem 0;
border-bottom:1px solid var(--line);vertical-align:top}td{overflow-wrap:anywhere}
th{color:var(--quiet);font-weight:600}td:first-child,.key{white-space:nowrap}.wide{overflow-x:auto}
svg{width:100%;height:auto}svg text{fill:var(--quiet);font-size:11px}
@media print{body{max-width:none}}
"""
_KEYS = (
    ("lent", "━", "lent (band: least to most)"),
    ("granted", "━", "granted to the primary"),
    ("used", "━", "used by it"),
    ("held", "▒", "nothing may be lent"),
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 960.0, 260.0, 34.0, 22.0


def in_words(day: Day, more: Mapping[str, Any]) -> list[str]:
    """The report in sentences; ``more`` may have ``saved`` and ``policies``."""
    lines = [
        f"From {_moment(day.since_s)} to {_moment(day.until_s)} the log covers "
        f"{spoken_span(day.known_s)}.",
        *_gaps(day),
        f"The agent lent {day.lent_core_hours:.2f} core-hours: {day.mean_lent:.2f} of "
        f"{counted(day.cores, 'core')} on average, {day.most_lent} at most.",
        f"The primary used {day.used_core_hours:.2f} core-hours.",
    ]
    lines += [
        f"{name} used {hours:.2f} core-hours by the kernel's accounts."
        for name, hours in day.group_core_hours.items()
    ]
    lines += [_group(name, one) for name, one in day.groups.items()]
    lines += [*_budgets(day), _harm(day)]
    lines += [
        f"The idle buffer ran out in {day.exhausted:,} of {day.windows:,} windows"
        f" ({day.exhausted / max(1, day.windows):.2%}).",
    ]
    lines += [f"Nothing was lent for {spoken_span(s)}: {why}." for why, s in day.held_s.items()]
    if "saved" in more:
        saved = more["saved"]
        lines.append(
            f"The lent core-hours cost {saved['vs_regular']:.2f} less than regular ones, and "
            f"{saved['vs_evictable']:.2f} less than evictable ones."
        )
    lines += [
        f"On the recorded trace {one['policy']} would have lent {one['harvested_cores']:.2f} cores "
        f"on average, and the primary would have been short for {one['short_share']:.3%} of the "
        "time."
        for one in more.get("policies", ())
    ]
    if day.dropped:
        lines.append(f"The log could not take {counted(day.dropped, 'record')}.")
    if day.incidents:
        lines.append(f"{counted(len(day.incidents) + day.more_incidents, 'incident')}:")
    lines += [f"  {_moment(at_s)} {text}" for at_s, text in day.incidents]
    return lines


def page(day: Day, more: Mapping[str, Any]) -> str:
    """The document; it loads nothing and runs nothing."""
    title = f"{', '.join(day.primary) or 'SmartHarvest'} → {day.elastic or 'nobody'}"
    reasons = [(why, f"{count:,}") for why, count in day.reasons.items()]
    held = [(why, spoken_span(seconds)) for why, seconds in day.held_s.items()]
    facts = [line for line in in_words(day, more) if not line.startswith("  ")]
    if day.incidents:
        facts = facts[:-1]
    parts = [
        f"<h1>{_text(title)}</h1>",
        f'<p class="quiet">{_text(_moment(day.since_s))} to {_text(_moment(day.until_s))}; of it '
        f"the log covers {spoken_span(day.known_s)}; policy "
        f"{_text(day.policy or 'not recorded')}</p>",
        *(f"<p>{_text(fact)}</p>" for fact in facts[1:]),
        "<h2>Cores over time</h2>",
        _chart(day),
        "<h2>Reasons of the decisions</h2>",
        _table(("Why", "Windows"), reasons),
    ]
    if day.groups:
        parts += ["<h2>Elastic groups</h2>", _groups(day)]
    if held:
        parts += ["<h2>When nothing was lent</h2>", _table(("Why", "For"), held)]
    parts += ["<h2>Incidents</h2>"]
    if day.incidents:
        rows = [(_moment(at_s), text) for at_s, text in day.incidents]
        parts.append(_table(("When", "What"), rows))
        if day.more_incidents:
            parts.append(f"<p>And {day.more_incidents} more.</p>")
    else:
        parts.append("<p>None.</p>")
    parts += ["<h2>The same by the hour</h2>", _hours(day)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _gaps(day: Day) -> list[str]:
    """What the log does not say; a day's hours are short where one would not expect it."""
    if not day.gaps:
        return []
    said = [
        f"{_moment(since_s)} to {_moment(until_s)} ({spoken_span(until_s - since_s)})"
        for since_s, until_s in day.gaps
    ]
    more = f", and {counted(day.more_gaps, 'shorter gap')}" if day.more_gaps else ""
    return [f"Nothing is known of {', '.join(said)}{more}: no agent wrote this log then."]


def _harm(day: Day) -> str:
    share = day.harm_share
    if share is None:
        return "Waits were not recorded, so harm is not known."
    text = (
        f"Of {day.dispatches:,} dispatches of the primary {day.long_waits:,} waited too long, "
        f"{day.blamed:,} of them possibly by lending: {share:.3%}"
    )
    if day.budgets:
        text += "."
    else:
        verdict = "above" if share > day.budget else "within"
        text += f", {verdict} the budget of {day.budget:.2%}."
    for name, harm in day.harm.items():
        longer = harm.get("longer")
        if isinstance(longer, Mapping) and isinstance(longer.get("p95"), int | float):
            text += f" While cores were lent {name} took {longer['p95']:.2f} times as long (p95)."
    return text


def _budgets(day: Day) -> list[str]:
    """How each primary's budget was kept."""
    return [
        f"By lending {name} took longer in the mean minute: "
        + ", ".join(f"{key.upper()} +{part:.1%}" for key, part in kept.mean.items())
        + f"; {_beyond(kept)} the budget of {percent(kept.protect)}."
        for name, kept in day.budgets.items()
    ]


def _beyond(kept: BudgetDay) -> str:
    minutes = counted(kept.minutes, "minute")
    if not kept.beyond:
        return f"none of {minutes} was beyond"
    key, part = max(kept.most.items(), key=lambda item: item[1])
    return f"{kept.beyond} of {minutes} (at worst {key.upper()} +{part:.1%}) were beyond"


def _group(name: str, one: GroupDay) -> str:
    used = "" if one.used_core_hours is None else f" and used {one.used_core_hours:.2f}"
    text = f"{name} had {one.had_core_hours:.2f} core-hours{used}."
    if one.guarantee_violations:
        times = counted(one.guarantee_violations, "time")
        text += f" Its guarantee was violated {times}, for {spoken_span(one.violated_s)} in all."
    if one.below_minimum:
        text += f" It had less than its minimum {counted(one.below_minimum, 'time')}."
    if one.notices:
        text += f" It was given notice {counted(one.notices, 'time')}."
    if one.evictions:
        times = counted(one.evictions, "time")
        text += f" It was evicted {times}, the last time because {one.last_eviction}."
    return text


def _groups(day: Day) -> str:
    rows = [
        (
            name,
            f"{one.had_core_hours:.2f}",
            "not known" if one.used_core_hours is None else f"{one.used_core_hours:.2f}",
            str(one.guarantee_violations),
            spoken_span(one.violated_s),
            str(one.below_minimum),
            str(one.notices),
            str(one.evictions) + (f": {one.last_eviction}" if one.last_eviction else ""),
        )
        for name, one in day.groups.items()
    ]
    head = ("Group", "Had, core-hours", "Used, core-hours", "Guarantee violated", "For",
            "Below its minimum", "Notices", "Evicted")  # fmt: skip
    return _table(head, rows)


def _chart(day: Day) -> str:
    span_s, total = max(1e-9, day.until_s - day.since_s), max(1, day.cores)

    def x(at_s: float) -> float:
        return _LEFT + (_WIDTH - _LEFT) * (at_s - day.since_s) / span_s

    def y(cores: float) -> float:
        return (_HEIGHT - _BOTTOM) * (1 - cores / (total * 1.05))

    bins = day.bins
    width_s = bins[1].start_s - bins[0].start_s if len(bins) > 1 else span_s
    ticks = _ticks(day.since_s, day.until_s)
    steps = range(0, total + 1, -(-total // 5))

    def wide(one: Bin) -> float:
        return max(0.5, x(one.start_s + width_s) - x(one.start_s))

    lines = [
        f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" aria-label="Cores lent, granted '
        'to the primary and used by it, over time; the table by the hour has the figures">',
        *(
            f'<line x1="{_LEFT:.0f}" x2="{_WIDTH:.0f}" y1="{y(n):.1f}" y2="{y(n):.1f}" '
            f'stroke="var(--line)"/><text x="0" y="{y(n) + 4:.1f}">{n}</text>'
            for n in steps
        ),
        *(
            f'<text x="{x(at_s):.1f}" y="{_HEIGHT - 6:.0f}">{_text(label)}</text>'
            for at_s, label in ticks
        ),
        *(
            f'<rect x="{x(one.start_s):.1f}" width="{wide(one):.1f}" '
            f'y="0" height="{_HEIGHT - _BOTTOM:.0f}" fill="var(--held)" fill-opacity="0.15"/>'
            for one in bins
            if one.held_s > one.seconds / 2
        ),
        *_band(bins, width_s, x, y),
        *(
            f'<path d="{_path(bins, width_s, name, x, y)}" fill="none" stroke="var(--{name})" '
            'stroke-width="1.5"/>'
            for name in ("lent", "granted", "used")
        ),
        "</svg>",
        '<p class="quiet">'
        + " ".join(
            f'<span class="key"><b style="color:var(--{name})">{sign}</b> {meaning}</span>'
            for name, sign, meaning in _KEYS
        )
        + "</p>",
    ]
    return "\n".join(lines)


def _band(bins: Sequence[Bin], width_s: float, x: Any, y: Any) -> Iterable[str]:
    for one in bins:
        if one.lent_most > one.lent_least:
            yield (
                f'<rect x="{x(one.start_s):.1f}" y="{y(one.lent_most):.1f}" '
                f'width="{max(0.5, x(one.start_s + width_s) - x(one.start_s)):.1f}" '
                f'height="{y(one.lent_least) - y(one.lent_most):.1f}" fill="var(--lent)" '
                'fill-opacity="0.2"/>'
            )


def _path(bins: Sequence[Bin], width_s: float, name: str, x: Any, y: Any) -> str:
    words: list[str] = []
    end_s = -1.0
    for one in bins:
        word = "L" if abs(one.start_s - end_s) < width_s / 2 else "M"
        end_s = one.start_s + width_s
        level = y(one.mean(name))
        words.append(f"{word}{x(one.start_s):.1f} {level:.1f}L{x(end_s):.1f} {level:.1f}")
    return "".join(words)


def _ticks(since_s: float, until_s: float) -> list[tuple[float, str]]:
    """At most eight moments of the wall clock, on the round."""
    steps_s = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
    step_s = next((step for step in steps_s if (until_s - since_s) / step <= 8), 7 * 86400)
    offset_s = time.localtime(since_s).tm_gmtoff
    first = -(-(since_s + offset_s) // step_s) * step_s - offset_s
    form = "%H:%M:%S" if step_s < 60 else "%H:%M" if step_s < 86400 else "%b %d"
    found: list[tuple[float, str]] = []
    while first <= until_s and len(found) < 20:
        found.append((first, time.strftime(form, time.localtime(first))))
        first += step_s
    return found


def _hours(day: Day) -> str:
    hours: dict[str, Bin] = {}
    for one in day.bins:
        name = time.strftime("%Y-%m-%d %H:00", time.localtime(one.start_s))
        total = hours.setdefault(name, Bin(one.start_s))
        for field in ("seconds", "lent", "granted", "used", "exhausted"):
            setattr(total, field, getattr(total, field) + getattr(one, field))
        total.busy, total.demand = max(total.busy, one.busy), max(total.demand, one.demand)
    rows = [
        (
            name,
            f"{one.lent / 3600:.2f}",
            f"{one.used / 3600:.2f}",
            f"{one.mean('lent'):.2f}",
            str(one.busy),
            str(one.demand),
            str(one.exhausted),
        )
        for name, one in hours.items()
    ]
    head = ("Hour", "Lent, core-hours", "Used, core-hours", "Lent, mean", "Busy, peak",
            "Demand, peak", "Buffer ran out")  # fmt: skip
    return _table(head, rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{_text(one)}</th>' for one in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(one)}</td>" for one in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _text(value: str) -> str:
    return escape(printable(value))


def _moment(at_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))
