"""The whole evaluation, or some figures and tables of it."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from importlib import resources

from smartharvest.lab.reproduction import learning, mechanisms, multiple, single
from smartharvest.lab.reproduction.runner import Progress, run_all
from smartharvest.lab.reproduction.section import Finding, Paper, Part

_KINDS = {"figure": 0, "table": 1}


def _order(part: Part) -> tuple[int, int]:
    kind, _, number = part.name.partition("-")
    return _KINDS[kind], int(number)


PARTS: tuple[Part, ...] = tuple(
    sorted(single.PARTS + multiple.PARTS + learning.PARTS + mechanisms.PARTS, key=_order)
)


def paper() -> Paper:
    """What the paper states (paper.toml)."""
    text = resources.files(__package__).joinpath("paper.toml").read_text("utf-8")
    return tomllib.loads(text)


def reproduce(
    parts: Sequence[Part], seeds: Collection[int], processes: int, progress: Progress
) -> tuple[list[tuple[Part, Finding]], int]:
    """(each part with what came out of it, simulations run)."""
    setups = list(dict.fromkeys(setup for part in parts for setup in part.setups()))
    results = run_all(setups, seeds, processes, progress)
    claims = paper()
    return [(part, part.finish(results, claims)) for part in parts], len(setups) * len(seeds)
