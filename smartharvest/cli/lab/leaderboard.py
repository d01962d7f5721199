"""``smartharvest lab simulate --policies``: many policies on many workloads."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict

from smartharvest.algorithm.policy import check_policy
from smartharvest.cli.progress import Progress
from smartharvest.errors import ConfigError


def show_leaderboard(
    policies: str,
    workloads: str | None,
    mechanisms: str,
    seeds: Sequence[int],
    seconds: float,
    learner: str,
    as_csv: bool,
    as_json: bool,
) -> str:
    """The board as a table, CSV or JSON; progress goes to standard error. Raises ConfigError."""
    from smartharvest.lab.simulator import leaderboard
    from smartharvest.lab.simulator.bursty import BURSTY, HELD_OUT
    from smartharvest.lab.simulator.mechanisms import MECHANISM_NAMES
    from smartharvest.lab.simulator.run import BOUNDS
    from smartharvest.lab.simulator.workloads import WORKLOADS

    sets = {"calibrated": WORKLOADS, "bursty": BURSTY, "held-out": HELD_OUT}
    specs = _names(policies, "--policies")
    for spec in specs:
        if spec not in BOUNDS:
            check_policy(spec)
    ways = _names(mechanisms, "--mechanisms")
    for way in ways:
        if way not in MECHANISM_NAMES:
            raise ConfigError(f"--mechanisms: {way!r} is unknown; use {', '.join(MECHANISM_NAMES)}")
    loads = [
        load
        for name in _names(workloads or "calibrated,bursty", "--workloads")
        for load in sets.get(name, [name])
    ]
    with Progress("workloads and seeds", wanted=not (as_csv or as_json)) as progress:
        rows = leaderboard.run_leaderboard(
            specs,
            loads,
            ways,
            seeds=seeds,
            seconds=seconds,
            processes=os.cpu_count() or 1,
            learner=learner,
            progress=progress,
        )
    if as_csv:
        return leaderboard.as_csv(rows).rstrip("\n")
    if as_json:
        board = leaderboard.standings(rows)
        return json.dumps(
            {"standings": [asdict(one) for one in board], "rows": [asdict(row) for row in rows]}
        )
    return leaderboard.as_table(rows)


def _names(text: str, key: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ConfigError(f"{key}: the list is empty; write names such as a,b")
    return names
