"""The summary of one learning window, as the polling loop hands it to the control plane."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """What the primary did between two decisions (paper, section 3.3, lines 4-11 of Algorithm 1).

    Core counts are integers in ``0..total`` unless said otherwise; times are CLOCK_MONOTONIC.
    The five features of section 3.4 are population statistics over the window's polls.
    """

    seq: int
    """Number of the window since the loop started, from 1."""
    start_ns: int
    end_ns: int
    polls: int
    """Samples in the window, at least 1."""
    busy_min: int
    busy_max: int
    """The window's peak; a lower bound of the true one if the window is exhausted."""
    busy_mean: float
    busy_std: float
    busy_median: float
    """Mean of the two middle samples when ``polls`` is even."""
    busy_last: int
    """The last sample (``primary_busy`` in line 20)."""
    demand_max: int
    """Peak of running + waiting primary tasks; equals ``busy_max`` if the sensor cannot tell."""
    primary_cores: int
    """Cores the primary held when the window ended, before any reaction to its exhaustion."""
    exhausted: bool
    """The idle buffer ran out and the loop broke the window (lines 7-10)."""
    stale: bool = False
    """The loop did not run for so long that the samples describe no window; never learned from."""
    rested: bool = False
    """It lasted longer than others, since the loop rested; never learned from, either."""

    @property
    def features(self) -> tuple[float, float, float, float, float]:
        """(min, max, average, standard deviation, median), the order of section 3.4."""
        return (
            float(self.busy_min),
            float(self.busy_max),
            self.busy_mean,
            self.busy_std,
            self.busy_median,
        )
