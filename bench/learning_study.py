"""What a constant learning rate, more classes and features, and shorter windows do: ``python -m
bench.learning_study PLOT.png [TRACE…]``.

Windows of primaries that are left alone, simulated and recorded ones, are played through the native
learner, predict and then learn, as the agent does. Prints a table and draws it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartharvest.algorithm.learning.base import Features
from smartharvest.algorithm.learning.costs import COSTS, cost_table
from smartharvest.core import _loop, _trace
from smartharvest.core._learner import Csoaa
from smartharvest.lab.simulator.machine import LoopSettings, Machine
from smartharvest.lab.simulator.mechanisms import make_mechanism
from smartharvest.lab.simulator.workload_file import find_workload
from smartharvest.lab.trace.reader import TraceReader

WORKLOADS = ("indexserve", "memcached", "moses", "img-dnn", "steps")
RATES = (0.01, 0.03, 0.1, 0.3, 0.5)
WINDOWS_MS = (2, 5, 10, 25, 50, 100)
CLASSES = (11, 21, 41, 81)
SECONDS, SEED, TOTAL = 120.0, 5, 10
POLL_NS = 50_000

Made = tuple[NDArray[np.float64], NDArray[np.uint32], int]
"""Features of each window, the peak of the one after it, and the cores there are."""
Result = tuple[float, float, float]
"""Mean skewed cost, share of windows predicted too low, cores lent."""


def made_windows(name: str, window_ms: int) -> Made:
    """Of a simulated workload, or of the trace in a file of that name."""
    windows = (_recorded if name.endswith(".trace") else _simulated)(name, window_ms * 1_000_000)
    found, total = windows
    rows = np.array([features for features, _ in found[:-1]])
    peaks = np.array([min(peak, total) for _, peak in found[1:]], dtype=np.uint32)
    return rows, peaks, total


Windows = tuple[list[tuple[Features, int]], int]


def _simulated(name: str, window_ns: int) -> Windows:
    machine = Machine(
        find_workload(name),
        make_mechanism("instant"),
        cores=TOTAL,
        seed=SEED,
        loop=LoopSettings(window_ns=window_ns),
    )
    found = []
    while (window := machine.advance(round(SECONDS * 1e9))) is not None:
        found.append((window.features, window.busy_max))
    return found, TOTAL


def _recorded(path: str, window_ns: int) -> Windows:
    with TraceReader(path) as trace:
        total = trace.header.cores
        host = _trace.TraceHost(total)
        loop = _loop.Loop(
            sensor=host,
            actuator=host.actuator,
            total=total,
            window_ns=window_ns,
            poll_ns=POLL_NS,
            max_harvest=0,
        )
        found, deadline_ns = [], trace.header.start_ns
        for stretch in trace:
            host.feed(stretch.changes, stretch.until_ns)
            while deadline_ns < stretch.until_ns:
                deadline_ns, _ = host.play(loop, deadline_ns, stretch.until_ns)
                while (window := loop.take()) is not None:
                    if not window.stale:
                        found.append((window.features, window.busy_max))
    return found, total


def with_earlier_peaks(made: Made) -> Made:
    """Two features more: the peak before, and the higher of that and the one before it."""
    features, labels, total = made
    before, earlier = features[1:-1, 1], features[:-2, 1]
    more = np.column_stack([features[2:], before, np.maximum(before, earlier)])
    return np.ascontiguousarray(more), np.ascontiguousarray(labels[2:]), total


def play(made: Made, learning_rate: float = 0.1, classes: int | None = None) -> Result:
    """Predict and then learn every window; ``classes``: of a primary that could have more cores and
    never uses them. Of what is lent these are left out."""
    features, labels, total = made
    most = total if classes is None else classes - 1
    costs = cost_table(COSTS["skewed"], most)
    scores = np.empty((len(labels), most + 1), dtype=np.float32)
    decisions = np.empty(len(labels), dtype=np.uint32)
    Csoaa(costs, learning_rate, features.shape[1]).replay(features, labels, scores, decisions)
    return (
        float(costs[labels, decisions].mean()),
        float((decisions < labels).mean()),
        float(total - decisions.mean()),
    )


def study(names: list[str]) -> dict[str, dict[str, Result]]:
    """By what was changed, by workload."""
    usual = {name: made_windows(name, 25) for name in names}
    results: dict[str, dict[str, Result]] = {}
    for rate in RATES:
        results[f"rate {rate:g}"] = {name: play(made, rate) for name, made in usual.items()}
    results["two features more"] = {
        name: play(with_earlier_peaks(made)) for name, made in usual.items()
    }
    for classes in CLASSES:
        results[f"{classes} classes"] = {
            name: play(made, classes=classes) for name, made in usual.items()
        }
    for window_ms in WINDOWS_MS:
        results[f"window {window_ms} ms"] = {
            name: play(made_windows(name, window_ms)) for name in names
        }
    return results


def draw(results: dict[str, dict[str, Result]], path: str) -> None:
    """Cost and cores lent over learning rates, classes and windows."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(12, 6), layout="constrained")
    changed: tuple[tuple[str, tuple[float, ...], str], ...] = (
        ("rate {:g}", RATES, "learning rate"),
        ("{:g} classes", CLASSES, "classes"),
        ("window {:g} ms", WINDOWS_MS, "window, ms"),
    )
    for column, (key, values, unit) in enumerate(changed):
        for row, (part, label) in enumerate(((0, "mean skewed cost"), (2, "cores lent"))):
            for name in results[key.format(values[0])]:
                ys = [results[key.format(value)][name][part] for value in values]
                axes[row][column].plot(values, ys, marker="o", label=_title(name))
            axes[row][column].set(xscale="log", xlabel=unit, ylabel=label)
            axes[row][column].set_xticks(values, [f"{value:g}" for value in values])
            axes[row][column].set_xticks([], minor=True)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    figure.savefig(path, dpi=100)


def _title(name: str) -> str:
    return f"{Path(name).stem} (recorded)" if name.endswith(".trace") else name


def main() -> None:
    plot, *traces = sys.argv[1:] or [""]
    names = [*WORKLOADS, *traces]
    results = study(names)
    print("| | " + " | ".join(map(_title, names)) + " |")
    print("|---" * (len(names) + 1) + "|")
    for what, by_workload in results.items():
        cells = (f"{cost:.2f} / {low:.0%} / {lent:.2f}" for cost, low, lent in by_workload.values())
        print(f"| {what} | " + " | ".join(cells) + " |")
    if plot:
        draw(results, plot)


if __name__ == "__main__":
    main()
