"""``smartharvest pause``: lend nothing for a while."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agents
from smartharvest.cli.command_group import examples


@click.command(epilog=examples("smartharvest pause", "smartharvest pause --pid 14219"))
@agent_options
def pause(pid: int | None, **options: Any) -> None:
    """Take back all lent cores until resume.

    The elastic group keeps its minimum; see evict. Without --pid it is every agent. Exit codes:
    0 done, 3 no agent runs, 4 an agent was killed and left its batch confined.
    """
    for agent, _ in ask_agents(options, pid, "pause"):
        click.echo(f"paused: nothing is lent until smartharvest resume (pid {agent})")
