"""``smartharvest restore``: put the host back, however the last agent ended."""

from __future__ import annotations

from typing import Any

import click

from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.errors import RightsError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.recovery import recover
from smartharvest.printable import shortened


@click.command()
@settings_options("cgroup_root", "state_dir")
def restore(**options: Any) -> None:
    """Put back what a killed agent has left behind.

    Reads only the journals, leaves running agents alone, and does nothing if nothing is left.
    """
    settings = settings_from(options)
    tree = CgroupTree.discover(settings.cgroup_root)
    report = recover(tree.files, settings.state_dir)
    for line in report.restored:
        click.echo(f"put back: {line}")
    for line in report.left:
        click.echo(f"left alone: {line}")
    for path in report.discarded:
        click.echo(f"discarded: {path} (from before the last boot)")
    for pid in report.live:
        click.echo(f"left alone: the agent with pid {pid} is running; end it with kill {pid}")
    if report.damaged:
        raise report.damaged[0]
    if report.failed:
        raise RightsError(f"not everything could be put back: {shortened(report.failed)}")
    if not (report.restored or report.discarded or report.live):
        click.echo("nothing to restore")
