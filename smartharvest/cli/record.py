"""``smartharvest record``: keep what a service does, to try policies on it later."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from typing import Any

import click

from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.lab.trace.recording import Recording
from smartharvest.lab.trace.recording import record as record_host


@click.command()
@click.argument("out", type=click.Path(dir_okay=False))
@click.option("--seconds", type=click.FloatRange(min=0.1), metavar="S",
              help="How long to record.  [default: until ctrl-C]")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@settings_options("primary", "cores", "sensor", "poll", "pacing", "realtime", "cgroup_root")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def record(out: str, seconds: float | None, overwrite: bool, as_json: bool, **options: Any) -> None:
    """Record the primary's busy cores and demand into OUT. Changes nothing else on the host.

    Nothing is lent meanwhile. Ends after --seconds, or on SIGINT or SIGTERM, with a whole trace;
    a recorder that is killed leaves one that `replay --partial` reads.
    """
    stops: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: stops.append(got))
    recording = record_host(
        settings_from(options), out, seconds, overwrite=overwrite, stopped=lambda: bool(stops)
    )
    click.echo(json.dumps(asdict(recording)) if as_json else format_recording(recording))


def format_recording(done: Recording) -> str:
    """The figures in words."""
    late = done.lateness_us
    lines = [
        f"recorded {done.seconds:.1f} s with {done.sensor} ({done.sensor_reason}) into "
        f"{done.path}: {done.bytes:,} bytes, {done.changes} changes",
        f"busy {done.mean_busy:.2f} of {done.cores} cores on average; {done.polls} looks, late by "
        f"{late['p50']:.0f} us (p50), {late['p99']:.0f} us (p99), {late['max']:.0f} us (max)",
        f"the recorder took {done.cpu:.1%} of one core",
    ]
    if done.gaps:
        lost = f", {done.lost} changes were not written in time" if done.lost else ""
        lines.append(f"{done.gaps} times nobody looked for a while{lost}: replays pass over it")
    return "\n".join(lines)
