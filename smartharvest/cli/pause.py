"""``smartharvest pause``: lend nothing for a while."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agent


@click.command()
@agent_options
def pause(pid: int | None, **options: Any) -> None:
    """Take back all lent cores until resume.

    The elastic group keeps its minimum; see evict.
    """
    ask_agent(options, pid, "pause")
    click.echo("paused: nothing is lent until smartharvest resume")
