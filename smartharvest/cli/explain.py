"""``smartharvest explain``: what was lent, and why not more."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import agent_options, ask_agent
from smartharvest.cli.command_group import examples
from smartharvest.cli.time_span import since_option, until_option
from smartharvest.errors import ConfigError
from smartharvest.printable import printable
from smartharvest.telemetry.audit import between, read_audit
from smartharvest.telemetry.story import describe, describe_decision

EPILOG = examples(
    "smartharvest explain /var/log/smartharvest/audit.jsonl --since 10min",
    "smartharvest explain --capacity",
)


@click.command(epilog=EPILOG)
@click.argument("file", metavar="[AUDIT.jsonl]", type=click.Path(), required=False)
@since_option
@until_option
@click.option("--every", is_flag=True, help="Print a line for each decision.")
@click.option("--capacity", is_flag=True, help="Explain how many cores the running agent promises.")
@agent_options
def explain(
    file: str | None,
    since: float | None,
    until: float | None,
    every: bool,
    capacity: bool,
    pid: int | None,
    **options: Any,
) -> None:
    """Explain in words what was lent in a time span, and why not more."""
    if capacity:
        from smartharvest.agent.promise import explain_capacity  # NumPy

        for line in explain_capacity(ask_agent(options, pid, "capacity")):
            click.echo(line)
        return
    if file is None:
        raise ConfigError("explain: name the audit log, or give --capacity")
    records = between(read_audit(file), since, until)
    if every:
        lines = (describe_decision(record) for record in records if record["kind"] == "decision")
    else:
        lines = (line for line in describe(records))
    empty = True
    for line in lines:
        empty = False
        click.echo(printable(line))
    if empty:
        some = since is not None or until is not None
        nothing = "nothing happened in that time" if some else f"{file}: nothing is in it yet"
        click.echo('no single decision; audit_level = "decisions" notes each' if every else nothing)
