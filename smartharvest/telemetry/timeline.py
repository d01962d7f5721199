"""The timeline of the paper's Figure 7a from an audit log: peak use and allocated cores.

Needs matplotlib (the extra ``plot``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from smartharvest.errors import ConfigError
from smartharvest.printable import counted


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
        raise ConfigError("the audit log has no decision in that time; see smartharvest explain")
    start_s = decisions[0]["t"]
    return Timeline(
        seconds=[record["t"] - start_s for record in decisions],
        allocated=[record["had"] for record in decisions],
        peak=[record["busy"] for record in decisions],
        demand=[record["demand"] for record in decisions],
        exhausted=[record["exhausted"] for record in decisions],
        total=decisions[-1]["primary"] + decisions[-1]["harvest"],
    )


def draw(seen: Timeline, path: str) -> None:
    """Writes the picture in the format of its name. Raises ConfigError if that fails."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise ConfigError(
            "plot: matplotlib is not installed; pip install 'smartharvest[plot]'"
        ) from None
    figure = Figure(figsize=(10, 3.6), layout="constrained")
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
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot be written: {why}") from None
