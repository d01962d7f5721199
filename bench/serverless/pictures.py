"""The page's pictures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from bench.serverless.experiments import (
    BALANCERS,
    EVICTED_AT_S,
    HOT_FROM_S,
    LATENCY_BOUND,
    SLOWDOWNS,
    Row,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = {"mws": "#2a6fbb", "jsq": "#3a9d5d", "p2c": "#d9822b", "vanilla": "#8a8a8a"}
CHURN_COLORS = {"dedicated": "#3a9d5d", "normal": "#2a6fbb", "active": "#c0392b"}


def draw(document: Row, folder: str) -> None:
    """throughput.png, clusters.png, trouble.png and cost.png in ``folder``."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3})
    _throughput(document["samples"], os.path.join(folder, "throughput.png"))
    _clusters(document["samples"][0], os.path.join(folder, "clusters.png"))
    _trouble(document, os.path.join(folder, "trouble.png"))
    _cost(document, os.path.join(folder, "cost.png"))


def _save(figure: Any, path: str) -> None:
    from matplotlib import pyplot as plt

    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _throughput(samples: list[Row], path: str) -> None:
    from matplotlib import pyplot as plt

    figure, grid = plt.subplots(len(samples), 3, figsize=(11, 3.1 * len(samples)), squeeze=False)
    for axes, sample in zip(grid, samples, strict=True):
        for name in BALANCERS:
            rows = sample["balancers"][name]["rows"]
            rps = [row["rps"] for row in rows]
            style: Row = {"color": COLORS[name], "label": name, "marker": ".", "linewidth": 1.2}
            axes[0].plot(rps, [row["slowdown_p99"] for row in rows], **style)
            axes[1].plot(rps, [row["latency_ratio_p99"] for row in rows], **style)
            axes[2].plot(rps, [100 * row["cold_start_share"] for row in rows], **style)
        for bound in SLOWDOWNS:
            axes[0].axhline(bound, color="black", linewidth=0.6, linestyle=":")
        axes[1].axhline(LATENCY_BOUND, color="black", linewidth=0.6, linestyle=":")
        for one, label in zip(
            axes, ("P99 slowdown", "P99 latency over P99 alone", "cold starts, %"), strict=True
        ):
            one.set_yscale("log")
            one.set_ylabel(label)
            one.set_xlabel(f"invocations a second, sample {sample['source']}")
    grid[0][1].legend(frameon=False, loc="center")
    _save(figure, path)


def _clusters(sample: Row, path: str) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True)
    for one, name in zip(axes, ("mws", "jsq", "vanilla"), strict=True):
        for churn, color in CHURN_COLORS.items():
            rows = sample["clusters"][churn][name]["rows"]
            one.plot(
                [row["rps"] for row in rows], [row["slowdown_p99"] for row in rows],
                color=color, marker=".", linewidth=1.2, label=churn,
            )  # fmt: skip
        one.set_title(name)
        one.set_yscale("log")
        one.set_xlabel("invocations a second")
    axes[0].set_ylabel("P99 slowdown")
    axes[0].legend(frameon=False)
    _save(figure, path)


def _trouble(document: Row, path: str) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2))
    _lines(axes[0], document["hot"], "one hot function", HOT_FROM_S, "gets hot")
    _lines(axes[1], document["half"], "half of the workers evicted", EVICTED_AT_S, "evicted")
    old = document["old"]
    for name in ("mws", "jsq", "p2c"):
        for blind in (True, False):
            rows = [row for row in old if row["balancer"] == name and row["blind"] == blind]
            axes[2].plot(
                [row["report_s"] for row in rows], [row["slowdown_p99"] for row in rows],
                color=COLORS[name], marker=".", linestyle="-" if blind else "--",
                label=name if blind else None,
            )  # fmt: skip
    axes[2].set_xscale("log")
    axes[2].set_yscale("log")
    axes[2].set_xlabel("seconds between reports")
    axes[2].set_title("old reports, four controllers, active")
    axes[2].plot([], [], color="black", linestyle="--", label="doubting")
    axes[2].set_ylim(5, None)
    axes[2].legend(frameon=False, fontsize=8, ncols=4, loc="lower center", columnspacing=1)
    axes[0].set_ylabel("P99 slowdown")
    axes[0].legend(frameon=False)
    _save(figure, path)


def _lines(axes: Axes, found: Row, title: str, at_s: float, what: str) -> None:
    for name in BALANCERS:
        line = found[name]["line"]
        axes.plot(
            [10 * i / 60 for i in range(len(line))], line, color=COLORS[name], linewidth=1.2,
            label=name,
        )  # fmt: skip
    axes.axvline(at_s / 60, color="black", linewidth=0.6, linestyle=":", label=what)
    axes.set_yscale("log")
    axes.set_xlabel("minutes")
    axes.set_title(title)


def _cost(document: Row, path: str) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    rows = [row for row in document["resources"] if row["alpha"] == 0.5]
    for i, share in enumerate(sorted({row["share"] for row in rows})):
        times = [row["times"][1] for row in rows if row["share"] == share]
        axes[0].bar(
            [j + 0.27 * i for j in range(len(times))], times, width=0.25, label=f"{share:.0%}"
        )
    discounts = sorted({row["discount"] for row in rows})
    axes[0].set_xticks([j + 0.27 for j in range(len(discounts))],
                       [f"{discount:.0%} off" for discount in discounts])  # fmt: skip
    axes[0].set_ylabel("cores for one regular core's price")
    axes[0].legend(title="harvested", frameon=False)
    for bound in (3, 10):
        axes[0].axhline(bound, color="black", linewidth=0.6, linestyle=":")
    strategies = document["strategies"]
    names = list(strategies)
    axes[1].bar(names, [strategies[name]["normal"]["cost"] for name in names], color="#2a6fbb")
    axes[1].set_ylabel("cost of an hour")
    axes[1].set_title("20 workers, by strategy")
    _save(figure, path)
