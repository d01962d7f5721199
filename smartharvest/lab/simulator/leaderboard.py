"""Many policies on many workloads, side by side, each under the conditions it was made for."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace

from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import chooses_spare, is_shared
from smartharvest.host.process.start import in_workers
from smartharvest.lab.simulator.conditions import made_for
from smartharvest.lab.simulator.machine import LoopSettings
from smartharvest.lab.simulator.mechanisms import Sharing, make_mechanism
from smartharvest.lab.simulator.run import Experiment, Outcome, simulate
from smartharvest.lab.simulator.workload_file import find_workload
from smartharvest.lab.simulator.workloads import WORKLOADS, Workload

EVENT_POLL_NS = 10_000
"""Policies that are not the paper's are run as with a sensor that sees every change, which a look
every 10 us stands for here: windows weighed by time, and no pause after a change."""

LEAST_CLAIRVOYANT_CORES = 0.1


@dataclass(frozen=True, slots=True)
class Row:
    """One policy on one workload; changes are fractions of the primary's own latency alone."""

    workload: str
    mechanism: str
    policy: str
    seed: int
    harvested_cores: float
    of_instant: float
    """Share of all idle cores."""
    of_clairvoyant: float
    """Share of what decisions once a window could take; 0 where that is next to nothing."""
    p50_change: float
    p99_change: float
    """Of several primaries, that of the one it hurt most."""
    p999_change: float
    reassignments_per_s: float
    safeguards: int


@dataclass(frozen=True, slots=True)
class Standing:
    """One policy with one mechanism, over all workloads and seeds."""

    mechanism: str
    policy: str
    calibrated_cores: float
    """Mean harvest over those of the paper's four workloads that were run."""
    calibrated_of_instant: float
    of_instant: float
    """Mean over all workloads."""
    worst_p50_change: float
    worst_p50_workload: str
    worst_p99_change: float
    worst_p99_workload: str
    within_10_percent: int
    """Workloads, of ``workloads``, where the mean changes of P50 and P99 are at most 10 %."""
    workloads: int
    reassignments_per_s: float


@dataclass(frozen=True, slots=True)
class _Job:
    workload: Workload
    seed: int
    mechanisms: tuple[str, ...]
    policies: tuple[str, ...]
    seconds: float
    learner: str


def run_leaderboard(
    policies: Sequence[str],
    workloads: Sequence[str],
    mechanisms: Sequence[str],
    *,
    seeds: Sequence[int],
    seconds: float,
    processes: int,
    learner: str = "native",
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Row]:
    """All combinations, spread over ``processes``; ``progress`` gets how many jobs of all are done,
    each a workload with a seed.

    A policy that needs to preempt the elastic group has no row where it cannot. Workloads are names
    or TOML files. Raises ConfigError for what is unknown.
    """
    jobs = [
        _Job(found, seed, tuple(mechanisms), tuple(policies), seconds, learner)
        for found in map(find_workload, workloads)
        for seed in seeds
    ]
    rows: dict[int, list[Row]] = {}
    # Not forked: Vowpal Wabbit does not survive it.
    workers = max(1, min(processes, len(jobs)))
    progress(0, len(jobs))
    for number, found in in_workers(_run, jobs, workers):
        rows[number] = found
        progress(len(rows), len(jobs))
    return [row for number in sorted(rows) for row in rows[number]]


def _run(job: _Job) -> list[Row]:
    return [
        _row(job, mechanism, _simulate(job, mechanism, policy))
        for mechanism in job.mechanisms
        for policy in job.policies
        if _can(policy, make_mechanism(mechanism).sharing)
    ]


def _can(policy: str, sharing: Sharing | None) -> bool:
    if chooses_spare(policy):
        return sharing is not None and sharing.let_go_ns > 0
    return not is_shared(policy) or sharing is not None


def _simulate(job: _Job, name: str, policy: str) -> Outcome:
    conditions = made_for(policy)
    mechanism = make_mechanism(name)
    if conditions.events:
        mechanism = replace(mechanism, sleep_ns=0)
    experiment = Experiment(
        job.workload,
        mechanism,
        seconds=job.seconds,
        seed=job.seed,
        cores=job.workload.cores,
        loop=(
            LoopSettings(poll_ns=EVENT_POLL_NS, exact=True) if conditions.events else LoopSettings()
        ),
        long_term=conditions.long_term,
    )
    options = LearningOptions(label=conditions.label)
    return simulate(experiment, policy, options=options, learner=job.learner)


def _row(job: _Job, mechanism: str, outcome: Outcome) -> Row:
    idle = job.workload.cores - outcome.busy_cores

    def change(quantile: str) -> float:
        return outcome.latency_us[quantile] / outcome.baseline_latency_us[quantile] - 1

    return Row(
        workload=job.workload.name,
        mechanism=mechanism,
        policy=outcome.policy,
        seed=job.seed,
        harvested_cores=outcome.harvested_cores,
        of_instant=outcome.harvested_cores / idle,
        of_clairvoyant=(
            outcome.harvested_cores / outcome.clairvoyant_cores
            if outcome.clairvoyant_cores >= LEAST_CLAIRVOYANT_CORES
            else 0.0
        ),
        p50_change=change("p50"),
        p99_change=outcome.p99_change,
        p999_change=change("p999"),
        reassignments_per_s=outcome.reassignments_per_s,
        safeguards=sum(outcome.safeguards.values()),
    )


def mean_rows(rows: Iterable[Row]) -> list[Row]:
    """One row for each workload, mechanism and policy, the mean over its seeds; ``seed`` is -1."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.workload, row.mechanism, row.policy), []).append(row)
    figures = [field.name for field in fields(Row)][4:]
    return [
        Row(*key, -1, **{name: _mean(getattr(row, name) for row in several) for name in figures})  # type: ignore[arg-type]
        for key, several in groups.items()
    ]


def standings(rows: Iterable[Row]) -> list[Standing]:
    """The board: by mechanism, and the largest mean harvest of the calibrated workloads first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in mean_rows(rows):
        groups.setdefault((row.mechanism, row.policy), []).append(row)
    board = [_standing(*key, several) for key, several in groups.items()]
    order = list(dict.fromkeys(standing.mechanism for standing in board))
    return sorted(board, key=lambda s: (order.index(s.mechanism), -s.calibrated_cores))


def _standing(mechanism: str, policy: str, rows: list[Row]) -> Standing:
    calibrated = [row for row in rows if row.workload in WORKLOADS]
    p50 = max(rows, key=lambda row: row.p50_change)
    p99 = max(rows, key=lambda row: row.p99_change)
    return Standing(
        mechanism=mechanism,
        policy=policy,
        calibrated_cores=_mean(row.harvested_cores for row in calibrated),
        calibrated_of_instant=_mean(row.of_instant for row in calibrated),
        of_instant=_mean(row.of_instant for row in rows),
        worst_p50_change=p50.p50_change,
        worst_p50_workload=p50.workload,
        worst_p99_change=p99.p99_change,
        worst_p99_workload=p99.workload,
        within_10_percent=sum(row.p50_change <= 0.1 and row.p99_change <= 0.1 for row in rows),
        workloads=len(rows),
        reassignments_per_s=_mean(row.reassignments_per_s for row in rows),
    )


def _mean(values: Iterable[float]) -> float:
    several = list(values)
    return math.fsum(several) / len(several) if several else 0.0


def as_csv(rows: Iterable[Row]) -> str:
    """A line for each row, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def as_table(rows: Sequence[Row]) -> str:
    """The standings, and below them every workload, means over the seeds."""
    lines = [
        f"{'mechanism':10}{'policy':17}{'calibrated':>11}{'of idle':>8}{'all':>6}"
        f"{'worst P50':>11}{'':13}{'worst P99':>10}{'':13}{'<= 10 %':>9}{'moves/s':>9}"
    ]
    lines += [
        f"{s.mechanism:10}{s.policy:17}{s.calibrated_cores:11.2f}{s.calibrated_of_instant:8.0%}"
        f"{s.of_instant:6.0%}{s.worst_p50_change:+11.1%} {s.worst_p50_workload:12}"
        f"{s.worst_p99_change:+10.1%} {s.worst_p99_workload:12}"
        f"{f'{s.within_10_percent} of {s.workloads}':>9}{s.reassignments_per_s:9.0f}"
        for s in standings(rows)
    ]
    lines += [
        "",
        f"{'workload':13}{'mechanism':10}{'policy':17}{'cores':>6}{'of idle':>8}{'of clairv.':>11}"
        f"{'P50':>8}{'P99':>9}{'P99.9':>9}{'moves/s':>9}",
    ]
    lines += [
        f"{r.workload:13}{r.mechanism:10}{r.policy:17}{r.harvested_cores:6.2f}{r.of_instant:8.0%}"
        f"{r.of_clairvoyant:11.0%}{r.p50_change:+8.1%}{r.p99_change:+9.1%}{r.p999_change:+9.1%}"
        f"{r.reassignments_per_s:9.0f}"
        for r in mean_rows(rows)
    ]
    return "\n".join(lines)
