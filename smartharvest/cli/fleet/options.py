"""Options that several commands of ``fleet`` have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from smartharvest.fleet.sources import FORMATS

Command = TypeVar("Command", bound=Callable[..., Any])


def shown_option(
    name: str, default: Any, metavar: str, text: str, **more: Any
) -> Callable[[Command], Command]:
    """An option whose help has its default; ``more`` goes to click."""
    return click.option(
        name, default=default, show_default=True, metavar=metavar, help=text, **more
    )


trace_option = click.option(
    "--trace", required=True, metavar="FORMAT:FILE", help=f"The allocations: {FORMATS}."
)
nodes_option = click.option(
    "--nodes", required=True, metavar="SHAPE|FILE",
    help="The cluster: 32x64c256g (32 nodes of 64 cores and 256 GiB), or a table of nodes.",
)  # fmt: skip
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Of everything random."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
