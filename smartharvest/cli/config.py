"""``smartharvest config`` and ``smartharvest check-config``."""

from __future__ import annotations

import json
from typing import Any

import click

from smartharvest.cli.command_list import CommandList
from smartharvest.cli.settings_options import effective_from, settings_options
from smartharvest.config.settings import collect_settings
from smartharvest.config.text import effective_document, effective_text, example_text
from smartharvest.errors import ConfigError


@click.group(cls=CommandList)
def config() -> None:
    """Show an example of the configuration file, or the settings in force."""


@config.command()
def example() -> None:
    """Print a configuration file with every setting documented."""
    click.echo(example_text(), nl=False)


@config.command()
@settings_options()
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def show(as_json: bool, **options: Any) -> None:
    """Print the settings that an agent with these flags has, and where each comes from."""
    effective = effective_from(options)
    if as_json:
        click.echo(json.dumps(effective_document(effective), indent=2))
    else:
        click.echo(effective_text(effective), nl=False)


@click.command("check-config")
@click.argument("file", metavar="FILE", type=click.Path())
def check_config(file: str) -> None:
    """Tell all that is wrong with a configuration file, with its drop-ins or a directory of them.

    Prints a line per problem (FILE:LINE: key: what is wrong; what to do) and exits with 2 if there
    is any. Needs no rights and looks at no cgroup.
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
    click.echo(f"{file}: good")
