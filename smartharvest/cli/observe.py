"""``smartharvest observe``: what does my service need?"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from smartharvest.agent.observation import Observation
from smartharvest.agent.observation import observe as watch
from smartharvest.cli.command_group import examples
from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.cli.time_span import seconds_between
from smartharvest.printable import counted, spoken_wait


@click.command(epilog=examples("smartharvest observe --primary cgroup:web --seconds 60"))
@click.option("--seconds", callback=seconds_between(0.1), default="10", show_default=True,
              metavar="TIME", help="How long to watch, such as 90 or 2h.")  # fmt: skip
@settings_options(
    "primary", "cores", "sensor", "waits", "accounting", "events", "window", "poll", "cgroup_root"
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def observe(seconds: float, as_json: bool, **options: Any) -> None:
    """Measure the demand, peaks and waits of the primary. Changes nothing on the host.

    ctrl-C ends it early, with the figures so far.
    """
    observation = watch(settings_from(options), seconds)
    click.echo(json.dumps(asdict(observation)) if as_json else format_observation(observation))


def format_observation(seen: Observation) -> str:
    """The figures in words, and the windows' peaks as bars."""
    lines = [
        f"observed {seen.seconds:.1f} s with sensor {seen.sensor} ({seen.sensor_reason}), "
        f"which took {seen.sensor_cpu:.2%} of one core",
        f"busy {seen.mean_busy:.2f} of {counted(seen.total, 'core')} on average, "
        f"peak {seen.peak_busy}; demand {seen.mean_demand:.2f}, peak {seen.peak_demand}",
    ]
    waits = [f"{spoken_wait(us)} ({name})" for name, us in seen.wait_us.items() if us is not None]
    if waits:
        lines.append(f"{seen.dispatches} dispatches waited {', '.join(waits)}")
    else:
        mean_us = seen.wait_mean_us
        mean = "" if mean_us is None else f" waited {spoken_wait(mean_us)} on average"
        lines.append(
            f"{seen.dispatches} dispatches{mean} ({seen.wait_source}); "
            "only sensor bpf measures how long each waited"
        )
    windows = sum(seen.window_peaks.values())
    lines.append("peaks of the windows:")
    for peak, count in seen.window_peaks.items():
        bar = "#" * max(1, round(40 * count / windows))
        lines.append(
            f"  {peak:4d} {'core ' if peak == 1 else 'cores'} {count / windows:6.1%} {bar}"
        )
    return "\n".join(lines)
