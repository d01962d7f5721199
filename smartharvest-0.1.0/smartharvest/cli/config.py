"""``smartharvest config``: an example of the configuration file, and the settings in force."""

from __future__ import annotations

import json
from typing import Any

import click

from smartharvest.cli.command_group import CommandGroup
from smartharvest.cli.settings_options import SettingsCommand, effective_from, settings_options
from smartharvest.config.text import effective_document, effective_text, example_text


@click.group(cls=CommandGroup)
def config() -> None:
    """Show an example of the configuration file, or the settings in force."""


@config.command()
def example() -> None:
    """Print a configuration file with every setting documented."""
    click.echo(example_text(), nl=False)


@config.command(cls=SettingsCommand)
@settings_options()
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def show(as_json: bool, **options: Any) -> None:
    """Print the settings of an agent with these flags, and where each comes from."""
    effective = effective_from(options)
    if as_json:
        click.echo(json.dumps(effective_document(effective), indent=2))
    else:
        click.echo(effective_text(effective), nl=False)
