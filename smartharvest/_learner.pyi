import numpy as np
from numpy.typing import NDArray

class Csoaa:
    """csoaa in C with Vowpal Wabbit's arithmetic, bit for bit (csrc/csoaa.h).

    ``costs[label, class]`` is square and kept, not copied. ``features`` are counted without the
    bias. Raises ValueError for a shape or a rate that cannot be.
    """

    def __init__(
        self, costs: NDArray[np.float32], learning_rate: float = 0.1, features: int = 5
    ) -> None: ...
    @property
    def lessons(self) -> int:
        """How often it has learned, earlier runs included."""

    def learn(self, features: tuple[float, ...], label: int) -> None:
        """Regress every class's cost for the true peak ``label``; IndexError beyond the classes."""

    def learn_costs(self, features: tuple[float, ...], costs: NDArray[np.float32]) -> None:
        """Regress these costs, one finite cost for every class."""

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
