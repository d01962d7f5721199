"""Elastic groups in words."""

from __future__ import annotations

from typing import Any

import pytest

from smartharvest.telemetry.event_words import sentence
from smartharvest.telemetry.groups import in_words

MIB = 1 << 20


def memory(**more: Any) -> dict[str, Any]:
    bounds = {"limit_bytes": 4096 * MIB, "taking_back": False, "trouble": None}
    return {"memory_bytes": 812 * MIB, "memory": bounds | more}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"memory_bytes": 812 * MIB}, "812 MiB"),
        ({"memory_bytes": 812 * MIB, "memory": None}, "812 MiB"),
        (memory(), "812 MiB of 4096"),
        (memory(limit_bytes=None), "812 MiB"),
        (memory(taking_back=True), "812 MiB of 4096 (giving back)"),
        (memory(trouble="refused"), "812 MiB of 4096 (memory left alone)"),
    ],
)
def test_memory_shows_what_a_group_may_hold(row: dict[str, Any], words: str) -> None:
    assert in_words(row) == words


def test_taking_memory_back_is_a_sentence() -> None:
    began = {"t": 1, "kind": "memory taken back", "group": "etl", "bytes": 300 * MIB, "why": "so"}
    assert "from group etl, 300 MiB" in sentence(began)
    ended = {"t": 2, "kind": "memory given back", "group": "etl", "bytes": MIB, "after_s": 1.5}
    assert sentence(ended) == "Group etl gave 1 MiB of memory back in 1.5 s."
