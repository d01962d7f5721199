"""The recorder's notes: every change once, and what was not seen as a gap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smartharvest.core._sensors import FakeEvents, FakeSensor
from smartharvest.core._trace import UNSEEN, RecordingSensor
from tests.unit.lab.trace.made_traces import as_rows

POLL_NS = 50
GAP_NS = 500
GAP = (UNSEEN, UNSEEN)


def test_only_changes_are_noted_and_readings_pass_through() -> None:
    sensor = RecordingSensor(FakeSensor([1, 1, 2, 2, 0]), POLL_NS, GAP_NS)
    assert [sensor.read(at)[0] for at in range(100, 350, POLL_NS)] == [1, 1, 2, 2, 0]
    changes, until_ns = sensor.take()
    assert as_rows(changes) == [(100, 1, 1), (200, 2, 2), (300, 0, 0)]
    assert until_ns == 300


def test_demand_is_noted_beside_busy_cores() -> None:
    events = FakeEvents(0)
    sensor = RecordingSensor(events, POLL_NS, GAP_NS)
    for at, busy, demand in ((100, 1, 1), (150, 1, 4), (200, 2, 4)):
        events.set_busy(at, busy, demand)
        sensor.read(at)
    assert as_rows(sensor.take()[0]) == [(100, 1, 1), (150, 1, 4), (200, 2, 4)]


def test_a_late_look_leaves_a_gap_from_where_the_next_was_due() -> None:
    sensor = RecordingSensor(FakeSensor([3]), POLL_NS, GAP_NS)
    for at in (100, 100 + GAP_NS, 101 + 2 * GAP_NS):
        sensor.read(at)
    changes, _ = sensor.take()
    assert as_rows(changes) == [(100, 3, 3), (650, *GAP), (1101, 3, 3)]
    assert sensor.counts == {"changes": 3, "gaps": 1, "lost": 0}


def test_nothing_is_known_before_the_first_look() -> None:
    assert RecordingSensor(FakeSensor([3]), POLL_NS, GAP_NS).take()[1] == 0


def test_what_finds_the_ring_full_becomes_a_gap() -> None:
    room = 1 << 16
    sensor = RecordingSensor(FakeSensor([1, 2] * room), POLL_NS, GAP_NS)
    for i in range(room + 10):
        sensor.read(100 + i)
    kept, until_ns = sensor.take(room)
    assert len(kept) == room - 1
    lost_ns = int(kept["time_ns"][-1]) + 1
    assert until_ns == lost_ns - 1
    sensor.read(10**6)
    changes, until_ns = sensor.take()
    assert [row[:2] for row in as_rows(changes)] == [(lost_ns, UNSEEN), (10**6, changes["busy"][1])]
    assert until_ns == 10**6
    assert sensor.counts["lost"] == 11


@given(
    st.lists(st.tuples(st.integers(1, 3 * GAP_NS), st.integers(0, 3)), min_size=1, max_size=60),
    st.lists(st.integers(1, 9), max_size=10),
)
def test_the_notes_say_of_every_moment_what_was_read_last(
    looks: list[tuple[int, int]], portions: list[int]
) -> None:
    sensor = RecordingSensor(FakeSensor([busy for _, busy in looks]), POLL_NS, GAP_NS)
    at, readings, untils = 1000, [], [0]
    notes: list[tuple[int, int, int]] = []
    for number, (step, busy) in enumerate(looks):
        at += step
        sensor.read(at)
        readings.append((at, busy))
        if number < len(portions):
            changes, until_ns = sensor.take(portions[number])
            notes += as_rows(changes)
            assert until_ns >= untils[-1]
            assert not notes or notes[-1][0] <= until_ns
            untils.append(until_ns)
    notes += as_rows(sensor.take()[0])
    assert [time for time, _, _ in notes] == sorted(time for time, _, _ in notes)
    for time, busy in readings:
        assert [noted for since, noted, _ in notes if since <= time][-1] == busy
