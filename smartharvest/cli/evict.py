"""``smartharvest evict``: take back the elastic group's minimum, too."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agents, group_option
from smartharvest.cli.command_group import examples


@click.command(epilog=examples("smartharvest evict"))
@agent_options
@group_option
def evict(pid: int | None, group: str | None, **options: Any) -> None:
    """Take back all lent cores and freeze the elastic group until resume.

    A frozen task keeps the locks it holds, in the kernel or on files. Without --pid it is every
    agent's group. With --group one of several groups is frozen, and the others get its cores.
    Exit codes: 0 done, 3 no agent runs, 4 an agent was killed and left its batch confined.
    """
    for agent, _ in ask_agents(options, pid, "evict", group=group):
        if group is not None:
            click.echo(f"evicted: {group}, until smartharvest resume (pid {agent})")
            continue
        click.echo(f"evicted: its elastic group is frozen until smartharvest resume (pid {agent})")
