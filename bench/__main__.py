"""``python -m bench``: measures and prints one JSON document; progress goes to standard error."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType

import click

from bench import result_file
from bench.compare import main as compare_command
from bench.crowds import crowds as crowds_command
from bench.document import build_document
from bench.machine import shortcomings
from bench.page import main as page_command
from bench.progress import Terminal, clock
from bench.registry import NAMES, find_subject
from bench.subject import QUICK_ROUNDS, ROUNDS, Effort

FULL_S, QUICK_S = 540.0, 100.0
"""Of ten minutes and of two, less what starting and drawing take."""


@click.group(invoke_without_command=True)
@click.option("--quick", is_flag=True, help=f"Fewer rounds and samples, {clock(QUICK_S)} minutes.")
@click.option("--minutes", type=float, help=f"Time for all together.  [default: {FULL_S / 60:g}]")
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Only this subject.")
@click.option("--seed", default=1, show_default=True, help="Of orders and made windows.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here, too.")
@click.option("--json", "_json", is_flag=True, help="Print JSON: the default and only format.")
@click.pass_context
def main(
    context: click.Context,
    quick: bool,
    minutes: float | None,
    only: tuple[str, ...],
    seed: int,
    out: Path | None,
    _json: bool,
) -> None:
    """Measure SmartHarvest on this machine, each figure beside its floor.

    Ctrl-C ends it early: what is measured by then is kept and marked as partial.
    """
    if context.invoked_subcommand is not None:
        return
    signal.signal(signal.SIGTERM, interrupt)
    budget_s = minutes * 60 if minutes is not None else QUICK_S if quick else FULL_S
    subjects = {name: find_subject(name) for name in NAMES if name in (only or NAMES)}
    if quick and not only:
        subjects = {name: subject for name, subject in subjects.items() if subject.quick}
    result_file.check(out)
    warnings = shortcomings()
    for line in warnings:
        click.echo(f"careful: this machine is {line}", err=True)
    effort = Effort(QUICK_ROUNDS if quick else ROUNDS, 1.0, seed)
    document = build_document(subjects, effort, Terminal(len(subjects)), budget_s=budget_s)
    document["warnings"] = warnings
    result_file.keep(document, out)
    if document["interrupted"]:
        click.echo(
            "bench: interrupted; what was measured is kept as partial (make performance)", err=True
        )
        sys.exit(128 + signal.SIGINT)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """For SIGTERM: the host is put back and what is measured kept, as after ctrl-C."""
    raise KeyboardInterrupt


main.add_command(compare_command, "compare")
main.add_command(crowds_command, "crowds")
main.add_command(page_command, "page")

if __name__ == "__main__":
    main()
