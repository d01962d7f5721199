"""Overload is what lasts; its cures are ranked, bounded, and none that placement would undo."""

from __future__ import annotations

import fcntl
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.errors import TraceError
from smartharvest.fleet.overload import (
    Cure,
    Limits,
    Overload,
    Rate,
    Report,
    Vm,
    apply,
    find,
    known_lately,
    signals,
)
from smartharvest.fleet.placement import WAYS
from smartharvest.fleet.reports import (
    as_line,
    read_reports,
    report_here,
    running_ticks,
    some,
)
from tests.commands import smartharvest_here

WAY = WAYS["best-fit"]
CALM = Report(0.0, "a", 10, 64, used_cores=4)
BUSY = replace(CALM, used_cores=9.6)
LENDING = replace(BUSY, lent_cores=3, elastic_cores=4)
VMS = (Vm("web", 4, 16, used_cores=3.8), Vm("db", 5, 20, used_cores=2.0))


def series(*busy: bool, of: Report = BUSY) -> list[Report]:
    """A report every ten seconds."""
    return [replace(of if one else CALM, time_s=10.0 * i) for i, one in enumerate(busy)]


def test_a_peak_is_no_overload() -> None:
    assert find(series(False, True, False, True, True)[:3], Limits(), WAY) == []
    assert find(series(False, False, False, True, True), Limits(), WAY) == []
    [found] = find(series(False, False, True, True, True), Limits(), WAY)
    assert (found.node, found.since_s, found.for_s) == ("a", 20.0, 20.0)


def test_one_that_is_over_is_no_overload() -> None:
    assert find(series(True, True, True, True, False), Limits(), WAY) == []


def test_a_short_pause_does_not_begin_it_again() -> None:
    [found] = find(series(True, True, False, True, True), Limits(), WAY)
    assert found.for_s == 40.0
    [found] = find(series(True, *[False] * 5, True, True, True), Limits(), WAY)
    assert found.for_s == 20.0


def test_black_and_grey_box_signals_count() -> None:
    report = replace(
        CALM,
        io_wait=0.5,
        psi_cpu=0.3,
        psi_memory=0.2,
        psi_io=0.1,
        vms=(Vm("web", 4, 16, steal=0.1, response_ms=30, target_ms=20),),
    )
    found = {(one.name, one.box, one.who) for one in signals(report, Limits())}
    assert found == {
        ("io_wait", "black", ""), ("psi_cpu", "grey", ""), ("psi_memory", "grey", ""),
        ("steal", "black", "web"), ("response", "grey", "web"),
    }  # fmt: skip


def kinds(found: list[Overload]) -> list[tuple[str, bool]]:
    return [(cure.kind, cure.enough) for cure in found[0].cures]


def test_what_is_lent_comes_first_if_it_is_enough() -> None:
    lending = replace(BUSY, lent_cores=3, elastic_cores=4, vms=VMS)
    rows = [*series(True, True, True, of=lending), replace(CALM, node="b", used_cores=1)]
    assert kinds(find(rows, Limits(), WAY))[:2] == [("take-back", True), ("evict", True)]


def test_what_is_enough_comes_before_what_is_cheap() -> None:
    lending = replace(BUSY, lent_cores=0.1, elastic_cores=2)
    found = find(series(True, True, True, of=lending), Limits(), WAY)
    assert kinds(found) == [("evict", True), ("take-back", False)]


@pytest.mark.parametrize("signal", ["psi_memory", "psi_io", "io_wait"])
def test_taking_cores_back_frees_cores_only(signal: str) -> None:
    lending = replace(CALM, lent_cores=3, elastic_cores=4)
    short = replace(lending, **{signal: 0.5})  # type: ignore[arg-type]
    found = find(series(True, True, True, of=short), Limits(), WAY)
    assert kinds(found) == [("evict", True), ("take-back", False)]


def other(**more: object) -> Report:
    return replace(CALM, node="b", **more)  # type: ignore[arg-type]


def test_the_vm_with_most_load_and_least_memory_moves() -> None:
    # Where b is the tighter fit, placement would choose it, too.
    full = replace(BUSY, vms=VMS)
    tight = (Vm("x", 5, 30),)
    rows = [*series(True, True, True, of=full), other(used_cores=1, vms=tight)]
    [found] = find(rows, Limits(), WAY)
    assert [(cure.vm, cure.to) for cure in found.cures] == [("web", "b"), ("db", "b")]
    assert "placement agrees" in found.cures[0].why


def test_no_move_that_placement_would_undo() -> None:
    full = replace(BUSY, vms=VMS)
    rows = [*series(True, True, True, of=full), other(used_cores=1)]
    [found] = find(rows, Limits(), WAY)  # b is empty, and the best fit is the fuller node
    assert found.cures == []
    [found] = find(rows, Limits(), WAYS["worst-fit"])
    assert {cure.to for cure in found.cures} == {"b"}


def test_nothing_moves_to_where_it_would_be_too_much() -> None:
    full = replace(BUSY, vms=VMS)
    rows = [*series(True, True, True, of=full), other(used_cores=7.5)]
    [found] = find(rows, Limits(), WAYS["worst-fit"])
    assert found.cures == []  # 7.5 and 2 cores are above 90 % of 10


def test_what_may_not_move_stays() -> None:
    full = replace(BUSY, vms=[replace(vm, movable=False) for vm in VMS])
    rows = [*series(True, True, True, of=full), other(used_cores=1)]
    assert find(rows, Limits(), WAYS["worst-fit"])[0].cures == []


@given(
    times=st.lists(st.floats(0, 1000), max_size=40),
    most=st.integers(0, 5),
    span_s=st.floats(0.1, 300),
)
def test_never_more_than_the_rate(times: list[float], most: int, span_s: float) -> None:
    rate = Rate(most, span_s)
    taken = [time_s for time_s in sorted(times) if rate.take(time_s)]
    for begin_s in taken:
        assert sum(begin_s <= time_s < begin_s + span_s for time_s in taken) <= most


def test_only_this_host_is_acted_on_and_no_more_than_the_rate() -> None:
    lending = replace(BUSY, lent_cores=3, elastic_cores=4)
    rows = [*series(True, True, True, of=lending)]
    rows += [replace(row, node="b") for row in rows]
    found = find(rows, Limits(), WAY)
    acted: list[Cure] = []
    done, put_off = apply(found, "b", Rate(1, 60), 0.0, acted.append)
    assert [(cure.kind, cure.node) for cure in acted] == [("take-back", "b")]
    assert (done, put_off) == (acted, [])
    done, put_off = apply(found, "b", Rate(1, 60, [0.0]), 30.0, acted.append)
    assert (len(done), len(put_off), len(acted)) == (0, 1, 1)


def test_reports_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "reports.jsonl"
    rows = series(True, True, True, of=replace(BUSY, psi_cpu=0.5, vms=list(VMS)))
    path.write_text("".join(map(as_line, rows)) + "\n")
    assert read_reports(str(path)) == rows


@pytest.mark.parametrize(
    ("line", "why"),
    [("", "has no reports"), ("{", "no JSON object"), ("[]", "no JSON object"),
     ("{}", "is missing"), (as_line(CALM).replace("10", "0"), "cores is 0"),
     (as_line(CALM).replace("64", "NaN"), "memory"),
     (as_line(CALM).replace("[]", "3"), "vms must be"),
     (as_line(CALM).replace("[]", "[{}]"), "id")],
)  # fmt: skip
def test_a_wrong_report_is_one_line(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "reports.jsonl"
    path.write_text(line)
    with pytest.raises(TraceError, match=why) as caught:
        read_reports(str(path))
    assert "\n" not in str(caught.value)


def lending_agent(why_not: str | None, now: int = 2) -> dict[str, object]:
    return {
        "harvested": {"now": now}, "cores": {"elastic_min": 1}, "busy": {"now": 3},
        "safeguards": {"lends_nothing_because": why_not},
    }  # fmt: skip


def test_a_frozen_group_is_not_frozen_again() -> None:
    report = report_here(1.0, "a", 8, 16, [lending_agent("evicted by the operator", 0)], {})
    assert (report.elastic_cores, report.used_cores) == (0, 3)


def test_a_host_without_an_agent_is_not_taken_for_idle() -> None:
    assert report_here(1.0, "a", 8, 16, [], {}, running_cores=7.5).used_cores == 7.5
    assert running_ticks("cpu  10 1 4 80 3 1 1 7 2 0\ncpu0 1\n") == (17, 107)
    with pytest.raises(ValueError, match="proc/stat"):
        running_ticks("intr 1 2 3")


def test_what_is_known_no_more_is_not_acted_on() -> None:
    rows = [replace(row, time_s=row.time_s + 1000) for row in series(True, True, True)]
    old = [replace(row, node="b", time_s=row.time_s - 900) for row in rows]
    assert known_lately([*rows, *old], 1030.0, 300.0) == rows


def test_pressure_is_read_as_a_share() -> None:
    assert some("some avg10=12.50 avg60=1 avg300=0 total=5\nfull avg10=1 total=0\n") == 0.125
    assert some("") is None
    assert some("some avg10=x") is None
    agent = lending_agent(None)
    texts = {"cpu": "some avg10=50", "io": "some avg10=10"}
    report = report_here(1.0, "a", 8, 16, [agent], texts)
    assert (report.lent_cores, report.elastic_cores, report.used_cores) == (2, 3, 6)
    assert (report.psi_cpu, report.psi_io) == (None, 0.1)
    assert report_here(1.0, "a", 8, 16, [], texts).psi_cpu == 0.5


def test_the_command_lists_and_explains(tmp_path: Path) -> None:
    path = tmp_path / "reports.jsonl"
    lending = replace(BUSY, lent_cores=3, elastic_cores=4)
    path.write_text("".join(map(as_line, series(True, True, True, of=lending))))
    outcome = smartharvest_here("fleet", "overload", "--reports", str(path))
    assert outcome.code == 0
    assert "a: overloaded for 20 s" in outcome.out
    assert "take-back: frees 3 cores, enough" in outcome.out
    outcome = smartharvest_here("fleet", "overload", "--reports", str(path), "--json")
    assert [one["node"] for one in json.loads(outcome.out)["overloaded"]] == ["a"]


def reports_until_now(directory: Path, *more: Report, of: Report = LENDING) -> Path:
    path = directory / "reports.jsonl"
    rows = [*series(True, True, True, of=of), *more]
    path.write_text("".join(as_line(replace(row, time_s=time.time())) for row in rows))
    return path


def test_applying_without_an_agent_says_so(tmp_path: Path) -> None:
    path = reports_until_now(tmp_path)
    outcome = smartharvest_here(
        "fleet", "overload", "--reports", str(path), "--apply", "--node", "a",
        "--actions", str(tmp_path / "actions.json"), "--state-dir", str(tmp_path),
    )  # fmt: skip
    assert outcome.code == 3
    assert "No agent is running" in outcome.failure


@pytest.mark.parametrize("more", [("--rate", "fast"), ("--sustained", "5/3"), ("--place", "luck")])
def test_wrong_options_are_one_line(tmp_path: Path, more: tuple[str, str]) -> None:
    outcome = smartharvest_here("fleet", "overload", "--reports", str(tmp_path / "none"), *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.failure


def test_the_best_cure_is_handed_to_the_agents_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask_agents(_options: object, _pid: object, command: str) -> list[tuple[int, object]]:
        asked.append(command)
        return [(1, {})]

    monkeypatch.setattr("smartharvest.cli.fleet.overload.ask_agents", ask_agents)
    path = reports_until_now(tmp_path)
    command = (
        "fleet", "overload", "--reports", str(path), "--apply", "--node", "a", "--rate", "1/1h",
        "--actions", str(tmp_path / "actions.json"),
    )  # fmt: skip
    assert "done: take-back on a" in smartharvest_here(*command).out
    assert "put off: take-back on a" in smartharvest_here(*command).out
    assert asked == ["pause"]


def test_an_old_report_is_no_reason_to_act(tmp_path: Path) -> None:
    path = tmp_path / "reports.jsonl"
    path.write_text("".join(map(as_line, series(True, True, True, of=LENDING))))
    command = ("fleet", "overload", "--reports", str(path), "--apply", "--node", "a")
    assert "left alone: a: its last report is older" in smartharvest_here(*command).out
    assert json.loads(smartharvest_here(*command, "--json").out)["stale"] is True


def test_two_do_not_act_at_once(tmp_path: Path) -> None:
    path = reports_until_now(tmp_path)
    with open(f"{path}.actions.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        outcome = smartharvest_here(
            "fleet", "overload", "--reports", str(path), "--apply", "--node", "a"
        )
    assert (outcome.code, outcome.out) == (8, "")
    assert "another --apply is at work" in outcome.failure


def test_a_move_is_handed_to_libvirt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[tuple[str, str, float, str | None]] = []

    class Here:
        def __init__(self, uri: str) -> None:
            assert uri == "test:///default"

        def move(self, name: str, to: str, within_s: float, over: str | None) -> None:
            moved.append((name, to, within_s, over))

    monkeypatch.setattr("smartharvest.cli.fleet.overload.Machines", Here)
    path = reports_until_now(
        tmp_path, other(used_cores=1, vms=(Vm("x", 5, 30),)), of=replace(BUSY, vms=VMS)
    )
    command = (
        "fleet", "overload", "--reports", str(path), "--apply", "--node", "a", "--rate", "1/1h",
        "--libvirt", "test:///default", "--move-to", "qemu+tls://{node}/system",
        "--move-over", "tcp://{node}.storage",
    )  # fmt: skip
    outcome = smartharvest_here(*command)
    assert outcome.out.splitlines()[-1] == "done: move web to b on a"
    assert moved == [("web", "qemu+tls://b/system", 600.0, "tcp://b.storage")]
    assert "put off: move web to b on a" in smartharvest_here(*command).out
    assert len(moved) == 1


@pytest.mark.parametrize(
    "more",
    [("--move-to", "qemu+tls://{node}/system"), ("--apply", "--move-to", "qemu+tls://b/system")],
)
def test_a_move_needs_to_know_where(tmp_path: Path, more: tuple[str, ...]) -> None:
    outcome = smartharvest_here("fleet", "overload", "--reports", str(tmp_path / "none"), *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--move-to" in outcome.failure
