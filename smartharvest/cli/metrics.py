"""``smartharvest metrics``: every agent's metrics, once or into a file for node_exporter."""

from __future__ import annotations

import time
from typing import Any

import click

from smartharvest.cli.agent_request import find_agents
from smartharvest.cli.command_group import examples
from smartharvest.cli.settings_options import settings_options
from smartharvest.cli.time_span import seconds_between
from smartharvest.errors import RightsError
from smartharvest.telemetry.client import NoAgent, ask_patiently, lives
from smartharvest.telemetry.protocol import ProtocolError

EPILOG = examples(
    "smartharvest metrics",
    "smartharvest metrics --textfile /var/lib/prometheus/node-exporter/smartharvest.prom",
)


@click.command(epilog=EPILOG)
@settings_options("state_dir")
@click.option("--textfile", "path", metavar="FILE",
              help="Write them to FILE for node_exporter's textfile collector.")  # fmt: skip
@click.option("--every", callback=seconds_between(1), metavar="TIME",
              help="Do so again and again, until ctrl-C.")  # fmt: skip
def metrics(path: str | None, every: float | None, **options: Any) -> None:
    """Print the metrics of every agent of this host, each with the label primary.

    Unlike the agents' own port this also tells how many agents there are, and how many killed ones
    have left something. Needs prometheus_client: pip install 'smartharvest[metrics]'.
    """
    from smartharvest.telemetry.output_file import write_whole
    from smartharvest.telemetry.textfile import textfile

    while True:
        text = textfile(*_look(options))
        if path is None:
            click.echo(text, nl=False)
        else:
            write_whole(path, text.encode(), mode=0o644)
        if every is None:
            return
        time.sleep(every)


def _look(options: dict[str, Any]) -> tuple[list[dict[str, Any]], int, int]:
    """(status of those that answer, how many do not, how many killed ones have left something)."""
    found = find_agents(options)
    answers: list[dict[str, Any]] = []
    silent = 0
    for path in found.sockets:
        try:
            answers.append(ask_patiently(path, "status", {}))
        except NoAgent:
            silent += lives(path)
        except (RightsError, TimeoutError, ProtocolError):
            silent += 1
    return answers, silent, len(found.orphans)
