"""``smartharvest check-config``: every mistake in a configuration at once."""

from __future__ import annotations

import click

from smartharvest.config.loading import collect_settings
from smartharvest.errors import ConfigError


@click.command("check-config")
@click.argument("file", metavar="FILE", type=click.Path())
def check_config(file: str) -> None:
    """List the mistakes in the configuration FILE and its drop-ins, or in a directory of them.

    Prints a line per mistake (FILE:LINE: key: what is wrong; what to do) and exits with 2 if there
    is one. What only this host makes odd is a line that begins with `warning:`, and no mistake.
    Needs no rights and reads no cgroup.
    """
    effective, problems = collect_settings({}, file)
    lines = [str(problem) for problem in problems]
    if effective is not None:
        try:
            effective.settings.require_targets()
        except ConfigError as error:
            lines.append(f"{file}: {error}")
    for line in lines:
        click.echo(" ".join(line.split()))
    if lines:
        raise ConfigError(f"{file}: {len(lines)} problem{'s'[: len(lines) > 1]}")
    assert effective is not None
    for warning in effective.warnings:
        click.echo(f"warning: {warning}")
    click.echo(f"{file}: good")
