"""``smartharvest serverless``: short functions on cores that come and go."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import Entry, LazyGroup

COMMANDS = (
    Entry("simulate", "serverless.simulate:simulate", "Run functions on simulated workers."),
    Entry("pool", "serverless.pool:pool", "Keep the promised cores of a pool above a threshold."),
    Entry("cost", "serverless.cost:cost", "How many cores one budget buys, by share harvested."),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def serverless() -> None:
    """Balance short functions over workers whose cores come and go."""
