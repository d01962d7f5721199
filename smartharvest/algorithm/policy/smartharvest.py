"""SmartHarvest itself: lines 12-19 of Algorithm 1."""

from __future__ import annotations

from smartharvest.algorithm.learning.base import Features, Learner
from smartharvest.algorithm.learning.learners import make_learner
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.safeguard import SHORT_TERM_SAFEGUARDS, ShortTermSafeguard
from smartharvest.core.window import Window


class SmartHarvest:
    """Predicts the next window's peak, and learns each window's from the features before it.

    Where Algorithm 1 leaves a choice open:

    - A peak equal to the assignment makes an exhausted window (line 7), never a label. With nothing
      lent no window is exhausted, and the peak is exact however high.
    - After a broken window the features from before it stay (line 17 did not run); see
      ``LearningOptions.features_after_exhaustion`` and ``exhausted_windows`` for the other ways.
    - A model without lessons has no opinion, so until the first the primary keeps the total;
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
        self.quiet_ns = None
        self.shared = False
        self.short_term = short_term
        self._total = total
        self.learner: Learner = learner
        self._options = options
        self._features: Features | None = None

    def learn(self, window: Window) -> int | None:
        if window.stale or window.rested:
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
        self.learner.learn(self._features, label)
        return label

    def predict(self, window: Window) -> int:
        if window.stale:
            return self._total
        self.note(window)
        if self.learner.lessons == 0:
            return self._total
        return self.learner.predict(window.features)

    def note(self, window: Window) -> None:
        """The next lesson is what follows this window, if it was as long as others."""
        self._features = None if window.rested else window.features


def make_smartharvest(settings: PolicySettings) -> SmartHarvest:
    """With csoaa and the chosen learner, cost function and safeguard."""
    return SmartHarvest(
        settings.total,
        make_learner(
            settings.learner,
            cost=settings.cost,
            total=settings.total,
            learning_rate=settings.options.learning_rate,
        ),
        SHORT_TERM_SAFEGUARDS[settings.safeguard](settings.total),
        settings.options,
    )
