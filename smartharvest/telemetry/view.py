"""The live view of an agent, for ``smartharvest top``: a status in, lines out."""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from smartharvest.algorithm.harm import in_words
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.printable import counted, printable, spoken_span, spoken_wait
from smartharvest.telemetry import groups, verdict
from smartharvest.telemetry.top_history import History
from smartharvest.telemetry.view_large import LEAST_HEIGHT, RUNNERS, more_lines, time_axis

_BARS = " ▁▂▃▄▅▆▇█"
_ASCII = str.maketrans(_BARS + "·→…╵", " .:-=+*##" + ".>~|")


def draw(
    seen: Mapping[str, Any],
    history: History,
    width: int,
    height: int,
    *,
    expanded: bool = False,
) -> list[Text]:
    """At most ``height`` lines of at most ``width`` columns."""
    cores, guards = seen["cores"], seen["safeguards"]
    total = cores["total"]
    decision = seen["decision"] or {"primary_cores": total, "reason": "no window yet"}
    lends_nothing = guards["lends_nothing_because"]
    chosen = verdict.policy_words(seen) or decision["reason"]
    state = f"lends nothing: {lends_nothing}" if lends_nothing else chosen
    bar = max(8, min(40, width - 42))
    lines = [
        _line(f"smartharvest  agent {seen['pid']}  up {spoken_span(seen['seconds'])}", "bold"),
        _line(f"{', '.join(seen['primary'])} → {groups.names(seen)}"),
        _line(
            f"policy {seen['policy']['name']}  sensor {seen['sensor']['name']}  "
            f"loop {seen['loop']['scheduling']}"
        ),
        now := _line(f"now    {state}", "yellow" if lends_nothing else "green"),
        Text(),
        *_map(cores, width),
        Text(),
        _gauge("busy", seen["busy"]["now"], total, bar, "red", f"peak {seen['busy']['peak']}"),
        _gauge("demand", seen["demand"]["peak"], total, bar, "magenta", "peak of the window"),
        _gauge("granted", decision["primary_cores"], total, bar, "blue", "to the primary alone"),
        _gauge(
            "buffer",
            max(0, total - seen["harvested"]["now"] - seen["busy"]["now"]),
            total, bar, "cyan", "idle and not lent",
        ),
        _gauge(
            "lent", seen["harvested"]["now"], total, bar, "green",
            f"{seen['harvested']['mean']:.2f} on average",
        ),
    ]  # fmt: skip
    lines += [
        *_groups(seen, height, height - 1 - sum(bool(line.plain) for line in lines)),
        Text(),
        _curve("lent", history.lent, total, width, "green"),
        _curve("busy", history.busy, total, width, "red"),
        *([time_axis(history, width)] if height >= LEAST_HEIGHT else []),
        Text(),
        _line(f"waits       {_waits(seen['waits'])}"),
        *(_budget(seen) or _harm(seen.get("harm"))),
        _line(
            f"safeguards  {guards['short_term']} short-term, {guards['long_term']} long-term"
            + (f", resting {guards['resting_s']:.0f} s" if guards["resting_s"] else "")
            + f"   learner  {counted(seen['policy']['lessons'], 'lesson')}"
        ),
        _line(
            f"agent       {seen['agent']['cpu']:.1%} of a core, "
            f"{seen['agent']['rss_bytes'] / 2**20:.0f} MiB   "
            f"late p99 {spoken_wait(seen['loop']['lateness_us']['p99'])}"
        ),
    ]
    spare = height - 1 - sum(bool(line.plain) for line in lines)
    at = lines.index(now)
    lines[at : at + 1] = _folded(now, width, 1 + spare)
    if expanded:
        details = [
            *_harm(seen.get("harm"), each=True),
            *_budget(seen, each=True),
            *_details(seen),
        ]
        room = max(_HEAD, height - 1 - len(details))  # for what comes before them
        lines = [*_squeezed(lines, room)[:room], *details]
    if height >= LEAST_HEIGHT:
        lines += more_lines(seen, history, width, height - 1 - len(lines))
    keys = _line("q quit  p pause the view  e expand  n next agent  ? help", "reverse")
    lines = [*_squeezed(lines, height - 1)[: max(0, height - 1)], keys]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def as_ascii(line: Text) -> Text:
    """``line`` for a terminal without these characters."""
    plain = line.plain.translate(_ASCII).encode("ascii", "replace")
    line.plain = plain.decode()  # of the same length: the styles are at offsets
    return line


def _details(seen: Mapping[str, Any]) -> list[Text]:
    guards, loop = seen["safeguards"], seen["loop"]
    given = ", ".join(f"{name} {count}" for name, count in guards["give_backs"].items() if count)
    lines = [
        _line(f"safety give-backs: {given or 0}"),
        _line(
            f"loop        {counted(loop['windows'], 'window')}, "
            f"{counted(loop['assignments'], 'reassignment')}, "
            f"{counted(loop['missed_polls'], 'poll')} missed"
        ),
        _line(f"sensor      {seen['sensor']['reason']}"),
    ]
    lines += [
        _line(f"{spoken_span(warning['age_s'])} ago: {warning['text']}", "yellow")
        for warning in reversed(seen["warnings"][-5:])
    ]
    return lines


_GROUP = 8
"""CPUs of a block in the map."""
_MOST_ROWS = 2
_LEAST_GROUPS = 4
"""Lines of groups in a terminal of 24 lines."""
_HEAD = 5
"""Lines that are always there: which agent, what it does, and why."""


def _map(cores: Mapping[str, Any], width: int) -> list[Text]:
    """Two lines for each row of CPUs: what runs on each, and which are lent.

    ``?`` where the sensor does not see what runs.
    """
    pool = sorted(parse_cpulist(cores["pool"]))
    elastic = parse_cpulist(cores["elastic_cpus"])
    runs = {
        cpu: runner for runner, cpus in (cores["runs"] or {}).items() for cpu in parse_cpulist(cpus)
    }
    room = max(1, (width - 12) // (_GROUP + 1)) * _GROUP
    lines = []
    for start in range(0, min(len(pool), room * _MOST_ROWS), room):
        row = pool[start : start + room]
        above, below = Text(f"cpus {row[0]:>4} "), Text("lent      ")
        for place, cpu in enumerate(row):
            gap = " " if place and place % _GROUP == 0 else ""
            above.append(gap).append(*RUNNERS.get(runs.get(cpu, ""), ("?", "dim")))
            below.append(gap).append(*(("^", "green") if cpu in elastic else (" ", "")))
        lines += [above, below]
    if len(pool) > room * _MOST_ROWS:
        lines[-2].append(" …")
    return [*lines, _line("P primary  E elastic  o others  · idle  ^ lent", "dim")]


def _gauge(name: str, value: int, total: int, width: int, color: str, note: str) -> Text:
    filled = round(width * min(value, total) / max(1, total))
    line = Text(f"{name:8}")
    line.append("█" * filled, color)
    line.append("·" * (width - filled), "dim")
    return line.append(f" {value:>3} of {total}  {note}")


def _curve(name: str, values: deque[float], total: int, width: int, color: str) -> Text:
    room = max(1, width - 9)
    shown = list(values)[-room:]
    steps = len(_BARS) - 1
    bars = "".join(_BARS[round(steps * min(value, total) / max(1, total))] for value in shown)
    return Text(f"{name:8}").append(bars, color)


def _harm(harm: Mapping[str, Any] | None, *, each: bool = False) -> list[Text]:
    """What the last period says of whom lending costs most, or of each primary."""
    if harm is None:
        return []
    seen = {name: one["period"] or one for name, one in harm["primaries"].items()}
    if each:
        return [_line(f"harm        {name}: {in_words(one)}") for name, one in seen.items()]
    most = max(seen.values(), key=lambda one: (one["longer"] or {}).get("p95", 0.0), default=None)
    return [] if most is None else [_line(f"harm        {in_words(most)}")]


def _budget(seen: Mapping[str, Any], *, each: bool = False) -> list[Text]:
    """What lending has cost lately whom it costs most, or each primary, where the policy tells."""
    kept = verdict.kept_budget(seen)
    if kept is None:
        return []
    told = {
        name: f"{verdict.spent_in_words(one)}, of {verdict.percent(one['protect'])}"
        for name, one in kept.items()
    }
    if each:
        return [_line(f"budget      {name}: {words}") for name, words in told.items()]
    used = verdict.budget_used(seen) or 0.0
    return [_line(f"budget      {told[verdict.hit_most(kept)]}", "yellow" if used >= 1 else "")]


def _waits(waits: Mapping[str, Any]) -> str:
    period = waits["period"]
    if waits["unreadable"] or period is None:
        return str(waits["unreadable"] or "not judged yet")
    text = (
        f"{period['long_waits']} of {period['dispatches']} too long, {period['blamed']} possibly "
        "caused by lending"
    )
    return text if period["p99_us"] is None else f"{text}; p99 {spoken_wait(period['p99_us'])}"


def _groups(seen: Mapping[str, Any], height: int, left: int) -> list[Text]:
    """What each of several groups has; of many those that have less than promised come first.

    In at most ``left`` lines of a small terminal, but two.
    """
    rows = groups.rows(seen)
    if len(rows) < 2:
        return []
    room = max(min(_LEAST_GROUPS, max(2, left)), height - LEAST_HEIGHT)
    shown = rows
    if len(rows) > room:
        shown = sorted(rows, key=lambda row: not groups.is_short(row))[: room - 1]
    longest = max(len(row["name"]) for row in shown)
    lines = [
        _line(
            f"  {row['name'].ljust(longest)}  {groups.in_words(row)}",
            "yellow" if groups.is_short(row) else "",
        )
        for row in shown
    ]
    hidden = len(rows) - len(shown)
    return [*lines, *([_line(f"  and {counted(hidden, 'group')} more")] if hidden else [])]


def _folded(line: Text, width: int, most: int) -> list[Text]:
    """``line`` on at most ``most`` lines, the others below what the first says."""
    if len(line.plain) <= width or most < 2:
        return [line]
    folded = textwrap.wrap(
        line.plain, max(20, width), subsequent_indent=" " * 7, max_lines=most, placeholder="…"
    )
    return [Text(text, line.style) for text in folded]


def _squeezed(lines: list[Text], room: int) -> list[Text]:
    """Without empty lines, from the last to the first, as far as there are too many."""
    kept = list(lines)
    for at in range(len(lines) - 1, -1, -1):
        if len(kept) > room and not lines[at].plain:
            del kept[at]
    return kept


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style)
