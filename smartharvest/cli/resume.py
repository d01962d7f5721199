"""``smartharvest resume``: lend again."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agents, group_option
from smartharvest.cli.command_group import examples


@click.command(epilog=examples("smartharvest resume"))
@agent_options
@group_option
def resume(pid: int | None, group: str | None, **options: Any) -> None:
    """End a pause or an eviction, of every agent or the one with --pid.

    Without --group those of single groups end as well.
    """
    for agent, answer in ask_agents(options, pid, "resume", group=group):
        if group is not None:
            done = f"resumed: {group}" if answer["was_held"] else f"{group} was not held"
        elif answer["was_paused"]:
            done = "resumed: the agent lends again"
        else:
            done = "nothing was paused"
        click.echo(f"{done} (pid {agent})")
