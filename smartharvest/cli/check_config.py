"""``smartharvest check-config``: every mistake in a configuration at once."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import examples
from smartharvest.config.loading import collect_settings
from smartharvest.errors import ConfigError


@click.command(
    "check-config",
    epilog=examples(
        "smartharvest check-config /etc/smartharvest.toml",
        "smartharvest check-config --host /etc/smartharvest.toml",
    ),
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--host", is_flag=True, help="Show what an agent would find and write here, too.")
@click.option("--json", "as_json", is_flag=True, help="With --host: print the plan as JSON.")
def check_config(file: str, host: bool, as_json: bool) -> None:
    """List the mistakes in the configuration FILE and its drop-ins, or in a directory of them.

    Prints a line per mistake (FILE:LINE: key: what is wrong; what to do) and exits with 2 if there
    is one. What only this host makes odd is a line that begins with `warning:`, and no mistake.
    Needs no rights and reads no cgroup, unless --host is given: then the exit code says whether an
    agent would start, as with `agent --plan`.
    """
    effective, problems = collect_settings({}, file)
    lines = [str(problem) for problem in problems]
    if effective is not None:
        try:
            effective.settings.require_targets()
        except ConfigError as error:
            lines.append(f"{file}: {error}")
    for line in lines:
        click.echo(" ".join(line.split()))
    if lines:
        raise ConfigError(f"{file}: {len(lines)} problem{'s'[: len(lines) > 1]}")
    assert effective is not None
    if host:
        from smartharvest.agent.plan import make_plan
        from smartharvest.cli.plan_text import show_plan

        plan = make_plan(effective.settings)
        plan.warnings[:0] = map(str, effective.warnings)
        show_plan(plan, as_json)
        return
    for warning in effective.warnings:
        click.echo(f"warning: {warning}")
    click.echo(f"{file}: good")
