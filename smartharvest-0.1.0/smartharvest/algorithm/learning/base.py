"""What a policy, the model file and the command line ask of a learner."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

Features = tuple[float, float, float, float, float]
"""(min, max, average, standard deviation, median) of a window's busy cores, in cores, unscaled."""

FEATURE_NAMES = ("min", "max", "mean", "std", "median")


class Learner(Protocol):
    """A cost-sensitive multi-class learner over the classes 0..total, the primary's core counts."""

    @property
    def lessons(self) -> int:
        """How often it has learned, earlier runs included; one that never has, knows nothing."""

    def learn(self, features: Features, label: int) -> None:
        """ModelTrain: regress each class's cost if the true peak is ``label`` (0..total)."""

    def predict(self, features: Features) -> int:
        """ModelPredict: the class of lowest predicted cost, the lowest class on ties."""


@runtime_checkable
class Model(Learner, Protocol):
    """A learner that can be looked into and kept."""

    def scores(self, features: Features) -> list[float]:
        """The predicted cost of every class, as it is compared."""

    def weights(self) -> list[list[float]]:
        """Per class the weights of the features, the bias last."""

    def dump(self) -> bytes:
        """All that it has learned, for ``load``."""

    def load(self, dumped: bytes) -> None:
        """Go on from what a learner of the same kind and shape dumped.

        Raises ValueError if it cannot; a learner that knew nothing then still knows nothing.
        """
