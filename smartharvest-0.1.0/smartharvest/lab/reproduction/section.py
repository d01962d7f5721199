"""What every figure and table of the evaluation is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smartharvest.lab.reproduction.runner import Results
from smartharvest.lab.reproduction.setups import Setup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Paper = Mapping[str, Any]
"""paper.toml"""


@dataclass(frozen=True)
class Verdict:
    """One claim of section 5 and what became of it here."""

    claim: str
    holds: bool | None
    """None: a simulation does not show it, or assumes it."""
    measured: str
    """By how much it holds or does not."""
    why: str = ""
    """Why it does not hold, or is not judged."""

    @property
    def word(self) -> str:
        return {True: "holds", False: "does not hold", None: "not judged"}[self.holds]


@dataclass(frozen=True)
class Part:
    """A figure or table: what to run for it, and what to make of it."""

    name: str
    """``figure-5``"""
    title: str
    setups: Callable[[], Sequence[Setup]]
    finish: Callable[[Results, Paper], Finding]


@dataclass(frozen=True)
class Finding:
    """What came out of a part."""

    rows: Sequence[Mapping[str, Any]]
    """The data, a mapping from column to value each."""
    verdicts: Sequence[Verdict]
    table: Sequence[Sequence[str]] = ()
    """A table for the document, its first row being the head."""
    draw: Callable[[Figure], None] | None = None
    notes: str = ""


def percent(value: float) -> str:
    """A fraction as people read it: ``+4.7 %``."""
    return f"{100 * value:+.1f} %"
