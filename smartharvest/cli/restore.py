"""``smartharvest restore``: put the host back, however the last agent ended."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.agent_request import ORPHANED, NotThere, places
from smartharvest.cli.settings_options import settings_options
from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.recovery import RecoveryReport, recover
from smartharvest.printable import printable, shortened


@click.command()
@settings_options("cgroup_root", "state_dir")
def restore(**options: Any) -> None:
    """Put back what killed agents have left behind.

    Looks at every state directory that agents of this machine use, or at the one of --state-dir or
    --config. Reads only the journals, leaves running agents alone, and does nothing if nothing is
    left. Exit codes: 0 nothing is left, 4 not everything could be put back, 9 a damaged journal.
    """
    where = places(options, "cgroup_root")
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
