"""``smartharvest restart``: replace the running agent without giving the host back."""

from __future__ import annotations

import time
from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agent
from smartharvest.cli.command_group import examples
from smartharvest.errors import ConfigError, SmartHarvestError

LONGEST_S = 40.0
"""How long the new program may take to report: its trial, then its start."""


@click.command(epilog=examples("smartharvest restart"))
@agent_options
def restart(pid: int | None, **options: Any) -> None:
    """Replace the running agent by the program installed now; it reads its configuration again.

    The host stays arranged meanwhile: the elastic group keeps its minimum until the new program
    lends. If the new program does not start, the old one goes on.
    """
    ask_agent(options, pid, "restart")
    began_s = time.monotonic()
    while time.monotonic() - began_s < LONGEST_S:
        time.sleep(0.1)
        try:
            status = ask_agent(options, pid, "status")
        except SmartHarvestError:  # between the two programs none answers
            continue
        if refused := status["agent"]["restart_refused"]:
            raise ConfigError(refused)
        if status["seconds"] < time.monotonic() - began_s:  # the old one has run for longer
            click.echo(f"restarted: version {status['version']}, pid {status['pid']}")
            return
    raise SmartHarvestError(f"restart: no new program has reported within {LONGEST_S:.0f} s")
