"""The paper's NoHarvest: the primary keeps everything."""

from __future__ import annotations

from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.safeguard import AggressiveSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window


class NoHarvest:
    """Lends nothing; what every other policy is measured against."""

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "no-harvest"
        self.buffer = 0
        self.quiet_ns = None
        self.shared = False
        self.short_term: ShortTermSafeguard = AggressiveSafeguard(settings.total)
        self._total = settings.total

    def learn(self, _window: Window) -> int | None:
        return None

    def predict(self, _window: Window) -> int:
        return self._total
