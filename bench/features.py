"""What the five features cost, however many polls the window holds."""

from __future__ import annotations

import random
from collections.abc import Callable

from bench import probe
from bench.learning import PAPER_US
from bench.statistics import compare, median_us, ratio, rounded
from bench.subject import Effort, Figures, Subject, goal, interleave
from smartharvest.core import _loop

CORES = 64
SAMPLES = (1, 500, 50_000)
"""500 polls are a usual window: 25 ms of 50 us."""
REPEAT = 1000
BATCHES = 100


def measure(effort: Effort) -> Figures:
    """A sample is the mean over 1,000 computations; the floor a turn of an empty loop."""
    batches = effort.samples(BATCHES)
    rng = random.Random(effort.seed)

    def features(samples: int) -> Callable[[], list[float]]:
        window = _loop.WindowStatistics()
        window.add(CORES)  # the peak, which the cost may depend on, is the same in all
        for _ in range(samples - 1):
            window.add(rng.randint(0, CORES))
        return lambda: [window.time_features(REPEAT) for _ in range(batches)]

    cases = {f"samples_{n}": features(n) for n in SAMPLES}
    floors = dict.fromkeys(cases, "empty_loop")
    cases["empty_loop"] = lambda: [probe.empty_loop_ns(REPEAT) for _ in range(batches)]
    figures = compare(interleave(cases, effort), floors)
    medians = [median_us(figures[f"samples_{n}"]) for n in SAMPLES]
    return {
        "cores": CORES,
        "computations_per_sample": REPEAT,
        **figures,
        "over_paper": ratio(medians[1], PAPER_US["features"]),
        "goals": {
            "features_us": goal(1.0, max(medians)),
            # Independent of the samples, but for the noise of two medians.
            "features_of_50000_over_500_samples": goal(1.25, rounded(medians[2] / medians[1])),
        },
    }


SUBJECT = Subject(
    measure,
    seconds=1.0,
    title="A window's features",
    about="""\
A sample is the mean of 1,000 computations of the five features. The floor is a turn of an empty
loop. However many polls a window holds, the cost is that of its peak.""",
)
