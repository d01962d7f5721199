"""What a lesson and a prediction cost: both learners beside VW's slower ways and the paper's.

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
from bench.subject import Effort, Figures, Subject, goal
from smartharvest.algorithm.learning.base import Features, Learner
from smartharvest.algorithm.learning.costs import COSTS, Costs, cost_table
from smartharvest.algorithm.learning.csoaa_native import NativeCsoaa
from smartharvest.algorithm.learning.csoaa_vw import VwCsoaa

CLASSES = (11, 41)
"""Of ten cores to lend, as in the paper's evaluation, and of forty."""
CADENCE_S = 0.025
HOT = 1000
AT_CADENCE = 40
PAPER_US = {"features": 2.6, "update": 10.8, "inference": 6.5}
"""Table 3 of the paper: on other hardware, so a ratio to it says how much room there is and not how
much faster the code is."""

_COST_SENSITIVE = 3
_NAMESPACE = ord(" ")
_OPTIONS = "--indexing 0 --noconstant -l 0.1 --power_t 0 --quiet"


def _labels(costs: Costs) -> list[str]:
    return [" ".join(f"{index}:{cost}" for index, cost in enumerate(row)) for row in costs]


class TextCsoaa:
    """The same learner by VW's documented way, parsing every example; costs as ``VwCsoaa``'s."""

    def __init__(self, costs: Costs) -> None:
        self.lessons = 0
        self._vw = Workspace(f"--csoaa {len(costs)} {_OPTIONS}")
        self._labels = _labels(costs)

    def learn(self, features: Features, label: int) -> None:
        self.lessons += 1
        self._vw.learn(f"{self._labels[label]} {_text(features)}")

    def predict(self, features: Features) -> int:
        prediction: int = self._vw.predict(_text(features))
        return prediction


class ReuseCsoaa:
    """The same through one example that is filled, labelled and set up anew each time."""

    def __init__(self, costs: Costs) -> None:
        self.lessons = 0
        self._vw = pylibvw.vw(["--csoaa", str(len(costs)), *_OPTIONS.split()])
        self._labels = _labels(costs)
        self._example = pylibvw.example(self._vw, _COST_SENSITIVE)
        self._example.push_namespace(_NAMESPACE)

    def learn(self, features: Features, label: int) -> None:
        self.lessons += 1
        self._fill(features, self._labels[label])
        self._vw.learn(self._example)
        self._vw.unsetup_example(self._example)

    def predict(self, features: Features) -> int:
        # Labelled too: what VW does with an example without costs is another loop.
        self._fill(features, self._labels[0])
        self._vw.predict(self._example)
        prediction: int = self._example.get_costsensitive_prediction()
        self._vw.unsetup_example(self._example)
        return prediction

    def _fill(self, features: Features, label: str) -> None:
        example = self._example
        example.erase_namespace(_NAMESPACE)
        example.push_feature_list(
            self._vw, _NAMESPACE, 0, [*enumerate(features), (len(features), 1.0)]
        )
        example.set_label_string(self._vw, label, _COST_SENSITIVE)
        self._vw.setup_example(example)


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


WAYS: dict[str, Callable[[Costs], Learner]] = {
    "native": NativeCsoaa,
    "vw": VwCsoaa,
    "vw_reuse": ReuseCsoaa,
    "vw_text": TextCsoaa,
}
"""The agent's two learners, and two ways to VW that it does not take."""


def measure(effort: Effort) -> Figures:
    """One sample learns once and predicts once; ``empty`` is what timing that much costs by itself.

    The ways take turns sample by sample, so that a noisy machine favours none.
    """
    rng = random.Random(effort.seed)
    figures: Figures = {"vw_version": pylibvw.__version__, "paper_table_3_us": dict(PAPER_US)}
    goals: Figures = {}
    for classes in CLASSES:
        costs = cost_table(COSTS["skewed"], classes - 1)
        learners = {name: make(costs) for name, make in WAYS.items()}
        hot = _measure(learners, effort, HOT, rng, classes, lambda: None)
        cadence = _Ticks(CADENCE_S / len(learners))
        figures[f"classes_{classes}"] = {
            "hot": hot,
            "every_25ms": _measure(learners, effort, AT_CADENCE, rng, classes, cadence.wait),
        }
        goals[f"vw_learn_and_predict_{classes}_us"] = goal(12.0, median_us(hot["vw"]))
        goals[f"native_learn_and_predict_{classes}_us"] = goal(2.5, median_us(hot["native"]))
    return {**figures, "goals": goals}


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
    classes: int,
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
        windows = [random_window(rng, classes - 1) for _ in range(effort.samples(samples) + 1)]
        for (before, peak), (after, _) in itertools.pairwise(windows):
            for way, learner in learners.items():
                pause()
                times = _time_once(learner, before, peak, after)
                for name, took_ns in zip(("", "_learn", "_predict"), times, strict=False):
                    cases[way + name][-1].append(took_ns)
                cases["empty"][-1].append(times[3])
    figures = compare(cases, dict.fromkeys(learners, "empty"))
    for way in ("vw", "vw_reuse", "vw_text"):
        figures[f"{way}_over_native"] = ratio(median_us(figures[way]), median_us(figures["native"]))
    for way in learners:
        figures[f"{way}_over_paper"] = {
            part: ratio(median_us(figures[f"{way}_{mine}"]), PAPER_US[part])
            for part, mine in (("update", "learn"), ("inference", "predict"))
        }
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


SUBJECT = Subject(
    measure,
    seconds=10.0,
    title="Learning",
    about="""\
A sample is one lesson and one prediction, by the agent's two learners and by two slower ways to
Vowpal Wabbit; *empty* is the clock. Hot, the calls follow each other; every 25 ms, as in an agent,
the process sleeps in between, and cold caches and the wake-up dominate.""",
)
