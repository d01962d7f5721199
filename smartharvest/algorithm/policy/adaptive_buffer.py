"""Adaptive Buffer: idle cores around the current demand, as many as the waits say are needed."""

from __future__ import annotations

from smartharvest.algorithm.policy.alone import Alone
from smartharvest.algorithm.policy.base import Dispatches, PolicySettings
from smartharvest.algorithm.policy.strain import Strain, share_longer
from smartharvest.algorithm.safeguard import BufferSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window

LONG_WAIT_SHARE = 0.2
"""A wait is long beyond so much of the P99 of the primary's recent run times."""
TOO_MANY = 0.02
"""Share of long waits above which the buffer grows by a core."""
FEW = 0.002
"""... and below which it shrinks by one. Both are beyond what there are with nothing lent."""
MIN_DISPATCHES = 20
"""Fewer in a period show nothing: the buffer stays."""


class AdaptiveBuffer:
    """The loop follows demand by itself; this only tunes the buffer, by what the primary feels.

    It begins with everything the primary's, and learns what the primary can do without.
    """

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "adaptive-buffer"
        self.quiet_ns = 250_000
        self.shared = False
        self._buffer = settings.total
        self._total = settings.total
        self._strain = Strain()
        self._alone = Alone()

    @property
    def buffer(self) -> int:
        return self._total if self._alone.resting else self._buffer

    @property
    def short_term(self) -> ShortTermSafeguard:
        return BufferSafeguard(self._total, self.buffer)

    def observe_dispatches(self, seen: Dispatches) -> None:
        if self._alone.is_withheld(seen):
            return
        limit_ns = LONG_WAIT_SHARE * self._strain.run_ns(0.99)
        self._strain.observe(seen)
        if self._alone.observe(seen) or limit_ns == 0:
            return
        if sum(count for _, count in seen.waits) < MIN_DISPATCHES:
            return
        share = share_longer(seen.waits, limit_ns) - self._alone.strain.waits_beyond(limit_ns)
        if share > TOO_MANY:
            self._buffer = min(self._total, self._buffer + 1)
            if self._buffer == self._total:
                self._alone.rest()
        elif share < FEW:
            self._buffer = max(0, self._buffer - 1)  # a sensor that sees waits sees waiting tasks

    def learn(self, _window: Window) -> int | None:
        return None

    def predict(self, window: Window) -> int:
        return self._total if window.stale else 0
