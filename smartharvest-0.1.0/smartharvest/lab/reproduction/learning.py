"""Safeguards, cost functions and what learning costs: figures 10, 12, 13 and table 3."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from smartharvest.algorithm.learning.costs import COSTS, cost_table
from smartharvest.core import _loop
from smartharvest.lab.reproduction.drawing import BLUE, GREEN, GREY, ORANGE, RED
from smartharvest.lab.reproduction.runner import Mean, Results, mean_of
from smartharvest.lab.reproduction.section import Finding, Paper, Part, Verdict, percent
from smartharvest.lab.reproduction.setups import Setup
from smartharvest.lab.reproduction.single import MEMCACHED, columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = {"skewed": BLUE, "symmetric": ORANGE, "hinged": GREEN}


def _draw_choices(axes: Axes, results: Results, setups: dict[str, Setup], limit: float) -> None:
    """P99 over harvested cores, a point for each choice."""
    colors = (BLUE, ORANGE, GREEN)
    for color, (label, setup) in zip(colors, setups.items(), strict=False):
        s = results[setup]
        axes.errorbar(
            s.harvested.value, s.p99_us().value, xerr=s.harvested.spread, yerr=s.p99_us().spread,
            fmt="o", color=color, label=label,
        )  # fmt: skip
    alone = next(iter(setups.values()))
    baseline = results[alone].baseline_us().value
    axes.axhline(baseline, color=GREY, label="no harvest")
    axes.axhline(baseline * (1 + limit), color=RED, linestyle="--", label="+10 %")
    axes.set_xlim(left=0)
    axes.set_xlabel("harvested cores")
    axes.set_ylabel("P99 of Memcached (us)")
    axes.legend(frameon=False)


# --- figure 10 ------------------------------------------------------------------------------------

SAFEGUARDS = {name: Setup(MEMCACHED, safeguard=name) for name in ("conservative", "aggressive")}


def _figure_10(results: Results, paper: Paper) -> Finding:
    limit = paper["limit"]["p99_change"]
    careful, all_back = (results[setup] for setup in SAFEGUARDS.values())
    verdicts = [
        Verdict(
            "both keep a similar P99",
            abs(careful.change.value - all_back.change.value) <= 0.05,
            f"conservative {percent(careful.change.value)}, aggressive "
            f"{percent(all_back.change.value)}",
        ),
        Verdict(
            "the conservative safeguard harvests more",
            careful.harvests_more(all_back),
            f"{careful.harvested:.2f} against {all_back.harvested:.2f} cores",
            "the simulated Memcached wants all ten cores about once a second, so the last second's "
            "peak and one is nearly always everything, too",
        ),
    ]
    rows = [
        {"safeguard": name, **columns(setup, results[setup])} for name, setup in SAFEGUARDS.items()
    ]
    return Finding(
        rows,
        verdicts,
        draw=lambda figure: _draw_choices(figure.subplots(), results, SAFEGUARDS, limit),
    )


# --- figures 12 and 13 ----------------------------------------------------------------------------

_TOTAL, _LABEL = 10, 4


def _figure_12(_results: Results, _paper: Paper) -> Finding:
    costs = {name: cost(_LABEL, _TOTAL).tolist() for name, cost in COSTS.items()}

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, values in costs.items():
            # Two of them share each side: the wide line stays visible under the narrow ones.
            width, marker = {"skewed": (6, 9), "symmetric": (2.5, 5), "hinged": (1.5, 4)}[name]
            axes.plot(
                range(_TOTAL + 1), values, "o-", color=_COLORS[name], label=name,
                linewidth=width, markersize=marker,
            )  # fmt: skip
        axes.axvline(_LABEL, color=GREY, linestyle=":")
        axes.set_xlabel(f"predicted peak (cores); the true one is {_LABEL}")
        axes.set_ylabel("cost")
        axes.legend(frameon=False)

    skewed, hinged, symmetric = costs["skewed"], costs["hinged"], costs["symmetric"]
    verdicts = [
        Verdict(
            "skewed: linear both ways, and the allocation on top below the peak",
            skewed[_LABEL - 1] == 1 + _TOTAL and skewed[_LABEL + 1] == 1,
            f"one core too few costs {skewed[_LABEL - 1]:.0f}, one too many "
            f"{skewed[_LABEL + 1]:.0f}",
        ),
        Verdict(
            "symmetric: under- and overpredictions alike",
            symmetric[_LABEL - 1] == symmetric[_LABEL + 1],
            f"{symmetric[_LABEL - 1]:.0f} and {symmetric[_LABEL + 1]:.0f}",
        ),
        Verdict(
            "hinged: every overprediction costs the same",
            len(set(hinged[_LABEL:])) == 1,
            f"{hinged[_LABEL]:.0f} from the peak up",
        ),
    ]
    rows = [
        {"cost": name, "predicted": cores, "value": value}
        for name, values in costs.items()
        for cores, value in enumerate(values)
    ]
    return Finding(rows, verdicts, draw=draw)


COST_SETUPS = {name: Setup(MEMCACHED, cost=name) for name in COSTS}


def _figure_13(results: Results, paper: Paper) -> Finding:
    limit = paper["limit"]["p99_change"]
    found = {name: results[setup] for name, setup in COST_SETUPS.items()}
    skewed, symmetric, hinged = found["skewed"], found["symmetric"], found["hinged"]
    under = {name: sum(run.under for run in s.runs) / len(s.runs) for name, s in found.items()}
    verdicts = [
        Verdict(
            "symmetric underpredicts more and hurts the primary more",
            under["symmetric"] > under["skewed"] and symmetric.hurts_more(skewed),
            f"{under['symmetric']:.0f} against {under['skewed']:.0f} underpredictions a run; P99 "
            f"{percent(symmetric.change.value)} against {percent(skewed.change.value)}",
        ),
        Verdict(
            "hinged harvests less than skewed",
            skewed.harvests_more(hinged),
            f"{hinged.harvested:.2f} against {skewed.harvested:.2f} cores",
        ),
        Verdict(
            "at a similar P99",
            abs(hinged.change.value - skewed.change.value) <= 0.05,
            f"{percent(hinged.change.value)} against {percent(skewed.change.value)}",
        ),
    ]
    rows = [{"cost": name, **columns(setup, results[setup])} for name, setup in COST_SETUPS.items()]
    return Finding(
        rows,
        verdicts,
        draw=lambda figure: _draw_choices(figure.subplots(), results, COST_SETUPS, limit),
    )


# --- table 3 --------------------------------------------------------------------------------------

CADENCE_S = 0.025
REPEATS = 80
HOT_REPEATS = 2000
_POLLS = 500


def measure_learning() -> dict[str, tuple[Mean, Mean]]:
    """Microseconds of each operation: (once a window, with caches gone cold; back to back)."""
    from smartharvest.algorithm.learning.csoaa_vw import VwCsoaa

    generator = random.Random(1)
    statistics = _loop.WindowStatistics()
    for _ in range(_POLLS):
        statistics.add(generator.randint(0, _TOTAL))
    learner = VwCsoaa(cost_table(COSTS["skewed"], _TOTAL))
    features = statistics.features()

    def timed(work: Callable[[], object]) -> Callable[[], float]:
        def measure() -> float:
            start_ns = time.perf_counter_ns()
            work()
            return (time.perf_counter_ns() - start_ns) / 1e3

        return measure

    operations: dict[str, Callable[[], float]] = {
        "features": lambda: statistics.time_features(1) / 1e3,
        "update": timed(lambda: learner.learn(features, generator.randint(0, _TOTAL))),
        "inference": timed(lambda: learner.predict(features)),
    }
    at_cadence: dict[str, list[float]] = {name: [] for name in operations}
    for _ in range(REPEATS):
        time.sleep(CADENCE_S)
        for name, operation in operations.items():
            at_cadence[name].append(operation())
    hot = {
        name: [operation() for _ in range(HOT_REPEATS)] for name, operation in operations.items()
    }
    return {name: (mean_of(at_cadence[name]), mean_of(hot[name])) for name in operations}


def _table_3(_results: Results, paper: Paper) -> Finding:
    stated, found = paper["table-3"], measure_learning()
    names = {"features": "features", "update": "model update", "inference": "inference"}
    table = [["us", "paper", "here, once a window", "here, back to back"]]
    rows = []
    for name, (cold, hot) in found.items():
        theirs = stated[name]
        table.append(
            [names[name], f"{theirs[0]} ± {theirs[1]}", f"{cold:.1f} ± {cold.spread:.1f}",
             f"{hot:.1f} ± {hot.spread:.1f}"]
        )  # fmt: skip
        rows.append(
            {"operation": name, "paper_us": theirs[0], "paper_sd": theirs[1],
             "cold_us": round(cold.value, 3), "cold_sd": round(cold.spread, 3),
             "hot_us": round(hot.value, 3), "hot_sd": round(hot.spread, 3)}
        )  # fmt: skip
    cold_us, hot_us = (sum(pair[i].value for pair in found.values()) for i in (0, 1))
    verdicts = [
        Verdict(
            f"all learning operations take less than {stated['total_us']} us on average",
            cold_us < stated["total_us"],
            f"{cold_us:.1f} us once a window, {hot_us:.1f} us back to back",
            "an agent that sleeps between windows finds its caches cold; the paper's never sleeps",
        ),
        Verdict(
            "which is negligible beside a window of milliseconds",
            cold_us < 0.01 * 25_000,
            f"{100 * cold_us / 25_000:.2f} % of 25 ms",
        ),
    ]
    notes = (
        "Measured on the machine that made this page, whatever else it did; Vowpal Wabbit through "
        "Python, 10 cores, the features of 500 polls in C. `make bench` measures it with care."
    )
    return Finding(rows, verdicts, table, notes=notes)


PARTS = (
    Part("figure-10", "Short-term safeguards", lambda: list(SAFEGUARDS.values()), _figure_10),
    Part("figure-12", "Cost functions", list, _figure_12),
    Part("figure-13", "Cost functions compared", lambda: list(COST_SETUPS.values()), _figure_13),
    Part("table-3", "What learning costs", list, _table_3),
)
