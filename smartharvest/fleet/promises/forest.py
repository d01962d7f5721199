"""A random forest: grown by scikit-learn (the extra ``fleet``), kept as arrays, asked by numpy.

scikit-learn's own files are pickles, which run code when they are read. Arrays run nothing, and
predictions need no scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError
from smartharvest.fleet.tables import Floats

TREES, LEAVES = 24, 96
_SMALLEST_LEAF = 8
_MOST_ROWS = 2500
"""To learn from; neighbouring steps say nearly the same."""
LEAF = -1
KINDS: dict[str, type[np.generic]] = {
    "feature": np.int16, "threshold": np.float64, "left": np.int32, "right": np.int32,
    "value": np.float32, "roots": np.int32,
}  # fmt: skip
"""Of the arrays of a Forest."""


@dataclass(frozen=True, slots=True)
class Forest:
    """All trees' nodes, one after the other; arrays (n), and where each tree begins (trees)."""

    feature: NDArray[np.int16]
    """The column that is compared; LEAF if none is."""
    threshold: NDArray[np.float64]
    """At most this goes left."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    roots: NDArray[np.int32]

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """(mean, standard deviation) of what the trees say of each of ``rows`` (n, features)."""
        given = rows.astype(np.float32)  # as scikit-learn compares
        at = np.repeat(self.roots[:, np.newaxis], len(given), axis=1)
        every = np.arange(len(given))[np.newaxis, :]
        while True:
            asked = self.feature[at]
            inner = asked != LEAF
            if not inner.any():
                break
            goes_left = given[every, np.maximum(asked, 0)] <= self.threshold[at]
            at = np.where(inner, np.where(goes_left, self.left[at], self.right[at]), at)
        said = self.value[at].astype(np.float64)
        return said.mean(axis=0), said.std(axis=0)


def grow(rows: Floats, targets: Floats, seed: int) -> Forest:
    """A forest that has learned ``targets`` (n) of ``rows`` (n, features).

    Raises ConfigError if scikit-learn is missing.
    """
    try:
        from sklearn.ensemble import RandomForestRegressor
    except ImportError:
        raise ConfigError(
            "fleet: scikit-learn is missing; pip install 'smartharvest[fleet]'"
        ) from None
    if len(rows) > _MOST_ROWS:
        chosen = np.linspace(0, len(rows) - 1, _MOST_ROWS).astype(np.int64)
        rows, targets = rows[chosen], targets[chosen]
    model = RandomForestRegressor(
        n_estimators=TREES,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=_SMALLEST_LEAF,
        max_features=0.4,
        max_samples=0.5 if len(rows) > 100 else None,
        random_state=seed,
        n_jobs=1,
    )
    model.fit(rows.astype(np.float32), targets)
    return _flat([one.tree_ for one in model.estimators_])


def _flat(trees: Sequence[Any]) -> Forest:
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in KINDS}
    begun = 0
    for tree in trees:
        leaf = tree.children_left < 0
        columns["feature"].append(np.where(leaf, LEAF, tree.feature))
        columns["threshold"].append(np.where(leaf, 0.0, tree.threshold))
        columns["left"].append(np.where(leaf, 0, tree.children_left + begun))
        columns["right"].append(np.where(leaf, 0, tree.children_right + begun))
        columns["value"].append(tree.value[:, 0, 0])
        columns["roots"].append(np.array([begun]))
        begun += len(leaf)
    return Forest(**{name: np.concatenate(columns[name]).astype(KINDS[name]) for name in KINDS})
