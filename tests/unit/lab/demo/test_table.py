from __future__ import annotations

from smartharvest.lab.demo.bench import AgentFigures
from smartharvest.lab.demo.figures import NO_AGENT, Document, Slice, summarize_all
from smartharvest.lab.demo.phases import PHASES
from smartharvest.lab.demo.table import format_table


def make_document(cpus: int = 2, latency_us: int = 300, idle_core_s: float = 3.0) -> Document:
    slices = {
        phase.name: [
            Slice(
                elapsed_s=2.0,
                latencies_ns=[latency_us * 1000 * (place + 1)] * 3,
                left_out=place,
                idle_core_s=idle_core_s,
                elastic_cpu_s=1.0,
                batch_units=5000,
                agent=AgentFigures(0.37, 12, 1, 0.2) if phase.policy else NO_AGENT,
            )
        ]
        for place, phase in enumerate(PHASES)
    }
    return {
        "phases": summarize_all(slices),
        "seconds": 60.0,
        "rounds": 4,
        "learning_s": {"smartharvest": 5.1, "adaptive": 12.9},
        "seed": 7,
        "cpus": list(range(cpus)),
        "elastic_min": 0,
        "park": "freeze",
        "kernel": "6.18.0",
        "load_generator_group": "primary",
        "standstills_ms": None,
    }


def row(table: str, name: str) -> list[str]:
    (line,) = [line for line in table.splitlines() if line.startswith(f"{name} ")]
    return line.split()[1:]


def test_a_row_shows_the_figures_of_its_phase() -> None:
    table = format_table(make_document())
    assert row(table, "smartharvest")[:5] == ["1800", "1800", "+500%", "1800..1800", "1800"]
    assert row(table, "smartharvest")[5:] == ["1.50", "0.37", "0.50", "2500", "12/1", "0.10"]


def test_unconfined_rows_show_no_harvested_cores() -> None:
    table = format_table(make_document())
    assert [row(table, name)[6] for name in ("cpu-idle", "nice-19")] == ["-", "-"]


def test_the_baseline_shows_no_change() -> None:
    assert row(format_table(make_document()), "no-harvest")[:3] == ["300", "300", "300..300"]


def test_the_table_fits_120_columns_even_with_latencies_of_seconds() -> None:
    table = format_table(make_document(latency_us=1_000_000))
    assert max(map(len, table.splitlines())) <= 120


def test_it_says_where_the_load_generator_runs() -> None:
    assert "in the primary group" in format_table(make_document())


def test_only_two_cpus_bring_the_caveat_of_two_cpus() -> None:
    assert "quiet gaps" in format_table(make_document(cpus=2))
    assert "quiet gaps" not in format_table(make_document(cpus=4))


def test_it_says_who_learned_before_and_for_how_long() -> None:
    document = make_document()
    assert "to learn from: smartharvest for 5.1 s and adaptive for 12.9 s." in format_table(
        document
    )
    document["learning_s"] = {}
    assert "learn from" not in format_table(document)


def test_the_table_tells_of_standstills_and_what_they_touched() -> None:
    document = make_document()
    assert "stopped the whole machine" not in format_table(document)
    document["standstills_ms"] = [12.0, 41.6]
    assert "stopped the whole machine 2 times, for at most 42 ms" in format_table(document)
    assert "50.0% of the requests are left out" in format_table(document)


def test_a_machine_that_is_busy_with_something_else_is_named() -> None:
    assert "careful: other programs" in format_table(make_document(idle_core_s=0.0))
    assert "careful" not in format_table(make_document())
