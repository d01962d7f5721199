"""``smartharvest restore``: put the host back, however the last agent ended."""

from __future__ import annotations

import os
from typing import Any

import click

from smartharvest.cli.agent_request import ORPHANED, NotThere, places
from smartharvest.cli.command_group import examples
from smartharvest.cli.settings_options import settings_options
from smartharvest.config.on_death import is_followed, leaves_minimum
from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.recovery import RecoveryReport, recover, shrink
from smartharvest.printable import printable, shortened


@click.command(
    epilog=examples("smartharvest restore", "smartharvest restore --state-dir /run/smartharvest")
)
@settings_options("cgroup_root", "state_dir")
@click.option(
    "--for-service",
    is_flag=True,
    help="For ExecStopPost=: where on_death is minimum and $SERVICE_RESULT says that another agent "
    "is started, leave the elastic group its minimum.",
)
def restore(for_service: bool, **options: Any) -> None:
    """Put back what killed agents have left behind.

    Looks at every state directory that agents of this machine use, or at the one of --state-dir or
    --config. Reads only the journals, leaves running agents alone, and does nothing if nothing is
    left. Exit codes: 0 nothing is left, 4 not everything could be put back, 9 a damaged journal.
    """
    where = places(options, "cgroup_root", "on_death")
    if for_service and is_followed(os.environ):
        where = [place for place in where if not _shrunk(place)]
    reports = []
    refused: RightsError | None = None
    for place in where:
        try:
            tree = CgroupTree.discover(place.get("cgroup_root"))
            reports.append(recover(tree.files, place["state_dir"]))
        except RightsError as error:
            refused = error
            continue
        _show(reports[-1])
    if refused is not None:
        raise SmartHarvestError(str(refused))
    damaged = [error for report in reports for error in report.damaged]
    failed = [line for report in reports for line in report.failed]
    if failed:
        raise NotThere(f"not everything could be put back: {shortened(failed)}", ORPHANED)
    if damaged:
        raise damaged[0]
    if not any(report.restored or report.discarded or report.live for report in reports):
        click.echo("nothing to restore")


def _shrunk(place: dict[str, str]) -> bool:
    """Whether this place is left at the minimum for the next agent, as it then is."""
    if not leaves_minimum(place.get("on_death", "auto"), os.environ):
        return False
    try:
        tree = CgroupTree.discover(place.get("cgroup_root"))
        refused = shrink(tree.files, place["state_dir"])
    except SmartHarvestError as error:
        refused = [str(error)]
    for line in refused:
        click.echo(f"smartharvest: {printable(line)}; putting everything back instead", err=True)
    return not refused


def _show(report: RecoveryReport) -> None:
    lines = [
        *(f"put back: {line}" for line in report.restored),
        *(f"left alone: {line}" for line in report.left),
        *(f"discarded: {path} (from before the last boot)" for path in report.discarded),
        *(
            f"left alone: the agent with pid {pid} is running; end it with kill {pid}"
            for pid in report.live
        ),
    ]
    for line in lines:
        click.echo(printable(line))
