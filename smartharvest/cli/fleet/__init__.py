"""``smartharvest fleet``: placement, promises and prices for clusters."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import Entry, LazyGroup

COMMANDS = (
    Entry("train", "fleet.train:train", "Learn what may be promised, into a file."),
    Entry("predict", "fleet.predict:predict", "Promise how many of N machines survive."),
    Entry("evaluate", "fleet.evaluate:evaluate", "Measure what promises are worth on a trace."),
    Entry("simulate", "fleet.simulate:simulate", "Fill what a trace leaves free, and compare."),
    Entry("cost", "fleet.cost:cost", "Compute what a useful core costs."),
    Entry("extender", "fleet.extender:extender", "Rank nodes for a Kubernetes scheduler."),
    Entry("overload", "fleet.overload:overload", "Say who is overloaded, and what would cure it."),
    Entry("survival", "fleet.survival:survival", "Say how long spot instances or lent cores last."),
    Entry("record", "fleet.record:record", "Record who runs in a Kubernetes cluster, as a table."),
    Entry("convert", "fleet.convert:convert", "Check a trace, and write it as a table."),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def fleet() -> None:
    """Say where to place work in a cluster, what is left to harvest, and what it costs."""
