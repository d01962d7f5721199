"""``smartharvest pause``: lend nothing for a while."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agents, group_option
from smartharvest.cli.command_group import examples


@click.command(epilog=examples("smartharvest pause", "smartharvest pause --pid 14219"))
@agent_options
@group_option
def pause(pid: int | None, group: str | None, **options: Any) -> None:
    """Take back all lent cores until resume.

    The elastic group keeps its minimum; see evict. Without --pid it is every agent. With --group
    one of several groups keeps its minimum only, and the others get the rest. Exit codes: 0 done,
    3 no agent runs, 4 an agent was killed and left its batch confined.
    """
    for agent, _ in ask_agents(options, pid, "pause", group=group):
        if group is not None:
            click.echo(f"paused: {group}, until smartharvest resume (pid {agent})")
            continue
        click.echo(f"paused: nothing is lent until smartharvest resume (pid {agent})")
