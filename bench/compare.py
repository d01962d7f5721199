"""``python -m bench.compare OLD NEW``: what moved beyond the noise between two results.

A case has moved when the medians of its rounds do not overlap and the medians differ by more than
a tenth. It warns and never fails: another machine, or another day of the same, moves figures too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

import click

from bench.cases import Case, find_cases

SMALLEST_MOVE = 1.1
"""As a ratio of medians, either way."""


@dataclass(frozen=True)
class Move:
    """A case that both documents have."""

    old: Case
    new: Case

    @property
    def ratio(self) -> float:
        """Of the medians, new over old; 1.0 where the old one is nothing."""
        return self.new.median_us / self.old.median_us if self.old.median_us > 0 else 1.0

    @property
    def beyond_noise(self) -> bool:
        apart = (
            self.new.spread_us[0] > self.old.spread_us[1]
            or self.new.spread_us[1] < self.old.spread_us[0]
        )
        return apart and not 1 / SMALLEST_MOVE <= self.ratio <= SMALLEST_MOVE


def compare(old: Mapping[str, object], new: Mapping[str, object]) -> list[Move]:
    """Every case of both, the largest move first."""
    before = {case.path: case for case in find_cases(old)}
    moves = [Move(before[case.path], case) for case in find_cases(new) if case.path in before]
    return sorted(moves, key=lambda move: max(move.ratio, 1 / max(move.ratio, 1e-9)), reverse=True)


def warnings_of(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Why the two can hardly be compared."""
    found = []
    machines = [document.get("machine", {}) for document in (old, new)]
    for key in ("cpu_model", "cpus", "kernel", "python"):
        values = [machine.get(key) for machine in machines if isinstance(machine, Mapping)]
        if len(set(map(str, values))) > 1:
            found.append(f"{key} differs: {values[0]} and {values[1]}")
    return found


@click.command()
@click.argument("old", type=click.File())
@click.argument("new", type=click.File())
@click.option("--all", "everything", is_flag=True, help="Those within the noise, too.")
def main(old: TextIO, new: TextIO, everything: bool) -> None:
    """Show what moved beyond the noise from OLD to NEW."""
    documents = []
    for file in (old, new):
        try:
            documents.append(json.load(file))
        except ValueError:
            raise click.ClickException(f"{file.name}: is no result of make bench") from None
    for line in warnings_of(*documents):
        click.echo(f"careful: {line}")
    moves = compare(*documents)
    shown = [move for move in moves if everything or move.beyond_noise]
    for move in shown:
        sign = "slower" if move.ratio > 1 else "faster"
        mark = "" if move.beyond_noise else "  (within the noise)"
        click.echo(
            f"{move.new.path}: {move.old.median_us:g} -> {move.new.median_us:g} us, "
            f"{max(move.ratio, 1 / move.ratio):.2f}x {sign}{mark}"
        )
    moved = sum(move.beyond_noise for move in moves)
    click.echo(f"{moved} of {len(moves)} cases moved beyond the noise")


if __name__ == "__main__":
    main()
