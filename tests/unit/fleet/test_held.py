"""Spot traces and audit logs say how long what was there stayed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.held import read_held
from tests.audit_lines import decision
from tests.commands import smartharvest_here


def spot(tmp_path: Path, data: Any, gap: Any = 600) -> str:
    path = tmp_path / "spot.json"
    path.write_text(json.dumps({"metadata": {"gap_seconds": gap}, "data": data}))
    return f"spot:{path}"


def test_every_instance_has_its_life(tmp_path: Path) -> None:
    held = read_held(spot(tmp_path, [0, 2, 2, 1, 0, 1]))
    lives = held.lives()
    rows = sorted(zip(lives.born_s, lives.died_s, strict=True))
    assert rows == [(600, 1800), (600, 2400), (3000, math.inf)]
    assert lives.evictions == 2
    assert lives.vm_s == (1200 + 1800 + 600)
    assert held.free_time().mean_cores() == pytest.approx(1)


def test_one_that_never_goes_survives(tmp_path: Path) -> None:
    lives = read_held(spot(tmp_path, [1] * 10)).lives()
    assert lives.survival(3600) == 1
    none = read_held(spot(tmp_path, [0] * 10))
    assert none.lives().evictions == 0
    assert none.free_time().mean_cores(600) == 0


@pytest.mark.parametrize(
    ("data", "gap"),
    [([], 600), ([1, None, 1], 600), ([1, -1], 600), ([1, "x"], 600), ("no", 600), ([1], 0),
     ([1], None), ([True], 600), ([1], -5)],
)  # fmt: skip
def test_holes_and_nonsense_are_refused(tmp_path: Path, data: Any, gap: Any) -> None:
    with pytest.raises(TraceError) as caught:
        read_held(spot(tmp_path, data, gap))
    assert "\n" not in str(caught.value)


def test_an_audit_log_says_how_long_cores_were_lent(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    lines = [decision(100, 2), decision(160, 1), '{"t": 170, "kind": "event"}\n', decision(200, 2)]
    path.write_text("".join(lines))
    held = read_held(f"audit:{path}")
    assert held.until_s == 100
    assert held.free_time().mean_cores() == pytest.approx((2 * 60 + 1 * 40) / 100)
    assert held.lives().evictions == 1
    path.write_text(decision(100, 2))
    with pytest.raises(TraceError, match="too few decisions"):
        read_held(f"audit:{path}")
    with pytest.raises(TraceError, match="cannot be read"):
        read_held(f"audit:{tmp_path}/none")


def test_an_agent_lends_nothing_while_it_is_paused_and_once_it_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    others = {at_s: json.dumps({"t": at_s, "kind": kind}) + "\n"
              for at_s, kind in ((130, "paused"), (170, "ended"))}  # fmt: skip
    path.write_text(
        decision(100, 2) + others[130] + decision(150, 1) + others[170] + decision(200, 3)
    )
    held = read_held(f"audit:{path}")
    assert held.times_s.tolist() == [0, 30, 50, 70]
    assert held.counts.tolist() == [2, 0, 1, 0]


def test_an_unknown_source_is_wrong_usage() -> None:
    for spec in ("openb:x", "spot:", "x"):
        with pytest.raises(ConfigError, match="is no trace"):
            read_held(spec)


def test_the_command_says_how_likely_one_stays(tmp_path: Path) -> None:
    trace = spot(tmp_path, [1, 1, 1, 0, 1, 1, 1, 1, 1])
    outcome = smartharvest_here("fleet", "survival", "--trace", trace, "--json")
    result = json.loads(outcome.out)
    assert list(result["survival"]) == ["1s", "1min", "10min", "1h"]
    assert 0 < result["survival"]["10min"] < 1
    outcome = smartharvest_here("fleet", "survival", "--trace", trace)
    assert "1 taken away" in outcome.out
