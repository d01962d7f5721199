"""``smartharvest explain`` and ``smartharvest plot``: what the audit log says."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import click

from smartharvest.agent.promise import explain_capacity
from smartharvest.cli.steer import steering
from smartharvest.cli.steer import tell as tell_agent
from smartharvest.config.durations import parse_duration_ns
from smartharvest.errors import ConfigError
from smartharvest.printable import printable
from smartharvest.telemetry.audit import between, read_audit
from smartharvest.telemetry.story import tell, tell_decision
from smartharvest.telemetry.timeline import draw
from smartharvest.telemetry.timeline import timeline as make_timeline


def _moment(_context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """Seconds since 1970 of ``10min`` (ago) or ``2026-05-01 12:00:00``."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        pass
    try:
        return time.time() - parse_duration_ns(text, "time") / 1e9
    except ConfigError:
        raise ConfigError(
            f"--{parameter.name}: {text!r} is neither a duration ago (10min) nor a date and time"
        ) from None


_since = click.option(
    "--since",
    metavar="TIME",
    callback=_moment,
    help="From then on: a duration ago (10min), or '2026-05-01 12:00:00'.",
)
_until = click.option("--until", metavar="TIME", callback=_moment, help="Up to then.")


@click.command()
@click.argument("file", metavar="[AUDIT.jsonl]", type=click.Path(), required=False)
@_since
@_until
@click.option("--every", is_flag=True, help="Tell of each decision by itself.")
@click.option(
    "--capacity", is_flag=True, help="Tell why the running agent promises the cores it does."
)
@steering
def explain(
    file: str | None,
    since: float | None,
    until: float | None,
    every: bool,
    capacity: bool,
    pid: int | None,
    **options: Any,
) -> None:
    """Tell the story of a time span in words: what was lent, and why not more."""
    if capacity:
        for line in explain_capacity(tell_agent(options, pid, "capacity")):
            click.echo(line)
        return
    if file is None:
        raise ConfigError("explain: name the audit log, or say --capacity")
    told = False
    records = between(read_audit(file), since, until)
    if every:
        lines = (tell_decision(record) for record in records if record["kind"] == "decision")
    else:
        lines = (line for line in tell(records))
    for line in lines:
        told = True
        click.echo(printable(line))
    if not told:
        click.echo("nothing happened in that time")


@click.command()
@click.argument("file", metavar="AUDIT.jsonl", type=click.Path())
@click.argument("picture", metavar="OUT.png", type=click.Path())
@_since
@_until
def plot(file: str, picture: str, since: float | None, until: float | None) -> None:
    """Draw the timeline of the paper's Figure 7a: the primary's peaks beside its cores.

    Needs matplotlib: pip install 'smartharvest[plot]'.
    """
    draw(make_timeline(between(read_audit(file), since, until)), picture)
