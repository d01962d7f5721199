"""The tables of a fault campaign."""

from __future__ import annotations

from tests.faults.campaign import Tally
from tests.faults.report import as_markdown


def test_strikes_are_added_up_by_place_and_by_fault() -> None:
    tally = Tally("a host")
    tally.struck["kill"] = 3
    tally.placements["shared"] = 2
    tally.placements["exclusive"] = 1
    tally.cores_ms["kill"] = [1.0, 2.0, 9.0]
    tally.restored_ms["kill"] = [10.0, 20.0]
    document = {"places": [tally.document()]}
    text = as_markdown([document, document])
    assert "| a host | 6 | 4 / 2 | 0 |" in text
    assert "| all | 6 |" in text
    assert "| kill | 6 | 0 | 2 / 9 / 9 (6) | 15 / 20 / 20 (4) |" in text
