"""Figures of memory that a primary claims back."""

from __future__ import annotations

from typing import Any

from bench.memory import FIGURES, figures_of, table


def episode(side: str, *, p99: float, busy: bool = True) -> dict[str, Any]:
    given = {"given_back": {"mib": 512, "gib_s": 1.5}} if side == "memory" else {}
    return {
        "side": side,
        "busy": busy,
        "mib_ms": {"p50": 1.0, "p99": p99, "max": 9.0},
        "cpu_ms": {"p99": 2.0},
        "waited_for_cpu_ms": {"p99": 1.0, "sum": 4.0},
        "stalled_ms": {"p99": 0.0, "sum": 3.0},
        "meanwhile": {"primary pgscan_direct": 0, "batch pgsteal_direct": 7},
        "primary_grew_s": 2.0,
        "batch_mib": {"before": 900, "after": 400},
        "oom_kills": 0,
        **given,
    }


def test_a_figure_is_the_median_of_the_rounds_with_its_bounds() -> None:
    some = [episode("memory", p99=p99) for p99 in (2.0, 8.0, 4.0)]
    figures = figures_of([*some, episode("none", p99=20.0)])
    assert figures.keys() == FIGURES.keys()
    p99 = figures["a MiB of growth, P99, ms"]
    assert p99 == {"memory": [4.0, 2.0, 8.0], "none": [20.0, 20.0, 20.0]}
    assert "none" not in figures["seconds for a GiB of that"]


def test_rounds_with_idle_cpus_are_apart() -> None:
    episodes = [episode("cores", p99=2.0), episode("cores", p99=6.0, busy=False)]
    assert figures_of(episodes)["a MiB of growth, P99, ms"] == {"cores": [2.0, 2.0, 2.0]}
    idle = figures_of(episodes, busy=False)
    assert idle["a MiB of growth, P99, ms"] == {"cores": [6.0, 6.0, 6.0]}


def test_the_table_has_a_row_for_each_figure() -> None:
    lines = table(figures_of([episode("memory", p99=2.0), episode("memory", p99=4.0)]))
    assert "| a MiB of growth, P99, ms | 3 (2 to 4) |  |  |" in lines
    assert "| killed | 0 |  |  |" in lines
    assert len(lines.splitlines()) == len(FIGURES) + 2
