"""``smartharvest lab demo``: six ways for a server and a batch to share this machine.

Without the rights for that, the server is simulated.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
from types import FrameType

import click

from smartharvest.cli.time_span import seconds_between

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command()
@click.option("--seconds", callback=seconds_between(1), default="60", show_default=True,
              metavar="N", help="Total time of the run.")  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True,
              help="Seed of the traffic and of the order.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.pass_obj
def demo(obj: dict[str, bool], seconds: float, seed: int, as_json: bool) -> None:
    """Lend cores on this machine for about a minute, and show gain and cost.

    Creates its own groups, starts a latency-sensitive server (with its load generator) in the
    primary and a CPUBully in the elastic group, compares six ways to share the cores in
    interleaved rounds, and removes everything again. Without root or writable cgroups the same
    traffic and policies run on a simulated server.
    """
    from smartharvest.lab.demo.groups import demo_groups, why_not_here
    from smartharvest.lab.demo.phases import plan_rounds
    from smartharvest.lab.demo.run import run_demo
    from smartharvest.lab.demo.simulated import run_simulated_demo
    from smartharvest.lab.demo.standstill import Standstills
    from smartharvest.lab.demo.table import format_table

    whole_s = int(seconds)
    plan_rounds(whole_s)  # refuses too few before anything is created
    if not obj["debug"]:
        logging.getLogger().setLevel(logging.WARNING)  # its many short runs log the same lines
    for number in ENDING:
        signal.signal(number, _end)

    def progress(line: str) -> None:
        print(f"demo: {line}", file=sys.stderr, flush=True)

    reason = why_not_here()
    if reason is None:
        with demo_groups() as bench:
            document = run_demo(
                bench, Standstills(bench.cpus), seconds=whole_s, seed=seed, progress=progress
            )
    else:
        progress(f"{reason}: using a simulated server")
        document = run_simulated_demo(seconds=whole_s, seed=seed, reason=reason, progress=progress)
    click.echo(json.dumps(document) if as_json else format_table(document))


def _end(_number: int, _frame: FrameType | None) -> None:
    """Runs once: the next signal must not interrupt the cleanup."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise click.Abort
