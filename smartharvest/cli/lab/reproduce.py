"""``smartharvest lab reproduce``: the paper's evaluation on the simulated server."""

from __future__ import annotations

import os
import time

import click

from smartharvest.cli.progress import Progress
from smartharvest.errors import ConfigError
from smartharvest.telemetry.output_file import write_whole

FIGURES = tuple(str(number) for number in range(4, 16))
TABLES = ("1", "2", "3")


@click.command()
@click.option("--figure", "figures", type=click.Choice(FIGURES), multiple=True, metavar="4…15",
              help="Only this figure; may be repeated.")  # fmt: skip
@click.option("--table", "tables", type=click.Choice(TABLES), multiple=True, metavar="1|2|3",
              help="Only this table; may be repeated.")  # fmt: skip
@click.option("--out", required=True, metavar="DIR", help="Directory for the CSVs and PNGs.")
@click.option("--page", "page_file", metavar="FILE",
              help="File for the page about it.  [default: DIR/evaluation.md]")  # fmt: skip
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True, metavar="N",
              help="Runs of each experiment, from seed 1 on.")  # fmt: skip
@click.option("--processes", type=click.IntRange(1, 256), metavar="N",
              help="Simulations at the same time.  [default: one for each CPU]")  # fmt: skip
def reproduce(
    figures: tuple[str, ...],
    tables: tuple[str, ...],
    out: str,
    page_file: str | None,
    seeds: int,
    processes: int | None,
) -> None:
    """Repeat section 5 of the paper: data, figures, and a verdict for each of its claims.

    The primaries and the host are simulated; the agent is the real one with the paper's settings.
    Takes a few minutes on two cores and needs matplotlib.
    """
    from smartharvest.lab.reproduction.document import Conditions, check_drawing, page, write_part
    from smartharvest.lab.reproduction.evaluation import PARTS
    from smartharvest.lab.reproduction.evaluation import reproduce as run

    check_drawing()
    wanted = {f"figure-{n}" for n in figures} | {f"table-{n}" for n in tables}
    parts = [part for part in PARTS if not wanted or part.name in wanted]
    page_path = os.path.join(out, "evaluation.md") if page_file is None else page_file
    try:
        os.makedirs(out, exist_ok=True)
        os.makedirs(os.path.dirname(page_path) or ".", exist_ok=True)
    except OSError as error:
        raise ConfigError(f"out: {out}: cannot be created: {error.strerror}") from None
    processes = processes or len(os.sched_getaffinity(0))
    began = time.monotonic()
    with Progress("simulations") as progress:
        findings, runs = run(parts, range(1, seeds + 1), processes, progress)
    for part, finding in findings:
        write_part(part, finding, out)
    conditions = Conditions(tuple(range(1, seeds + 1)), runs, processes, time.monotonic() - began)
    images = os.path.relpath(out, os.path.dirname(page_path) or ".")
    write_whole(page_path, page(findings, conditions, images).encode())
    for part, finding in findings:
        for verdict in finding.verdicts:
            click.echo(f"{part.name:9}  {verdict.word:13}  {verdict.claim}: {verdict.measured}")
    click.echo(f"{len(findings)} parts in {out}, the page is {page_path}")
