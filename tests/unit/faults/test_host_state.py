"""How the fault campaign judges what an agent has left of a host."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.faults.host_state import Allowances, HostState, Pins, TaskState, differences

ROOT, MEMBER, CHILD = 10, 11, 12
ALL, LOW, HIGH = frozenset({0, 1}), frozenset({0}), frozenset({1})
FREE = TaskState("free", ALL, 0, 0, 19, "3:cpuset:/batch\n1:cpu:/batch\n")
ELSEWHERE = "3:cpuset:/batch\n1:cpu:/\n"
FILE = "/sys/fs/cgroup/cpuset/batch/cpuset.cpus"


def look(*more: tuple[int, TaskState], mask: bytes = b"0-1\n") -> HostState:
    return HostState({FILE: mask}, {ROOT: FREE, MEMBER: FREE} | dict(more))


def left(after: HostState, before: HostState | None = None, **allowed: object) -> list[str]:
    return list(
        differences(before or look(), after, [ROOT], Allowances(**allowed))  # type: ignore[arg-type]
    )


def test_a_host_that_is_as_it_was_has_no_differences() -> None:
    assert left(look()) == []


def test_a_task_that_ended_and_one_that_was_born_free_are_no_difference() -> None:
    assert left(HostState(look().files, {ROOT: FREE, CHILD: replace(FREE, name="leaf")})) == []


@pytest.mark.parametrize("tid", [MEMBER, CHILD], ids=["was there", "born since"])
@pytest.mark.parametrize(
    "change",
    [{"cpus": HIGH}, {"nice": 0}, {"policy": 1, "priority": 5}, {"groups": ELSEWHERE}],
    ids=["confined", "nice", "real-time", "moved"],
)
def test_a_task_that_is_scheduled_otherwise_is_found(tid: int, change: dict[str, object]) -> None:
    changed = replace(FREE, **change)  # type: ignore[arg-type]
    assert left(look((tid, changed)))


def test_a_file_with_another_value_is_found_unless_somebody_else_wrote_it() -> None:
    assert left(look(mask=b"1\n")) == [f"{FILE}: b'0-1\\n' -> b'1\\n'"]
    assert left(look(mask=b"1\n"), files={FILE: {b"1\n"}}) == []


def test_a_newcomer_may_have_pinned_itself_as_its_name_says() -> None:
    assert left(look((CHILD, replace(FREE, name="pin1", cpus=HIGH)))) == []
    assert left(look((CHILD, replace(FREE, name="pin1", cpus=LOW))))


def test_a_pin_that_was_there_before_has_to_be_there() -> None:
    pinned = replace(FREE, name="pin1", cpus=HIGH)
    assert left(look((MEMBER, FREE)), before=look((MEMBER, pinned)))


@pytest.mark.parametrize(
    ("cpus", "strict", "lax"),
    [(LOW, True, True), (HIGH, False, True), (ALL, False, True)],
    ids=["pinned last", "pinned first", "as it was"],
)
def test_the_last_of_a_stranger_s_pins_stays_except_where_it_looks_like_an_agent_s(
    cpus: frozenset[int], *, strict: bool, lax: bool
) -> None:
    pinned: Pins = {MEMBER: [HIGH, LOW]}
    after = look((MEMBER, replace(FREE, cpus=cpus)))
    assert (left(after, pinned=pinned) == []) is strict
    assert (left(after, pinned=pinned, pins_may_be_lost=True) == []) is lax


@pytest.mark.parametrize(
    ("cpus", "narrowed", "one_by_one", "fits"),
    [
        (ALL, {LOW}, True, True),
        (LOW, {LOW}, True, False),  # it stays on what was lent
        (ALL, {HIGH}, True, False),  # its own CPU was there
        (ALL, {LOW}, False, False),  # nobody has changed its affinity
    ],
)
def test_a_pin_may_be_widened_only_where_a_stranger_has_taken_its_cpu(
    cpus: frozenset[int], narrowed: set[frozenset[int]], *, one_by_one: bool, fits: bool
) -> None:
    before = look((MEMBER, replace(FREE, cpus=HIGH)))
    after = look((MEMBER, replace(FREE, cpus=cpus)))
    found = left(after, before, narrowed=narrowed, pins_may_be_lost=one_by_one)
    assert (found == []) is fits
