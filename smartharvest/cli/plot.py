"""``smartharvest plot``: the audit log as a picture."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.progress import Progress
from smartharvest.cli.time_span import since_option, until_option
from smartharvest.telemetry.audit import between, read_audit
from smartharvest.telemetry.day import read_day
from smartharvest.telemetry.timeline import draw, draw_day, timeline

FIGURE_7A_S = 300.0
"""More of single decisions is a black slab."""


@click.command(epilog=examples("smartharvest plot audit.jsonl web.png --since 24h"))
@click.argument("file", metavar="AUDIT.jsonl", type=click.Path())
@click.argument("picture", metavar="OUT.png", type=click.Path())
@since_option
@until_option
def plot(file: str, picture: str, since: float | None, until: float | None) -> None:
    """Draw the primary's peaks and its cores over time.

    Up to five minutes of single decisions (audit_level = "decisions") become Figure 7a of the
    paper; anything else is drawn in bands over the wall clock, a day as well as a minute.
    Needs matplotlib: pip install 'smartharvest[plot]'.
    """
    with Progress("MB") as progress:
        records = list(between(read_audit(file, progress), since, until))
    decided = [record["t"] for record in records if record["kind"] == "decision"]
    if decided and decided[-1] - decided[0] <= FIGURE_7A_S:
        draw(timeline(records), picture)
    else:
        draw_day(read_day(records), picture)
