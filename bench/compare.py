"""``bench compare OLD NEW``: what moved beyond the noise between two results.

A figure has moved when its rounds do not overlap and the medians differ by more than a tenth. Five
rounds of the same part by chance once in a hundred times; with fewer, the gap must be as wide as
the wider spread. Of bench.real's results it takes each row's P99 over alone, with its interval. It
warns and never fails: another machine, or another day of the same, moves figures too. Ratios to a
floor of the same run are what two machines can be compared by at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

import click

from bench.cases import Node, find_cases, find_values
from bench.subject import ROUNDS

SMALLEST_MOVE = 1.1
"""As a ratio of medians, either way."""


@dataclass(frozen=True)
class Figure:
    """A median with the smallest and the largest of a round."""

    median: float
    low: float
    high: float
    unit: str = ""


@dataclass(frozen=True)
class Move:
    """A figure that both documents have."""

    path: str
    old: Figure
    new: Figure
    few_rounds: bool = False

    @property
    def ratio(self) -> float:
        """Of the medians, new over old; 1.0 where the old one is nothing."""
        return self.new.median / self.old.median if self.old.median else 1.0

    @property
    def size(self) -> float:
        """As a ratio of at least one, whichever way it went."""
        return max(self.ratio, 1 / self.ratio) if self.ratio > 0 else float("inf")

    @property
    def change(self) -> str:
        """In words."""
        if self.ratio <= 0:
            return "from or to nothing"
        return f"{self.size:.2f}x {'more' if self.ratio >= 1 else 'less'}"

    @property
    def beyond_noise(self) -> bool:
        gap = max(self.new.low - self.old.high, self.old.low - self.new.high)
        least = max(side.high - side.low for side in (self.old, self.new)) if self.few_rounds else 0
        return gap > least and self.size > SMALLEST_MOVE


def figures_of(document: Node, ratios: bool) -> dict[str, Figure]:
    """By path: times and values or, with ``ratios``, only what they are to their floors."""
    if "experiments" in document:
        return dict(_of_experiments(document["experiments"]))
    cases = find_cases(document)
    if ratios:
        return {
            case.path: Figure(case.median_ratio, *case.ratio_spread, unit="of its floor")
            for case in cases
            if case.median_ratio is not None and case.ratio_spread is not None
        }
    found = {case.path: Figure(case.median_us, *case.spread_us, unit="us") for case in cases}
    return found | {
        value.path: Figure(value.median, *value.spread) for value in find_values(document)
    }


def _of_experiments(experiments: object) -> Iterator[tuple[str, Figure]]:
    """Of bench.real's document: the P99 of each row, as a ratio to what it is compared with."""
    assert isinstance(experiments, Mapping)
    for name, experiment in experiments.items():
        for row, figures in experiment.get("conditions", {}).items():
            for yardstick in ("to_alone", "to_default"):
                if yardstick in figures:
                    p99 = figures[yardstick]["p99"]
                    unit = f"of {yardstick.removeprefix('to_')}"
                    low, high = p99["interval"]
                    yield f"{name}.{row}.p99 {unit}", Figure(p99["ratio"], low, high, unit)


def has_few_rounds(document: Node) -> bool:
    """Whether its spreads are of fewer rounds than a full run's; intervals say so themselves."""
    rounds = document.get("rounds")
    return bool(document.get("interrupted")) or (isinstance(rounds, int) and rounds < ROUNDS)


def compare(old: Node, new: Node, *, ratios: bool = False) -> list[Move]:
    """Every figure of both, the largest move first."""
    before, after = figures_of(old, ratios), figures_of(new, ratios)
    few = has_few_rounds(old) or has_few_rounds(new)
    moves = [
        Move(path, before[path], figure, few) for path, figure in after.items() if path in before
    ]
    return sorted(moves, key=lambda move: move.size, reverse=True)


def warnings_of(old: Node, new: Node) -> list[str]:
    """Why the two can hardly be compared."""
    found = []
    machines = [document.get("machine", {}) for document in (old, new)]
    for key in ("cpu_model", "cpus", "kernel", "python"):
        values = [machine.get(key) for machine in machines if isinstance(machine, Mapping)]
        if len(set(map(str, values))) > 1:
            found.append(f"{key} differs: {values[0]} and {values[1]}")
    for name, document in (("old", old), ("new", new)):
        warnings = document.get("warnings")
        if isinstance(warnings, list):
            found += [f"the {name} one's machine was {line}" for line in warnings]
        if document.get("interrupted"):
            found.append(f"the {name} one is partial: it was interrupted")
    return found


@click.command()
@click.argument("old", type=click.File())
@click.argument("new", type=click.File())
@click.option("--all", "everything", is_flag=True, help="Those within the noise, too.")
@click.option("--ratios", is_flag=True, help="Only ratios to floors: for different machines.")
def main(old: TextIO, new: TextIO, everything: bool, ratios: bool) -> None:
    """Show what moved beyond the noise from OLD to NEW. Its status is 0 whatever moved."""
    documents: list[Node] = []
    for file in (old, new):
        try:
            document = json.load(file)
            figures_of(document, ratios)
        except (ValueError, TypeError, KeyError, AttributeError, AssertionError):
            raise click.ClickException(f"{file.name}: is no result of a bench") from None
        documents.append(document)
    before, after = documents
    warnings = warnings_of(before, after)
    for line in warnings:
        click.echo(f"careful: {line}")
    if warnings and not ratios:
        click.echo("careful: times may have moved with the machine; --ratios leaves that out")
    moves = compare(before, after, ratios=ratios)
    for move in moves:
        if everything or move.beyond_noise:
            mark = "" if move.beyond_noise else "  (within the noise)"
            unit = f" {move.new.unit}" if move.new.unit else ""
            click.echo(
                f"{move.path}: {move.old.median:g} -> {move.new.median:g}{unit}, "
                f"{move.change}{mark}"
            )
    moved = sum(move.beyond_noise for move in moves)
    click.echo(f"{moved} of {len(moves)} figures moved beyond the noise")


if __name__ == "__main__":
    main()
