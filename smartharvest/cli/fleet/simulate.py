"""``smartharvest fleet simulate``: what fills the rest of a cluster."""

from __future__ import annotations

import json
from typing import Any

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import (
    json_option,
    nodes_option,
    seed_option,
    shown_option,
    trace_option,
)
from smartharvest.cli.progress import Progress
from smartharvest.errors import ConfigError

EPILOG = examples(
    "smartharvest fleet simulate --trace openb:pods.csv.gz --nodes 32x32c128g --days 120-140",
    "smartharvest fleet simulate --trace table:vms.csv --nodes nodes.csv --harvest min=2,max=16",
)


def _days(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> tuple[float, float] | None:
    if text is None:
        return None
    first, dash, second = text.partition("-")
    try:
        if not dash:
            raise ValueError
        return float(first), float(second)
    except ValueError:
        raise ConfigError(f"--days: {text!r} is no span; write 10-20") from None


@click.command(epilog=EPILOG)
@trace_option
@nodes_option
@shown_option(
    "--place",
    "best-fit",
    "WAY",
    "How regular VMs are placed: first-fit, best-fit, worst-fit, cosine, "
    "dot-product, l2-norm-diff, l2-norm-ratio, ffd-prod, ffd-sum, least-harvested.",
)
@shown_option(
    "--harvest",
    "min=1,max=40,per-node=1",
    "KIND",
    "Harvest VMs: cores at least and at most, how many a node; memory=GIB of each.",
)
@shown_option(
    "--spot", "cores=1", "KIND", "Evictable VMs of a fixed size: cores; memory=GIB of each."
)
@click.option(
    "--days",
    callback=_days,
    metavar="FROM-TO",
    help="Count these days of the trace only; what came before is placed, too.",
)
@click.option(
    "--regular-only", is_flag=True, help="Leave out what the trace itself calls evictable."
)
@seed_option
@json_option
def simulate(
    trace: str, nodes: str, place: str, harvest: str, spot: str,
    days: tuple[float, float] | None, regular_only: bool, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Let regular VMs come and go as in a trace, and fill what they leave.

    It is filled twice, each alone: with Harvest VMs, and with evictable VMs of a fixed size. The
    same seed gives the same result.
    """
    from smartharvest.fleet.csv_tables import read_nodes
    from smartharvest.fleet.pool import parse_harvest, parse_spot
    from smartharvest.fleet.simulation import Plan
    from smartharvest.fleet.simulation import simulate as run
    from smartharvest.fleet.sources import read_trace
    from smartharvest.fleet.summary import summarise
    from smartharvest.fleet.tables import REGULAR

    plan = Plan(place, parse_harvest(harvest), parse_spot(spot), days, seed)
    cluster = read_nodes(nodes)
    table = read_trace(trace)
    if regular_only:
        table = table.only(table.priority == REGULAR)
    with Progress("arrivals and ends", wanted=not as_json) as progress:
        result = summarise(run(table, cluster, plan, progress))
    click.echo(json.dumps(result) if as_json else _in_words(result))


def _in_words(result: dict[str, Any]) -> str:
    regular, unallocated = result["regular"], result["unallocated"]
    shown = [name for name in ("1h", "1d", "7d") if name in unallocated]
    stays = ", ".join(f"{unallocated[name]:.1f} for {name}" for name in shown)
    lines = [
        f"{result['nodes']} nodes, {result['cores']:g} cores, days {result['days'][0]:g} to "
        f"{result['days'][1]:g}",
        f"regular VMs: {regular['placed']} placed, {regular['rejected']} rejected, "
        f"{regular['mean_cores']:.1f} cores on average",
        f"unallocated: {unallocated['mean_cores']:.1f} cores on average"
        + (f"; stays free: {stays}" if stays else ""),
    ]
    for name in ("harvest", "spot"):
        one = result[name]
        survival = ", ".join(f"{share:.1%} {h}" for h, share in one["survival"].items())
        lines.append(
            f"{name}: {one['vms']} VMs ({one['mean_vms']:.1f} at a time), {one['evictions']} "
            f"evictions, {one['mean_extra_cores']:.2f} cores beyond the minimum"
            + (f"; survive: {survival}" if survival else "")
        )
    if result["ratio"] is not None:
        lines.append(f"{result['ratio']:.1f} evictable VMs for each Harvest VM")
    return "\n".join(lines)
