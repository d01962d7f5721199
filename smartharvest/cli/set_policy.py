"""``smartharvest set-policy``: decide by another policy from now on."""

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
from smartharvest.cli.values import complete_policy


@click.command("set-policy", epilog=examples("smartharvest set-policy fixed-buffer:2"))
@click.argument("policy", metavar="[POLICY]", required=False, shell_complete=complete_policy)
@click.option("--safeguard", metavar="KIND", help="conservative or aggressive.")
@reset_option
@json_option
@agent_options
def set_policy(
    policy: str | None,
    safeguard: str | None,
    reset: bool,
    as_json: bool,
    pid: int | None,
    **options: Any,
) -> None:
    """Have the running agent decide by POLICY, which goes on from what was learned.

    A reload keeps it. --reset, and a restart, sets it to what the configuration says.
    """
    chosen = {"policy": policy, "safeguard": safeguard, "reset": reset or None}
    click.echo(format_changes(ask_agent(options, pid, "set-policy", **chosen), as_json))
