"""The audit log: what is written, how much of it, and what is told of it."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.harm import Harm, HarmSide
from smartharvest.core.window import Window
from smartharvest.errors import Unavailable
from smartharvest.host.preemption import unknown
from smartharvest.telemetry import audit
from smartharvest.telemetry.audit import FILES, AuditLog, read_audit
from smartharvest.telemetry.story import describe, describe_decision
from smartharvest.telemetry.timeline import draw, timeline
from tests.commands import smartharvest_here

WINDOW = Window(
    seq=7, start_ns=0, end_ns=1, polls=500, busy_min=0, busy_max=2, busy_mean=1.25, busy_std=0.5,
    busy_median=1.0, busy_last=1, demand_max=3, primary_cores=4, exhausted=False,
)  # fmt: skip
DECISION = Decision(
    seq=7, primary_cores=3, harvest_cores=5, safe_cores=4, buffer=0, reason="predicted",
    label=3, label_kind="demand", busy_peak=2, demand_peak=3,
)  # fmt: skip


def decided(at_s: float, **changes: Any) -> dict[str, Any]:
    record = {
        "t": at_s, "kind": "decision", "seq": 1, "reason": "predicted", "primary": 3, "harvest": 1,
        "safe": 4, "lent": 1, "held_by": None, "busy": 1, "demand": 1, "mean": 0.5, "had": 3,
        "exhausted": False, "label": None,
    }  # fmt: skip
    return record | changes


def test_every_decision_is_written_with_its_reason_and_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "audit.jsonl")
    log = AuditLog(path, 1 << 20)
    log.event("started", policy="smartharvest")
    log.decision(WINDOW, DECISION, 5, None)
    log.close()
    started, decision = read_audit(path)
    assert (started["kind"], started["policy"]) == ("started", "smartharvest")
    del decision["t"]
    assert decision == {
        "kind": "decision", "seq": 7, "reason": "predicted", "primary": 3, "harvest": 5, "safe": 4,
        "lent": 5, "held_by": None, "busy": 2, "demand": 3, "mean": 1.25, "had": 4,
        "exhausted": False, "label": 3,
    }  # fmt: skip


def test_all_files_together_stay_below_the_size_and_the_newest_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(str(path), 20_000)
    for number in range(1000):
        log.event("x", number=number)
    log.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) == FILES
    assert sum(file.stat().st_size for file in files) <= 20_000
    numbers = [record["number"] for record in read_audit(str(path))]
    assert numbers == list(range(numbers[0], 1000))
    assert numbers[0] > 0


def test_only_its_owner_and_group_may_read_it_and_no_link_is_followed(tmp_path: Path) -> None:
    os.umask(0o022)
    path = tmp_path / "audit.jsonl"
    AuditLog(str(path), 1000).close()
    assert stat.S_IMODE(path.stat().st_mode) & 0o007 == 0
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(Unavailable, match=r"audit_log: .*link"):
        AuditLog(str(tmp_path / "link"), 1000)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"audit_log: .*missing/audit\.jsonl: No such file"):
        AuditLog(str(tmp_path / "missing" / "audit.jsonl"), 1000)


def test_the_story_tells_spans_events_and_why_nothing_was_lent() -> None:
    records = [
        {
            "t": 0.0,
            "kind": "started",
            "policy": "smartharvest",
            "primary": ["cgroup:web"],
            "elastic": "cgroup:batch",
            "pool": "0-3",
            "dry_run": False,
            "generation": 0,
        },
        *(decided(1 + n / 40) for n in range(40)),
        decided(2.1, reason="short-term safeguard", busy=3, demand=4, lent=0),
        {"t": 3.0, "kind": "paused"},
        decided(3.1, held_by="paused by the operator", lent=0),
        decided(4.0, reason="long-term safeguard", lent=0),
    ]
    lines = list(describe(records))
    assert lines[0].endswith(
        "The agent started: cgroup:web lends to cgroup:batch on CPUs 0-3 under policy smartharvest."
    )
    assert "lent 0.98 cores on average and 1 at most, in 41 windows" in lines[1]
    assert "used up to 3 of 4 cores and wanted 4" in lines[1]
    assert "The idle buffer ran out once (2.4% of windows)." in lines[1]
    assert lines[2].endswith("The operator paused the lending.")
    assert "Nothing was lent (paused by the operator)" in lines[3]
    assert "Nothing was lent, because the primary had waited too long" in lines[4]


def test_one_decision_is_told_in_words() -> None:
    assert describe_decision(decided(0.5, label=2)).endswith(
        "Window 1: The primary had 3 cores, used up to 1 and wanted 1. The learner took 2 as the "
        "right answer. The agent lends 1 by the learner's prediction."
    )


def test_what_the_kernel_was_found_to_do_is_a_sentence() -> None:
    found = unknown("not tried").describe()
    (line,) = describe([{"t": 1.0, "kind": "preemption", **found}])
    assert line.endswith("Against the batch the agent relies on confinement: not tried.")


def test_whatever_somebody_wrote_is_told_in_one_line() -> None:
    (line,) = describe([{"t": 1.0, "kind": "x\ny", "path": "\x1b[2J\n"}])
    assert line.isprintable()


def test_the_timeline_has_what_the_primary_had_and_used(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    seen = timeline([decided(1.0), decided(1.5, had=4, busy=4, exhausted=True, demand=5)])
    assert (seen.seconds, seen.allocated, seen.peak) == ([0.0, 0.5], [3, 4], [1, 4])
    assert (seen.total, seen.harvested_mean, seen.exhausted) == (4, 0.5, [False, True])
    picture = tmp_path / "out.png"
    draw(seen, str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_commands_read_the_log_and_say_what_they_miss(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text(json.dumps(decided(1.0)) + "\n{broken\n")
    assert "in 1 window." in smartharvest_here("explain", str(path)).out
    assert "Window 1: " in smartharvest_here("explain", str(path), "--every").out
    late = smartharvest_here("explain", str(path), "--since", "1min")
    assert late.out == "nothing happened in that time\n"
    (fresh := tmp_path / "fresh.jsonl").touch()
    assert smartharvest_here("explain", str(fresh)).out == f"{fresh}: nothing is in it yet\n"
    assert 'audit_level = "decisions"' in smartharvest_here("explain", str(fresh), "--every").out
    assert smartharvest_here("explain", str(path), "--since", "soon").code == 2
    assert smartharvest_here("explain", str(tmp_path / "no")).code == 2
    assert smartharvest_here("plot", str(path), str(tmp_path / "x" / "y.png")).code == 2


@given(st.lists(st.binary(max_size=200)), st.booleans())
def test_any_bytes_in_the_log_are_told_or_skipped(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], sound: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    good = json.dumps(decided(1.0)).encode()
    path.write_bytes(b"\n".join([good, *lines, *([good] if sound else [])]))
    for line in describe(read_audit(str(path))):
        assert line.isprintable()


@given(
    st.dictionaries(
        st.sampled_from(sorted(decided(0))),
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.none())
        ),
    )
)
def test_any_record_is_told_or_skipped(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "record.jsonl"
    path.write_text(f"{json.dumps(decided(0.5))}\n{json.dumps(decided(1.0) | changes)}")
    records = list(read_audit(str(path)))
    assert all(line.isprintable() for line in describe(records))
    for record in records:
        if record["kind"] == "decision":
            describe_decision(record)


def test_a_full_disk_costs_records_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    log = AuditLog("/dev/full", 1_000_000)
    log.event("started")
    log.event("ended")
    log.close()
    assert [record.getMessage() for record in caplog.records] == [
        "audit_log: /dev/full: cannot be written: No space left on device; decisions are "
        "not recorded"
    ]


def test_a_disk_that_does_not_answer_keeps_nobody_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(audit, "ENDING_TAKES_S", 0.01)
    log = AuditLog(str(tmp_path / "audit.jsonl"), 1_000_000)
    monkeypatch.setattr(log._file, "shouldRollover", lambda _: answers.wait(60))
    log.event("started")
    log.close()
    assert not answers.is_set()
    answers.set()


def test_a_file_without_a_single_record_is_no_audit_log(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a record\n")
    assert "notes.txt: is no audit log" in smartharvest_here("explain", str(other)).failure


def test_harm_is_told_after_the_decisions_it_was_recorded_among() -> None:
    side = HarmSide(waits=((1000, 500),), wakes_to_sleeps=((50_000, 500),))
    harm = {"t": 2.0, "kind": "harm", "primary": "cgroup:web", **Harm(side, side).describe()}
    lines = list(describe([decided(1.0), harm, decided(3.0), harm | {"t": 3.5}]))
    assert len(lines) == 2
    assert "in 2 windows" in lines[0]
    assert "harm to cgroup:web: p95 x1.00, p99 x1.00 of not lent" in lines[1]
    (alone,) = describe([harm])
    assert "harm to cgroup:web: p95 x1.00" in alone


@pytest.mark.parametrize("broken", [{}, {"lent": 5}, {"lent": {"dispatches": 1}, "longer": None}])
def test_a_record_of_harm_that_is_none_is_said_to_be_so(broken: dict[str, Any]) -> None:
    (line,) = describe([{"t": 2.0, "kind": "harm", "primary": ["\n"], **broken}])
    assert line.endswith("not readable")
    assert "\n" not in line


def test_a_placement_that_the_kernel_asks_for_is_told_with_its_reason() -> None:
    told = {"kind": "placement", "placement": "exclusive", "why": "an idle-class task kept CPU 3"}
    (line,) = describe([{"t": 1.0, **told}])
    assert "out of the primary's cpuset, since an idle-class task kept CPU 3." in line
