"""``smartharvest agent``: harvest until told to stop."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from smartharvest.agent.dry_run import ShadowFigures
from smartharvest.agent.reexec import inherited, is_trial
from smartharvest.agent.report import Report
from smartharvest.agent.supervisor import harvest
from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.errors import ConfigError


@click.command()
@settings_options()
@click.option("--json", "as_json", is_flag=True, help="Print the closing report as JSON.")
def agent(as_json: bool, **options: Any) -> None:
    """Lend the primary's idle cores to the elastic group.

    Ends after --duration, or on SIGINT or SIGTERM, with exit code 0; the host is then as it was.
    SIGHUP reads the --config file again: what is marked [restarts] in `smartharvest config
    example` takes effect by starting anew, all else at once; a file with a mistake changes nothing.
    SIGUSR2 replaces the program by what is installed now, without giving the host back in between.
    With --dry-run nothing is written. Durations need a unit (25ms, 50us, 10s).
    """
    shadow = ShadowFigures()
    if is_trial():
        settings = settings_from(options)
        if not settings.dry_run:
            settings.require_targets()
        return
    left = inherited()
    try:
        settings = settings_from(options)
    except ConfigError:
        if left is not None:
            left.give_back()
        raise
    report = harvest(
        settings,
        lambda: settings_from(options),
        shadow.observe if settings.dry_run else lambda *_: None,
        left,
    )
    if as_json:
        more = {"shadow": asdict(shadow)} if settings.dry_run else {}
        click.echo(json.dumps(asdict(report) | more))
    else:
        click.echo(format_report(report))
        if settings.dry_run:
            click.echo(shadow.tell())


def format_report(report: Report) -> str:
    """The closing report in words, a line per subject."""
    late = report.lateness_us
    return "\n".join(
        (
            f"ran {report.seconds:.1f} s with {report.policy}, sensor {report.sensor}, "
            f"loop as {report.scheduling}",
            f"harvested {report.harvested_cores:.2f} of {report.total} cores on average; "
            f"the primary was busy on {report.busy_cores:.2f}",
            f"{report.windows} windows, {report.lessons} lessons, {report.assignments} "
            f"reassignments, safeguards: {report.short_safeguards} short-term, "
            f"{report.long_safeguards} long-term",
            f"{report.polls} polls, {report.missed_polls} missed; late by {late['p50']:.0f} us "
            f"(p50), {late['p99']:.0f} us (p99), {late['max']:.0f} us (max)",
            f"agent used {report.agent_cpu_seconds / max(report.seconds, 1e-9):.1%} of one core",
        )
    )
