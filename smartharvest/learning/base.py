"""What a policy asks of a learner."""

from __future__ import annotations

from typing import Protocol

Features = tuple[float, float, float, float, float]
"""(min, max, average, standard deviation, median) of a window's busy cores, in cores, unscaled."""


class Learner(Protocol):
    """A cost-sensitive multi-class learner over the classes 0..total, the primary's core counts."""

    def learn(self, features: Features, label: int) -> None:
        """ModelTrain: regress each class's cost if the true peak is ``label`` (0..total)."""

    def predict(self, features: Features) -> int:
        """ModelPredict: the class of lowest predicted cost, the lowest class on ties."""
