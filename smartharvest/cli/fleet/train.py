"""``smartharvest fleet train``: learn what may be promised, into a file."""

from __future__ import annotations

import os

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import seed_option
from smartharvest.cli.fleet.promise_options import horizon_option, memory_option, place_option
from smartharvest.cli.progress import Progress
from smartharvest.errors import ConfigError
from smartharvest.fleet.sources import FORMATS

EPILOG = examples(
    "smartharvest fleet train --trace openb:pods.csv.gz --nodes 32x32c128g --out promises.model",
    "smartharvest fleet train --trace table:a.csv --nodes a-nodes.csv "
    "--trace table:b.csv --nodes 20x64c256g --out promises.model",
)


def _sizes(_context: click.Context, _parameter: click.Parameter, text: str) -> list[float]:
    try:
        found = sorted({float(part) for part in text.split(",")})
        if not all(0 < one < 1e6 for one in found):
            raise ValueError
    except ValueError:
        raise ConfigError(f"--min: {text!r} is no list of cores; write 1,4") from None
    return found


@click.command(epilog=EPILOG)
@click.option("--trace", "traces", required=True, multiple=True, metavar="FORMAT:FILE",
              help=f"The allocations, as often as there are clusters: {FORMATS}.")  # fmt: skip
@click.option("--nodes", "shapes", required=True, multiple=True, metavar="SHAPE|FILE",
              help="The cluster of each trace, in the same order.")  # fmt: skip
@place_option
@horizon_option
@click.option("--min", "minimums", default="1,4", show_default=True, metavar="LIST",
              callback=_sizes, help="Minimum cores of the Harvest VMs to learn.")  # fmt: skip
@memory_option
@seed_option
@click.option("--out", required=True, metavar="FILE", help="The model.")
def train(
    traces: tuple[str, ...], shapes: tuple[str, ...], place: str, horizons: list[float] | None,
    minimums: list[float], memory_gib: float, seed: int, out: str,
) -> None:  # fmt: skip
    """Learn from traces what may be promised of Harvest VMs (needs the extra fleet)."""
    from smartharvest.fleet.csv_tables import read_nodes
    from smartharvest.fleet.promises.cohorts import Size
    from smartharvest.fleet.promises.evaluation import horizons_within
    from smartharvest.fleet.promises.model import HELD_BACK
    from smartharvest.fleet.promises.model import train as learn
    from smartharvest.fleet.promises.model_file import write_model
    from smartharvest.fleet.promises.occupancy import common_step_s, occupancy
    from smartharvest.fleet.promises.views import history
    from smartharvest.fleet.sources import read_trace

    if len(traces) != len(shapes):
        raise ConfigError(
            f"train: {len(traces)} --trace and {len(shapes)} --nodes; give one of each a cluster"
        )
    clusters = [read_nodes(shape) for shape in shapes]
    tables = [read_trace(trace) for trace in traces]
    step_s = common_step_s(tables)
    seen = []
    for table, nodes in zip(tables, clusters, strict=True):
        with Progress("arrivals and ends") as progress:
            seen.append(occupancy(table, nodes, step_s, place, progress))
    shortest = min(one.steps for one in seen)
    asked = horizons_within(shortest, step_s, 1 - HELD_BACK, horizons)
    histories = [history(one, Size(cores, memory_gib), asked) for one in seen for cores in minimums]
    with Progress("forests") as progress:
        model = learn(histories, seed, progress)
    write_model(out, model)
    spans = ", ".join(f"{span / 3600:g} h" for span in model.horizons_s)
    click.echo(
        f"{out}: learned from {model.days:.0f} days of {len(seen)} clusters, up to {model.nodes} "
        f"nodes; horizons {spans}; {os.path.getsize(out) / 1024:.0f} KiB"
    )
