"""Which cores are lent where that is chosen by their use (csrc/actuators/lend_order.h)."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smartharvest.core._actuators import CpusetActuator
from smartharvest.core._lend_order import SLOT_BYTES, LendOrder
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import FakeSensor
from smartharvest.core.plan import Plan
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from tests.unit.core.made_files import MadeFiles

GROUP = "batch/cpuset.cpus"
CHILD = "batch/job/cpuset.cpus"
LONG_NS = 1_000_000_000
RECENTLY_NS = 1_000_000


class Machine:
    """CPUs 0..count-1, all lendable from the last on, with one child that has the even ones."""

    def __init__(
        self, count: int, *, unit: int = 1, elastic_min: int = 0, kinds: Sequence[int] = ()
    ) -> None:
        self.count, self.unit, self.elastic_min = count, unit, elastic_min
        self.fixed = max(unit, elastic_min)
        cpus = list(range(count))[::-1]
        self.files = MadeFiles()
        self.sensor = FakeSensor(core_count=count)
        for cpu in cpus:
            self.sensor.set_free(cpu, LONG_NS)
        self.slots = bytearray(2 * SLOT_BYTES)
        even, smallest = frozenset(cpus[1::2]), frozenset(cpus[: max(1, elastic_min)])
        self.rules = [
            (frozenset(cpus), frozenset[int]()),
            (even, frozenset[int]() if even & smallest else smallest),
        ]
        levels = count - elastic_min + 1
        self.order = LendOrder(
            cpus,
            kinds or [0] * count,
            unit=unit,
            fixed=self.fixed,
            elastic_min=elastic_min,
            levels=levels,
            rules=self.rules,
            sensor=self.sensor,
            slots=self.slots,
        )
        self.actuator = CpusetActuator(
            [(GROUP, f"{GROUP}.effective", []), (CHILD, None, [])],
            [-1] * levels,
            kernel_files=self.files,
            order=self.order,
        )
        self.actuator.assign(0)

    @property
    def lent(self) -> frozenset[int]:
        return parse_cpulist(self.files.contents[GROUP])

    def assign(self, level: int) -> frozenset[int]:
        self.actuator.assign(level)
        return self.lent

    def journaled(self) -> list[frozenset[int]]:
        numbers = [
            int.from_bytes(self.slots[at : at + SLOT_BYTES], "little") for at in (0, SLOT_BYTES)
        ]
        return [frozenset(cpu for cpu in range(1024) if n >> cpu & 1) for n in numbers]


def test_the_core_longest_free_is_lent() -> None:
    machine = Machine(8)
    machine.sensor.set_free(2, 3 * LONG_NS)
    machine.sensor.set_free(5, 2 * LONG_NS)
    assert machine.assign(1) == {7}
    assert machine.assign(2) == {7, 2}
    assert machine.assign(3) == {7, 2, 5}


def test_the_core_the_primary_uses_is_taken_back_first() -> None:
    machine = Machine(8)
    assert machine.assign(4) == {7, 6, 5, 4}
    machine.sensor.set_free(6, 0)
    machine.sensor.set_free(4, RECENTLY_NS)
    assert machine.assign(3) == {7, 5, 4}
    assert machine.assign(2) == {7, 5}


def test_where_use_says_nothing_the_order_is_the_machines() -> None:
    machine = Machine(8)
    assert [len(machine.assign(level)) for level in range(9)] == [1, 1, 2, 3, 4, 5, 6, 7, 8]
    assert machine.assign(3) == {7, 6, 5}


def test_interrupted_and_far_cores_come_after_free_ones_and_before_used_ones() -> None:
    machine = Machine(6, kinds=[0, 0, 0, 1, 1, 1])  # of CPU 5, 4, 3 and of 2, 1, 0
    machine.sensor.set_free(4, RECENTLY_NS)
    machine.sensor.set_free(0, 5 * LONG_NS)
    assert machine.assign(2) == {5, 3}
    assert machine.assign(3) == {5, 3, 0}
    machine.sensor.set_free(2, 0)
    assert machine.assign(5) == {5, 3, 0, 1, 4}


def test_whole_cores_stay_together_and_count_as_used_if_one_thread_is() -> None:
    machine = Machine(8, unit=2)
    machine.sensor.set_free(5, 0)
    assert machine.assign(4) == {7, 6, 3, 2}
    assert machine.assign(6) == {7, 6, 3, 2, 1, 0}
    machine.sensor.set_free(2, 0)
    assert machine.assign(4) == {7, 6, 1, 0}


def test_the_minimum_never_moves() -> None:
    machine = Machine(8, elastic_min=3)
    for cpu in (7, 6, 5):
        machine.sensor.set_free(cpu, 0)
    assert machine.assign(2) == {7, 6, 5, 4, 3}
    assert machine.assign(0) == {7, 6, 5}


def test_a_group_below_gets_what_it_may_have_of_the_lent_ones() -> None:
    machine = Machine(8)
    assert machine.files.contents[CHILD] == "7\n"  # none of its own is lent: it always has that
    machine.sensor.set_free(2, 3 * LONG_NS)
    machine.assign(2)
    assert parse_cpulist(machine.files.contents[CHILD]) == {7, 2}
    assert machine.order.masks == ["2,7", "2,7"]


def test_a_set_is_journaled_before_it_is_written() -> None:
    machine = Machine(8)
    machine.assign(3)
    before = machine.lent
    machine.files.refuse(CHILD, errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        machine.actuator.assign(5)
    assert machine.actuator.failure()[0] == CHILD
    assert machine.lent != before  # the group's own file was written
    assert {before, machine.lent} <= {*machine.journaled()}
    machine.files.refusals.clear()
    assert machine.assign(0) == {7}
    assert parse_cpulist(machine.files.contents[CHILD]) == {7}


def test_what_cannot_be_chosen_among_is_refused() -> None:
    sensor = FakeSensor(core_count=4)
    whole = frozenset(range(4))

    def make(cpus: list[int], **other: int) -> None:
        numbers = {"unit": 1, "fixed": 1, "elastic_min": 0, "levels": 2, **other}
        rules = [(whole, frozenset[int]())]
        LendOrder(cpus, [0] * len(cpus), rules=rules, sensor=sensor, **numbers)  # type: ignore[arg-type]

    make([3, 2, 1])
    for cpus, other in (
        ([3, 2, 1], {"unit": 2, "fixed": 2}),
        ([3, 2], {"fixed": 3}),
        ([3, 2], {"elastic_min": 2}),
        ([3, 1024], {}),
        ([3, -1], {}),
    ):
        with pytest.raises(ValueError, match="cannot be chosen"):
            make(cpus, **other)
    with pytest.raises(ValueError, match="CPU 1024"):
        LendOrder(
            [3, 2], [0, 0], unit=1, fixed=1, elastic_min=0, levels=2,
            rules=[({1024}, set())], sensor=sensor,
        )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    cores=st.sampled_from([8, 16, 64, 65, 128, 300]),
    unit=st.sampled_from([1, 2]),
    minimum=st.integers(0, 2),
    moves=st.lists(
        st.tuples(st.integers(0, 300), st.frozensets(st.integers(0, 299))), min_size=1, max_size=8
    ),
)
@example(cores=300, unit=2, minimum=0, moves=[(1, frozenset({299}))])
def test_whatever_is_used_sets_nest_and_free_cores_go_first(
    cores: int, unit: int, minimum: int, moves: list[tuple[int, frozenset[int]]]
) -> None:
    machine = Machine(cores * unit, unit=unit, elastic_min=minimum * unit)
    most = (cores - minimum) * unit
    fixed = frozenset(range(machine.count - max(1, machine.elastic_min), machine.count))
    before = machine.lent
    for wanted, used in moves:
        level = wanted % (cores - minimum + 1) * unit
        busy = frozenset(cpu for cpu in range(machine.count) if cpu // unit in used)
        for cpu in range(machine.count):
            machine.sensor.set_free(cpu, 0 if cpu in busy else LONG_NS)
        now = machine.assign(min(level, most))
        assert len(now) == max(1, machine.elastic_min + level)
        assert fixed <= now
        assert now <= before or now >= before
        assert len({cpu // unit for cpu in now}) == -(-len(now) // unit)
        parked_on = frozenset(machine.order.cpus[: machine.fixed])  # whoever uses it
        chosen = now - before - parked_on
        if chosen & busy:  # only where no free one was left
            assert not (frozenset(range(machine.count)) - now) - busy
        left = (before & now) - parked_on
        if (before - now) - busy:  # a free one was taken back: no used one stayed
            assert not left & busy
        assert format_cpulist(now) == machine.order.masks[0]
        own, always = machine.rules[1]
        assert parse_cpulist(machine.files.contents[CHILD]) == (own & now) | always
        if len(now) > machine.fixed:
            assert now in machine.journaled()
        before = now


def test_the_loop_lends_and_takes_back_by_use_in_virtual_time() -> None:
    """The primary wanders over eight cores of sixteen; what is lent stays out of its way."""
    machine = Machine(16, elastic_min=1)
    loop = Loop(
        sensor=machine.sensor, actuator=machine.actuator, total=15, max_harvest=14,
        window_ns=1_000_000, poll_ns=100_000,
    )  # fmt: skip
    met = 0
    for step in range(300):
        now_ns = step * 100_000
        used = {(step // 10 + core) % 15 for core in range(4)}
        for cpu in range(15):
            machine.sensor.set_free(cpu, 0 if cpu in used else LONG_NS)
        if step % 10 == 0:
            loop.post(Plan(loop_seq(loop), primary_cores=5 + step // 10 % 3, safe_cores=15))
        loop.step(now_ns, now_ns)
        assert len(machine.lent) == 1 + loop.harvested
        met += len(machine.lent & used)
    assert loop.harvested > 0
    static = sum(
        len({(step // 10 + core) % 15 for core in range(4)} & set(range(6, 15)))
        for step in range(300)
    )
    assert met < static / 2


def loop_seq(loop: Loop) -> int:
    """The last window's number; 1 before the first has ended."""
    seq = 1
    while (window := loop.take()) is not None:
        seq = window.seq
    return seq
