"""What a constant learning rate, more features and shorter windows do: ``python -m
bench.learning_study PLOT.png``.

Windows of simulated primaries that are left alone are played through the native learner, predict
and then learn, as the agent does. Prints a table and draws it.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from smartharvest._learner import Csoaa
from smartharvest.learning.costs import COSTS, cost_table
from smartharvest.simulator.machine import LoopSettings, Machine
from smartharvest.simulator.mechanisms import make_mechanism
from smartharvest.simulator.workload_file import find_workload

WORKLOADS = ("indexserve", "memcached", "moses", "img-dnn", "steps")
RATES = (0.01, 0.03, 0.1, 0.3, 0.5)
WINDOWS_MS = (2, 5, 10, 25, 50, 100)
SECONDS, SEED, TOTAL = 120.0, 5, 10

Made = tuple[NDArray[np.float64], NDArray[np.uint32]]
Result = tuple[float, float, float]
"""Mean skewed cost, share of windows predicted too low, cores lent."""


def made_windows(name: str, window_ms: int) -> Made:
    """Features of each window, and the peak of the one after it."""
    workload = find_workload(name)
    machine = Machine(
        workload,
        make_mechanism("instant"),
        cores=TOTAL,
        seed=SEED,
        loop=LoopSettings(window_ns=window_ms * 1_000_000),
    )
    rows, peaks = [], []
    while (window := machine.advance(round(SECONDS * 1e9))) is not None:
        rows.append(window.features)
        peaks.append(min(window.busy_max, TOTAL))
    return np.array(rows[:-1]), np.array(peaks[1:], dtype=np.uint32)


def with_earlier_peaks(made: Made) -> Made:
    """Two features more: the peak before, and the higher of that and the one before it."""
    features, labels = made
    before, earlier = features[1:-1, 1], features[:-2, 1]
    more = np.column_stack([features[2:], before, np.maximum(before, earlier)])
    return np.ascontiguousarray(more), np.ascontiguousarray(labels[2:])


def play(made: Made, learning_rate: float = 0.1) -> Result:
    """Predict and then learn every window."""
    features, labels = made
    costs = cost_table(COSTS["skewed"], TOTAL)
    scores = np.empty((len(labels), TOTAL + 1), dtype=np.float32)
    decisions = np.empty(len(labels), dtype=np.uint32)
    Csoaa(costs, learning_rate, features.shape[1]).replay(features, labels, scores, decisions)
    return (
        float(costs[labels, decisions].mean()),
        float((decisions < labels).mean()),
        float(TOTAL - decisions.mean()),
    )


def study() -> dict[str, dict[str, Result]]:
    """By what was changed, by workload."""
    usual = {name: made_windows(name, 25) for name in WORKLOADS}
    results: dict[str, dict[str, Result]] = {}
    for rate in RATES:
        results[f"rate {rate:g}"] = {name: play(made, rate) for name, made in usual.items()}
    results["two features more"] = {
        name: play(with_earlier_peaks(made)) for name, made in usual.items()
    }
    for window_ms in WINDOWS_MS:
        results[f"window {window_ms} ms"] = {
            name: play(made_windows(name, window_ms)) for name in WORKLOADS
        }
    return results


def draw(results: dict[str, dict[str, Result]], path: str) -> None:
    """Cost and cores lent over learning rates and windows."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    for column, (key, values, unit) in enumerate(
        (("rate {:g}", RATES, "learning rate"), ("window {:g} ms", WINDOWS_MS, "window, ms"))
    ):
        for row, (part, label) in enumerate(((0, "mean skewed cost"), (2, "cores lent"))):
            for name in WORKLOADS:
                ys = [results[key.format(value)][name][part] for value in values]
                axes[row][column].plot(values, ys, marker="o", label=name)
            axes[row][column].set(xscale="log", xlabel=unit, ylabel=label)
    axes[0][0].legend()
    figure.savefig(path, dpi=100)


def main() -> None:
    results = study()
    print("| | " + " | ".join(WORKLOADS) + " |")
    print("|---" * (len(WORKLOADS) + 1) + "|")
    for what, by_workload in results.items():
        cells = (f"{cost:.2f} / {low:.0%} / {lent:.2f}" for cost, low, lent in by_workload.values())
        print(f"| {what} | " + " | ".join(cells) + " |")
    if len(sys.argv) > 1:
        draw(results, sys.argv[1])


if __name__ == "__main__":
    main()
