"""The demo's document as one table of plain text, at most 120 columns wide."""

from __future__ import annotations

from smartharvest.lab.demo.figures import Document, PhaseFigures
from smartharvest.printable import counted

# Names of the columns, their units and the cells' widths.
_COLUMNS = (
    ("", "", -14),
    ("P50", "us", 7),
    ("P99", "us", 8),
    ("change", "", 8),
    ("P99 of rounds", "us", 15),
    ("P99.9", "us", 8),
    ("idle", "cores", 6),
    ("harvested", "cores", 9),
    ("batch", "cores", 6),
    ("batch work", "Msum/s", 10),
    ("safeguards", "short/long", 10),
    ("agent", "cores", 6),
)

_BUSY_BELOW = 0.05
"""Share of the cores idle without a batch, below which other programs decide the figures."""


def format_table(document: Document) -> str:
    """The table and notes on how to read it; ends without a line break."""
    lines = [
        _row([name for name, _, _ in _COLUMNS]),
        _row([unit for _, unit, _ in _COLUMNS]),
        *(_row(_cells(figures)) for figures in document["phases"]),
        "",
    ]
    notes = _simulated_notes if "simulated" in document else _notes
    return "\n".join(lines + notes(document))


def _simulated_notes(document: Document) -> list[str]:
    return [
        f"Simulated, not measured: {document['simulated']}.",
        f"A server with {len(document['cpus'])} cores in virtual time, seed {document['seed']}: the"
        " same traffic, loop and policies. Cores move with",
        "a cpuset write's delays; adaptive shares them under cpu.idle. Left out is what the kernel"
        " does by itself.",
    ]


def _notes(document: Document) -> list[str]:
    rounds = document["rounds"]
    cpus = len(document["cpus"])
    lines = [
        f"{cpus} CPUs, Linux {document['kernel']}, {rounds} interleaved rounds in"
        f" {document['seconds']:.0f} s, seed {document['seed']}.",
        "Latency counts from the intended arrival; the load generator sleeps between sends, in the"
        f" {document['load_generator_group']} group.",
        f"harvested: lent beyond the elastic minimum of {document['elastic_min']};"
        " - where the batch is not confined. batch: CPU it got.",
    ]
    if learning := document["learning_s"]:
        told = " and ".join(f"{name} for {each_s:g} s" for name, each_s in learning.items())
        lines.append(f"Before the rounds there was traffic to learn from: {told}.")
    if document["standstills_ms"]:
        longest_ms, count = max(document["standstills_ms"]), len(document["standstills_ms"])
        left_out = sum(figures["left_out"] for figures in document["phases"])
        requests = left_out + sum(figures["requests"] for figures in document["phases"])
        lines.append(
            f"The host stopped the whole machine {counted(count, 'time')}, for at most"
            f" {longest_ms:.0f} ms. {left_out / requests:.1%} of the requests are left out."
        )
    if document["elastic_min"] == 0 and document["park"] == "freeze":
        lines.append("The agent freezes the batch while it has no core (agent --park freeze).")
    (baseline,) = (one for one in document["phases"] if one["name"] == "no-harvest")
    if baseline["idle_cores"] < _BUSY_BELOW * cpus:
        lines.append(
            "careful: other programs used the cores that no-harvest left idle; run it on a quiet"
            " machine to compare the rows."
        )
    if cpus <= 2:
        lines.append(
            "On two CPUs busy + 1 leaves nothing to lend while one is busy: cores are lent only"
            " in the quiet gaps."
        )
    return lines


def _cells(figures: PhaseFigures) -> list[str]:
    latency, harvested = figures["latency_us"], figures["harvested_cores"]
    rounds, safeguards = figures["p99_rounds"], figures["safeguards"]
    return [
        figures["name"],
        f"{latency['p50']:.0f}",
        f"{latency['p99']:.0f}",
        f"{figures['p99_change']:+.0%}" if figures["name"] != "no-harvest" else "",
        f"{min(rounds):.0f}..{max(rounds):.0f}",
        f"{latency['p999']:.0f}",
        f"{figures['idle_cores']:.2f}",
        _known(harvested, ".2f"),
        f"{figures['elastic_cpu']:.2f}",
        _known(figures["batch_work"], ".0f"),
        f"{safeguards['short']}/{safeguards['long']}",
        _known(figures["agent_cpu"], ".2f"),
    ]


def _known(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _row(cells: list[str]) -> str:
    padded = (
        cell.ljust(-width) if width < 0 else cell.rjust(width)
        for cell, (_, _, width) in zip(cells, _COLUMNS, strict=True)
    )
    return " ".join(padded).rstrip()
