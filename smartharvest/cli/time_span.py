"""Options that are spans of time: ``--seconds``, ``--since`` and ``--until``."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from smartharvest.config.durations import UNITS, parse_duration_ns
from smartharvest.errors import ConfigError


def seconds_between(
    least_s: float, most_s: float = 366 * 86400.0
) -> Callable[[click.Context, click.Parameter, Any], float | None]:
    """A callback that takes seconds, or a duration with its unit: ``90``, ``5min``, ``2h``."""

    def parse(ctx: click.Context, param: click.Parameter, value: Any) -> float | None:
        if value is None:
            return None
        text = str(value).strip()
        try:
            seconds = float(text) if text[-1:].isdigit() else parse_duration_ns(text, "") / 1e9
        except (ValueError, ConfigError):
            why = f"{text!r} is no time; write seconds, or a number and one of {UNITS}"
            raise click.BadParameter(why, ctx, param) from None
        if not least_s <= seconds <= most_s:
            most = f"{most_s:g}s" if most_s < 86400 else f"{most_s / 86400:g}d"
            why = f"{text} is not within {least_s:g}s and {most}"
            raise click.BadParameter(why, ctx, param)
        return seconds

    return parse


def _moment(_context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """Seconds since 1970 of ``10min`` (ago) or ``2026-05-01 12:00:00``."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        pass
    try:
        return time.time() - parse_duration_ns(text, "time") / 1e9
    except ConfigError:
        raise ConfigError(
            f"--{parameter.name}: {text!r} is neither a duration ago (10min, 2h, 1d; units are "
            f"{UNITS}) nor a date and time (2026-05-01 12:00:00)"
        ) from None


since_option = click.option(
    "--since",
    metavar="TIME",
    callback=_moment,
    help="From this time on: a duration ago (10min, 2h, 1d), or '2026-05-01 12:00:00'.",
)
until_option = click.option("--until", metavar="TIME", callback=_moment, help="Up to this time.")
