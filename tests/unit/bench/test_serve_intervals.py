"""The intervals of the routers' demonstration."""

from __future__ import annotations

import pytest

from bench.serve.intervals import BASE, Answer, intervals
from smartharvest.errors import EngineError


def answers(times: float, failed: int = 0) -> list[Answer]:
    """A hundred of 10 to 109 ms in ten seconds, ``times`` as slow; the first ones failed."""
    return [
        Answer(n / 10, "f", None if n < failed else "a", times * (10 + n) / 1000, False)
        for n in range(100)
    ]


def test_twice_as_slow_is_twice_as_slow_in_each_draw() -> None:
    rows = intervals({"ours": answers(2.0), BASE: answers(1.0)}, 10.0)
    assert rows["ours"].ratio == "2.00 (2.00-2.00)"
    assert rows[BASE].ratio == ""


def test_an_interval_has_the_value_of_the_whole_run_within() -> None:
    rows = intervals({BASE: answers(100.0)}, 10.0)
    value, low, high = map(
        float, rows[BASE].p50.replace("(", "").rstrip(")").replace("-", " ").split()
    )
    assert value == 5.95
    assert low < value < high


def test_what_failed_has_no_latency() -> None:
    rows = intervals({BASE: answers(100.0, failed=50)}, 10.0)
    assert rows[BASE].p50.startswith("8.45")


def test_a_router_that_answered_nothing_is_named() -> None:
    with pytest.raises(EngineError, match="ours: no invocation was answered"):
        intervals({"ours": answers(1.0, failed=100), BASE: answers(1.0)}, 10.0)
