"""``smartharvest resume``: lend again."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agents
from smartharvest.cli.command_group import examples


@click.command(epilog=examples("smartharvest resume"))
@agent_options
def resume(pid: int | None, **options: Any) -> None:
    """End a pause or an eviction, of every agent or the one with --pid."""
    for agent, answer in ask_agents(options, pid, "resume"):
        done = "resumed: the agent lends again" if answer["was_paused"] else "nothing was paused"
        click.echo(f"{done} (pid {agent})")
