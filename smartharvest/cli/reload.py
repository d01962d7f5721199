"""``smartharvest reload``: take up a changed configuration."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import (
    agent_options,
    ask_agent,
    format_changes,
    json_option,
)
from smartharvest.cli.command_group import examples


@click.command("reload", epilog=examples("smartharvest reload"))
@json_option
@agent_options
def reload_(as_json: bool, pid: int | None, **options: Any) -> None:
    """Have the running agent read its configuration again, as SIGHUP does.

    A mistake in the file changes nothing.
    """
    click.echo(format_changes(ask_agent(options, pid, "reload"), as_json))
