"""The demo's document as one table of plain text, at most 120 columns wide."""

from __future__ import annotations

from smartharvest.demo.figures import Document, PhaseFigures

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


def format_table(document: Document) -> str:
    """The table with what is needed to read it; ends without a line break."""
    rounds = document["rounds"]
    cpus = len(document["cpus"])
    lines = [
        _row([name for name, _, _ in _COLUMNS]),
        _row([unit for _, unit, _ in _COLUMNS]),
        *(_row(_cells(figures)) for figures in document["phases"]),
        "",
        f"{cpus} CPUs, Linux {document['kernel']}, {rounds} interleaved rounds in"
        f" {document['seconds']:.0f} s, seed {document['seed']}.",
        "Latency counts from the intended arrival; the load generator sleeps between sends, in the"
        f" {document['load_generator_group']} group.",
        f"harvested: lent beyond the elastic minimum of {document['elastic_min']};"
        " - where the batch is not confined. batch: CPU it really got.",
    ]
    if document["elastic_min"] == 0 and document["park"] == "freeze":
        lines.append("While it has no core the agent's batch is frozen (agent --park freeze).")
    if cpus <= 2:
        lines.append(
            "On two CPUs busy + 1 leaves nothing to lend while one is busy: the harvest comes"
            " from the quiet gaps."
        )
    return "\n".join(lines)


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
        "-" if harvested is None else f"{harvested:.2f}",
        f"{figures['elastic_cpu']:.2f}",
        f"{figures['batch_work']:.0f}",
        f"{safeguards['short']}/{safeguards['long']}",
        f"{figures['agent_cpu']:.2f}",
    ]


def _row(cells: list[str]) -> str:
    padded = (
        cell.ljust(-width) if width < 0 else cell.rjust(width)
        for cell, (_, _, width) in zip(cells, _COLUMNS, strict=True)
    )
    return " ".join(padded).rstrip()
