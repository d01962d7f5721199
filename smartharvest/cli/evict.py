"""``smartharvest evict``: take back the elastic group's minimum, too."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agent


@click.command()
@agent_options
def evict(pid: int | None, **options: Any) -> None:
    """Take back all lent cores and freeze the elastic group until resume.

    A frozen task keeps the locks it holds, in the kernel or on files.
    """
    ask_agent(options, pid, "evict")
    click.echo("evicted: the elastic group is frozen until smartharvest resume")
