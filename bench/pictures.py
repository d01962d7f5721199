"""The page's pictures, where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.cases import Case
from bench.statistics import QUANTILES

SHOWN = [share for share in QUANTILES if share <= 0.99]
"""A picture of the rest would be one of the longest sample; it stands in the table."""
DPI = 110
STYLES = ("-", "--", ":")
Spread = tuple[float, float]


def available() -> bool:
    """Whether pictures can be drawn here."""
    with suppress(ImportError):
        import matplotlib as mpl

        mpl.use("Agg")
        return True
    return False


def words(name: str) -> str:
    return name.replace("_", " ")


def draw_distributions(cases: Sequence[Case], picture: Path) -> bool:
    """The cases' distributions as curves; False, and no picture, of fewer than two."""
    drawn = [case for case in cases if case.quantiles_us and case.quantiles_us[-1] > 0]
    if len(drawn) < 2:
        return False
    figure, axes = _figure(3.6)
    for number, case in enumerate(drawn):
        style = STYLES[number // 10 % len(STYLES)]
        times_us = case.quantiles_us[: len(SHOWN)]
        axes.plot(times_us, SHOWN[: len(times_us)], style, label=words(case.name), linewidth=1.4)
    axes.set_xscale("log")
    axes.set_xlabel("µs")
    axes.set_ylabel("share of samples at most so long")
    axes.set_ylim(0, 1)
    _finish(figure, axes, picture, legend=True)
    return True


def draw_bars(
    rows: Mapping[str, tuple[float, Spread]], picture: Path, *, unit: str, log: bool
) -> bool:
    """Medians as horizontal bars, with the rounds' spread as whiskers."""
    if not rows:
        return False
    figure, axes = _figure(0.6 + 0.3 * len(rows))
    names = list(rows)[::-1]
    medians = [rows[name][0] for name in names]
    below = [max(0.0, rows[name][0] - rows[name][1][0]) for name in names]
    above = [max(0.0, rows[name][1][1] - rows[name][0]) for name in names]
    axes.barh(
        [words(name) for name in names],
        medians,
        xerr=(below, above),
        color="#5b8db8",
        error_kw={"linewidth": 1, "capsize": 2},
    )
    if log and all(median > 0 for median in medians):
        axes.set_xscale("log")
    axes.set_xlabel(unit)
    _finish(figure, axes, picture, legend=False)
    return True


def draw_lines(
    lines: Mapping[str, Sequence[tuple[float, float, Spread]]],
    picture: Path,
    *,
    x: str,
    unit: str,
) -> bool:
    """A line for each name through its (x, median, spread), both axes logarithmic."""
    drawn = {name: points for name, points in lines.items() if len(points) > 1}
    if not drawn:
        return False
    figure, axes = _figure(3.6)
    for number, (name, points) in enumerate(drawn.items()):
        at = [point[0] for point in points]
        (line,) = axes.plot(
            at,
            [point[1] for point in points],
            STYLES[number // 10 % len(STYLES)],
            marker="o",
            markersize=3,
            linewidth=1.4,
            label=words(name),
        )
        low, high = [point[2][0] for point in points], [point[2][1] for point in points]
        axes.fill_between(at, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(unit)
    _finish(figure, axes, picture, legend=True)
    return True


def draw_trade(
    points: Mapping[str, tuple[float, Spread, float]], picture: Path, *, x: str, y: str
) -> bool:
    """Each name at (work, interval of the latency's change, change): who gives what for what."""
    if not points:
        return False
    figure, axes = _figure(3.8)
    for number, (name, (work, (low, high), change)) in enumerate(points.items()):
        axes.errorbar(
            [work],
            [change],
            yerr=[[max(0.0, change - low)], [max(0.0, high - change)]],
            marker="osD^vP*X"[number % 8],
            markersize=6,
            capsize=2,
            linewidth=1,
            label=name,
        )
    axes.set_yscale("log")
    axes.set_xlim(left=-0.03)
    least = min(0.9, *(low for _, (low, _), _ in points.values())) * 0.9
    axes.set_ylim(bottom=least)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.axhspan(least, 1.1, color="green", alpha=0.06, linewidth=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _finish(figure, axes, picture, legend=True)
    return True


def draw_intervals(rows: Mapping[str, tuple[float, Spread]], picture: Path, *, x: str) -> bool:
    """Ratios with their intervals, one below the other, on both sides of 1."""
    if not rows:
        return False
    figure, axes = _figure(0.8 + 0.26 * len(rows))
    names = list(rows)[::-1]
    ratios = [rows[name][0] for name in names]
    below = [max(0.0, rows[name][0] - rows[name][1][0]) for name in names]
    above = [max(0.0, rows[name][1][1] - rows[name][0]) for name in names]
    axes.errorbar(ratios, names, xerr=(below, above), fmt="o", markersize=4, capsize=2, linewidth=1)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel(x)
    _finish(figure, axes, picture, legend=False)
    return True


def _figure(height: float) -> tuple[Any, Any]:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, height), layout="constrained")
    return figure, axes


def _finish(figure: Any, axes: Any, picture: Path, *, legend: bool) -> None:
    from matplotlib import pyplot as plt
    from matplotlib import ticker

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5), numticks=12))
            axis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
            axis.set_minor_formatter(ticker.NullFormatter())
    axes.grid(alpha=0.25)
    if legend:
        axes.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.01, 0.5))
    # No date and no version of a program: equal figures draw equal files.
    figure.savefig(picture, dpi=DPI, metadata={"Software": None})
    plt.close(figure)
