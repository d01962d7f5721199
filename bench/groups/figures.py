"""From what was read of the groups to the figures of the document. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.statistics import rounded

Rows = Mapping[str, Mapping[str, Any]]
"""By name, the rows of a status."""


def shares(looks: Sequence[Rows]) -> dict[str, Any]:
    """What each group had and used between the first and the last look, against what was due.

    ``off_by_had`` and ``off_by_used`` are the largest difference between a group's share and the
    share that is due to it, as parts of what all have; None where nobody had or used anything. What
    is had is held against the mean of what is due, and what is used against the sum of what was due
    in each second of what all used in it: others on the host take more of one second than of the
    next, and what is due changes too.
    """
    first, last = looks[0], looks[-1]
    names = [name for name in first if all(name in look for look in looks)]
    due = {name: float(np.mean([look[name]["due"] for look in looks])) for name in names}
    spent = {
        what: {name: _difference(first[name], last[name], key) for name in names}
        for what, key in (
            ("had", "core_seconds"),
            ("used", "cpu_seconds"),
            ("due", "due_core_seconds"),
        )
    }
    return {
        "due_cores": {name: rounded(cores) for name, cores in due.items()},
        "had_core_s": {name: rounded(value) for name, value in spent["had"].items()},
        "used_core_s": {name: rounded(value) for name, value in spent["used"].items()},
        "throughput": {name: last[name]["throughput"] for name in names},
        "throughput_by": {name: last[name]["throughput_by"] for name in names},
        "off_by_had": off(spent["had"], due),
        "off_by_used": off(spent["used"], spent["due"]),
    }


def _difference(first: Mapping[str, Any], last: Mapping[str, Any], key: str) -> float:
    return float((last.get(key) or 0.0) - (first.get(key) or 0.0))


def off(spent: Mapping[str, float], due: Mapping[str, float]) -> float | None:
    """The largest difference between a share of ``spent`` and of ``due``, within 0 and 1."""
    all_spent, all_due = sum(spent.values()), sum(due.values())
    if all_spent <= 0 or all_due <= 0:
        return None
    return rounded(max(abs(spent[name] / all_spent - due[name] / all_due) for name in due))


def since(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, float]:
    """Median, 99th percentile (upper bounds, us), mean and number of a histogram's new entries."""
    old = before.get("counts") or [0] * len(now["counts"])
    counts = np.diff([0, *np.subtract(now["counts"], old)])
    total = now["count"] - before.get("count", 0)
    found = {"count": float(total)}
    if total <= 0:
        return found
    found["mean_us"] = rounded((now["sum_ns"] - before.get("sum_ns", 0)) / total / 1e3)
    reached = np.cumsum(counts)
    for name, part in (("median_us", 0.5), ("p99_us", 0.99)):
        at = int(np.searchsorted(reached, part * total))
        bound_ns = now["bounds_ns"][min(at, len(now["bounds_ns"]) - 1)]
        found[name] = rounded(bound_ns / 1e3)
    return found


def pair(did: Mapping[str, Sequence[Mapping[str, float]]], names: Sequence[str]) -> dict[str, Any]:
    """Work by throughput against that of equal shares, of rounds with each.

    A round has what each of ``names`` did, and the core-seconds they ``used``. What a group does
    counts by its mean with equal shares.
    """
    usual = {name: float(np.mean([one[name] for one in did["fair"]])) or 1.0 for name in names}

    def work(way: str) -> list[float]:
        return [sum(one[name] / usual[name] for name in names) / len(names) for one in did[way]]

    def per_core_second(way: str) -> list[float]:
        return [
            done / one["used"]
            for done, one in zip(work(way), did[way], strict=True)
            if one["used"] > 0
        ]

    return {
        "rounds": {way: [dict(one) for one in of] for way, of in did.items()},
        "work": ratio_of(work("fair"), work("throughput")),
        "work_per_core_second": ratio_of(per_core_second("fair"), per_core_second("throughput")),
    }


def ratio_of(one: Sequence[float], three: Sequence[float]) -> dict[str, Any]:
    """The ratio of the medians of all rounds, and the smallest and largest of one round's pair."""
    pairs = [b / a for a, b in zip(one, three, strict=False) if a > 0]
    if not pairs:
        return {"ratio": None, "spread": None}
    median = float(np.median(three)) / float(np.median(one))
    return {"ratio": rounded(median), "spread": [rounded(min(pairs)), rounded(max(pairs))]}
