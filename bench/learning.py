"""What a lesson and a prediction cost: the learner's fast path beside plain text examples.

Hot, the calls follow each other and every cache is warm. At the cadence of a real agent the process
sleeps between windows, and cold caches and the wake-up dominate: only the two together are honest.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable

import pylibvw
from vowpalwabbit import Workspace

from bench.statistics import compare, median_us, ratio
from bench.subject import Effort, Figures, goal
from smartharvest.learning.base import Features, Learner
from smartharvest.learning.costs import COSTS, Costs, cost_table
from smartharvest.learning.csoaa_vw import VwCsoaa

CLASSES = 11  # ten cores of a primary to lend, as in the paper's evaluation
CADENCE_S = 0.025
HOT = 1000
AT_CADENCE = 60


class TextCsoaa:
    """The same learner by VW's documented way, parsing every example; costs as ``VwCsoaa``'s."""

    def __init__(self, costs: Costs) -> None:
        self.lessons = 0
        self._vw = Workspace(
            f"--csoaa {len(costs)} --indexing 0 --noconstant -l 0.1 --power_t 0 --quiet"
        )
        self._labels = [
            " ".join(f"{index}:{cost}" for index, cost in enumerate(row)) for row in costs
        ]

    def learn(self, features: Features, label: int) -> None:
        self.lessons += 1
        self._vw.learn(f"{self._labels[label]} {_text(features)}")

    def predict(self, features: Features) -> int:
        prediction: int = self._vw.predict(_text(features))
        return prediction


def _text(features: Features) -> str:
    return "| " + " ".join(f"{index}:{value}" for index, value in enumerate(features)) + " 5:1"


def random_window(rng: random.Random, total: int) -> tuple[Features, int]:
    """A made window's features and the peak that followed it.

    All values are multiples of 1/4, which VW's text parser reads without rounding.
    """
    low, high = sorted((rng.randint(0, total), rng.randint(0, total)))
    mean = rng.randint(4 * low, 4 * high) / 4
    std = rng.randint(0, 2 * (high - low)) / 4
    median = rng.randint(2 * low, 2 * high) / 2
    peak = min(total, max(0, high + rng.choice((-1, 0, 0, 0, 1, 2))))
    return (float(low), float(high), mean, std, median), peak


def measure(effort: Effort) -> Figures:
    """One sample learns once and predicts once; ``empty`` is what timing that much costs by itself.

    The ways take turns sample by sample, so that a noisy machine favours neither.
    """
    costs = cost_table(COSTS["skewed"], CLASSES - 1)
    learners: dict[str, Learner] = {"vw": VwCsoaa(costs), "vw_text": TextCsoaa(costs)}
    rng = random.Random(effort.seed)
    hot = _measure(learners, effort, HOT, rng, lambda: None)
    cadence = _Ticks(CADENCE_S / len(learners))
    at_cadence = _measure(learners, effort, AT_CADENCE, rng, cadence.wait)
    return {
        "classes": CLASSES,
        "vw_version": pylibvw.__version__,
        "hot": hot,
        "every_25ms": at_cadence,
        "goals": {"learn_and_predict_us": goal(15.0, median_us(hot["vw"]))},
    }


class _Ticks:
    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._next_s = 0.0

    def wait(self) -> None:
        # A tick that was missed is left out: catching up would make the next ones hot.
        self._next_s = max(self._next_s + self._period_s, time.monotonic())
        time.sleep(max(0.0, self._next_s - time.monotonic()))


def _measure(
    learners: dict[str, Learner],
    effort: Effort,
    samples: int,
    rng: random.Random,
    pause: Callable[[], None],
) -> Figures:
    parts = ("learn", "predict")
    cases: dict[str, list[list[int]]] = {
        name: [] for way in learners for name in (way, *(f"{way}_{part}" for part in parts))
    }
    cases["empty"] = []
    for _ in range(effort.rounds):
        for rounds in cases.values():
            rounds.append([])
        windows = [random_window(rng, CLASSES - 1) for _ in range(effort.samples(samples) + 1)]
        for (before, peak), (after, _) in itertools.pairwise(windows):
            for way, learner in learners.items():
                pause()
                times = _time_once(learner, before, peak, after)
                for name, took_ns in zip(("", "_learn", "_predict"), times, strict=False):
                    cases[way + name][-1].append(took_ns)
                cases["empty"][-1].append(times[3])
    figures = compare(cases, dict.fromkeys(learners, "empty"))
    figures["vw_text_over_vw"] = ratio(median_us(figures["vw_text"]), median_us(figures["vw"]))
    return figures


def _time_once(
    learner: Learner, before: Features, peak: int, after: Features
) -> tuple[int, int, int, int]:
    """Nanoseconds of both, the lesson, the prediction, and of the clock calls around them."""
    now = time.perf_counter_ns
    start = now()
    learner.learn(before, peak)
    learned = now()
    learner.predict(after)
    predicted = now()
    now()
    empty = now() - predicted
    return predicted - start, learned - start, predicted - learned, empty
