"""``smartharvest fleet evaluate``: what promises are worth on a trace."""

from __future__ import annotations

import json

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import json_option, nodes_option, seed_option, trace_option
from smartharvest.cli.fleet.promise_options import (
    horizon_option,
    memory_option,
    minimum_option,
    place_option,
    share,
    span,
)
from smartharvest.cli.progress import Progress

EPILOG = examples(
    "smartharvest fleet evaluate --trace openb:pods.csv.gz --nodes 32x32c128g --split 0.6",
    "smartharvest fleet evaluate --trace table:vms.csv --nodes nodes.csv --clusters 3 --json",
)


@click.command(epilog=EPILOG)
@trace_option
@nodes_option
@place_option
@click.option("--split", type=float, default=0.6, show_default=True, metavar="SHARE",
              callback=share,
              help="Share of the trace before the first promise that counts.")  # fmt: skip
@horizon_option
@minimum_option
@memory_option
@click.option("--clusters", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Divide the trace and the nodes into N clusters; promises for each are learned "
              "from the others.")  # fmt: skip
@click.option("--retrain", "retrain_s", default="14d", show_default=True, metavar="DURATION",
              callback=span,
              help="Learn again so often from what is known by then; 0: never.")  # fmt: skip
@click.option("--model", "model_file", metavar="FILE",
              help="Ask a model of fleet train, as it is, instead of learning.")  # fmt: skip
@seed_option
@json_option
def evaluate(
    trace: str, nodes: str, place: str, split: float, horizons: list[float] | None,
    minimum: float, memory_gib: float, clusters: int, retrain_s: float, model_file: str | None,
    seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Measure what promises of Harvest VMs are worth: coverage, width, error, and of rivals.

    Survival rate and mean cores of all Harvest VMs that fit, by horizon, in intervals that are to
    hold 95 % of the time. Split by time: a promise knows what was over when it was made.
    """
    from smartharvest.fleet.csv_tables import read_nodes
    from smartharvest.fleet.promises.clusters import divided
    from smartharvest.fleet.promises.cohorts import Size
    from smartharvest.fleet.promises.evaluation import NOMINAL, horizons_within
    from smartharvest.fleet.promises.evaluation import evaluate as run
    from smartharvest.fleet.promises.evidence import FEWEST
    from smartharvest.fleet.promises.model_file import read_model
    from smartharvest.fleet.promises.occupancy import occupancy
    from smartharvest.fleet.promises.views import history
    from smartharvest.fleet.sources import read_trace

    model = read_model(model_file) if model_file else None
    cluster, table = read_nodes(nodes), read_trace(trace)
    step_s = model.step_s if model else None
    parts = divided(table, cluster, clusters, seed)
    seen = []
    for part in parts:
        with Progress("arrivals and ends", wanted=not as_json) as progress:
            seen.append(occupancy(*part, step_s=step_s, place=place, progress=progress))
    asked = horizons_within(seen[0].steps, seen[0].step_s, split, horizons)
    if model:
        asked = model.only(asked, horizons is not None)
    size = Size(minimum, memory_gib)
    histories = [history(one, size, asked) for one in seen]
    with Progress("forecasts", wanted=not as_json) as progress:
        results = run(histories, split, retrain_s, seed, model, progress)
    document = {
        "nominal": NOMINAL,
        "split": split,
        "nodes": len(cluster),
        "clusters": clusters,
        "minimum": {"cores": minimum, "memory_gib": memory_gib},
        "step_s": seen[0].step_s,
        "results": [one.document() for one in results],
    }
    if as_json:
        click.echo(json.dumps(document))
        return
    click.echo("target    horizon       n  declined  coverage   width   error  forecast's error")
    for one in results:
        rows = {"forest": one.score, **one.rivals}
        for name, score in rows.items():
            first = f"{one.target:9} {one.horizon_s / 3600:5g} h " if name == "forest" else " " * 18
            click.echo(
                f"{first} {score.n:6}  {score.declined:8.0%}  {score.coverage:8.1%}  "
                f"{score.width:6.3f}  {score.mean_error:6.4f}  {score.midpoint_error:6.3f}  {name}"
            )
    if any(one.score.declined for one in results):
        click.echo(
            f"declined: nothing was promised, as fewer than {FEWEST} independent outcomes were "
            "known of a time as busy; a longer trace has more",
            err=True,
        )
