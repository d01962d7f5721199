"""``smartharvest plot``: the audit log as a picture."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.time_span import since_option, until_option
from smartharvest.telemetry.audit import between, read_audit
from smartharvest.telemetry.timeline import draw, timeline


@click.command(epilog=examples("smartharvest plot audit.jsonl web.png --since 1min"))
@click.argument("file", metavar="AUDIT.jsonl", type=click.Path())
@click.argument("picture", metavar="OUT.png", type=click.Path())
@since_option
@until_option
def plot(file: str, picture: str, since: float | None, until: float | None) -> None:
    """Draw the primary's peaks and its cores over time, as Figure 7a of the paper does.

    Needs matplotlib: pip install 'smartharvest[plot]'.
    """
    draw(timeline(between(read_audit(file), since, until)), picture)
