"""``python -m bench.manycore``: eight CPUs on two, in dilated time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from bench import pictures
from bench.__main__ import interrupt
from bench.manycore.campaign import Campaign, run, to_terminal
from bench.manycore.check import check as check_machine
from bench.manycore.guest import GuestEndedError, Shape
from bench.manycore.lab import TESTS
from bench.manycore.lab import outcomes as lab_outcomes
from bench.manycore.page import (
    FEWEST_DRAWN,
    PICTURES,
    Measured,
    Row,
    picture_of,
    tables,
    trades,
)
from bench.manycore.page import page as write_page
from bench.manycore.plan import ALONE, CONDITIONS, CORE, EXPERIMENTS
from bench.manycore.samples import append, read
from bench.manycore.spare import measure as measure_spare
from bench.manycore.strict import check as check_strict
from bench.subject import NotMeasurableError
from smartharvest.errors import RightsError
from tests.lab import kernels
from tests.lab.image import LAB
from tests.lab.kernels import Kernel

KERNEL = "6.12"
SUITE_OF = {"6.1": "bookworm", "6.12": "trixie"}
SAMPLES = Path("bench/results/manycore.jsonl")
CHECKS = Path("bench/results/manycore-checks.jsonl")
PAGE = Path("docs/research/manycore.md")
FIRST = tuple(one.name for one in EXPERIMENTS[:3])
NEWEST = "trixie-backports"
TOOLS = ("qemu-system-x86_64", "cpio", "apt-get", "dpkg-deb")


@click.group()
def main() -> None:
    """A guest with many CPUs whose clock is slower than the host's."""


def shape_options(command: click.decorators.FC) -> click.decorators.FC:
    for option in (
        click.option("--share", default=90, show_default=True, help="Per cent of the host."),
        click.option("--slot-us", default=100, show_default=True, help="Of a CPU at a time."),
        click.option("--dilation", default=20.0, show_default=True),
        click.option("--cpus", default=8, show_default=True),
        click.option("--kernel", "name", default=KERNEL, show_default=True),
    ):
        command = option(command)
    return command


@main.command()
@shape_options
def check(name: str, cpus: int, dilation: float, slot_us: int, share: int) -> None:
    """Is the machine what it is taken for? Two minutes; the last line is JSON."""
    _needs_root()
    try:
        figures = check_machine(Shape(cpus, dilation, slot_us, share), fetched(name))
    except (GuestEndedError, NotMeasurableError) as error:
        click.echo(f"manycore: {error}", err=True)
        sys.exit(1)
    append(CHECKS, [figures])
    for line in figures["missed"] or ["it holds what it promises"]:  # type: ignore[attr-defined]
        click.echo(f"manycore: {line}", err=True)
    print(json.dumps(figures))


@main.command()
@shape_options
@click.option("--minutes", default=30.0, show_default=True, help="Of the host's time.")
@click.option("--seconds", default=2.0, show_default=True, help="A slice, guest time.")
@click.option("--experiment", multiple=True, type=click.Choice([e.name for e in EXPERIMENTS]))
@click.option("--condition", multiple=True, help="Instead of the core; 'all' for all.")
@click.option("--preempt", default="", help="The guest's preemption mode, such as full.")
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=SAMPLES)
def measure(
    name: str,
    cpus: int,
    dilation: float,
    slot_us: int,
    share: int,
    minutes: float,
    seconds: float,
    experiment: tuple[str, ...],
    condition: tuple[str, ...],
    preempt: str,
    seed: int,
    out: Path,
) -> None:
    """Measure for some time and add whole rounds to the samples file; ctrl-C ends it."""
    signal.signal(signal.SIGTERM, interrupt)
    _needs_root()
    wanted = condition or CORE
    chosen = [one for one in CONDITIONS if "all" in wanted or one.name in (*wanted, ALONE)]
    unknown = set(wanted) - {"all", *(one.name for one in CONDITIONS)}
    if unknown:
        raise click.UsageError(f"no condition is called {', '.join(sorted(unknown))}")
    experiments = [one for one in EXPERIMENTS if one.name in (experiment or FIRST)]
    try:
        campaign = Campaign(
            fetched(name),
            Shape(cpus, dilation, slot_us, share),
            experiments,
            chosen,
            seconds,
            60 * minutes,
            seed,
            out,
            preempt,
        )
        added = run(campaign, to_terminal)
    except (GuestEndedError, NotMeasurableError) as error:
        click.echo(f"manycore: {error}", err=True)
        sys.exit(1)
    click.echo(f"manycore: {added} rounds were added to {out}; make manycore-page", err=True)


@main.command()
@click.option("--samples", "source", type=click.Path(path_type=Path), default=SAMPLES)
@click.option("--checks", type=click.Path(path_type=Path), default=CHECKS)
@click.option("--out", type=click.Path(path_type=Path), default=PAGE)
def page(source: Path, checks: Path, out: Path) -> None:
    """Write the page from what has been measured so far."""
    # The newest check of each kernel and shape.
    newest = {(one["kernel"], one["cpus"], one["dilation"]): one for one in read(checks)}
    found = read(source)
    out.write_text(write_page(found, list(newest.values())))
    if pictures.available():
        _draw(tables(found), out.parent / PICTURES)
    click.echo(f"manycore: {out}", err=True)


@main.command()
@shape_options
def strict(name: str, cpus: int, dilation: float, slot_us: int, share: int) -> None:
    """Is a batch under the strict mechanism below every normal task? The last line is JSON."""
    _needs_root()
    try:
        figures = check_strict(Shape(cpus, dilation, slot_us, share), fetched(name), to_terminal)
    except (GuestEndedError, NotMeasurableError) as error:
        click.echo(f"manycore: {error}", err=True)
        sys.exit(1)
    for line in figures["missed"] or ["it holds what it promises"]:  # type: ignore[attr-defined]
        click.echo(f"manycore: {line}", err=True)
    print(json.dumps(figures))
    sys.exit(0 if figures["restored"] else 1)


@main.command()
@shape_options
def spare(name: str, cpus: int, dilation: float, slot_us: int, share: int) -> None:
    """What idle CPUs are worth under the strict mechanism. The last line is JSON."""
    _needs_root()
    try:
        figures = measure_spare(Shape(cpus, dilation, slot_us, share), fetched(name), to_terminal)
    except (GuestEndedError, NotMeasurableError) as error:
        click.echo(f"manycore: {error}", err=True)
        sys.exit(1)
    print(json.dumps(figures))


@main.command()
@shape_options
@click.option("--test", "tests", multiple=True, help="Instead of all.")
def lab(
    name: str, cpus: int, dilation: float, slot_us: int, share: int, tests: tuple[str, ...]
) -> None:
    """The lab's tests of the strict mechanism, on this machine's CPUs in the host's time."""
    _needs_root()
    try:
        found = lab_outcomes(
            Shape(cpus, dilation, slot_us, share), fetched(name), tests or [TESTS], to_terminal
        )
    except (GuestEndedError, NotMeasurableError) as error:
        click.echo(f"manycore: {error}", err=True)
        sys.exit(1)
    print(json.dumps(found))
    sys.exit(0 if found and set(found.values()) == {"passed"} else 1)


def _draw(found: Mapping[Measured, dict[str, Row]], directory: Path) -> None:
    """A picture of each table that has enough of them; old ones go."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    for key, rows in found.items():
        if len(points := trades(rows)) >= FEWEST_DRAWN:
            picture = directory / picture_of(key)
            pictures.draw_trade(points, picture, x="batch work, cores", y="P99 to alone")


def fetched(name: str) -> Kernel:
    """The lab's kernel of that name; it alone is fetched if there is none."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise NotMeasurableError(f"{', '.join(missing)} not found")
    number, _, generic = name.partition("-")
    flavour = kernels.GENERIC if generic else kernels.CLOUD
    found = kernels.unpacked(LAB, flavour)
    if all(kernel.name != name for kernel in found):
        found = kernels.fetch(LAB, [SUITE_OF.get(number, NEWEST)], flavour)
    for kernel in found:
        if kernel.name == name:
            return kernel
    raise NotMeasurableError(f"no kernel is called {name}; see make lab-image")


def _needs_root() -> None:
    if os.geteuid() != 0:
        click.echo("manycore: real-time threads need root (run it with sudo)", err=True)
        sys.exit(RightsError.exit_code)


if __name__ == "__main__":
    main()
