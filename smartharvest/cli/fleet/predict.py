"""``smartharvest fleet predict``: a promise for N machines."""

from __future__ import annotations

import json
import math

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import json_option, nodes_option, trace_option
from smartharvest.cli.fleet.promise_options import (
    memory_option,
    minimum_option,
    place_option,
    spans,
)
from smartharvest.errors import ConfigError

EPILOG = examples(
    "smartharvest fleet predict --model promises.model --trace openb:pods.csv.gz "
    "--nodes 32x32c128g --machines 20 --min 4 --horizon 1h,1d,7d",
)


@click.command(epilog=EPILOG)
@click.option("--model", "model_file", required=True, metavar="FILE", help="Of fleet train.")
@trace_option
@nodes_option
@place_option
@click.option("--machines", type=click.IntRange(1, 1_000_000), required=True, metavar="N",
              help="How many Harvest VMs to promise.")  # fmt: skip
@minimum_option
@memory_option
@click.option("--horizon", "horizons", metavar="LIST", callback=spans,
              help="Durations such as 1h,1d,7d; those the model has learned.")  # fmt: skip
@click.option("--day", type=click.FloatRange(0, min_open=True), metavar="N",
              help="The moment, in days of the trace; without it the trace's end.")  # fmt: skip
@json_option
def predict(
    model_file: str, trace: str, nodes: str, place: str, machines: int, minimum: float,
    memory_gib: float, horizons: list[float] | None, day: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Promise how many of N Harvest VMs survive, and with how many cores.

    Each in an interval that is to hold 95 % of the time. The trace says what the cluster does and
    has done; a week of it is enough. Says what of this the model has not seen.
    """
    from dataclasses import replace

    from smartharvest.fleet.csv_tables import read_nodes
    from smartharvest.fleet.promises.cohorts import Size
    from smartharvest.fleet.promises.evidence import FEWEST
    from smartharvest.fleet.promises.model_file import read_model
    from smartharvest.fleet.promises.occupancy import occupancy
    from smartharvest.fleet.promises.prediction import predict as promise
    from smartharvest.fleet.promises.views import history
    from smartharvest.fleet.sources import read_trace

    model = read_model(model_file)
    cluster, table = read_nodes(nodes), read_trace(trace)
    if day is not None:
        if day * 86400 > table.until_s:
            raise ConfigError(
                f"--day: {day:g}: the trace ends after {table.until_s / 86400:g} days"
            )
        until_s = day * 86400
        table = table.only(table.start_s < until_s)
        table = replace(table, until_s=until_s)
    seen = occupancy(table, cluster, model.step_s, place)
    now = history(seen, Size(minimum, memory_gib), model.horizons_s)
    document = promise(model, now, machines, horizons or model.horizons_s)
    if as_json:
        click.echo(json.dumps(document))
        return
    click.echo(f"{machines} Harvest VMs of at least {minimum:g} cores; 95 % intervals")
    results = document["results"]
    assert isinstance(results, list)
    for one in results:
        survival, cores = one["survival"], one["cores"]
        if one["declined"]:
            click.echo(
                f"{one['horizon_s'] / 3600:6g} h  nothing is promised: the model knows "
                f"{one['independent']:.0f} independent outcomes of {FEWEST} (some "
                f"{survival['mean']:.0%} may survive, {cores['mean']:.1f} cores each)"
            )
            continue
        least = math.floor(survival["low"] * machines)
        click.echo(
            f"{one['horizon_s'] / 3600:6g} h  {survival['mean']:6.1%} survive "
            f"({survival['low']:.1%} to {survival['high']:.1%}: {least} or more)  "
            f"{cores['mean']:.1f} cores each ({cores['low']:.1f} to {cores['high']:.1f})"
        )
    beyond = document["beyond"]
    assert isinstance(beyond, list)
    if beyond:
        click.echo("careful, the model has not seen this:\n  " + "\n  ".join(beyond), err=True)
