"""The demonstration's picture: cores of the nodes, where requests went, and how long they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

BIN_S = 3.0
NODES = ("#2f6f9f", "#c8553d", "#7a9a3a")
ROUTERS = {"min worker set": "#2f6f9f", "shortest queue": "#7a9a3a", "Ray's default": "#c8553d"}


def draw(
    cores: Mapping[str, Sequence[tuple[float, float]]],
    answers: Mapping[str, Sequence[Any]],
    marks: Mapping[str, float],
    picture: Path,
) -> None:
    """``cores``: node -> (seconds, cores); ``answers``: router -> answers of __main__.py.

    ``marks``: what happened -> seconds.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, rows = plt.subplots(
        len(answers) + 2, 1, figsize=(9.5, 10), sharex=True, layout="constrained"
    )
    for (node, seen), color in zip(cores.items(), NODES, strict=True):
        when_s, counts = [at for at, _ in seen], [count for _, count in seen]
        rows[0].step(when_s, counts, where="post", color=color, linewidth=1.3, label=node)
    rows[0].set_ylabel("cores there")
    rows[0].set_ylim(0, None)
    last_s = max(one.at_s for found in answers.values() for one in found)
    ends = np.arange(0, last_s + 2 * BIN_S, BIN_S)
    for axes, (router, found) in zip(rows[1:], answers.items(), strict=False):
        per_node = [[one.at_s for one in found if one.node == node] for node in cores]
        axes.hist(
            per_node, ends, stacked=True, color=NODES[: len(cores)],
            weights=[[1 / BIN_S] * len(times) for times in per_node],
        )  # fmt: skip
        lost = [one.at_s for one in found if one.node is None]
        axes.plot(lost, [0.5] * len(lost), "kx", markersize=4)
        axes.set_ylabel(f"{router}\nrequests a second")
    axes = rows[len(answers) + 1]
    for router, found in answers.items():
        bins_s, p50, p95 = _quantiles(found, ends)
        axes.plot(bins_s, p95, color=ROUTERS[router], linewidth=1.4, label=f"{router}, 95 %")
        axes.plot(bins_s, p50, color=ROUTERS[router], linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_ylabel("latency, seconds\n(dotted: median)")
    axes.set_xlabel("seconds since the first invocation")
    axes.legend(loc="upper left", frameon=False, ncols=3, fontsize=8)
    rows[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False)
    for row in rows:
        for at_s in marks.values():
            row.axvline(at_s, color="#555555", linewidth=0.9, linestyle="--")
        row.spines[["top", "right"]].set_visible(False)
        row.grid(axis="y", linewidth=0.4, alpha=0.5)
        row.set_xlim(0, last_s)
    for what, at_s in marks.items():
        before = what == min(marks, key=lambda one: marks[one])
        rows[0].annotate(
            what, (at_s, 1.0), xycoords=("data", "axes fraction"), fontsize=8, va="bottom",
            ha="right" if before else "left", xytext=(-3 if before else 3, 2),
            textcoords="offset points",
        )  # fmt: skip
    figure.savefig(picture, dpi=110)
    plt.close(figure)


def _quantiles(
    found: Sequence[Any], ends: np.ndarray[Any, Any]
) -> tuple[list[float], list[float], list[float]]:
    """(middle of the bin, median, 95th percentile) of each bin with answers."""
    at_s, p50, p95 = [], [], []
    for begin in ends[:-1]:
        took = [
            one.took_s
            for one in found
            if begin <= one.at_s < begin + BIN_S and one.node is not None
        ]
        if took:
            at_s.append(float(begin + BIN_S / 2))
            p50.append(float(np.quantile(took, 0.5)))
            p95.append(float(np.quantile(took, 0.95)))
    return at_s, p50, p95
