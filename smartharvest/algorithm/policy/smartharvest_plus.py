"""SmartHarvest with what a sensor that sees every change makes possible.

The prediction is the fewest cores the primary keeps, and not all of them for the rest of a window:
inside it the cores follow the demand at once, so that a wrong prediction costs a wait and no
window, and no window is cut short and lost for learning. Its label is the peak of demand, whatever
the setting, since waiting tasks are seen.
"""

from __future__ import annotations

from smartharvest.algorithm.learning.base import Features, Learner
from smartharvest.algorithm.learning.learners import make_learner
from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.safeguard import BufferSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window

QUIET_NS = 250_000


class SmartHarvestPlus:
    """Predicts the next window's peak of demand; the loop adds what is missing at once."""

    def __init__(self, total: int, learner: Learner) -> None:
        self.name = "smartharvest+"
        self.buffer = 1
        self.quiet_ns = QUIET_NS
        self.shared = False
        self.learner = learner
        self.short_term: ShortTermSafeguard = BufferSafeguard(total, self.buffer)
        self._total = total
        self._features: Features | None = None

    def learn(self, window: Window) -> int | None:
        label = None
        if self._features is not None and not window.stale:
            label = min(max(window.busy_max, window.demand_max), self._total)
            self.learner.learn(self._features, label)
        self._features = None if window.stale else window.features
        return label

    def predict(self, window: Window) -> int:
        if window.stale or self.learner.lessons == 0:
            return self._total
        return self.learner.predict(window.features)


def make_smartharvest_plus(settings: PolicySettings) -> SmartHarvestPlus:
    """With csoaa and the chosen learner and cost function."""
    return SmartHarvestPlus(
        settings.total,
        make_learner(
            settings.learner,
            cost=settings.cost,
            total=settings.total,
            learning_rate=settings.options.learning_rate,
        ),
    )
