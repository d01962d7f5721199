"""Replayed policies side by side, as a table and as a picture."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError, TraceError
from smartharvest.lab.trace.reader import TraceReader
from smartharvest.lab.trace.replay import Outcome, Replay
from smartharvest.printable import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_S = 3.0
"""How much of the time line is drawn; more would be a grey band."""
_BLUE, _RED = "#2a6fbb", "#c0392b"


def table(played: Sequence[Replay], trace: TraceReader) -> str:
    """One line per policy, below a description of the trace."""
    header = trace.header
    width = max(len(one.outcome.policy) for one in played)
    lines = [
        f"{trace.path}: {trace.seconds:.1f} s of {', '.join(header.primaries) or 'a primary'} on "
        f"{header.host or 'an unnamed host'}, {counted(header.cores, 'core')}, "
        f"sensor {header.sensor or 'unknown'}"
    ]
    if trace.missing is not None:
        lines.append(f"the trace {trace.missing}: these are the figures of the part before")
    lines += [
        f"{'':{width}}  harvested  of idle   exhausted      short   core ms      most     moves",
        f"{'':{width}}      cores        %        /min  % of time  short /s     cores        /s",
    ]
    for one in played:
        o = one.outcome
        exhausted = "-" if o.bound else f"{o.exhausted_per_min:.1f}"
        lines.append(
            f"{o.policy:{width}}  {o.harvested_cores:9.2f}  {o.idle_share:7.1%}  {exhausted:>10}  "
            f"{o.short_share:9.3%}  {o.short_core_ms_per_s:8.3f}  {o.short_most:8d}  "
            f"{o.assignments_per_s:8.1f}"
        )
    lines.append(
        "exhausted: the idle buffer ran out. short: the primary wanted more cores than it held; "
        "how long it waited\nis not in the trace. The last two rows are upper bounds: for deciding "
        "once per window, and for lending every\nidle core at once."
    )
    return "\n".join(lines)


def draw(played: Sequence[Replay], trace: TraceReader, path: str) -> None:
    """The comparison as a PNG: a row for each policy, its windows next to its figures.

    Raises ConfigError without matplotlib, TraceError if writing the file fails.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            "plot: needs matplotlib; install it with pip install 'smartharvest[plot]'"
        ) from None
    logging.getLogger("matplotlib").setLevel(logging.WARNING)
    run = [one for one in played if one.windows]
    figure = Figure(figsize=(11, 1.2 + 1.15 * max(1, len(run))), layout="constrained")
    rows = figure.subplots(
        max(1, len(run)), 3, squeeze=False, width_ratios=(5, 1.6, 1.6), sharex="col"
    )
    for one, (time_line, harvest, short) in zip(run, rows, strict=False):
        _draw_windows(time_line, one, trace)
        _draw_harvest(harvest, one.outcome, [other.outcome for other in played], trace)
        _draw_shortage(short, one.outcome)
    _label(rows, trace)
    try:
        figure.savefig(path, format="png", dpi=110)
    except OSError as error:
        raise TraceError(f"{path}: cannot be written: {error.strerror}") from None


def _draw_windows(axes: Axes, one: Replay, trace: TraceReader) -> None:
    """Windows from the middle of the trace: cores wanted, and cores the primary held."""
    middle_ns = (trace.start_ns + trace.until_ns) // 2
    first_ns = max(trace.start_ns, middle_ns - round(SHOWN_S / 2 * 1e9))
    last_ns = first_ns + round(SHOWN_S * 1e9)
    shown = [row for row in one.windows if first_ns <= row.end_ns <= last_ns]
    ends_s = np.array([(row.end_ns - trace.start_ns) / 1e9 for row in shown])
    peaks = np.array([row.peak for row in shown])
    held = np.array([row.primary_cores for row in shown])
    axes.fill_between(ends_s, peaks, step="pre", color="0.82", linewidth=0)
    axes.step(ends_s, held, where="pre", color=_BLUE, linewidth=1.0)
    broken = np.array([row.exhausted for row in shown], bool)
    axes.plot(ends_s[broken], held[broken], ".", color=_RED, markersize=4)
    axes.set_ylim(0, trace.header.cores * 1.1)
    axes.margins(x=0)
    axes.set_ylabel(one.outcome.policy, rotation=0, ha="right", va="center")


def _draw_harvest(
    axes: Axes, outcome: Outcome, all_outcomes: Sequence[Outcome], trace: TraceReader
) -> None:
    axes.barh([0], [outcome.harvested_cores], color=_BLUE, height=0.5)
    for other in all_outcomes:
        if other.bound:
            axes.axvline(other.harvested_cores, color="0.5", linestyle=":", linewidth=1)
    _write_value(axes, outcome.harvested_cores, f"{outcome.harvested_cores:.2f}")
    axes.set_xlim(0, trace.header.cores)


def _draw_shortage(axes: Axes, outcome: Outcome) -> None:
    percent = 100 * outcome.short_share
    axes.barh([0], [percent], color=_RED, height=0.5)
    axes.set_xscale("symlog", linthresh=1e-3)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 1e-2, 1, 100], ["0", "0.01", "1", "100"])
    _write_value(axes, percent, f"{percent:.2g} %")


def _write_value(axes: Axes, value: float, text: str) -> None:
    axes.annotate(text, (value, 0), xytext=(4, 0), textcoords="offset points", va="center",
                  fontsize="small", clip_on=False)  # fmt: skip
    axes.set_yticks([])
    axes.set_ylim(-0.6, 0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _label(rows: NDArray[Any], trace: TraceReader) -> None:
    """Titles above the columns and units below them."""
    titles = (
        "cores: grey wanted at most in the window, blue held, red where the buffer ran out",
        "harvested",
        "time short of cores",
    )
    name = ", ".join(trace.header.primaries) or trace.path
    units = (f"time in the trace of {name} (s)", "cores; dotted: bounds", "%")
    for axes, title in zip(rows[0], titles, strict=True):
        axes.set_title(title, loc="left", fontsize="small")
    for axes, unit in zip(rows[-1], units, strict=True):
        axes.set_xlabel(unit, fontsize="small")
