"""``--since`` and ``--until`` of the commands that read an audit log."""

from __future__ import annotations

import time
from datetime import datetime

import click

from smartharvest.config.durations import parse_duration_ns
from smartharvest.errors import ConfigError


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
            f"--{parameter.name}: {text!r} is neither a duration ago (10min, 2h, 1d) nor a date "
            "and time (2026-05-01 12:00:00)"
        ) from None


since_option = click.option(
    "--since",
    metavar="TIME",
    callback=_moment,
    help="From this time on: a duration ago (10min, 2h, 1d), or '2026-05-01 12:00:00'.",
)
until_option = click.option("--until", metavar="TIME", callback=_moment, help="Up to this time.")
