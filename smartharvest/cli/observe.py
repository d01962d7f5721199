"""``smartharvest observe``: what does my service need?"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from smartharvest.agent.observation import Observation
from smartharvest.agent.observation import observe as watch
from smartharvest.cli.settings_options import settings_from, settings_options


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0.1), default=10, show_default=True,
              metavar="N", help="How long to watch.")  # fmt: skip
@settings_options(
    "primary", "cores", "sensor", "waits", "accounting", "events", "window", "poll", "cgroup_root"
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def observe(seconds: float, as_json: bool, **options: Any) -> None:
    """Watch the primary and tell its demand, peaks and waits. Changes nothing on the host."""
    observation = watch(settings_from(options), seconds)
    click.echo(json.dumps(asdict(observation)) if as_json else format_observation(observation))


def format_observation(seen: Observation) -> str:
    """The figures in words, and the windows' peaks as bars."""
    lines = [
        f"watched {seen.seconds:.1f} s with {seen.sensor} ({seen.sensor_reason}), "
        f"which took {seen.sensor_cpu:.2%} of one core",
        f"busy {seen.mean_busy:.2f} of {seen.total} cores on average, peak {seen.peak_busy}; "
        f"demand {seen.mean_demand:.2f}, peak {seen.peak_demand}",
    ]
    if seen.wait_us["p50"] is not None:
        lines.append(
            f"{seen.dispatches} dispatches waited {seen.wait_us['p50']:.1f} us (p50), "
            f"{seen.wait_us['p99']:.1f} us (p99), {seen.wait_us['max']:.1f} us (max)"
        )
    else:
        mean = "" if seen.wait_mean_us is None else f" waited {seen.wait_mean_us:.1f} us on average"
        lines.append(
            f"{seen.dispatches} dispatches{mean} ({seen.wait_source}); "
            "how long each waited only bpf can tell"
        )
    windows = sum(seen.window_peaks.values())
    lines.append("peaks of the windows:")
    for peak, count in seen.window_peaks.items():
        bar = "#" * max(1, round(40 * count / windows))
        lines.append(f"  {peak:4d} cores {count / windows:6.1%} {bar}")
    return "\n".join(lines)
