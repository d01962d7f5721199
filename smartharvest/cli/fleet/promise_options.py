"""Options of the commands of ``fleet`` that promise."""

from __future__ import annotations

import click

from smartharvest.config.durations import parse_duration_ns
from smartharvest.errors import ConfigError


def spans(
    _context: click.Context, parameter: click.Parameter, text: str | None
) -> list[float] | None:
    """Seconds of ``1h,1d,7d``, ascending."""
    if text is None:
        return None
    found = {parse_duration_ns(part, parameter.opts[0]) / 1e9 for part in text.split(",")}
    if not found:
        raise ConfigError(f"{parameter.opts[0]}: {text!r} is no list of durations; write 1h,1d,7d")
    return sorted(found)


def span(_context: click.Context, parameter: click.Parameter, text: str) -> float:
    return 0.0 if text == "0" else parse_duration_ns(text, parameter.opts[0]) / 1e9


def share(_context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 < value < 1:
        raise ConfigError(f"{parameter.opts[0]}: {value:g}: write a share between 0 and 1")
    return value


horizon_option = click.option(
    "--horizon", "horizons", metavar="LIST", callback=spans,
    help="Durations such as 1h,1d,7d; all that the trace is long enough for, from 1h to 30d.",
)  # fmt: skip
place_option = click.option(
    "--place", default="best-fit", show_default=True, metavar="WAY",
    help="How regular VMs are placed, as in fleet simulate.",
)  # fmt: skip
memory_option = click.option(
    "--memory", "memory_gib", type=click.FloatRange(0), default=0.0, show_default=True,
    metavar="GIB", help="Memory of each Harvest VM; 0: only cores are counted.",
)  # fmt: skip
minimum_option = click.option(
    "--min", "minimum", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True,
    metavar="CORES", help="Cores that each Harvest VM has at least.",
)  # fmt: skip
