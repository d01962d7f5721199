"""Outcomes as JSON documents and as text; several seeds as mean and spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import reduce
from typing import Any

from smartharvest.algorithm.harm import Harm, in_words
from smartharvest.lab.simulator.groups import SharedCores
from smartharvest.lab.simulator.run import Outcome

_NOT_AVERAGED = ("policy", "seed")


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One outcome as it is; of several, each figure's mean, with the standard deviation between the
    seeds under ``spread`` and each of them under ``runs``."""
    runs = [_as_json(outcome) for outcome in outcomes]
    if len(runs) == 1:
        return runs[0]
    return {
        **_combined(runs, _mean),
        "seed": [run["seed"] for run in runs],
        "spread": {
            key: value
            for key, value in _combined(runs, _deviation).items()
            if key not in _NOT_AVERAGED
        },
        "runs": runs,
    }


def _as_json(outcome: Outcome) -> dict[str, Any]:
    values = asdict(replace(outcome, harm=()))
    del values["harm"]
    values["primaries"] = list(values["primaries"])
    return values


def harm_of(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """What lending cost each primary, over all seeds, as ``status`` has it."""
    found = zip(*(outcome.harm for outcome in outcomes), strict=True)
    return [reduce(Harm.plus, of_one).describe() for of_one in found]


def format_harm(outcomes: Sequence[Outcome]) -> str:
    """The same in words, a line for each primary."""
    return "\n".join(
        f"harm to primary {i}: {in_words(harm)}" for i, harm in enumerate(harm_of(outcomes))
    )


def groups_of(shared: Sequence[SharedCores]) -> list[dict[str, Any]]:
    """What each elastic group had, on average of all seeds."""
    rows: list[dict[str, Any]] = _combined([one.describe() for one in shared], _mean)
    return rows


def format_groups(shared: Sequence[SharedCores]) -> str:
    """The same in words, a line for each group."""
    return "\n".join(
        f"{row['name']}: {row['mean_cores']:.2f} cores on average, {row['due']:.2f} due"
        for row in groups_of(shared)
    )


def _combined(values: Sequence[Any], combine: Any) -> Any:
    """The same structure with ``combine`` over each number in it."""
    first = values[0]
    if isinstance(first, dict):
        return {key: _combined([value[key] for value in values], combine) for key in first}
    if isinstance(first, list):
        return [_combined(list(items), combine) for items in zip(*values, strict=True)]
    return combine(values) if isinstance(first, int | float) else first


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def format_outcomes(outcomes: Sequence[Outcome]) -> str:
    """The figures in words, a line per subject; ± is the standard deviation between seeds."""
    figures = document(outcomes)
    spread = figures.get("spread")

    def show(key: str, form: str, part: str | None = None, factor: float = 1.0) -> str:
        def pick(values: dict[str, Any]) -> float:
            return float(values[key][part] if part else values[key]) * factor

        text = format(pick(figures), form)
        return f"{text} ± {pick(spread):{form.lstrip('+')}}" if spread else text

    change = show("p99_change", "+.1f", factor=100)
    alone, latency = "baseline_latency_us", "latency_us"
    return "\n".join(
        (
            f"harvested {show('harvested_cores', '.2f')} cores on average",
            f"upper bound for once-per-window decisions: {show('clairvoyant_cores', '.2f')} cores",
            f"the primary's P99 {show(alone, '.0f', 'p99')} -> {show(latency, '.0f', 'p99')} us "
            f"({change} %), P50 {show(alone, '.0f', 'p50')} -> {show(latency, '.0f', 'p50')}, "
            f"P99.9 {show(alone, '.0f', 'p999')} -> {show(latency, '.0f', 'p999')}",
            f"alone it uses {show('busy_cores', '.2f')} cores, with peaks of "
            f"{show('mean_peak', '.2f')}",
            f"{show('reassignments_per_s', '.1f')} reassignments a second; safeguards: "
            f"{show('safeguards', '.0f', 'short')} short-term, "
            f"{show('safeguards', '.0f', 'long')} long-term; "
            f"{show('under_predictions', '.0f')} windows wanted more cores than the primary held",
        )
    )
