"""The pictures of the page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smartharvest.fleet.cost import EXTRA_CORES, Terms, cost
from smartharvest.fleet.promises.evaluation import Result
from smartharvest.fleet.tables import DAY_S

BLUE, ORANGE, GREY, GREEN = "#2a6fbb", "#d8702a", "#888888", "#3a8f5a"
COLOURS = {
    "ours": BLUE, "persistence": ORANGE, "koordinator": GREEN, "survival-curve": GREY,
}  # fmt: skip


def save(figure: Any, directory: str, name: str) -> str:
    figure.tight_layout()
    path = os.path.join(directory, name)
    figure.savefig(path, dpi=90, metadata={"Software": None})
    return name


def filling(pyplot: Any, runs: Mapping[str, dict[str, Any]], directory: str) -> str:
    """As Figure 11: VMs and evictions, Harvest VMs next to evictable ones."""
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3))
    for axis, what in zip(axes, ("vms", "evictions"), strict=True):
        for offset, kind, colour in ((-0.2, "harvest", BLUE), (0.2, "spot", ORANGE)):
            values = [run[kind][what] for run in runs.values()]
            bars = axis.bar(np.arange(len(runs)) + offset, values, 0.4, color=colour)
            bars.set_label("Harvest VMs" if kind == "harvest" else "1-core evictable VMs")
        axis.set_xticks(range(len(runs)), list(runs))
        axis.set_title("VMs to fill what is left" if what == "vms" else "evictions")
    axes[0].legend(frameon=False)
    return save(figure, directory, "filling.png")


def over_time(
    pyplot: Any, results: Sequence[Result], step_s: float, directory: str, name: str
) -> str:
    """As Figure 12: what came, and the interval that was promised, at one day."""
    day = [one for one in results if one.horizon_s == DAY_S]
    figure, axes = pyplot.subplots(len(day), 1, figsize=(8, 2.3 * len(day)), sharex=True)
    for axis, one in zip(np.atleast_1d(axes), day, strict=True):
        series = one.series[0]
        days = np.arange(len(series.outcome)) * step_s / DAY_S
        axis.fill_between(days, series.lower, series.upper, color=BLUE, alpha=0.25, lw=0,
                          label="promised, 95 %")  # fmt: skip
        axis.plot(days, series.outcome, color="black", lw=0.8, label="came")
        first = np.flatnonzero(np.isfinite(series.lower))[0]
        axis.axvline(days[first], color=GREY, ls=":", lw=1)
        axis.set_xlim(days[max(0, first - len(days) // 10)], days[-1])
        axis.set_ylabel("survival, 1 day" if one.target == "survival" else "cores, 1 day")
        axis.set_ylim(bottom=0)
    axes[-1].set_xlabel("day of the trace; before the dotted line is what was learned from")
    axes[0].legend(frameon=False, loc="lower left", ncols=2)
    return save(figure, directory, name)


def by_horizon(pyplot: Any, results: Sequence[Result], directory: str, name: str) -> str:
    """Coverage, width and the paper's error, by horizon, of ours and its rivals."""
    figure, axes = pyplot.subplots(2, 3, figsize=(10, 5))
    columns = (("coverage", "coverage"), ("width", "width"), ("mean_error", "the paper's error"))
    for row, target in zip(axes, ("survival", "cores"), strict=True):
        chosen = [one for one in results if one.target == target]
        hours = [one.horizon_s / 3600 for one in chosen]
        for axis, (field, title) in zip(row, columns, strict=True):
            for who, colour in COLOURS.items():
                scores = [one.score if who == "ours" else one.rivals.get(who) for one in chosen]
                values = [np.nan if one is None else getattr(one, field) for one in scores]
                axis.plot(hours, values, "o-", ms=3, color=colour, label=who)
            axis.set_xscale("log")
            axis.set_xticks([1, 6, 24, 168, 720], ["1 h", "6 h", "1 d", "7 d", "30 d"])
            axis.minorticks_off()
            axis.set_title(f"{target}: {title}")
            if field == "coverage":
                axis.axhline(0.95, color="black", lw=0.7, ls=":")
                axis.set_ylim(0, 1.03)
    axes[0][0].legend(frameon=False, fontsize=7)
    return save(figure, directory, name)


def prices(pyplot: Any, extra: Mapping[str, float], directory: str) -> str:
    """As Figure 21: a useful core-hour on Harvest VMs by α, next to evictable and regular ones."""
    figure, axis = pyplot.subplots(figsize=(7, 3))
    sources = {"paper": EXTRA_CORES, **extra}
    for number, (name, cores) in enumerate(sources.items()):
        values = [cost(Terms(alpha), [cores])["price_per_useful_core"] for alpha in (0.0, 0.5, 1.0)]
        axis.bar(np.arange(3) + 0.8 * (number + 0.5) / len(sources) - 0.4, values,
                 0.8 / len(sources), label=f"{name}: {cores:.1f} cores more")  # fmt: skip
    terms = Terms()
    axis.axhline(terms.evictable_price, color=GREY, lw=1)
    axis.text(2.45, terms.evictable_price, " evictable", va="bottom", ha="right")
    axis.set_ylim(0, 1.3 * terms.evictable_price)
    axis.set_xticks(range(3), ["α = 0", "α = ½", "α = 1"])
    axis.set_ylabel("$ a useful core-hour")
    axis.set_title(f"a regular one costs ${terms.regular_price:g}", fontsize=9)
    axis.legend(frameon=False, fontsize=8, loc="upper left")
    return save(figure, directory, "prices.png")
