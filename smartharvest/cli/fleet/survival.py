"""``smartharvest fleet survival``: how long spot instances or lent cores last."""

from __future__ import annotations

import json

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import json_option

EPILOG = examples(
    "smartharvest fleet survival --trace spot:us-west-2a_v100_1.json",
    "smartharvest fleet survival --trace audit:/var/log/smartharvest/audit.jsonl",
)
HORIZONS_S = {
    "1s": 1.0,
    "1min": 60.0,
    "10min": 600.0,
    "1h": 3600.0,
    "6h": 21600.0,
    "1d": 86400.0,
    "7d": 604800.0,
    "30d": 2592000.0,
}


@click.command(epilog=EPILOG)
@click.option(
    "--trace",
    required=True,
    metavar="FORMAT:FILE",
    help="spot:FILE.json (instances to be had, one number a step), or audit:FILE (cores "
    "that an agent lent).",
)
@json_option
def survival(trace: str, as_json: bool) -> None:
    """Say how many there were, and how likely one that is there stays for how long."""
    from smartharvest.fleet.held import read_held

    held = read_held(trace)
    lives, free = held.lives(), held.free_time()
    shown = {name: h for name, h in HORIZONS_S.items() if h < held.until_s}
    result = {
        "seconds": held.until_s,
        "mean": free.mean_cores(),
        "evictions": lives.evictions,
        "survival": {name: lives.survival(h) for name, h in shown.items()},
        "stays": {name: free.mean_cores(h) for name, h in shown.items()},
    }
    if as_json:
        click.echo(json.dumps(result))
        return
    click.echo(
        f"{held.until_s / 86400:.2f} days, {result['mean']:.2f} on average, "
        f"{lives.evictions} taken away"
    )
    for name, h in shown.items():
        click.echo(f"  {name:>5}: {lives.survival(h):.1%} survive, {free.mean_cores(h):.2f} stay")
