"""``smartharvest set-limit``: how many cores may be lent from now on."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import (
    agent_options,
    ask_agent,
    format_changes,
    json_option,
    reset_option,
)
from smartharvest.cli.command_group import examples

EPILOG = examples(
    "smartharvest set-limit --max-harvest 4",
    "smartharvest set-limit --keep-idle 2 --pid 4711",
)


@click.command("set-limit", epilog=EPILOG)
@click.option("--max-harvest", metavar="N", help="Never lend more than N cores.")
@click.option("--keep-idle", metavar="N", help="Always leave the primary N idle cores.")
@reset_option
@json_option
@agent_options
def set_limit(
    max_harvest: str | None,
    keep_idle: str | None,
    reset: bool,
    as_json: bool,
    pid: int | None,
    **options: Any,
) -> None:
    """Change the hard limits of the running agent.

    A reload keeps them. --reset, and a restart, sets them to what the configuration says.
    """
    limits = {"max_harvest": max_harvest, "keep_idle": keep_idle, "reset": reset or None}
    click.echo(format_changes(ask_agent(options, pid, "set-limit", **limits), as_json))
