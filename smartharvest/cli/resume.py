"""``smartharvest resume``: lend again."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agent


@click.command()
@agent_options
def resume(pid: int | None, **options: Any) -> None:
    """End a pause or an eviction."""
    answer = ask_agent(options, pid, "resume")
    click.echo("resumed: the agent lends again" if answer["was_paused"] else "nothing was paused")
