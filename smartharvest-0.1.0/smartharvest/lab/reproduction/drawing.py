"""How the figures look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smartharvest.lab.reproduction.runner import Mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, GREEN, ORANGE, GREY, RED = "#2a6fbb", "#3a9d5d", "#d9822b", "#8a8a8a", "#c0392b"


@dataclass(frozen=True)
class Point:
    """A policy: cores harvested against the P99 it leaves the primary."""

    label: str
    harvested: Mean
    p99_us: Mean
    color: str = BLUE
    marker: str = "o"
    in_legend: bool = True


def policy_point(policy: str, harvested: Mean, p99_us: Mean) -> Point:
    """A point in the colour of its policy."""
    if policy.startswith("fixed-buffer:"):
        return Point(policy.partition(":")[2], harvested, p99_us, GREEN, "s", in_legend=False)
    if policy.startswith("prev-peak"):
        return Point("PrevPeak" + policy.partition(":")[2], harvested, p99_us, ORANGE, "^")
    return Point({"smartharvest": "SmartHarvest"}.get(policy, policy), harvested, p99_us)


def draw_trade(
    axes: Axes, points: Sequence[Point], baseline_us: float, limit: float, title: str
) -> None:
    """P99 over harvested cores; fixed buffers as a curve, each point with its buffer."""
    buffers = [point for point in points if not point.in_legend]
    if buffers:
        axes.plot(
            [point.harvested.value for point in buffers],
            [point.p99_us.value for point in buffers],
            color=GREEN,
            linewidth=1,
            label="fixed buffer",
        )
    for point in points:
        axes.errorbar(
            point.harvested.value,
            point.p99_us.value,
            xerr=point.harvested.spread,
            yerr=point.p99_us.spread,
            fmt=point.marker,
            color=point.color,
            markersize=4 if not point.in_legend else 8,
            linewidth=1,
            label=point.label if point.in_legend else None,
        )
        if not point.in_legend:
            axes.annotate(
                point.label,
                (point.harvested.value, point.p99_us.value),
                xytext=(4, 4),
                textcoords="offset points",
                fontsize="x-small",
                color=GREEN,
            )
    axes.axhline(baseline_us, color=GREY, linewidth=1, label="no harvest")
    axes.axhline(baseline_us * (1 + limit), color=RED, linestyle="--", linewidth=1, label="+10 %")
    top = max([point.p99_us.value for point in points] + [baseline_us])
    # A curve that explodes would flatten everything that matters.
    axes.set_ylim(0.95 * baseline_us, min(1.05 * top, 1.7 * baseline_us))
    axes.set_xlim(left=0)
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel("harvested cores")
    axes.set_ylabel("P99 (us)")
