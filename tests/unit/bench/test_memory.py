"""Figures of memory that a primary claims back."""

from __future__ import annotations

from typing import Any

from bench.memory import FIGURES, figures_of, table


def episode(*, lends: bool, p99: float, kills: int = 0) -> dict[str, Any]:
    given = {"given_back": {"mib": 512, "gib_s": 1.5}} if lends else {}
    return {
        "lends": lends,
        "mib_ms": {"p50": 1.0, "p99": p99, "max": 9.0},
        "primary_stalled_ms": 3.0,
        "primary_grew_s": 2.0,
        "batch_mib": {"before": 900, "after": 400},
        "oom_kills": kills,
        **given,
    }


def test_a_figure_is_the_median_of_the_rounds_with_its_bounds() -> None:
    some = [episode(lends=True, p99=p99) for p99 in (2.0, 8.0, 4.0)]
    figures = figures_of([*some, episode(lends=False, p99=20.0)])
    assert figures.keys() == FIGURES.keys()
    p99 = figures["a MiB of growth, P99, ms"]
    assert p99 == {"with": [4.0, 2.0, 8.0], "without": [20.0, 20.0, 20.0]}
    assert "without" not in figures["seconds for a GiB of that"]


def test_the_table_has_a_row_for_each_figure() -> None:
    lines = table(figures_of([episode(lends=True, p99=2.0), episode(lends=True, p99=4.0)]))
    assert "| a MiB of growth, P99, ms | 3 (2 to 4) |  |" in lines
    assert "| killed | 0 |  |" in lines
    assert len(lines.splitlines()) == len(FIGURES) + 2
