"""Prev Peak (section 5.1) and PrevPeakN (section 5.3): as many cores as were last needed."""

from __future__ import annotations

from collections import deque

from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.safeguard import (
    AggressiveSafeguard,
    OneAtATimeSafeguard,
    ShortTermSafeguard,
)
from smartharvest.core.window import Window


class PrevPeak:
    """The highest peak of the last ``windows`` windows, exhausted ones included.

    Without a number it is the last window's peak, and exhaustion returns all cores for a window;
    with one, exhaustion returns one core at a time.
    """

    def __init__(self, settings: PolicySettings, windows: int | None = None) -> None:
        self.buffer = 0
        self.quiet_ns = None
        self.shared = False
        self.short_term: ShortTermSafeguard
        if windows is None:
            self.name = "prev-peak"
            self.short_term = AggressiveSafeguard(settings.total)
        else:
            self.name = f"prev-peak:{windows}"
            self.short_term = OneAtATimeSafeguard(settings.total)
        self._total = settings.total
        self._peaks: deque[int] = deque(maxlen=windows or 1)

    def learn(self, window: Window) -> int | None:
        if not window.stale:
            self._peaks.append(min(window.busy_max, self._total))
        return None

    def predict(self, window: Window) -> int:
        if window.stale or not self._peaks:
            return self._total
        return max(self._peaks)
