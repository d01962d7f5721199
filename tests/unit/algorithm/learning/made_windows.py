"""Windows to learn from, in bulk: arrays of features and of the peaks that followed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Windows = tuple[NDArray[np.float64], NDArray[np.uint32]]
"""Features, shape (windows, 5), and the label of each window."""


def random_windows(total: int, count: int, seed: int) -> Windows:
    """Anything that can be: one window says nothing about the next."""
    rng = np.random.default_rng(seed)
    low = rng.integers(0, total + 1, count)
    high = np.minimum(total, low + rng.integers(0, total + 1, count))
    span = high - low
    mean = low + span * rng.random(count)
    std = span * rng.random(count) / 2
    median = low + np.round(2 * span * rng.random(count)) / 2
    features = np.stack([low, high, mean, std, median], axis=1).astype(np.float64)
    labels = np.clip(high + rng.integers(-1, 3, count), 0, total).astype(np.uint32)
    return features, labels


def walking_windows(total: int, count: int, seed: int) -> Windows:
    """As recorded ones are: 500 samples of a load that wanders and jumps, and the peak after."""
    rng = np.random.default_rng(seed)
    load = 0.3 * total
    rows, peaks = [], []
    for _ in range(count + 1):
        load = float(np.clip(load + rng.normal(0, 0.03 * total), 0, total))
        if rng.random() < 0.01:
            load = total * rng.random()
        samples = np.minimum(rng.poisson(load, 500), total)
        rows.append(
            [samples.min(), samples.max(), samples.mean(), samples.std(), np.median(samples)]
        )
        peaks.append(samples.max())
    return np.array(rows[:-1], dtype=np.float64), np.array(peaks[1:], dtype=np.uint32)
