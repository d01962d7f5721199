"""``python -m bench.real``: the experiment of the paper's section 5 at this machine's size.

Prints one JSON document; progress goes to standard error.
"""

from __future__ import annotations

import json
import signal
import sys

import click

from bench.machine import Disturbance, describe
from bench.real.batch import BATCHES
from bench.real.conditions import CONDITIONS
from bench.real.experiment import Plan, run
from bench.real.primaries import PRIMARIES
from bench.subject import NotMeasurableError
from smartharvest.errors import SmartHarvestError


@click.command()
@click.option("--primary", multiple=True, type=click.Choice(list(PRIMARIES)))
@click.option("--batch", multiple=True, type=click.Choice(list(BATCHES)))
@click.option("--load", multiple=True, type=float, default=(0.3,), show_default=True)
@click.option("--condition", multiple=True, type=click.Choice([c.name for c in CONDITIONS]))
@click.option("--rounds", default=3, show_default=True)
@click.option("--slice", "slice_s", default=4.0, show_default=True, help="Seconds.")
@click.option("--seed", default=1, show_default=True)
def main(
    primary: tuple[str, ...],
    batch: tuple[str, ...],
    load: tuple[float, ...],
    condition: tuple[str, ...],
    rounds: int,
    slice_s: float,
    seed: int,
) -> None:
    """Run real primaries and real batches side by side under every condition."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    wanted = [c for c in CONDITIONS if not condition or c.name in condition]
    experiments = []
    with Disturbance() as disturbance:
        for name in primary or PRIMARIES:
            for work in batch or BATCHES:
                for share in load:
                    plan = Plan(name, work, share, wanted, rounds, slice_s, seed)
                    title = f"{name}, {work}, load {share:.0%}"

                    def progress(line: str, title: str = title) -> None:
                        click.echo(f"{title}: {line}", err=True)

                    try:
                        experiments.append(run(plan, progress))
                    except NotMeasurableError as reason:
                        click.echo(f"{title}: skipped: {reason}", err=True)
                    except SmartHarvestError as error:
                        click.echo(f"bench: {error}", err=True)
                        sys.exit(error.exit_code)
    machine = {**describe(), **disturbance.figures}
    click.echo(json.dumps({"machine": machine, "experiments": experiments}, indent=1))


if __name__ == "__main__":
    main()
