"""What ``top`` adds where the terminal is larger than 80x24, and its help."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.printable import counted, printable
from smartharvest.telemetry import groups
from smartharvest.telemetry.top_history import History

LEAST_HEIGHT = 30
"""Below this the screen is as in 80x24."""
_MOST_EVENTS = 8
"""Where not all CPUs have a row anyway."""
_LEAST_EVENTS = 3
"""Where a row for each CPU takes the rest."""
_TICK = 15
"""Columns between two marks of the time axis."""
RUNNERS = {
    "primary": ("P", "white on blue"),
    "elastic": ("E", "black on green"),
    "other": ("o", "black on yellow"),
    "idle": ("·", "dim"),
}

KEYS = (
    ("q", "quit"),
    ("p, space", "hold the view; the agent is not touched"),
    ("e", "more: give-backs, loop, sensor, warnings"),
    ("n", "the next agent"),
    ("P", "pause lending: all goes back (asks first)"),
    ("R", "resume lending (asks first)"),
    ("?", "this help; any key leaves it"),
)
_MEANINGS = (
    "busy     cores that run tasks of the primary",
    "demand   those and the tasks that wait for one",
    "granted  cores kept for the primary",
    "buffer   granted cores that idle",
    "lent     cores of the elastic group beyond its minimum",
)


def help_screen(height: int) -> list[Text]:
    """What the keys do and the words mean, the keys first; ``height`` lines at most."""
    lines = [Text("Keys", "bold"), *(Text(f"  {key:9} {what}") for key, what in KEYS), Text()]
    lines += [Text("Lines", "bold"), *(Text(f"  {what}") for what in _MEANINGS), Text()]
    if len(lines) >= height:
        lines = [line for line in lines if line.plain]
    return [*lines[: max(0, height - 1)], Text("any key goes back", "reverse")]


def more_lines(seen: Mapping[str, Any], history: History, width: int, spare: int) -> list[Text]:
    """At most ``spare`` lines: the groups, a history of each CPU, and events."""
    lines = [Text(), *_groups(seen)]
    rows = 2 + len(parse_cpulist(seen["cores"]["pool"]))
    left = spare - len(lines) - rows - 2
    events = min(left if left >= _LEAST_EVENTS else _MOST_EVENTS, len(history.events))
    room = spare - len(lines) - (events + 2 if events else 0)
    lines += _cpu_rows(seen, history, width, room)
    if events:
        lines += [Text(), Text("events", "bold")]
        for at_s, text in list(history.events)[-events:][::-1]:
            clock = time.strftime("%H:%M:%S", time.localtime(at_s))
            lines.append(Text(printable(f"{clock}  {text}")))
    return lines[: max(0, spare)]


def time_axis(history: History, width: int) -> Text:
    """Below the curves: how long ago each column was."""
    room = max(1, width - 9)
    times = list(history.at_s)[-room:]
    axis = [" "] * (room + _TICK)
    for back in range(0, len(times), _TICK):
        column = len(times) - 1 - back
        text = _ago(times[-1] - times[column]) if back else "now"
        fits = column + len(text) <= room
        start, label = (column, f"╵{text}") if fits else (column - len(text), f"{text}╵")
        if start >= 0 and all(place == " " for place in axis[start : start + len(label)]):
            axis[start : start + len(label)] = label
    return Text("        " + "".join(axis).rstrip(), "dim")


def _groups(seen: Mapping[str, Any]) -> list[Text]:
    """A line for each group: what it has, and what it runs on now."""
    cores, runs = seen["cores"], seen["cores"]["runs"] or {}
    count = {runner: len(parse_cpulist(cpus)) for runner, cpus in runs.items()}
    granted = len(parse_cpulist(cores["elastic_cpus"]))
    runs_on = {
        side: f", runs on {count.get(side, 0)} now" if runs else ""
        for side in ("primary", "elastic", "other")
    }
    rows = [
        (name, "primary", f"{seen['busy']['mean']:.2f} cores busy on average{runs_on['primary']}")
        for name in seen["primary"][:4]
    ]
    if len(seen["primary"]) > 1:
        rows[0] = (*rows[0][:2], f"together {rows[0][2]}")
        rows[1:] = [(name, side, "") for name, side, _ in rows[1:]]
    hidden = len(seen["primary"]) - 4
    if hidden > 0:
        rows.append((f"and {hidden} more", "primary", ""))
    rows.append(
        (groups.names(seen), "elastic", f"may use {counted(granted, 'CPU')}{runs_on['elastic']}")
    )
    if runs:
        rows.append(("everything else", "others", f"runs on {count.get('other', 0)} now"))
    wide = max(len(name) for name, _, _ in rows)
    return [Text(printable(f"{side:8}{name:{wide}}  {what}".rstrip())) for name, side, what in rows]


def _cpu_rows(seen: Mapping[str, Any], history: History, width: int, room: int) -> list[Text]:
    """A row for each CPU of the pool, one column an update, with the time axis below."""
    pool = sorted(parse_cpulist(seen["cores"]["pool"]))
    if room < min(4, 2 + len(pool)) or not any(history.runs):
        return []
    shown = list(history.runs)[-max(1, width - 9) :]
    lent = parse_cpulist(seen["cores"]["elastic_cpus"])
    lines = [Text()]
    for cpu in pool[: room - 2]:
        line = Text(f"cpu{cpu:>4}{'^' if cpu in lent else ' '}")
        for runs in shown:
            line.append(*RUNNERS.get(runs.get(cpu, ""), ("?", "dim")))
        lines.append(line)
    if len(pool) > room - 2:
        lines[-1] = Text(f"… and {len(pool) - room + 3} more CPUs", "dim")
    return [*lines, time_axis(history, width)]


def _ago(seconds: float) -> str:
    if seconds < 10:
        return f"-{seconds:.1f}s"
    return f"-{seconds:.0f}s" if seconds < 120 else f"-{seconds / 60:.0f}min"
