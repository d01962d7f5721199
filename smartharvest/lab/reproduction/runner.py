"""Runs setups side by side, each once however many experiments ask for it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from smartharvest.host.process.start import in_workers
from smartharvest.lab.reproduction.setups import Run, Setup, run_setup

Progress = Callable[[int, int], None]
"""Called with (runs done, runs in all)."""


@dataclass(frozen=True)
class Mean:
    """Over the seeds, with the standard deviation between them."""

    value: float
    spread: float

    def __format__(self, form: str) -> str:
        return f"{self.value:{form}}"


def mean_of(values: Iterable[float]) -> Mean:
    listed = list(values)
    spread = statistics.stdev(listed) if len(listed) > 1 else 0.0
    return Mean(statistics.fmean(listed), spread)


@dataclass(frozen=True)
class Summary:
    """A setup's runs, one for each seed."""

    runs: tuple[Run, ...]

    @property
    def harvested(self) -> Mean:
        return mean_of(run.harvested for run in self.runs)

    @property
    def change(self) -> Mean:
        """Growth of the P99 of the primary that is hurt most, as a fraction."""
        return mean_of(run.change for run in self.runs)

    def p99_us(self, primary: int = 0) -> Mean:
        return mean_of(run.p99_us[primary] for run in self.runs)

    def baseline_us(self, primary: int = 0) -> Mean:
        return mean_of(run.baseline_us[primary] for run in self.runs)

    def change_of(self, primary: int) -> Mean:
        return mean_of(run.changes[primary] for run in self.runs)

    def harvests_more(self, other: Summary) -> bool:
        """Than ``other``, by more than the difference varies from seed to seed."""
        return _clearly(a.harvested - b.harvested for a, b in self._pairs(other))

    def hurts_more(self, other: Summary) -> bool:
        """The primary that is hurt most, by more than that varies from seed to seed."""
        return _clearly(a.change - b.change for a, b in self._pairs(other))

    def _pairs(self, other: Summary) -> Iterable[tuple[Run, Run]]:
        """Seed by seed: both met the same traffic."""
        return zip(self.runs, other.runs, strict=True)

    def phase_us(self, phase: int) -> Mean:
        return mean_of(run.phases_us[phase] for run in self.runs)


def _clearly(differences: Iterable[float]) -> bool:
    mean = mean_of(differences)
    return mean.value > mean.spread


Results = dict[Setup, Summary]


def run_all(
    setups: Collection[Setup], seeds: Collection[int], processes: int, progress: Progress
) -> Results:
    """Every setup with every seed on ``processes`` processes.

    They are started, not forked: the state of Vowpal Wabbit does not survive a fork.
    """
    wanted = list(dict.fromkeys(setups))
    # The longest first, so that none is left over at the end.
    tasks = sorted(
        ((setup, seed) for setup in wanted for seed in seeds),
        key=lambda task: -_effort(task[0]),
    )
    runs: dict[tuple[Setup, int], Run] = {}
    progress(0, len(tasks))
    if processes == 1:
        for task in tasks:
            runs[task] = run_setup(*task)
            progress(len(runs), len(tasks))
    else:
        for number, run in in_workers(_run_task, tasks, processes):
            runs[tasks[number]] = run
            progress(len(runs), len(tasks))
    return {setup: Summary(tuple(runs[setup, seed] for seed in seeds)) for setup in wanted}


def _run_task(task: tuple[Setup, int]) -> Run:
    return run_setup(*task)


def _effort(setup: Setup) -> float:
    """Requests, roughly."""
    rates = [
        sum(for_ns * rate for for_ns, rate in primary.schedule)
        / max(1, sum(for_ns for for_ns, _ in primary.schedule))
        for primary in setup.workload.primaries
    ]
    return setup.seconds * sum(rates)
