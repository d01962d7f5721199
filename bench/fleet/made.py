"""A made trace: regular VMs that come by day and by week, and stay as they do in clouds."""

from __future__ import annotations

import numpy as np

from smartharvest.fleet.tables import DAY_S, REGULAR, Allocations, check_allocations

DAYS, NODES = 45, "40x32c128g"
_CORES, _STANDING, _COMING = 40 * 32, 0.55, 0.27
WORDS = (
    f"{DAYS} days of 40 nodes of 32 cores, made from seed 1: 55 % of the cores are held for weeks "
    "(lognormal, median 20 days), 27 % on average by VMs that live for hours (median 2 h, log "
    "deviation 1.4), of 1 to 16 cores, four times as many at noon as at night, a third fewer at "
    "weekends"
)


def made_trace(seed: int = 1, days: float = DAYS) -> Allocations:
    """The trace of WORDS, for ``days``."""
    chance = np.random.default_rng(seed)
    until_s = days * DAY_S
    sizes = np.array([1, 2, 4, 8, 16])
    odds = np.array([0.35, 0.3, 0.2, 0.1, 0.05])
    each = float(sizes @ odds)
    standing = 20 * DAY_S * np.exp(chance.normal(0, 0.8, 4 * _CORES))
    starts = chance.uniform(-40 * DAY_S, until_s, len(standing))
    here = starts + standing > 0
    share = _STANDING * _CORES / each * (until_s + 40 * DAY_S) / standing.mean() / len(standing)
    here &= chance.random(len(here)) < share
    lasting = 2 * 3600 * np.exp(chance.normal(0, 1.4, 400_000))
    rate = _COMING * _CORES / each / lasting.mean()
    coming = np.sort(chance.uniform(0, until_s, int(2.2 * rate * until_s)))
    wave = 1 + 0.6 * np.sin(2 * np.pi * (coming / DAY_S - 0.25))
    wave *= np.where((coming // DAY_S) % 7 >= 5, 0.67, 1.0)
    coming = coming[chance.random(len(coming)) < wave / 2.0]
    start_s = np.concatenate([np.maximum(starts[here], 0), coming])
    end_s = np.concatenate([starts[here] + standing[here], coming + lasting[: len(coming)]])
    end_s[end_s >= until_s] = np.inf
    cores = chance.choice(sizes, len(start_s), p=odds).astype(np.float64)
    return check_allocations(
        Allocations(
            [f"vm-{row}" for row in range(len(start_s))],
            cores,
            cores * 3.0,
            start_s,
            end_s,
            np.full(len(start_s), REGULAR),
            until_s,
        ),
        "the made trace",
    )


def busier(table: Allocations, seed: int, day: float = 25.0, before: float = 0.4) -> Allocations:
    """``table`` with only the share ``before`` of its short VMs until ``day``."""
    short = table.end_s - table.start_s < 3 * DAY_S
    kept = np.random.default_rng(seed + 100).random(len(table)) <= before
    return table.only(~short | (table.start_s >= day * DAY_S) | kept)
