"""The timeline of the paper's Figure 7a from an audit log, and the same of a day in bands.

Needs matplotlib (the extra ``plot``).
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import nan
from typing import Any

from smartharvest.errors import ConfigError
from smartharvest.printable import counted
from smartharvest.telemetry.day import NO_DECISION, Bin, Day
from smartharvest.telemetry.output_file import write_whole


@dataclass(frozen=True)
class Timeline:
    """One entry a window; times in seconds from the first."""

    seconds: list[float]
    allocated: list[int]
    """Cores the primary had when the window ended."""
    peak: list[int]
    """The most cores it used in the window."""
    demand: list[int]
    exhausted: list[bool]
    total: int

    @property
    def harvested_mean(self) -> float:
        return sum(self.total - cores for cores in self.allocated) / len(self.allocated)


def timeline(records: Iterable[Mapping[str, Any]]) -> Timeline:
    """The decisions among ``records``. Raises ConfigError if there are none."""
    decisions = [record for record in records if record["kind"] == "decision"]
    if not decisions:
        raise ConfigError(NO_DECISION)
    start_s = decisions[0]["t"]
    return Timeline(
        seconds=[record["t"] - start_s for record in decisions],
        allocated=[record["had"] for record in decisions],
        peak=[record["busy"] for record in decisions],
        demand=[record["demand"] for record in decisions],
        exhausted=[record["exhausted"] for record in decisions],
        total=decisions[-1]["primary"] + decisions[-1]["harvest"],
    )


def draw_day(day: Day, path: str) -> None:
    """Bands over the wall clock, for minutes to weeks. Raises ConfigError as ``draw`` does."""
    figure = _figure()
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import MaxNLocator

    axes = figure.add_subplot()
    own = datetime.fromtimestamp(day.since_s).astimezone().tzinfo
    bins = list(_without_gaps(day.bins))
    when = [datetime.fromtimestamp(one.start_s, own) for one in bins]
    axes.fill_between(
        when, [one.lent_least for one in bins], [one.lent_most for one in bins],
        step="post", color="#9fd39f", lw=0, label="lent, least to most",
    )  # fmt: skip
    means = ("lent", "#1a7f37", "lent, mean"), ("granted", "#c22", "cores of the primary, mean")
    for name, color, label in means:
        levels = [one.mean(name) if one.seconds else nan for one in bins]
        axes.step(when, levels, where="post", color=color, lw=1.3, label=label)
    peaks = [float(one.busy) if one.seconds else nan for one in bins]
    axes.step(when, peaks, where="post", color="k", lw=0.7, alpha=0.6, label="peak use")
    for one, at, end in zip(bins, when, when[1:], strict=False):
        if one.held_s > one.seconds / 2:
            axes.axvspan(at, end, color="#c22", alpha=0.1, lw=0)
    axes.set_ylim(0, day.cores + 0.3)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    locator = AutoDateLocator(tz=own)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        ConciseDateFormatter(locator, tz=own)  # type: ignore[no-untyped-call]
    )
    axes.set_ylabel("cores")
    axes.set_title(
        f"{day.mean_lent:.2f} of {counted(day.cores, 'core')} lent on average, "
        f"{day.lent_core_hours:.2f} core-hours in {day.known_s / 3600:.2f} hours",
        fontsize=10,
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4, frameon=False)
    _save(figure, path)


def _without_gaps(bins: Sequence[Bin]) -> Iterator[Bin]:
    """The bins, with an empty one where nothing is known, and one at the end."""
    width_s = min((b.start_s - a.start_s for a, b in pairwise(bins)), default=1.0)
    for one, following in zip(bins, [*bins[1:], None], strict=True):
        yield one
        if following is None or following.start_s - one.start_s > 1.5 * width_s:
            yield Bin(one.start_s + width_s, lent_least=nan, lent_most=nan)


def draw(seen: Timeline, path: str) -> None:
    """Writes the picture in the format of its name. Raises ConfigError if that fails."""
    figure = _figure()
    from matplotlib.ticker import MaxNLocator

    axes = figure.add_subplot()
    axes.fill_between(
        seen.seconds, seen.allocated, seen.total, step="pre", color="#d8ecd8", label="harvested"
    )
    axes.step(
        seen.seconds,
        seen.allocated,
        where="pre",
        color="#c22",
        lw=1.4,
        label="cores of the primary",
    )
    axes.step(
        seen.seconds,
        seen.peak,
        where="pre",
        color="k",
        lw=1.0,
        ls="--",
        label="peak use in the window",
    )
    broken = [
        (at_s, cores)
        for at_s, cores, exhausted in zip(seen.seconds, seen.allocated, seen.exhausted, strict=True)
        if exhausted
    ]
    if broken:
        axes.plot(
            [at_s for at_s, _ in broken],
            [cores for _, cores in broken],
            ls="", marker="v", ms=4, color="#e80", label="buffer ran out",
        )  # fmt: skip
    axes.set_xlim(0, max(seen.seconds[-1], 1e-3))
    axes.set_ylim(0, seen.total + 0.3)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("seconds")
    axes.set_ylabel("cores")
    axes.set_title(
        f"{seen.harvested_mean:.2f} of {counted(seen.total, 'core')} lent on average, "
        f"{counted(len(seen.seconds), 'window')}, buffer ran out in {len(broken)}",
        fontsize=10,
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4, frameon=False)
    _save(figure, path)


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            "plot: matplotlib is not installed; pip install 'smartharvest[plot]', or have "
            "smartharvest report --html draw it"
        ) from None
    return Figure(figsize=(10, 3.6), layout="constrained")


def _save(figure: Any, path: str) -> None:
    kind = os.path.splitext(path)[1].removeprefix(".")
    picture = io.BytesIO()
    try:
        figure.savefig(picture, format=kind or "png", dpi=150)
    except ValueError as error:  # of an ending that it does not know
        raise ConfigError(f"{path}: cannot be written: {error}") from None
    write_whole(path if kind else f"{path}.png", picture.getvalue())
