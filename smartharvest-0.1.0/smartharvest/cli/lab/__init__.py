"""``smartharvest lab``: policies without a service at stake."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import Entry, LazyGroup

COMMANDS = (
    Entry("demo", "lab.demo:demo", "Lend cores on this machine for a minute; show gain and cost."),
    Entry("record", "lab.record:record", "Record what a service does, to try policies on it."),
    Entry("replay", "lab.replay:replay", "Compare policies on a recording."),
    Entry("simulate", "lab.simulate:simulate", "Run a policy on a simulated server."),
    Entry("reproduce", "lab.reproduce:reproduce", "Repeat the evaluation of the paper."),
    Entry("model", "lab.model:model", "Show what an agent has learned."),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def lab() -> None:
    """Try policies in a demo, on a recording or in simulation."""
