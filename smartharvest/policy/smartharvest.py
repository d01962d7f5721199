"""SmartHarvest itself: lines 12-19 of Algorithm 1."""

from __future__ import annotations

from smartharvest.learning.base import Features, Learner
from smartharvest.learning.costs import COSTS, cost_table
from smartharvest.learning.options import LearningOptions
from smartharvest.policy.base import PolicySettings
from smartharvest.safeguard import SHORT_TERM_SAFEGUARDS, ShortTermSafeguard
from smartharvest.window import Window


class SmartHarvest:
    """Predicts the next window's peak, and learns each window's from the features before it.

    Where Algorithm 1 leaves a choice open:

    - A peak equal to the assignment makes an exhausted window (line 7), never a label. With nothing
      lent no window is exhausted, and the peak is exact however high.
    - After a broken window the features from before it stay (line 17 did not run); see
      ``LearningOptions.features_after_exhaustion`` and ``exhausted_windows`` for the other ways.
    - An untrained model has no opinion, so until the first lesson the primary keeps the total;
      taken literally, all classes tie and everything would be lent.
    - A stale window is no lesson, and neither is the one after it, having no window before it.
    """

    def __init__(
        self,
        total: int,
        learner: Learner,
        short_term: ShortTermSafeguard,
        options: LearningOptions,
    ) -> None:
        self.name = "smartharvest"
        self.buffer = 0
        self.short_term = short_term
        self._total = total
        self._learner = learner
        self._options = options
        self._features: Features | None = None
        self._trained = False

    def learn(self, window: Window) -> int | None:
        if window.stale:
            self._features = None
            return None
        label = None
        if not window.exhausted or self._options.exhausted_windows == "trained":
            label = self._train(window)
        if window.exhausted and self._options.features_after_exhaustion == "broken":
            self._features = window.features
        return label

    def _train(self, window: Window) -> int | None:
        if self._features is None:
            return None
        peak = window.busy_max
        if self._options.label == "demand":
            peak = max(peak, window.demand_max)
        label = min(peak, self._total)
        self._learner.learn(self._features, label)
        self._trained = True
        return label

    def predict(self, window: Window) -> int:
        if window.stale:
            return self._total
        self._features = window.features
        if not self._trained:
            return self._total
        return self._learner.predict(self._features)


def make_smartharvest(settings: PolicySettings) -> SmartHarvest:
    """With csoaa through VW and the chosen cost function and safeguard."""
    # Only here: the other policies do without VW's 13 MiB.
    from smartharvest.learning.csoaa_vw import VwCsoaa

    return SmartHarvest(
        settings.total,
        VwCsoaa(cost_table(COSTS[settings.cost], settings.total), settings.options.learning_rate),
        SHORT_TERM_SAFEGUARDS[settings.safeguard](settings.total),
        settings.options,
    )
