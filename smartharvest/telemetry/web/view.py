"""What the page shows of one agent: status, capacity and history in, one small document out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.printable import counted, printable, spoken_span, spoken_wait
from smartharvest.telemetry import groups, verdict

Row = tuple[str, str]
MOST_CPUS = 1024
MOST_WARNINGS = 10


def describe(status: Mapping[str, Any], capacity: Mapping[str, Any] | None) -> dict[str, Any]:
    """The document of one agent. Raises KeyError, TypeError or ValueError for another's status."""
    verdicts = {
        "earning": verdict.earning(status),
        "harming": verdict.harming(status),
        "health": verdict.health(status),
        "why": verdict.why_not_more(status),
    }
    cores, decision = status["cores"], status["decision"]
    return {
        "pid": status["pid"],
        "title": printable(f"{', '.join(status['primary'])} → {groups.names(status)}"),
        "line": (
            f"Agent {status['pid']}, version {status['version']}, policy "
            f"{status['policy']['name']}, sensor {status['sensor']['name']}, up "
            f"{spoken_span(status['seconds'])}"
        ),
        "total": cores["total"],
        "lent": status["harvested"]["now"],
        "mean": round(status["harvested"]["mean"], 2),
        "busy": status["busy"]["peak"],
        "demand": status["demand"]["peak"],
        "granted": decision["primary_cores"] if decision else cores["total"],
        "verdicts": {
            name: {"key": one.key, "level": one.level, "text": printable(one.text)}
            for name, one in verdicts.items()
        },
        "harm_share": verdict.harm_share(status),
        "harm_budget": verdict.harm_budget(status),
        "budget_used": verdict.budget_used(status),
        "cpus": cpus(cores),
        "waits": rows(_waits(status)),
        "groups": rows(_groups(status)),
        "several": _several(status),
        "promises": rows(_promises(capacity)),
        "agent": rows(_agent(status)),
        "complaints": [printable(text) for text in verdict.complaints(status)][:MOST_WARNINGS],
    }


def rows(found: list[Row]) -> list[list[str]]:
    """As JSON has them, without characters that have no place on a page."""
    return [[printable(name), printable(value)] for name, value in found]


def cpus(cores: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each CPU of the pool: who runs (``?`` where the sensor does not see it), whether it is lent.

    At most MOST_CPUS.
    """
    runs = {
        cpu: runner
        for runner, those in (cores.get("runs") or {}).items()
        for cpu in parse_cpulist(those)
    }
    lent = parse_cpulist(cores["elastic_cpus"])
    return [
        {"cpu": cpu, "runs": runs.get(cpu, "?"), "lent": cpu in lent}
        for cpu in sorted(parse_cpulist(cores["pool"]))[:MOST_CPUS]
    ]


def _groups(status: Mapping[str, Any]) -> list[Row]:
    cores = status["cores"]
    found: list[Row] = [("Primary", one) for one in status["primary"]]
    found += [
        ("Elastic", groups.names(status)),
        ("CPUs shared", str(cores["pool"])),
        ("Elastic minimum", counted(cores["elastic_min"], "core")),
        ("Limit", f"{counted(cores['max_harvest'], 'core')} beyond the minimum"),
    ]
    found += [
        (f"Set by hand: {name}", str(value))
        for name, value in (status.get("overrides") or {}).items()
    ]
    return found


def _several(status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line of a table for each of several elastic groups; ``short``: it lacks what it was
    promised."""
    several = groups.rows(status)
    if len(several) < 2:
        return []
    return [
        {"cells": [printable(cell) for cell in _group(one)], "short": groups.is_short(one)}
        for one in several
    ]


def _group(row: groups.Row) -> list[str]:
    """Name, state, cores, cores due, minimum, mean, throughput and memory of one group."""
    by = row.get("throughput_by")
    cores_form = "d" if isinstance(row.get("cores"), int) else ".2f"
    return [
        str(row.get("name", "?")),
        _state(row),
        _figure(row, "cores", cores_form),
        _figure(row, "due", ".1f"),
        _figure(row, "min", "g"),
        _figure(row, "mean_cores", ".2f"),
        _figure(row, "throughput", ".2f", f"/s ({by})" if by else "/s"),
        "" if row.get("memory_bytes") is None else f"{row['memory_bytes'] / 2**20:.0f} MiB",
    ]


def _figure(row: groups.Row, key: str, form: str, unit: str = "") -> str:
    return "" if row.get(key) is None else f"{row[key]:{form}}{unit}"


def _state(row: groups.Row) -> str:
    """Whether the group has what it was promised, as a phrase."""
    parts = []
    eviction = row.get("eviction") or {"stage": "kept"}
    if eviction["stage"] != "kept":
        left_s, why = eviction.get("left_s"), eviction.get("why")
        when = f"Evicted in {left_s:.0f} s" if left_s else "Evicted"
        parts.append(f"{when}: {why}" if why else when)
    elif groups.below_minimum(row):
        parts.append("Below its minimum")
    if row.get("held"):
        parts.append(f"{str(row['held']).capitalize()} by the operator")
    if row.get("divided_by") == "time":
        parts.append("Shared by time")
    if row.get("guarantee_met") is not None:
        met = "Guarantee met" if row["guarantee_met"] else "Guarantee not met"
        parts.append(f"{met} ({row['guarantee']})" if row.get("guarantee") else met)
    return "; ".join(parts) or "–"


def _promises(capacity: Mapping[str, Any] | None) -> list[Row]:
    cores = None if capacity is None else capacity.get("cores")
    if capacity is None or not isinstance(cores, Mapping):
        return [("Promise", "not known")]
    several = capacity.get("groups")
    several = several if isinstance(several, list) and len(several) > 1 else []
    found = [
        ("Always", counted(cores["guaranteed"], "core")),
        (
            f"For the next {capacity['hold_s']:g} s",
            f"{counted(cores['promised'], 'core')}, with a probability of "
            f"{capacity['probability']:.0%}",
        ),
        ("Now", counted(cores["now"], "core")),
    ]
    found += [
        (
            f"For {one['name']}",
            f"{counted(one['cores']['promised'], 'core')}, {one['cores']['guaranteed']} always",
        )
        for one in several
    ]
    if capacity.get("withdrawn"):
        found.append(("Withdrawn", str(capacity["withdrawn"])))
    elif capacity.get("learning"):
        found.append(("Learning", "too few forecasts have ended to promise more"))
    kept = (capacity.get("calibration") or {}).get("kept")
    if isinstance(kept, int | float):
        found.append(("Kept so far", f"{kept:.1%}"))
    return found


def _waits(status: Mapping[str, Any]) -> list[Row]:
    waits, kept = status["waits"], verdict.kept_budget(status) or {}
    period = waits["period"]
    longer = [
        (
            f"Longer by lending: {name}",
            f"{verdict.spent_in_words(one)}, of {verdict.percent(one['protect'])}",
        )
        for name, one in kept.items()
    ]
    if waits["unreadable"] or period is None:
        return [("Waits", str(waits["unreadable"] or "not judged yet")), *longer]
    found = [
        ("Dispatches in the last period", f"{period['dispatches']:,}"),
        ("Waited too long", str(period["long_waits"])),
        ("Of these, possibly by lending", str(period["blamed"])),
    ]
    found += longer or [("Budget", f"{verdict.harm_budget(status):.2%} of the dispatches")]
    found += [
        (f"Wait, {name}", spoken_wait(period[key]))
        for name, key in (
            ("median", "p50_us"),
            ("99th percentile", "p99_us"),
            ("longest", "max_us"),
        )
        if isinstance(period.get(key), int | float)
    ]
    return found


def _agent(status: Mapping[str, Any]) -> list[Row]:
    guards, loop, agent = status["safeguards"], status["loop"], status["agent"]
    given = ", ".join(f"{name} {count}" for name, count in guards["give_backs"].items() if count)
    return [
        ("Short-term safeguard", counted(guards["short_term"], "time")),
        ("Long-term safeguard", counted(guards["long_term"], "time")),
        ("Safety give-backs", given or "none"),
        ("Loop", f"{loop['scheduling']}, late by {spoken_wait(loop['lateness_us']['p99'])} (p99)"),
        ("Polls missed", str(loop["missed_polls"])),
        ("Lessons", f"{status['policy']['lessons']:,}"),
        ("Agent", f"{agent['cpu']:.1%} of a core, {agent['rss_bytes'] / 2**20:.0f} MiB"),
    ]
