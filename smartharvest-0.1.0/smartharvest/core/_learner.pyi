import numpy as np
from numpy.typing import NDArray

from smartharvest.core.window import Window

class Csoaa:
    """csoaa in C with Vowpal Wabbit's arithmetic, bit for bit (csrc/learner/csoaa.h).

    ``costs[label, class]`` is square and kept, not copied. ``features`` are counted without the
    bias. Raises ValueError for an invalid shape or rate.
    """

    def __init__(
        self, costs: NDArray[np.float32], learning_rate: float = 0.1, features: int = 5
    ) -> None: ...
    @property
    def lessons(self) -> int:
        """How often it has learned, earlier runs included."""

    def learn(self, features: tuple[float, ...], label: int) -> None:
        """Regress every class's cost for the true peak ``label``; IndexError beyond the classes."""

    def predict(self, features: tuple[float, ...]) -> int:
        """The class of lowest score, the lowest class on ties."""

    def scores(self, features: tuple[float, ...]) -> list[float]:
        """The predicted, unclipped cost of every class."""

    def weights(self) -> list[list[float]]:
        """Per class the weights of its features, the bias last."""

    def replay(
        self,
        features: NDArray[np.float64],
        labels: NDArray[np.uint32],
        scores: NDArray[np.float32],
        decisions: NDArray[np.uint32],
    ) -> None:
        """Predict and then learn every window, without the GIL; scores and decisions are filled."""

    def state(self) -> tuple[float, float, int, bytes]:
        """Least and highest cost seen, lessons, and the weights, for ``adopt``."""

    def adopt(self, least_cost: float, highest_cost: float, lessons: int, state: bytes) -> None:
        """Go on from a ``state`` of the same shape.

        Raises ValueError for anything else; a model that knew nothing then still knows nothing.
        """

class Decider:
    """Algorithm 1, lines 12-20, with ``learner`` (decider.h), for ``Loop.decide_with``.

    While a loop has it, of the learner's methods only ``state`` may be called. Raises ValueError
    for a learner without the five features.
    """

    def __init__(
        self,
        learner: Csoaa,
        *,
        keep_idle: int = 1,
        label_demand: bool = False,
        aggressive: bool = False,
        train_exhausted: bool = False,
        broken_features: bool = False,
    ) -> None: ...
    @property
    def learner(self) -> Csoaa: ...
    @property
    def capsule(self) -> object:
        """What the loop takes it by; valid as long as the decider lives."""

    def decide(self, window: Window) -> tuple[int, int, int | None]:
        """(primary cores, safe cores, label or None): what the loop would do with this window."""
