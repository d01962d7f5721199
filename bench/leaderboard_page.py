"""The leaderboard's page: ``python -m bench.leaderboard_page TUNED.csv CONFIRMED.csv AGAIN.csv``.

Each file holds the rows of ``smartharvest lab simulate --policies … --csv``, of one run or several
after one another.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from smartharvest.lab.simulator.leaderboard import Row, Standing, mean_rows, standings

PAPERS = "smartharvest"
COMPARED = ("adaptive", "everywhere")
OLDER, HELD_MECHANISMS = "cpu-idle", ("cpu-idle-7.3", "strict")
HELD = Path(__file__).with_name("leaderboard_held.md").read_text().rstrip("\n")
"""What the models that were held against guests say, and who is right."""
MOST_CHANGE = 0.1
TIMES_THE_PAPERS = 3.0
OF_INSTANT = 0.75
HEAD = """\
| mechanism | policy | calibrated | of idle | all | worst P50 | worst P99 | within | moves/s |
|---|---|---|---|---|---|---|---|---|"""
ROW_HEAD = """\
| workload | mechanism | policy | cores | of idle | of clairvoyant | P50 | P99 | P99.9 | moves/s |
|---|---|---|---|---|---|---|---|---|---|"""


def read(path: str) -> list[Row]:
    kinds: dict[str, Any] = {"str": str, "int": int, "float": float}
    read_as = {field.name: kinds[str(field.type)] for field in fields(Row)}
    with open(path, newline="") as file:
        return [
            Row(**{name: read_as[name](text) for name, text in line.items()})
            for line in csv.DictReader(file)
            if line["workload"] != "workload"
        ]


def recommended(mechanism: str) -> str:
    """The policy that is recommended where cores move so."""
    return "adaptive" if mechanism.startswith(("cpu-idle", "strict")) else "adaptive-quiet"


def goals(board: list[Standing]) -> str:
    """What the recommended policies were to reach, and whether they do."""
    by_name = {(one.mechanism, one.policy): one for one in board}
    papers = by_name["cpugroups", PAPERS].calibrated_cores
    lines = []
    for mechanism in dict.fromkeys(one.mechanism for one in board):
        one = by_name[mechanism, recommended(mechanism)]
        for name, change, workload in (
            ("P50", one.worst_p50_change, one.worst_p50_workload),
            ("P99", one.worst_p99_change, one.worst_p99_workload),
        ):
            lines.append(
                f"- `{mechanism}`: worst {name} {change:+.1%} (`{workload}`), goal at most +10 %: "
                f"{_met(change <= MOST_CHANGE)}."
            )
        times, idle = one.calibrated_cores / papers, one.calibrated_of_instant
        bound = f", goal 75 %: {_met(idle >= OF_INSTANT)}" if mechanism == "ipi" else ""
        lines.append(
            f"- `{mechanism}`: {one.calibrated_cores:.2f} cores on the calibrated ones, "
            f"{times:.1f} times the paper's {papers:.2f}, goal 3: "
            f"{_met(times >= TIMES_THE_PAPERS)}; {idle:.1%} of all that is idle{bound}."
        )
    return "\n".join(lines)


def _met(met: bool) -> str:
    return "met" if met else "**missed**"


def table(board: list[Standing]) -> str:
    return "\n".join(
        [
            HEAD,
            *(
                f"| {s.mechanism} | {_marked(s)} "
                f"| {s.calibrated_cores:.2f} | {s.calibrated_of_instant:.0%} | {s.of_instant:.0%} "
                f"| {s.worst_p50_change:+.1%} {s.worst_p50_workload} "
                f"| {s.worst_p99_change:+.1%} {s.worst_p99_workload} "
                f"| {s.within_10_percent} of {s.workloads} | {s.reassignments_per_s:.0f} |"
                for s in board
            ),
        ]
    )


def _marked(one: Standing) -> str:
    return f"**{one.policy}**" if one.policy == recommended(one.mechanism) else one.policy


def failures(rows: list[Row]) -> str:
    """Every policy and mechanism with the workloads that it does not protect."""
    lines = [
        "| mechanism | policy | beyond 10 % at P50 or P99 |",
        "|---|---|---|",
    ]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in mean_rows(rows):
        groups.setdefault((row.mechanism, row.policy), []).append(row)
    for (mechanism, policy), several in groups.items():
        failed = [
            f"{row.workload} {max(row.p50_change, row.p99_change):+.0%}"
            for row in several
            if max(row.p50_change, row.p99_change) > MOST_CHANGE
        ]
        if failed:
            lines.append(f"| {mechanism} | {policy} | {', '.join(failed)} |")
    return "\n".join(lines)


def side_by_side(rows: list[Row]) -> str:
    """What policies lend and cost on each workload under the older model and those held."""
    found = {(row.workload, row.policy, row.mechanism): row for row in mean_rows(rows)}
    columns = [
        (policy, mechanism)
        for policy in COMPARED
        for mechanism in (OLDER, *HELD_MECHANISMS)
        if any((policy, mechanism) == (row.policy, row.mechanism) for row in rows)
    ]

    def cell(workload: str, policy: str, mechanism: str) -> str:
        row = found.get((workload, policy, mechanism))
        return f"{row.of_instant:.0%}, {row.p99_change:+.0%}" if row else ""

    lines = [
        f"| | {' | '.join(f'`{policy}`, {mechanism}' for policy, mechanism in columns)} |",
        f"|---|{'---|' * len(columns)}",
    ]
    for workload in dict.fromkeys(row.workload for row in rows if row.mechanism in HELD_MECHANISMS):
        cells = [cell(workload, policy, mechanism) for policy, mechanism in columns]
        lines.append(f"| {workload} | {' | '.join(cells)} |")
    return "\n".join(lines)


def every(rows: list[Row]) -> str:
    return "\n".join(
        [
            ROW_HEAD,
            *(
                f"| {r.workload} | {r.mechanism} | {r.policy} | {r.harvested_cores:.2f} "
                f"| {r.of_instant:.0%} | {r.of_clairvoyant:.0%} | {r.p50_change:+.1%} "
                f"| {r.p99_change:+.1%} | {r.p999_change:+.1%} | {r.reassignments_per_s:.0f} |"
                for r in mean_rows(rows)
            ),
        ]
    )


def page(tuned: list[Row], confirmed: list[Row], again: list[Row]) -> str:
    """``again``: the recommended policies alone, with more seeds."""
    parts = [Path(__file__).with_name("leaderboard_head.md").read_text().rstrip("\n")]
    for title, rows in (
        ("Tuned on: four calibrated and seven hard workloads", tuned),
        ("Confirmed on: other seeds, and nine workloads not tuned on (three looked at)", confirmed),
    ):
        board = standings(rows)
        parts += [
            f"## {title}",
            f"Seeds: {seeds(rows)}.",
            table(board),
            "The recommended ones here (`adaptive` where the primary preempts the batch, else "
            "`adaptive-quiet`):",
            goals(board),
        ]
    parts += [
        "## Confirmed again: the recommended ones with other seeds",
        f"Seeds: {seeds(again)}.",
        table(standings(again)),
        "## The models that were held against guests",
        HELD,
        side_by_side(tuned + confirmed),
        "## Where policies fail",
        "The larger of both changes, over the workloads tuned on and then the others. A policy and "
        "mechanism that is not named keeps all of them within 10 %.",
        failures(tuned),
        failures(confirmed + again),
        "## Every workload",
        "Means over the seeds of each of the two runs; the calibrated ones are in both.",
        "### Tuned on",
        every(tuned),
        "### Confirmed on",
        every(confirmed),
    ]
    return "\n\n".join(parts) + "\n"


def seeds(rows: list[Row]) -> str:
    return ", ".join(str(seed) for seed in sorted({row.seed for row in rows}))


if __name__ == "__main__":
    sys.stdout.write(page(*map(read, sys.argv[1:4])))
