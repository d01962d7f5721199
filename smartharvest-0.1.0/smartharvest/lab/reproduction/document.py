"""Writes what was found: a CSV and a PNG for each part, and one page about all of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smartharvest.errors import ConfigError
from smartharvest.lab.reproduction.section import Finding, Part

_WIDE = ("figure-5", "figure-7", "figure-8", "figure-9", "figure-14", "figure-15")
_TALL = ("figure-5", "figure-15")


@dataclass(frozen=True)
class Conditions:
    """How the page came about."""

    seeds: tuple[int, ...]
    runs: int
    processes: int
    seconds: float
    """Of real time."""


def check_drawing() -> None:
    """Raises ConfigError without matplotlib."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError:
        raise ConfigError(
            "reproduce: needs matplotlib; install it with pip install 'smartharvest[plot]'"
        ) from None


def write_part(part: Part, finding: Finding, directory: str) -> None:
    """The data as CSV and, where it is one, the figure as PNG."""
    base = os.path.join(directory, part.name)
    try:
        with open(f"{base}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _columns(finding.rows))
            writer.writeheader()
            writer.writerows(finding.rows)
        if finding.draw is not None:
            _draw(part, finding, f"{base}.png")
    except OSError as error:
        raise ConfigError(f"{base}: cannot be written: {error.strerror}") from None


def _columns(rows: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _draw(part: Part, finding: Finding, path: str) -> None:
    from matplotlib.figure import Figure

    size = (9.0 if part.name in _WIDE else 6.0, 7.0 if part.name in _TALL else 4.2)
    figure = Figure(figsize=size, layout="constrained")
    assert finding.draw is not None
    finding.draw(figure)
    figure.savefig(path, format="png", dpi=90, metadata={"Software": None})


def page(findings: Sequence[tuple[Part, Finding]], conditions: Conditions, images: str) -> str:
    """The page in Markdown; ``images`` is the way from it to the figures."""
    verdicts = [verdict for _, finding in findings for verdict in finding.verdicts]
    count = {
        word: sum(verdict.word == word for verdict in verdicts)
        for word in ("holds", "does not hold", "not judged")
    }
    lines = [
        "# The paper's evaluation, on the simulated server",
        "",
        "Made by `make reproduce`; do not edit. It repeats section 5 of",
        "[SmartHarvest (EuroSys'21)](https://doi.org/10.1145/3447786.3456225) with the agent, the",
        "policies and the loop of this project on a simulated server: "
        "`smartharvest lab reproduce --help`.",
        "",
        f"Of {len(verdicts)} claims {count['holds']} hold, {count['does not hold']} do not, and "
        f"{count['not judged']} cannot be judged so.",
        "",
        "- *The paper's settings*: Vowpal Wabbit with the skewed cost and a constant rate of 0.1, "
        "windows of 25 ms",
        "  sampled every 50 µs, the peak of busy cores as label, the conservative safeguard, every "
        "dispatch wait counted,",
        "  10 cores a primary, exclusive placement, `cpugroups` (up to 5 ms to lend, 10 ms to give "
        "back, and the agent",
        "  sleeps for 10 ms after each change) unless a figure is about something else.",
        "- *Runs*: 60 simulated seconds (table 2: three minutes), means of "
        f"{len(conditions.seeds)} seeds ({', '.join(map(str, conditions.seeds))});",
        "  bars and ± are standard deviations between them. The same seed gives every policy the "
        "same traffic.",
        "- *Primaries* are calibrated to table 1 and to nothing else: arrivals and service times "
        "are not published. So",
        "  relations between policies can be checked; microseconds, and how hard a buffer is hit, "
        "depend on shapes nobody knows.",
        "- *Not simulated*: caches, memory, networks, hypervisor exits, and batch jobs that do not "
        "scale. CPUBully is: it uses",
        "  every core it has.",
        "- *harvested*: beyond the elastic minimum of one core, while the elastic group really had "
        "them.",
        f"- {conditions.runs} simulations took {conditions.seconds:.0f} s on "
        f"{conditions.processes} processes.",
        "",
        "| | claim | verdict | here |",
        "|---|---|---|---|",
    ]
    for part, finding in findings:
        for number, verdict in enumerate(finding.verdicts):
            name = f"[{_label(part)}](#{_anchor(part)})" if number == 0 else ""
            lines.append(f"| {name} | {verdict.claim} | {verdict.word} | {verdict.measured} |")
    for part, finding in findings:
        lines += ["", *_part(part, finding, images)]
    return "\n".join(lines) + "\n"


def _label(part: Part) -> str:
    return part.name.replace("-", " ").capitalize()


def _heading(part: Part) -> str:
    return f"{_label(part)}: {part.title}"


def _anchor(part: Part) -> str:
    kept = [c for c in _heading(part).lower() if c.isalnum() or c in " -"]
    return "".join(kept).replace(" ", "-")


def _part(part: Part, finding: Finding, images: str) -> list[str]:
    lines = [f"## {_heading(part)}", ""]
    if finding.draw is not None:
        lines += [f"![{_heading(part)}]({images}/{part.name}.png)", ""]
    if finding.table:
        head, *rows = finding.table
        lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
    if finding.notes:
        lines += [finding.notes, ""]
    for verdict in finding.verdicts:
        line = f"- *{verdict.word}*: {verdict.claim}. Here: {verdict.measured}."
        if verdict.why and verdict.holds is not True:
            line += f" {verdict.why[0].upper()}{verdict.why[1:]}."
        lines.append(line)
    lines += ["", f"Data: [{part.name}.csv]({images}/{part.name}.csv)"]
    return lines
