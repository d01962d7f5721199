"""``smartharvest beat``: count units of work from a shell script."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import examples
from smartharvest.errors import RightsError
from smartharvest.telemetry.heartbeat import Heartbeat

EPILOG = examples("smartharvest beat /run/batch/beats", "smartharvest beat /run/batch/beats 25")


@click.command(epilog=EPILOG)
@click.argument("page", metavar="FILE")
@click.argument("count", type=click.IntRange(0, 2**32), default=1)
def beat(page: str, count: int) -> None:
    """Add COUNT heartbeats (1 unless given) to FILE, which an [[elastic]] group names.

    FILE is made if it is not there. The agent takes beats a second as the group's throughput.
    """
    try:
        with Heartbeat(page) as counted:
            counted.beat(count)
    except OSError as error:
        raise RightsError(
            f"{page}: beats cannot be counted there: {error.strerror}; name a file you may write"
        ) from None
