"""One way of sharing for good: what ``adaptive`` chooses among, each by itself.

For who knows which one fits, and to hold ``adaptive`` against. ``fixed-buffer:K`` is another.
"""

from __future__ import annotations

from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.policy.ways import Way
from smartharvest.algorithm.safeguard import BufferSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window


class OneWay:
    """Shares in that way as long as it can see."""

    def __init__(self, settings: PolicySettings, way: Way) -> None:
        self.name = way.short
        self.buffer = way.buffer
        self.quiet_ns = way.quiet_ns
        self.shared = way.is_static
        self.spare = way.spare
        self.steady = self.rests = True
        self.short_term: ShortTermSafeguard = BufferSafeguard(settings.total, max(1, way.buffer))
        self._kept = min(way.kept, settings.total)
        self._total = settings.total

    def learn(self, _window: Window) -> int | None:
        return None

    def predict(self, window: Window) -> int:
        return self._total if window.stale else self._kept


def make_everywhere(settings: PolicySettings) -> OneWay:
    """What protects the primary is the kernel alone: with ``--mechanism strict`` a class below
    every normal task, else ``cpu.idle``."""
    return OneWay(settings, Way("everywhere"))


def make_part(settings: PolicySettings, kept: int) -> OneWay:
    """``kept`` cores are never lent."""
    return OneWay(settings, Way("part", kept=kept))


def make_spare(settings: PolicySettings, spare: int) -> OneWay:
    """Under ``--mechanism strict``: the kernel keeps so many CPUs idle for who wakes."""
    return OneWay(settings, Way("spare", spare=spare))


def make_wait(settings: PolicySettings, quiet_us: int) -> OneWay:
    """Lends again after so long."""
    return OneWay(settings, Way("wait", quiet_ns=quiet_us * 1000))
