"""A plan of an agent as tables, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from smartharvest.agent.plan import Plan
from smartharvest.printable import counted, one_line

_WHEN = {
    "start": "At the start",
    "lending": "While it lends: least … most",
    "file": "Files and addresses of its own",
}


def show_plan(plan: Plan, as_json: bool) -> None:
    """Prints the plan; raises what would keep the agent from starting."""
    click.echo(json.dumps(plan_document(plan), indent=2) if as_json else format_plan(plan))
    if plan.refusal is not None:
        raise plan.refusal


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan for programs."""
    refusal = plan.refusal
    return {
        "would_start": refusal is None,
        "exit_code": 0 if refusal is None else refusal.exit_code,
        "refusal": None if refusal is None else str(refusal),
        "found": plan.found,
        "changes": [asdict(change) for change in plan.changes],
        "warnings": plan.warnings,
    }


def format_plan(plan: Plan) -> str:
    """What was found, then what would be written, before → after."""
    lines = ["Found", *(f"  {name:11} {text}" for name, text in _found(plan.found))]
    lines += [f"  {'warning':11} {one_line(warning)}" for warning in plan.warnings]
    if plan.changes:
        width = min(64, max(len(change.path) for change in plan.changes))
        wide = max(6, *(len(change.before) for change in plan.changes))
    for when, title in _WHEN.items():
        changes = [change for change in plan.changes if change.when == when]
        if changes:
            lines += ["", title]
        for change in changes:
            path, before = one_line(change.path), one_line(change.before) or "-"
            lines.append(f"  {path:{width}}  {before:>{wide}} → {one_line(change.after)}")
    lines += ["", "Nothing was changed."]
    if plan.refusal is None:
        lines[-1] += " The agent would start, and put all of this back when it ends."
    return "\n".join(lines)


def _found(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if tree := found.get("cgroups"):
        yield "cgroups", f"version {tree['version']} at {tree['root']}"
    sides = [("primary", one) for one in found.get("primary", ())]
    if "elastic" in found:
        sides.append(("elastic", found["elastic"]))
    for side, one in sides:
        quota = f", at most {one['quota_cores']:g} cores" if one["quota_cores"] else ""
        threads = counted(one["threads"], "thread")
        yield side, one_line(f"{one['target']}: {threads} on CPUs {one['cpus']}{quota}")
    for one in found.get("groups", ()):
        yield "group", one_line(_group_in_words(one))
    if cores := found.get("cores"):
        least, most = cores["elastic_min"], cores["most_lent"]
        yield "cores", f"pool {cores['pool']}, elastic minimum {least}, at most {most} lent"
        for one in cores["not_lent"]:
            who = one_line(one["because_of"])
            yield "not lent", f"CPU {one['cpu']}: {who} is confined to it"
    if "policy" in found:
        yield "policy", found["policy"]
    if "preemption" in found:
        yield "preemption", one_line(found["preemption"])
    if "placement" in found:
        yield "placement", one_line(found["placement"])
    if sensor := found.get("sensor"):
        yield "sensor", one_line(f"{sensor['name']} ({sensor['reason']})")


def _group_in_words(one: dict[str, Any]) -> str:
    """One of several elastic groups: what it may have, and how many cores that comes to."""
    most = "all there are" if one["max"] is None else one["max"]
    more = [f"minimum {one['min']}", f"maximum {most}"]
    more += [f"weight {one['weight']:g}"] if "weight" in one else []
    more += [f"guarantee {one['guarantee']}"] if "guarantee" in one else []
    has = (
        f"{counted(one['threads'], 'thread')}, {counted(one['most_cores'], 'core')} if all is lent"
        if one["exists"]
        else "does not exist yet"
    )
    return f"{one['name']} ({one['target']}): {', '.join(more)}; {has}"
