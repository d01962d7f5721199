from __future__ import annotations

from pathlib import Path

import pytest

from bench.capacity import measure, recorded
from smartharvest.lab.trace import CHANGE, Header, write_trace

np = pytest.importorskip("numpy")
S = 1_000_000_000


def test_a_recorded_trace_becomes_lent_cores_of_each_second_and_figures(tmp_path: Path) -> None:
    path = str(tmp_path / "web.trace")
    busy = [(1, 1, 1), (20 * S, 6, 6), (21 * S, 1, 1)]
    write_trace(path, Header(cores=8, poll_ns=0, start_ns=1), np.array(busy, dtype=CHANGE), 40 * S)
    levels = recorded(path)
    assert 38 <= len(levels) <= 40
    assert max(levels) <= 7
    assert min(levels[19:23]) < levels[15]
    figures = measure(levels, seed=1)
    assert figures["seconds"] == len(levels)
    assert "'wasted_core_s'" in str(figures["adapters"])
