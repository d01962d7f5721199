"""``smartharvest status``: what the agents on this host do."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from dataclasses import asdict
from typing import Any

import click

from smartharvest.cli.agent_request import (
    BEING_REPLACED,
    NONE_RUNS,
    ORPHANED,
    find_agents,
    none_runs,
)
from smartharvest.cli.command_group import examples
from smartharvest.cli.state_options import state_options
from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.printable import counted, printable, spoken_wait
from smartharvest.telemetry import groups, verdict
from smartharvest.telemetry.agents import pid_of
from smartharvest.telemetry.client import NoAgent, ask_patiently, lives
from smartharvest.telemetry.protocol import ProtocolError


@click.command(
    epilog=examples(
        "smartharvest status", "smartharvest status --watch", "smartharvest status --json"
    )
)
@state_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with all agents.")
@click.option("--watch", is_flag=True, help="Show it again and again until ctrl-C.")
@click.option("--every", type=click.FloatRange(0.1, 3600), default=2.0, show_default=True,
              metavar="SECONDS", help="With --watch: time between two looks.")  # fmt: skip
def status(as_json: bool, watch: bool, every: float, **options: Any) -> None:
    """Show what every running agent senses, decides and lends, and what killed ones have left.

    Exit codes: 0 an agent runs, 3 none does, 4 a killed agent's journal is left, so that its batch
    may still be confined; 1 if an agent does not answer, or without the right to ask. --watch goes
    on whatever it finds, and ends with 0; with --json it prints an object a line.
    """
    if not watch:
        _show(options, as_json)
        return
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            if sys.stdout.isatty() and not as_json:
                click.clear()
                click.echo(f"{time.strftime('%H:%M:%S')}, every {every:g} s, ctrl-C ends it\n")
            try:
                _show(options, as_json)
            except (click.exceptions.Exit, SmartHarvestError) as error:
                if isinstance(error, SmartHarvestError):
                    click.echo(f"smartharvest: {printable(str(error))}", err=True)
            time.sleep(every)


def _show(options: dict[str, Any], as_json: bool) -> None:
    """Prints what there is now; raises what ``status`` ends with."""
    found = find_agents(options)
    answers, failures = [], []
    silent: list[dict[str, Any]] = []
    for path in found.sockets:
        try:
            answers.append(ask_patiently(path, "status", {}))
        except NoAgent:
            if lives(path):
                silent.append({"pid": pid_of(path), "why": f"{path}: {BEING_REPLACED}; ask again"})
        except (RightsError, TimeoutError, ProtocolError) as error:
            failures.append(str(error))
            silent.append({"pid": pid_of(path), "why": str(error)})
    if as_json:
        orphans = [asdict(orphan) for orphan in found.orphans]
        click.echo(json.dumps({"agents": answers, "silent": silent, "orphans": orphans}))
    else:
        left = [one["why"] for one in silent if one["why"] not in failures]
        left += [orphan.describe() for orphan in found.orphans]
        none = "" if left or failures else none_runs(options)
        text = "\n\n".join(map(format_status, answers)) or none
        click.echo(printable("\n".join(filter(None, [text, *left]))), nl=bool(text or left))
    if found.orphans:
        raise click.exceptions.Exit(ORPHANED)
    if failures:
        raise SmartHarvestError("; ".join(failures))
    if not answers and not silent:
        raise click.exceptions.Exit(NONE_RUNS)


def format_status(seen: dict[str, Any]) -> str:
    """One agent in words, a line per subject."""
    cores, sensor, loop = seen["cores"], seen["sensor"], seen["loop"]
    guards, late = seen["safeguards"], seen["loop"]["lateness_us"]
    held = guards["lends_nothing_because"]
    lines = [
        f"agent {seen['pid']}, {seen['seconds']:.0f} s: {', '.join(seen['primary'])} lends to "
        f"{groups.names(seen)} on CPUs {cores['pool']}",
        f"  now         {_verdict(seen)}",
        *([f"  cpus        {format_map(cores)}"] if cores["runs"] else []),
        f"  sensor      {sensor['name']} ({sensor['reason']})",
        f"  policy      {seen['policy']['name']}, learns {seen['policy']['label']}, "
        f"{counted(seen['policy']['lessons'], 'lesson')}",
        *([f"  because     {why}"] if (why := seen["policy"].get("explanation")) else []),
        f"  harvested   {seen['harvested']['now']} of {counted(cores['total'], 'core')} now, "
        f"{seen['harvested']['mean']:.2f} on average",
        *(
            f"    {row['name']:<10}{groups.in_words(row)}"
            for row in groups.rows(seen)
            if len(groups.rows(seen)) > 1
        ),
        f"  busy        {seen['busy']['now']} now, {seen['busy']['mean']:.2f} on average; "
        f"demand {seen['demand']['mean']:.2f}",
        f"  prediction  {format_decision(seen['decision'])}",
        f"  safeguards  {guards['short_term']} short-term, {guards['long_term']} long-term"
        + (f", resting for {guards['resting_s']:.1f} s" if guards["resting_s"] else ""),
        f"  waits       {format_waits(seen['waits'])}",
        *format_harm(seen.get("harm")),
        *format_budget(seen),
        f"  loop        {loop['scheduling']}, {counted(loop['windows'], 'window')}, "
        f"{counted(loop['missed_polls'], 'poll')} missed, late by "
        f"{spoken_wait(late['p50'])} (p50), {spoken_wait(late['p99'])} (p99)",
        f"  agent       {seen['agent']['cpu']:.1%} of one core, "
        f"{seen['agent']['rss_bytes'] / 2**20:.0f} MiB",
    ]
    if held:
        lines.append(f"  lends nothing: {held}")
    if kept := seen.get("overrides"):
        said = ", ".join(f"{name} {value}" for name, value in kept.items())
        lines.append(f"  set by hand: {said} (until set-limit or set-policy --reset, or a restart)")
    lines += [f"  warning {one['age_s']:.0f} s ago: {one['text']}" for one in seen["warnings"]]
    return "\n".join(lines)


def format_harm(harm: dict[str, Any] | None) -> list[str]:
    """A line for each primary."""
    if harm is None:
        return []
    from smartharvest.algorithm.harm import in_words  # only where harm is measured

    found = harm["primaries"].items()
    return [f"  harm        {name}: {in_words(one)}" for name, one in found]


def format_budget(seen: dict[str, Any]) -> list[str]:
    """A line for each primary: what lending has cost it in the last minute."""
    kept = verdict.kept_budget(seen)
    if kept is None:
        return []
    return [
        f"  budget      {verdict.percent(one['protect'])}, {name} took longer in the last minute: "
        f"{verdict.spent_in_words(one)}"
        for name, one in kept.items()
    ]


_LETTERS = {"primary": "P", "elastic": "E", "other": "o", "idle": "·"}
_MOST_CPUS = 64


def _verdict(seen: dict[str, Any]) -> str:
    """Whether it earns its keep, in a line."""
    mean = seen["harvested"]["mean"]
    hours = seen["harvested"]["core_seconds"] / 3600
    now = counted(seen["harvested"]["now"], "core")
    period = seen["waits"]["period"]
    harm = f", {counted(period['blamed'], 'long wait')} possibly caused" if period else ""
    return f"lends {now}, {mean:.2f} on average, {hours:.1f} core-hours so far{harm}"


def format_map(cores: dict[str, Any]) -> str:
    """A letter a CPU: what runs there, with ^ behind what is lent."""
    runs = {cpu: who for who, cpus in cores["runs"].items() for cpu in parse_cpulist(cpus)}
    pool, lent = sorted(parse_cpulist(cores["pool"])), parse_cpulist(cores["elastic_cpus"])
    letters = [
        _LETTERS.get(runs.get(cpu, ""), "?") + ("^" if cpu in lent else "")
        for cpu in pool[:_MOST_CPUS]
    ]
    more = " …" if len(pool) > _MOST_CPUS else ""
    return f"{' '.join(letters)}{more}  (P primary, E elastic, o others, · idle, ^ lent)"


def format_decision(decision: dict[str, Any] | None) -> str:
    if decision is None:
        return "none yet"
    return (
        f"{counted(decision['primary_cores'], 'core')} for the primary ({decision['reason']}); in "
        f"the last window at most {decision['busy_peak']} busy, {decision['demand_peak']} wanted"
    )


def format_waits(waits: dict[str, Any]) -> str:
    if waits["unreadable"]:
        return str(waits["unreadable"])
    period = waits["period"]
    if period is None:
        return "not judged yet"
    text = (
        f"{period['long_waits']} of {period['dispatches']} too long in the last period, "
        f"{period['blamed']} possibly caused by lending ({period['source']})"
    )
    return text if period["p99_us"] is None else f"{text}; p99 {spoken_wait(period['p99_us'])}"
