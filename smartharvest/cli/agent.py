"""``smartharvest agent``: lend cores until a signal or ``--duration`` ends it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from smartharvest.agent.report import Report
from smartharvest.cli.command_group import examples
from smartharvest.cli.settings_options import (
    SettingsCommand,
    effective_from,
    settings_from,
    settings_options,
)
from smartharvest.errors import ConfigError
from smartharvest.printable import counted, spoken_wait

EPILOG = examples(
    "smartharvest agent --primary cgroup:web --elastic cgroup:batch --dry-run --duration 10min",
    "smartharvest agent --primary cgroup:web --elastic cgroup:batch --plan",
    "smartharvest agent --primary cgroup:web --elastic cgroup:batch --max-harvest 4",
    "smartharvest agent --config /etc/smartharvest.toml",
)
NEVER_LENT = "ended while it stepped aside; there is no report"


@click.command(cls=SettingsCommand, epilog=EPILOG)
@settings_options()
@click.option("--plan", is_flag=True, help="Print what would be found and written, and exit.")
@click.option("--json", "as_json", is_flag=True, help="Print the report, or the plan, as JSON.")
def agent(plan: bool, as_json: bool, **options: Any) -> None:
    """Lend the primary's idle cores to the elastic group.

    Ends after --duration, or on SIGINT or SIGTERM, with exit code 0; the host is then as it was.
    SIGHUP reads the --config file again: for a setting marked [restarts] in `smartharvest config
    example` the agent gives everything back and starts again, all others change while it lends; a
    file with a mistake changes nothing. SIGUSR2 replaces the program by what is installed now, and
    the host stays arranged. --plan writes nothing; its exit code is 0 or the one
    that an agent would have which cannot start. Durations need a unit (50us, 25ms, 10s, 2h, 1d).
    """
    if plan:
        from smartharvest.agent.plan import make_plan
        from smartharvest.cli.plan_text import show_plan

        effective = effective_from(options)
        made = make_plan(effective.settings)
        made.warnings[:0] = map(str, effective.warnings)
        show_plan(made, as_json)
        return
    # After --help; before a trial, which says that all of the program is there.
    from smartharvest.agent.dry_run import DryRunFigures
    from smartharvest.agent.lifecycle import run_agent
    from smartharvest.agent.reexec import handed_off, is_trial

    shadow = DryRunFigures()
    if is_trial():
        settings = settings_from(options)
        if not settings.dry_run:
            settings.require_targets()
        return
    left = handed_off()
    try:
        settings = settings_from(options)
    except ConfigError:
        if left is not None:
            left.give_back()
        raise
    report = run_agent(
        settings,
        lambda: settings_from(options),
        shadow.observe if settings.dry_run else lambda *_: None,
        left,
    )
    if report is None:
        click.echo("null" if as_json else NEVER_LENT)
    elif as_json:
        more = {"shadow": asdict(shadow)} if settings.dry_run else {}
        click.echo(json.dumps(asdict(report) | more))
    else:
        click.echo(format_report(report, dry_run=settings.dry_run))
        if settings.dry_run:
            click.echo(shadow.describe())


def format_groups(report: Report, *, dry_run: bool = False) -> list[str]:
    """A line for each of several elastic groups."""
    if len(report.groups) < 2:
        return []
    lines = []
    for row in report.groups:
        line = f"{row['name']} {'would have had' if dry_run else 'had'} "
        line += f"{row['mean_cores']:.2f} cores on average"
        if row["cpu_seconds"] is not None and not dry_run:
            line += f" and used {row['cpu_seconds'] / max(report.seconds, 1e-9):.2f}"
        if row["guarantee_violations"]:
            line += f"; its guarantee was violated {counted(row['guarantee_violations'], 'time')}"
        lines.append(line)
    return lines


def format_report(report: Report, *, dry_run: bool = False) -> str:
    """The closing report in words, a line per subject."""
    late = report.lateness_us
    return "\n".join(
        (
            f"ran {report.seconds:.1f} s with policy {report.policy}, sensor {report.sensor}, "
            f"loop as {report.scheduling}",
            f"harvested {report.harvested_cores:.2f} of {counted(report.total, 'core')} on "
            f"average; the primary used {report.busy_cores:.2f}",
            *format_groups(report, dry_run=dry_run),
            f"{counted(report.windows, 'window')}, {counted(report.lessons, 'lesson')}, "
            f"{counted(report.assignments, 'reassignment')}, safeguards: "
            f"{report.short_safeguards} short-term, {report.long_safeguards} long-term",
            f"{counted(report.polls, 'poll')}, {report.missed_polls} missed; late by "
            + ", ".join(f"{spoken_wait(late[name])} ({name})" for name in ("p50", "p99", "max")),
            f"agent used {report.agent_cpu_seconds / max(report.seconds, 1e-9):.1%} of one core",
        )
    )
