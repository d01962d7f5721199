"""``smartharvest lab replay``: what each policy would have lent on a recorded host."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from smartharvest.algorithm.policy import POLICY_NAMES, check_policy
from smartharvest.cli.command_group import examples
from smartharvest.cli.progress import Progress
from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.lab.trace.comparison import draw, table
from smartharvest.lab.trace.reader import TraceReader
from smartharvest.lab.trace.replay import replay as play

DEFAULT_POLICIES = (
    "no-harvest",
    "fixed-buffer:1",
    "fixed-buffer:2",
    "prev-peak",
    "prev-peak:10",
    "smartharvest",
)


@click.command(
    epilog=examples("smartharvest lab replay web.trace --policy smartharvest --plot web.png")
)
@click.argument("trace", type=click.Path(dir_okay=False))
@click.option("--policy", "policies", multiple=True, metavar="POLICY",
              help=f"May be repeated: {', '.join(POLICY_NAMES)}.  "
                   f"[default: {' '.join(DEFAULT_POLICIES)}]")  # fmt: skip
@click.option("--partial", is_flag=True, help="Read what there is of a trace without its end.")
@click.option("--plot", metavar="FILE", help="Draw the comparison into a PNG (needs matplotlib).")
@settings_options(
    "window",
    "poll",
    "keep_idle",
    "max_harvest",
    "cost",
    "safeguard",
    "learner",
    "features_after_exhaustion",
    "exhausted_windows",
    "label",
    "accounting",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def replay(
    trace: str,
    policies: tuple[str, ...],
    partial: bool,
    plot: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare policies on TRACE, a recording of `smartharvest record`.

    Runs the agent's own loop and policies in virtual time. A trace does not show what lending would
    have done to the service: "short" is how often it would have had to wait for cores.
    """
    for policy in policies:
        check_policy(policy)
    settings = settings_from(options)
    with TraceReader(trace, partial=partial) as reader:
        with Progress("replayed seconds", wanted=not as_json) as progress:
            played = play(reader, policies or DEFAULT_POLICIES, settings, progress=progress)
        if plot is not None:
            draw(played, reader, plot)
        if as_json:
            document = {
                "trace": asdict(reader.header),
                "seconds": reader.seconds,
                "missing": reader.missing,
                "policies": [asdict(one.outcome) for one in played],
            }
            click.echo(json.dumps(document))
        else:
            click.echo(table(played, reader))
