"""The pure part of ``make strict-check``."""

from __future__ import annotations

from typing import Any

import pytest

from bench.manycore import spare
from bench.manycore.guest import GuestEndedError
from bench.manycore.strict import figures_of


def said(
    batch_us: float = 100.0,
    cores: float = 1.9,
    restored: bool = True,
    confined_ms: int | None = 80,
) -> list[dict[str, Any]]:
    return [
        {"kernel": "7.3.4", "mechanism": "strict", "cpus": 2, "waking": 2},
        {"idle": [[50.0, 60.0, 100.0], [40.0, 45.0, 70.0]]},
        {"batch": [[50.0, 60.0, batch_us], [40.0, 45.0, 70.0]]},
        {"idle": [[50.0], [40.0]]},
        {"batch": [[50.0], [40.0]], "idle_class": [[50.0], [50.0]]},
        {"batch_cores": cores, "taken_back": 0},
        {"restored_ms": 60},
        {"fallback_ms": {"confined": confined_ms, "fair": 70, "ended": 90}},
        {"restored": restored},
    ]


def test_the_last_line_has_what_was_asked_for() -> None:
    figures = figures_of(said())
    assert {"kernel", "mechanism", "wake_p99_us", "batch_cores", "restored"} <= figures.keys()
    assert figures["wakes"] == {"idle": 8, "batch": 8, "idle_class": 2}
    assert figures["missed"] == []


def test_what_is_not_held_is_named() -> None:
    late = figures_of([*said(), {"batch": [[500.0] * 5, [40.0] * 5]}])["missed"]
    assert "times as long with the batch as on idle CPUs" in str(late)
    assert "1.2 of 2 CPUs" in str(figures_of(said(cores=1.2))["missed"])
    assert "10.00 times as long as with tasks of the idle class" in str(late)
    assert "confined after 171 ms" in str(figures_of(said(confined_ms=171))["missed"])
    assert "confined after None ms" in str(figures_of(said(confined_ms=None))["missed"])
    assert "is left" in str(figures_of(said(restored=False))["missed"])


@pytest.mark.parametrize(
    "lines", [[], said()[:-1], [*said(), {"failed": "RuntimeError: not seen"}]], ids=len
)
def test_a_guest_that_ends_early_is_no_result(lines: list[dict[str, Any]]) -> None:
    with pytest.raises(GuestEndedError):
        figures_of(lines)


def test_what_idle_cpus_are_worth_is_summed_over_rounds() -> None:
    lines: list[dict[str, Any]] = [{"kind": "alone", "wakes": [[3000.0, 4.0], [3001.0, 5.0]]}]
    for kind, waited_us in (("0 spare", 3000.0), ("1 spare", 100.0), ("2 spare", 50.0)):
        for _ in range(2):
            lines.append({"kind": kind, "wakes": [[3000.0 + waited_us, waited_us]]})
            lines.append({"kind": kind, "counts": {"let_go": 3}})
    figures = spare.figures_of([*lines, {"complete": True, "programs": {}, "share_of_a_cpu": {}}])
    assert figures["1 spare"] == {
        "wakes": 2,
        "took_us": dict.fromkeys(("p50", "p90", "p99", "max"), 3100.0),
        "waited_us": dict.fromkeys(("p50", "p90", "p99", "max"), 100.0),
        "counts": {"let_go": 6},
    }
    with pytest.raises(GuestEndedError, match="NoStrict"):
        spare.figures_of([*lines, {"failed": "NoStrict"}])
