"""Fixed Buffer (section 5.1, after PerfIso): a constant number of idle cores."""

from __future__ import annotations

from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.safeguard import BufferSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window


class FixedBuffer:
    """Slides at every poll, so the polling loop does the work; the window's decision agrees."""

    def __init__(self, settings: PolicySettings, buffer: int) -> None:
        self.name = f"fixed-buffer:{buffer}"
        self.buffer = buffer
        self.quiet_ns = None
        self.shared = False
        self.short_term: ShortTermSafeguard = BufferSafeguard(settings.total, buffer)
        self._total = settings.total

    def learn(self, _window: Window) -> int | None:
        return None

    def predict(self, window: Window) -> int:
        if window.stale:
            return self._total
        return min(self._total, window.busy_last + self.buffer)
