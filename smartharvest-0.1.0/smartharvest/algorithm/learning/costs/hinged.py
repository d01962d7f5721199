"""The hinged cost (section 5.6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartharvest.algorithm.learning.costs.skewed import skewed


def hinged(label: int, total: int) -> NDArray[np.float32]:
    """Underpredictions as in skewed; every class from the label up costs 0 and harvests less."""
    costs = skewed(label, total)
    costs[label:] = 0
    return costs
