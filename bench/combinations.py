"""Prediction and reaction together: ``python -m bench.combinations [SECONDS]``.

Each way to combine the learner's prediction of the next window's peak with ``adaptive-quiet`` is
run on the leaderboard's calibrated and bursty workloads under its conditions, beside
``adaptive-quiet`` itself. What won is a policy; what lost stands in docs/research/policies.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from smartharvest.algorithm.learning.base import Features, Learner
from smartharvest.algorithm.learning.learners import make_learner
from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet
from smartharvest.algorithm.policy.base import Policy, PolicySettings
from smartharvest.core.window import Window
from smartharvest.lab.simulator.bursty import BURSTY
from smartharvest.lab.simulator.leaderboard import Row, as_table, run_one
from smartharvest.lab.simulator.workloads import WORKLOADS

WINDOW_NS = 5_000_000
"""A peak of 25 ms is far above what is needed most of the time."""
BOLDER = 4
"""Steps of ``adaptive-quiet`` to either side of the tuned one."""


class _Predicting(AdaptiveQuiet):
    """``adaptive-quiet`` with the peak of demand that the learner expects of the next window."""

    cost = "skewed"

    def __init__(self, settings: PolicySettings) -> None:
        super().__init__(settings)
        self.name = type(self).__name__
        self.learner: Learner = make_learner(
            "native", cost=self.cost, total=settings.total, learning_rate=0.1
        )
        self._features: Features | None = None
        self._expected = settings.total

    def learn(self, window: Window) -> int | None:
        super().learn(window)
        label = None
        if self._features is not None and not window.stale:
            label = min(window.demand_max, self._total)
            self.learner.learn(self._features, label)
        self._features = None if window.stale else window.features
        return label

    def predict(self, window: Window) -> int:
        kept = super().predict(window)
        if not window.stale and self.learner.lessons:
            self._expected = self.learner.predict(window.features)
        return kept


class PeakAsFloor(_Predicting):
    """The primary keeps what the next window is expected to want at most, and the buffer."""

    def predict(self, window: Window) -> int:
        return max(super().predict(window), self._expected)


class TypicalPeakAsFloor(PeakAsFloor):
    """The same with a cost that does not fear to be too low."""

    cost = "symmetric"


class PeakAsBoldness(_Predicting):
    """Bolder than tuned where no growth is expected, more careful where it is."""

    cost = "symmetric"
    _offset = 0

    def predict(self, window: Window) -> int:
        kept = super().predict(window)
        self._offset = -BOLDER if self._expected <= window.demand_max else BOLDER
        return kept

    def _now(self) -> tuple[int, int]:
        return self._steps[min(len(self._steps) - 1, max(0, self._step + self._offset))]

    @property
    def buffer(self) -> int:
        return self._total if self._alone.resting else self._now()[0]

    @property
    def quiet_ns(self) -> int:
        return super().quiet_ns if self._alone.resting else self._now()[1]


WAYS: dict[str, tuple[Callable[[PolicySettings], Policy], int]] = {
    "adaptive-quiet": (AdaptiveQuiet, 25_000_000),
    "peak as floor": (PeakAsFloor, WINDOW_NS),
    "typical as floor": (TypicalPeakAsFloor, WINDOW_NS),
    "peak as boldness": (PeakAsBoldness, WINDOW_NS),
}


def _run(job: tuple[str, str, str, float]) -> Row:
    workload, mechanism, way, seconds = job
    make, window_ns = WAYS[way]
    return run_one(
        workload,
        mechanism,
        way,
        seed=1,
        seconds=seconds,
        make=lambda total: make(PolicySettings(total)),
        window_ns=window_ns,
    )


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    jobs = [
        (workload, mechanism, way, seconds)
        for workload in (*WORKLOADS, *BURSTY)
        for mechanism in ("ipi", "linux")
        for way in WAYS
    ]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        print(as_table(list(pool.map(_run, jobs))))


if __name__ == "__main__":
    main()
