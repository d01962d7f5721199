"""``smartharvest serverless cost``: how many cores one budget buys."""

from __future__ import annotations

import dataclasses
import json

import click

from smartharvest.errors import ConfigError


@click.command()
@click.option("--harvest-share", "shares", default="0,0.25,0.5,0.75,0.9,1", show_default=True,
              metavar="S,S...", help="Shares of the cores on Harvest VMs, 0 to 1.")  # fmt: skip
@click.option("--evictions-per-day", "evictions", default="0,0.016,1,24", show_default=True,
              metavar="N,N...", help="Of one Harvest VM; 0.016 is one in 61.5 days.")  # fmt: skip
@click.option("--evictable-discount", type=float, default=0.7, show_default=True, metavar="SHARE",
              help="How much cheaper an evictable core is than a regular one.")  # fmt: skip
@click.option("--harvested-price", type=float, default=0.5, show_default=True, metavar="ALPHA",
              help="A harvested core's price, of an evictable one's.")  # fmt: skip
@click.option("--min-cores", type=float, default=1.0, show_default=True, metavar="N",
              help="Cores that a Harvest VM keeps.")  # fmt: skip
@click.option("--cores", type=float, default=8.2, show_default=True, metavar="N",
              help="Cores that it has on average.")  # fmt: skip
@click.option("--recovery", "recovery_s", type=float, default=300.0, show_default=True,
              metavar="S", help="Time without its cores after an eviction.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def cost(
    shares: str,
    evictions: str,
    evictable_discount: float,
    harvested_price: float,
    min_cores: float,
    cores: float,
    recovery_s: float,
    as_json: bool,
) -> None:
    """Print the cores that one regular core's budget buys, by Harvest share and eviction rate."""
    from smartharvest.serverless.price import Prices, table

    prices = Prices(evictable_discount=evictable_discount, harvested_price=harvested_price)
    if not recovery_s >= 0.0:
        raise ConfigError(f"recovery: {recovery_s:g} s must be 0 or more")
    rates = _numbers(evictions, "evictions-per-day")
    rows = table(
        prices, _numbers(shares, "harvest-share"), rates,
        min_cores=min_cores, cores=cores, recovery_s=recovery_s,
    )  # fmt: skip
    if as_json:
        document = {
            "prices": dataclasses.asdict(prices),
            "resources": [dataclasses.asdict(row) for row in rows],
        }
        click.echo(json.dumps(document))
        return
    click.echo("cores for one regular core's price")
    click.echo("harvested  " + "  ".join(f"{rate:>8g}/day" for rate in rates))
    for i in range(0, len(rows), len(rates)):
        cells = "  ".join(f"{row.cores:>12.2f}" for row in rows[i : i + len(rates)])
        click.echo(f"{rows[i].harvest_share:>9.0%}  {cells}")


def _numbers(text: str, flag: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"--{flag}: {text!r} is no list of numbers; write 0,0.5,1") from None
