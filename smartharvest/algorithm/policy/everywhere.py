"""Everywhere: the elastic group runs on every core, always, and nothing is ever moved.

What protects the primary is the kernel alone: with ``--mechanism strict`` a class below every
normal task, else ``cpu.idle``.
"""

from __future__ import annotations

from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.safeguard import BufferSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window


class Everywhere:
    """Shares everything, as long as it can see."""

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "everywhere"
        self.buffer = 0
        self.quiet_ns = None
        self.shared = True
        self.short_term: ShortTermSafeguard = BufferSafeguard(settings.total, 1)
        self._total = settings.total

    def learn(self, _window: Window) -> int | None:
        return None

    def predict(self, window: Window) -> int:
        return self._total if window.stale else 0
