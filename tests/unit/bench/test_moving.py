"""The tail of moving: figures of slices, without a host."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bench import moving
from bench.moving import Slice, summarize


def made(worst_us: float, *, rescues: int = 0) -> Slice:
    """A hundred bursts of half a millisecond, the last two of which take longer."""
    latencies_ns = np.full(100, 500_000, dtype=np.int64)
    latencies_ns[-2:] = round(worst_us * 1000)
    return Slice(latencies_ns, 2.0, 7.0, rescues, rescues, rescues / 1000)


def test_the_ratio_is_to_the_static_case_with_the_smaller_tail() -> None:
    slices = {
        "idle_everywhere": [made(4000.0)] * 4,
        "confined": [made(1000.0)] * 4,
        "moved_25ms_rescue": [made(2000.0, rescues=6)] * 4,
    }
    figures = summarize(slices)
    assert figures["better_static"] == "confined"
    ratio = figures["p99_over_better_static"]["moved_25ms_rescue"]  # type: ignore[index]
    assert ratio == {"ratio": 2.0, "low": 2.0, "high": 2.0}
    assert figures["goals"]["moved_25ms_rescue_p99_to_better_static"]["met"] is False  # type: ignore[index]


def test_the_interval_covers_slices_that_differ() -> None:
    moved = [made(worst) for worst in (900.0, 1000.0, 1100.0) * 2]
    figures = summarize({"confined": [made(1000.0)] * 6, "moved_25ms": moved})
    ratio = figures["p99_over_better_static"]["moved_25ms"]  # type: ignore[index]
    assert ratio["low"] < ratio["ratio"] <= ratio["high"]
    assert ratio["low"] > 0.8


def test_stalled_bursts_and_rescues_are_counted() -> None:
    rescued = [made(9000.0, rescues=6), made(800.0, rescues=2)]
    cases = summarize({"moved_25ms_rescue": rescued, "alone": [made(800.0)]})["cases"]
    case = cases["moved_25ms_rescue"]  # type: ignore[index]
    assert case["bursts"] == 200
    assert case["stalled_per_1000"] == 10.0
    assert case["rescues_per_s"] == 2.0
    assert case["rescue_cpu_share"] == 0.002
    assert "rescues_per_s" not in cases["alone"]  # type: ignore[index]


def test_rounds_add_up_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "run_slices", lambda names, *_: {names[0]: [made(1.0)]})
    samples = tmp_path / "samples"
    for count in (1, 2):
        done = CliRunner().invoke(moving.main, [str(samples), "--case", "confined"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.output)["cases"]["confined"]["bursts"] == 100 * count
