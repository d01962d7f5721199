"""``python -m bench``: measures and prints one JSON document; progress goes to standard error."""

from __future__ import annotations

import dataclasses
import json
import signal
import sys
from pathlib import Path

import click

from bench import (
    cpuset,
    effect,
    features,
    learning,
    pacing,
    poll,
    sensors,
    simulator,
    switches,
    truth,
)
from bench.document import Measure, build_document
from bench.report import write_report
from bench.subject import FULL, QUICK
from smartharvest.errors import SmartHarvestError

SUBJECTS: dict[str, Measure] = {
    "poll": poll.measure,
    "features": features.measure,
    "learning": learning.measure,
    "pacing": pacing.measure,
    "sensors": sensors.measure,
    "switches": switches.measure,
    "truth": truth.measure,
    "cpuset": cpuset.measure,
    "effect": effect.measure,
    "simulator": simulator.measure,
}


@click.command()
@click.option("--quick", is_flag=True, help="A fifth of the samples, in well under a minute.")
@click.option("--only", multiple=True, type=click.Choice(list(SUBJECTS)), help="Only this subject.")
@click.option("--seed", default=FULL.seed, show_default=True, help="Of orders and made windows.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here, too.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page with tables and pictures.",
)
@click.option("--json", "_json", is_flag=True, help="Print JSON: the default and only format.")
def main(
    quick: bool,
    only: tuple[str, ...],
    seed: int,
    out: Path | None,
    report: Path | None,
    _json: bool,
) -> None:
    """Measure SmartHarvest on this machine, each figure beside its floor."""
    # Ended from outside, the host is still put back on the way out.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    effort = dataclasses.replace(QUICK if quick else FULL, seed=seed)
    subjects = {name: SUBJECTS[name] for name in (only or SUBJECTS)}
    try:
        document = build_document(subjects, effort, lambda line: click.echo(line, err=True))
    except SmartHarvestError as error:
        click.echo(f"bench: {error}", err=True)
        sys.exit(error.exit_code)
    text = json.dumps(document, indent=2)
    click.echo(text)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n")
    if report is not None:
        write_report(document, report)


if __name__ == "__main__":
    main()
