"""``smartharvest lab record``: a trace of what a service does."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from typing import Any

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.cli.time_span import seconds_between
from smartharvest.lab.trace.recording import MOST_CPU_PERCENT, Recording
from smartharvest.lab.trace.recording import record as record_host
from smartharvest.printable import counted, spoken_wait


@click.command(epilog=examples("smartharvest record web.trace --primary cgroup:web --seconds 60"))
@click.argument("out", type=click.Path(dir_okay=False))
@click.option("--seconds", callback=seconds_between(0.1), metavar="TIME",
              help="How long to record, such as 90 or 2h.  [default: until ctrl-C]")  # fmt: skip
@click.option("--most-cpu", type=click.IntRange(1, 100), metavar="PERCENT",
              default=MOST_CPU_PERCENT, show_default=True,
              help="Of a CPU: it looks as often as --poll says if that takes no more. "
              "100: any share.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@settings_options("primary", "cores", "sensor", "poll", "pacing", "realtime", "cgroup_root")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def record(
    out: str,
    seconds: float | None,
    most_cpu: int,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Record the primary's busy cores and demand into OUT. Changes nothing else on the host.

    Nothing is lent meanwhile. Ends after --seconds, or on SIGINT or SIGTERM, with a complete trace;
    `lab replay --partial` reads what a killed recorder leaves.
    """
    stops: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: stops.append(got))
    recording = record_host(
        settings_from(options),
        out,
        seconds,
        most_cpu_percent=most_cpu,
        overwrite=overwrite,
        stopped=lambda: bool(stops),
    )
    click.echo(json.dumps(asdict(recording)) if as_json else format_recording(recording))


def format_recording(done: Recording) -> str:
    """The figures in words."""
    late = done.lateness_us
    lines = [
        f"recorded {done.seconds:.1f} s with sensor {done.sensor} ({done.sensor_reason}) into "
        f"{done.path}: {done.bytes:,} bytes, {counted(done.changes, 'change')}",
        f"busy {done.mean_busy:.2f} of {counted(done.cores, 'core')} on average; "
        f"{counted(done.polls, 'poll')}, late by "
        + ", ".join(f"{spoken_wait(late[name])} ({name})" for name in ("p50", "p99", "max")),
        f"the recorder used {done.cpu:.1%} of one core",
    ]
    if done.gaps:
        lost = f", {counted(done.lost, 'change')} not written in time" if done.lost else ""
        lines.append(f"{counted(done.gaps, 'gap')} without polls{lost}: replays skip them")
    return "\n".join(lines)
