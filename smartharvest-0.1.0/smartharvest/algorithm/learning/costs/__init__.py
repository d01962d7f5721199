"""Cost functions: what predicting each core count costs once a window's true peak is known.

A cost function takes the label, the true peak in cores (0..total), and the total, and returns the
costs of the classes 0..total, a float32 vector of shape ``(total + 1,)``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from smartharvest.algorithm.learning.costs.hinged import hinged
from smartharvest.algorithm.learning.costs.skewed import skewed
from smartharvest.algorithm.learning.costs.symmetric import symmetric

Costs = NDArray[np.float32]
CostFunction = Callable[[int, int], Costs]

COSTS: dict[str, CostFunction] = {"skewed": skewed, "symmetric": symmetric, "hinged": hinged}


def cost_table(cost: CostFunction, total: int) -> Costs:
    """The costs of every class (columns) for every label (rows), shape (total + 1, total + 1)."""
    return np.stack([cost(label, total) for label in range(total + 1)])
