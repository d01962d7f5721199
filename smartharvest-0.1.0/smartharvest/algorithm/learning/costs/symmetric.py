"""The symmetric cost (section 5.6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def symmetric(label: int, total: int) -> NDArray[np.float32]:
    """Distance from the label, over and under alike: more underpredictions than skewed."""
    return np.abs(np.arange(total + 1, dtype=np.float32) - label)
