"""``smartharvest fleet cost``: what a useful core costs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import json_option, shown_option
from smartharvest.cli.time_span import seconds_between
from smartharvest.errors import ConfigError
from smartharvest.fleet.cost import EXTRA_CORES, Simulated, Terms, of_simulation
from smartharvest.fleet.cost import cost as cost_of

EPILOG = examples(
    "smartharvest fleet cost --alpha 0.5 --extra-cores 7.2",
    "smartharvest fleet simulate --trace openb:pods.csv.gz --nodes 24x32c128g --json >one.json",
    "smartharvest fleet cost --alpha 0.5 --simulated one.json --recovery 5min",
)
_DEFAULT = Terms()


def _numbers(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"--extra-cores: {text!r} is no number, nor are several: 3,7.2") from None


@click.command(epilog=EPILOG)
@shown_option(
    "--alpha",
    _DEFAULT.alpha,
    "SHARE",
    "Price of an additional core, as a share of an evictable one.",
    type=float,
)
@click.option(
    "--extra-cores",
    callback=_numbers,
    metavar="N[,N...]",
    help="Cores of a Harvest VM beyond its minimum; one number a cluster. "
    f"[default: {EXTRA_CORES:g}]",
)
@click.option(
    "--simulated",
    multiple=True,
    metavar="FILE",
    help="Take all from what fleet simulate --json printed; one a cluster.",
)
@shown_option(
    "--evictable-price", _DEFAULT.evictable_price, "P", "Of an evictable core-hour.", type=float
)
@shown_option("--regular-price", _DEFAULT.regular_price, "P", "Of a regular core-hour.", type=float)
@click.option(
    "--minimum",
    type=float,
    metavar="N",
    help=f"Cores a Harvest VM always has. [default: {_DEFAULT.minimum:g}, or as simulated]",
)
@shown_option(
    "--recovery",
    "5min",
    "TIME",
    "What an eviction costs, with --simulated.",
    callback=seconds_between(0.0),
)
@click.option(
    "--recovery-overhead",
    type=float,
    metavar="SHARE",
    help="Share of a Harvest VM's time that evictions cost. [default: "
    f"{_DEFAULT.recovery_overhead:g}, or as simulated]",
)
@click.option(
    "--evictable-overhead",
    type=float,
    metavar="SHARE",
    help="The same of an evictable VM. [default: 0, or as simulated]",
)
@json_option
def cost(
    extra_cores: list[float] | None, simulated: tuple[str, ...], recovery: float,
    minimum: float | None, recovery_overhead: float | None, evictable_overhead: float | None,
    as_json: bool, **prices: float,
) -> None:  # fmt: skip
    """Compute what a useful core-hour costs on Harvest, evictable and regular VMs."""
    if simulated and extra_cores is not None:
        raise ConfigError("--extra-cores, --simulated: give one of them")
    terms = replace(_DEFAULT, **prices)
    clusters = [of_simulation(_read(path), recovery, path) for path in simulated]
    if clusters:
        terms = replace(
            terms,
            minimum=_one_minimum(clusters),
            recovery_overhead=_mean(clusters, "recovery_overhead"),
            evictable_overhead=_mean(clusters, "evictable_overhead"),
        )
        extra_cores = [one.extra_cores for one in clusters]
    if minimum is not None:
        terms = replace(terms, minimum=minimum)
    if recovery_overhead is not None:
        terms = replace(terms, recovery_overhead=recovery_overhead)
    if evictable_overhead is not None:
        terms = replace(terms, evictable_overhead=evictable_overhead)
    result = cost_of(terms, [EXTRA_CORES] if extra_cores is None else extra_cores)
    click.echo(json.dumps(result) if as_json else _in_words(result))


def _one_minimum(clusters: list[Simulated]) -> float:
    found = {one.minimum for one in clusters}
    if len(found) > 1:
        several = ", ".join(f"{one:g}" for one in sorted(found))
        raise ConfigError(
            f"--simulated: Harvest VMs of {several} cores at least; give one of them by itself"
        )
    return found.pop()


def _mean(clusters: list[Simulated], name: str) -> float:
    return float(sum(getattr(one, name) for one in clusters) / len(clusters))


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{path}: is no JSON; give the file of fleet simulate --json") from None


def _in_words(result: dict[str, Any]) -> str:
    return "\n".join(
        (
            f"a useful core-hour costs {result['price_per_useful_core']:.4f} on Harvest VMs with "
            f"{result['extra_cores']:.1f} additional cores, α = {result['alpha']:g}",
            f"on evictable VMs {result['evictable_price_per_useful_core']:.4f}: "
            f"{_saved(result['saving_vs_evictable'])}",
            f"on regular VMs {result['regular_price']:.4f}: {_saved(result['saving_vs_regular'])}",
        )
    )


def _saved(share: float) -> str:
    percent = round(100 * share)
    return f"{percent}% are saved" if percent >= 0 else f"it is {-percent}% more"
