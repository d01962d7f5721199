"""From samples to the figures of the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench.subject import Figures, NotMeasurableError

QUANTILES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
"""Where a distribution is kept."""


def rounded(value: float) -> float:
    """Four significant digits: more would be noise."""
    return float(f"{value:.4g}")


def summarize(rounds_ns: Sequence[ArrayLike]) -> Figures:
    """Microseconds from each round's samples in nanoseconds.

    Median, 99th percentile and maximum are over all samples, ``spread_us`` is the smallest and the
    largest median of a round. Raises NotMeasurableError if there is no sample at all.
    """
    arrays = [array for array in map(_microseconds, rounds_ns) if array.size]
    if not arrays:
        raise NotMeasurableError("no sample was taken")
    pooled = np.concatenate(arrays)
    medians = [float(np.median(samples)) for samples in arrays]
    return {
        "median_us": rounded(float(np.median(pooled))),
        "p99_us": rounded(float(np.percentile(pooled, 99))),
        "max_us": rounded(float(pooled.max())),
        "spread_us": [rounded(min(medians)), rounded(max(medians))],
        "samples": pooled.size,
        "quantiles_us": [rounded(float(value)) for value in np.quantile(pooled, QUANTILES)],
    }


def compare(cases: Mapping[str, Sequence[ArrayLike]], floors: Mapping[str, str]) -> Figures:
    """Summaries of all cases; those named in ``floors`` with the ratios to that floor.

    A ratio is null where the floor is too small for the clock. ``ratio_spread`` is the smallest
    and the largest ratio of the medians of one round.
    """
    figures: dict[str, Figures] = {name: summarize(rounds) for name, rounds in cases.items()}
    for name, floor in floors.items():
        figures[name]["floor"] = floor
        for key in ("median_us", "p99_us"):
            ratio_key = key.replace("_us", "_ratio")
            figures[name][ratio_key] = ratio(
                _number(figures[name], key), _number(figures[floor], key)
            )
        medians = [
            (float(np.median(np.asarray(own))), float(np.median(np.asarray(base))))
            for own, base in zip(cases[name], cases[floor], strict=False)
            if np.size(own) and np.size(base)
        ]
        by_round = [own / base for own, base in medians if base > 0]
        if by_round:
            figures[name]["ratio_spread"] = [rounded(min(by_round)), rounded(max(by_round))]
    return dict(figures)


def compare_found(cases: Mapping[str, Sequence[NDArray[np.int64]]], floor: str) -> Figures:
    """``compare`` of the rounds and cases that have a sample, each to ``floor`` if that has one."""
    rounds = {name: [samples for samples in case if len(samples)] for name, case in cases.items()}
    found = {name: case for name, case in rounds.items() if case}
    return compare(found, {name: floor for name in found if name != floor and floor in found})


def across_rounds(values: Sequence[float]) -> Figures:
    """For a figure each round has one of: the median round, and the extremes."""
    return {
        "median": rounded(float(np.median(values))),
        "spread": [rounded(min(values)), rounded(max(values))],
    }


def median_us(figure: object) -> float:
    return _number(figure, "median_us")


def _number(figure: object, key: str) -> float:
    assert isinstance(figure, dict)
    value = figure[key]
    assert isinstance(value, float)
    return value


def ratio(value: float, floor: float) -> float | None:
    return rounded(value / floor) if floor > 0 else None


def _microseconds(samples_ns: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(samples_ns, dtype=np.float64) / 1000
