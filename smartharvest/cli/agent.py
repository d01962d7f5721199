"""``smartharvest agent``: harvest until told to stop."""

from __future__ import annotations

import json
import logging
import signal
from dataclasses import asdict
from typing import Any

import click

from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.learning.model_keeper import ModelKeeper, keep_model
from smartharvest.session import Report, Session

_log = logging.getLogger(__name__)


@click.command()
@settings_options()
@click.option("--json", "as_json", is_flag=True, help="Print the closing report as JSON.")
def agent(as_json: bool, **options: Any) -> None:
    """Lend the primary's idle cores to the elastic group.

    Ends after --duration, or on SIGINT or SIGTERM, with exit code 0; the host is then as it was.
    Durations need a unit (25ms, 50us, 10s).
    """
    settings = settings_from(options)
    session = Session(settings)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: session.stop())
    keeper: ModelKeeper | None = None
    try:
        with session:
            policy = session.make_policy()
            keeper = keep_model(settings, session.capacity.total, policy)
            seconds = None if settings.duration_ns is None else settings.duration_ns / 1e9
            report = session.run(
                policy,
                seconds=seconds,
                started=lambda: _log.info("harvesting with %s; ctrl-C ends it", settings.policy),
                observe=lambda window, _: keeper.save_if_due(window.end_ns) if keeper else None,
            )
    finally:
        if keeper is not None:  # only now: the host comes first
            keeper.save()
    click.echo(json.dumps(asdict(report)) if as_json else format_report(report))


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
