"""Conformal intervals around any forecast, from its own errors as they become known. Pure.

Split conformal prediction: the interval is the forecast plus quantiles of the errors of earlier
forecasts, none of which the forecaster has learned from. Six things a trace asks for besides:

- An error is known when its horizon is over, so it counts from then on. A cohort of which fewer
  live already than were promised counts before: its error is that far at least.
- What happens of late may differ from what happened ever: the wider of both quantiles counts.
- Few of the errors are independent and of a time like the present (evidence.py): Student's t for so
  few widens the quantiles.
- Fewer than 39 such errors cannot exclude 5 % of misses, whatever their quantiles: what they leave
  open moves the ends so far towards 0 and 1, or towards the fewest and the most cores ever seen.
- Fewer than 19 cannot exclude 5 % on one side. Then nothing is promised: the interval is all there
  is.
- A level that has covered too little of late is raised, one that covers too much lowered (adaptive
  conformal inference, Gibbs and Candès, NeurIPS'21).
- No quantile of known errors covers what is worse than all of them. So each side is also widened by
  a factor that grows with every miss there and shrinks else (``tracked``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.promises.cohorts import Cohorts
from smartharvest.fleet.promises.evidence import FEWEST
from smartharvest.fleet.tables import Floats

MISSES = 0.05
"""Of 95 % intervals."""
RATE = 0.005
"""By how much a miss raises the level."""
TRACKING = 0.02
"""By how much a miss raises the logarithm of its side's factor."""
_MOST_TRACKED = 3.0
_NARROWEST = 0.005
"""Of all there is: what a factor widens at least."""
_LEAST_MISSES, _MOST_MISSES = 0.002, 0.2
_FEWEST_FOR_QUANTILES = 20
_DEGREES = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 60)
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.306, 2.228, 2.131, 2.086, 2.042, 2.0)
_NORMAL = 1.959964


def widening(independent: float) -> float:
    """How much wider than a normal one Student's 95 % interval is, for so many errors (>= 1)."""
    inverse = [1 / degrees for degrees in _DEGREES]
    student = np.interp(
        1 / max(1.0, independent), [0.0, *inverse[::-1]], [_NORMAL, *_STUDENT[::-1]]
    )
    return float(student) / _NORMAL


def unexcluded(independent: float) -> float:
    """The share of misses beyond MISSES that so many exchangeable errors cannot exclude: the next
    one is beyond all n of them with 2 / (n + 1); 0 from n = 39 on."""
    beyond = min(1.0, 2 / (independent + 1))
    return max(0.0, (beyond - MISSES) / (1 - MISSES))


@dataclass(frozen=True, slots=True)
class Forecasts:
    """Of one cluster and one horizon; arrays (steps)."""

    said: Floats
    """NaN where nothing was said."""
    outcome: Floats
    """NaN where there is none: the cohort is empty or censored."""
    horizon: int
    """Steps."""
    most: float
    """The largest value there is; the least is 0."""
    independent: Floats
    """(steps) how many independent errors are known at each."""
    alive: Cohorts | None = None
    """Those whose survival it is; None for cores."""
    reach: tuple[Floats, Floats] | None = None
    """(steps) the least and the most that was ever seen; None: 0 and ``most``."""

    @property
    def errors(self) -> Floats:
        return self.outcome - self.said


def intervals(
    one: Forecasts, pool: list[Forecasts], first: int, recent: int, known: Floats | None = None
) -> tuple[Floats, Floats]:
    """(lower, upper) ends (steps), NaN before ``first`` and where nothing was said.

    ``pool`` are the forecasts whose errors count: ``one`` itself, and those for other clusters of
    the same length. ``recent`` is in steps. ``known`` are errors from elsewhere, known before; how
    many of them are independent is part of ``one.independent``.
    """
    steps = len(one.said)
    lower, upper = np.full(steps, np.nan), np.full(steps, np.nan)
    known_errors = [_Known.of(each.errors) for each in pool]
    elsewhere = np.zeros(0) if known is None else known
    misses, whole = MISSES, np.zeros(steps, dtype=bool)
    for step in range(first, steps):
        over = step - one.horizon + 1  # cohorts before this one have an outcome by now
        at = over - 1
        if over > 0 and np.isfinite(one.outcome[at] + lower[at]) and not whole[at]:
            value = one.outcome[at]
            missed = not lower[at] - 1e-9 <= value <= upper[at] + 1e-9
            misses = float(np.clip(misses + RATE * (MISSES - missed), _LEAST_MISSES, _MOST_MISSES))
        if not np.isfinite(one.said[step]):
            continue
        end = max(0, over)
        ever = np.concatenate([elsewhere, *(each.between(0, end) for each in known_errors)])
        if one.independent[step] < FEWEST or len(ever) < _FEWEST_FOR_QUANTILES:
            lower[step], upper[step], whole[step] = 0.0, one.most, True
            continue
        low, high = quantiles(ever, misses / 2)
        late = np.concatenate([each.between(max(0, end - recent), end) for each in known_errors])
        if len(late) >= _FEWEST_FOR_QUANTILES:
            late_low, late_high = quantiles(late, misses / 2)
            low, high = min(low, late_low), max(high, late_high)
        low = min(low, _pending(one, step, misses))
        independent = one.independent[step]
        wide, doubt = widening(independent), unexcluded(independent)
        down = np.clip(one.said[step] + wide * min(low, 0.0), 0.0, one.most)
        up = np.clip(one.said[step] + wide * max(high, 0.0), 0.0, one.most)
        floor, ceiling = (0.0, one.most) if one.reach is None else (r[step] for r in one.reach)
        lower[step] = down + doubt * min(0.0, floor - down)
        upper[step] = up + doubt * max(0.0, ceiling - up)
    return lower, upper


def tracked(one: Forecasts, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """``lower`` and ``upper`` (steps) widened, each by a factor of at least 1 of its own.

    A miss counts when its horizon is over. In the long run half of MISSES are on each side,
    whatever the errors are (quantile tracking, the P of conformal PID control: Angelopoulos,
    Candès and Tibshirani, NeurIPS'23).
    """
    wide_lower, wide_upper = lower.copy(), upper.copy()
    down = np.maximum(one.said - lower, _NARROWEST * one.most)
    up = np.maximum(upper - one.said, _NARROWEST * one.most)
    below = above = 0.0
    for step in range(len(lower)):
        over = step - one.horizon
        if over >= 0 and np.isfinite(one.outcome[over] + wide_lower[over]):
            value, rest = one.outcome[over], TRACKING * MISSES / 2
            missed_below = TRACKING * (value < wide_lower[over] - 1e-9)
            missed_above = TRACKING * (value > wide_upper[over] + 1e-9)
            below = min(_MOST_TRACKED, max(0.0, below + missed_below - rest))
            above = min(_MOST_TRACKED, max(0.0, above + missed_above - rest))
        if not np.isfinite(lower[step]):
            continue
        if below > 0.0:
            wide_lower[step] = max(0.0, one.said[step] - math.exp(below) * down[step])
        if above > 0.0:
            wide_upper[step] = min(one.most, one.said[step] + math.exp(above) * up[step])
    return wide_lower, wide_upper


def _pending(one: Forecasts, step: int, misses: float) -> float:
    """A low quantile of the errors there are at least, of cohorts that have not reached the
    horizon; 0 if too few are known to have one."""
    if one.alive is None:
        return 0.0
    since = max(0, step - one.horizon + 1)
    starts = np.arange(since, step)
    fits = one.alive.fits[since:step]
    size = fits.sum(axis=1)
    living = (fits & (one.alive.lasts[since:step] >= (step - starts)[:, np.newaxis])).sum(axis=1)
    with np.errstate(invalid="ignore"):
        errors = living / size - one.said[since:step]
    errors = errors[np.isfinite(errors)]
    return quantiles(errors, misses / 2)[0] if len(errors) >= _FEWEST_FOR_QUANTILES else 0.0


def quantiles(values: Floats, share: float) -> tuple[float, float]:
    """The quantiles ``share`` and 1 - ``share``, straight between values, as numpy.quantile's.

    ``share`` is below one half. A tenth of its time for a few thousand values.
    """
    at = share * (len(values) - 1)
    below = int(at)
    part = at - below
    last = len(values) - 1
    above = min(below + 1, last)
    sorted_there = np.partition(values, [below, above, last - above, last - below])
    low = sorted_there[below] + part * (sorted_there[above] - sorted_there[below])
    high = sorted_there[last - below] + part * (
        sorted_there[last - above] - sorted_there[last - below]
    )
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class _Known:
    """Errors without those that are not numbers, and how many came before each step."""

    values: Floats
    before: NDArray[np.int64]

    @classmethod
    def of(cls, errors: Floats) -> _Known:
        finite = np.isfinite(errors)
        return cls(errors[finite], np.concatenate([[0], np.cumsum(finite)]))

    def between(self, first: int, end: int) -> Floats:
        return self.values[self.before[first] : self.before[end]]


@dataclass(frozen=True, slots=True)
class Score:
    """How good intervals were."""

    n: int
    coverage: float
    """Share of the outcomes inside."""
    width: float
    mean_error: float
    """Distance of the outcome to the nearest end, 0 inside (OSDI'20, section 7.3)."""
    above: float
    """Share of the outcomes above the interval: less was promised than there was."""
    below: float
    midpoint_error: float
    """Mean distance between the forecast and the outcome."""
    declined: float
    """Share of the intervals that promise nothing, as too few independent errors were known."""
    promised_coverage: float | None
    """Of the others, as the next; None if there are none."""
    promised_width: float | None
    promised_outcomes: float
    """How many of the promises have outcomes independent of each other; a coverage of fewer than
    some twenty cannot be distinguished."""


def score(
    said: Floats,
    lower: Floats,
    upper: Floats,
    outcome: Floats,
    declined: NDArray[np.bool_] | None = None,
    alike: float = 1.0,
) -> Score | None:
    """``declined`` (n) says which intervals promise nothing; so many outcomes are ``alike`` as to
    count as one. None if no interval has an outcome."""
    told = np.isfinite(lower) & np.isfinite(outcome)
    if not told.any():
        return None
    low, high, value = lower[told], upper[told], outcome[told]
    above, below = value > high + 1e-9, value < low - 1e-9
    inside = ~above & ~below
    promised = np.ones(len(value), dtype=bool) if declined is None else ~declined[told]
    return Score(
        int(told.sum()),
        float(inside.mean()),
        float((high - low).mean()),
        float(np.maximum(0.0, np.maximum(low - value, value - high)).mean()),
        float(above.mean()),
        float(below.mean()),
        float(np.abs(said[told] - value).mean()),
        float(1 - promised.mean()),
        float(inside[promised].mean()) if promised.any() else None,
        float((high - low)[promised].mean()) if promised.any() else None,
        float(promised.sum() / alike),
    )
