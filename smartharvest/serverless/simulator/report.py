"""What a run comes to: a document for programs, a table for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartharvest.serverless.price import SECONDS_AN_HOUR, table
from smartharvest.serverless.simulator.run import Outcome

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
EVICTIONS_PER_DAY = (0.0, 1.0 / 61.5, 1.0, 24.0)


def document(outcome: Outcome) -> dict[str, Any]:
    """The figures of one run; the same for the same experiment, to the last digit.

    ``throughput_rps`` counts what finished within the measured time, ``failed_share`` what an
    eviction ended and what was unfinished an hour later. Quantiles are those of what finished.
    """
    experiment, finished = outcome.experiment, outcome.finished
    count, measured_s = len(outcome.end_ns), experiment.minutes * 60.0
    within = finished & (outcome.end_ns <= measured_s * 1e9)
    failed = int(count - finished.sum())
    ended = int((~finished & (outcome.attempts > 0)).sum())
    return {
        "invocations": count,
        "latency_s": _quantiles(outcome.latency_s[finished]),
        "slowdown": _quantiles(outcome.slowdown[finished]),
        "cold_start_share": float(outcome.cold.mean()),
        "failed_share": failed / count,
        "workers_per_function": outcome.workers_per_function,
        "throughput_rps": float(within.sum() / measured_s),
        "cores_used": float(outcome.busy_core_s.sum() / measured_s),
        "cores": float(outcome.core_s.sum() / measured_s),
        "cost": outcome.cost,
        "cost_per_million": outcome.cost / max(1, int(within.sum())) * 1e6,
        "failures": {
            "evicted": ended,
            "unfinished": failed - ended,
            "retried": outcome.retried,
            "handed_back": outcome.handed_back,
        },
        "evictions": outcome.evictions,
        "workers": {
            "at_once": experiment.size.count,
            "regular": int(outcome.pool.regular.sum()),
            "ever": outcome.workers_ever,
        },
        "functions": {
            "known": len(experiment.workload.names),
            "invoked": len(np.unique(outcome.invocations.function)),
            "on_regular_workers": len(outcome.regular),
        },
        "prices": _prices(outcome),
        "experiment": {
            "functions": experiment.workload.source,
            "churn": experiment.churn,
            "balancer": experiment.balancer,
            "strategy": experiment.strategy,
            "minutes": experiment.minutes,
            "rps": experiment.rps,
            "seed": experiment.seed,
        },
    }


def _quantiles(values: NDArray[np.float64]) -> dict[str, float | None]:
    if not len(values):
        return {"p50": None, "p99": None, "mean": None}
    p50, p99 = np.quantile(values, [0.5, 0.99])
    return {"p50": float(p50), "p99": float(p99), "mean": float(values.mean())}


def _prices(outcome: Outcome) -> dict[str, Any]:
    experiment = outcome.experiment
    rows = table(
        experiment.prices, SHARES, EVICTIONS_PER_DAY,
        min_cores=float(experiment.size.min_cores), cores=float(experiment.size.cores),
    )  # fmt: skip
    return {
        "core_hours": float(outcome.core_s.sum() / SECONDS_AN_HOUR),
        "all_regular": float(
            outcome.core_s.sum() / SECONDS_AN_HOUR * experiment.prices.regular_per_hour
        ),
        "resources_for_one_budget": [
            {
                "harvest_share": row.harvest_share,
                "evictions_per_day": row.evictions_per_day,
                "times": row.cores,
            }
            for row in rows
        ],
    }


def as_text(figures: dict[str, Any]) -> str:
    """The same in a few lines."""
    experiment, failures = figures["experiment"], figures["failures"]
    latency, slowdown = figures["latency_s"], figures["slowdown"]
    rows = [
        ("balancer, strategy", f"{experiment['balancer']}, {experiment['strategy']}"),
        ("functions", f"{figures['functions']['invoked']} of {experiment['functions']}"),
        ("churn", f"{experiment['churn']}, {figures['evictions']} evictions"),
        ("invocations", f"{figures['invocations']:,}"),
        ("throughput", f"{figures['throughput_rps']:.1f} a second"),
        ("latency", f"{_pair(latency, ' s')}"),
        ("slowdown", f"{_pair(slowdown, 'x')}"),
        ("cold starts", f"{figures['cold_start_share']:.2%}"),
        ("failed", f"{figures['failed_share']:.4%}: {failures['evicted']} by evictions, "
                   f"{failures['unfinished']} unfinished"),
        ("workers per function", f"{figures['workers_per_function']:.2f}"),
        ("cores", f"{figures['cores_used']:.1f} used of {figures['cores']:.1f}"),
        ("cost", f"{figures['cost']:.4f}; all regular {figures['prices']['all_regular']:.4f}"),
    ]  # fmt: skip
    return "\n".join(f"{name:<22}{value}" for name, value in rows)


def _pair(quantiles: dict[str, float | None], unit: str) -> str:
    if quantiles["p50"] is None or quantiles["p99"] is None:
        return "none finished"
    return f"p50 {quantiles['p50']:.3g}{unit}, p99 {quantiles['p99']:.3g}{unit}"
