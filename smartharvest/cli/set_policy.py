"""``smartharvest set-policy``: decide by another policy from now on."""

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


@click.command("set-policy", epilog=examples("smartharvest set-policy fixed-buffer:2"))
@click.argument("policy", metavar="POLICY")
@click.option("--safeguard", metavar="KIND", help="conservative or aggressive.")
@json_option
@agent_options
def set_policy(
    policy: str, safeguard: str | None, as_json: bool, pid: int | None, **options: Any
) -> None:
    """Have the running agent decide by POLICY, which goes on from what was learned.

    A reload or a restart sets it to what the configuration says.
    """
    answer = ask_agent(options, pid, "set-policy", policy=policy, safeguard=safeguard)
    click.echo(format_changes(answer, as_json))
