"""The processes that one process has started, by events and by looking."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from smartharvest.errors import RightsError
from smartharvest.host.process import tasks
from smartharvest.host.process.events import Birth, Death, EventsLost, ProcessEvents
from smartharvest.host.process.family import RESCAN_S, Family

ROOT = 1000


class Host:
    """Which processes live, and who started whom."""

    def __init__(self) -> None:
        self.parents: dict[int, int] = {}
        self.now_s = 50.0

        self.listed = 0

    def parent_of(self, pid: int) -> int | None:
        return self.parents.get(pid)

    def process_ids(self) -> Iterator[int]:
        for pid in list(self.parents):
            self.listed += 1
            yield pid


class Script(ProcessEvents):
    """Events that the test hands over."""

    def __init__(self) -> None:
        self.script: list[Birth | Death | EventsLost] = []
        self.read_count = 0

    def read(self, most: int = 100) -> Iterator[Birth | Death]:
        for _ in range(min(most, len(self.script))):
            event = self.script.pop(0)
            if isinstance(event, EventsLost):
                raise event
            self.read_count += 1
            yield event

    def close(self) -> None:
        pass


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host()
    monkeypatch.setattr(tasks, "process_ids", made.process_ids)
    monkeypatch.setattr(tasks, "parent_of", made.parent_of)
    monkeypatch.setattr(tasks, "alive", lambda pid: pid in made.parents)
    return made


@pytest.fixture
def events() -> Script:
    return Script()


@pytest.fixture
def family(host: Host, events: Script) -> Family:
    return Family(ROOT, open_events=lambda: events, clock=lambda: host.now_s)


def birth(host: Host, parent: int, pid: int) -> Birth:
    host.parents[pid] = parent
    return Birth(parent, pid, pid)


def test_those_that_are_there_already_belong_to_it(host: Host, events: Script) -> None:
    host.parents = {1: ROOT, 2: 1, 3: 7}
    family = Family(ROOT, open_events=lambda: events, clock=lambda: host.now_s)
    assert family.members == {1: None, 2: None}
    assert family.turn() == []


def test_children_and_their_children_are_new_once(
    host: Host, family: Family, events: Script
) -> None:
    events.script = [birth(host, ROOT, 1), birth(host, 1, 2), birth(host, 77, 3)]
    assert family.turn() == [1, 2]
    assert family.members == {1: ROOT, 2: 1}
    assert family.turn() == []
    assert family.births.followed == 2


def test_a_successor_goes_on_with_orphans_and_with_those_born_in_between(
    host: Host, events: Script
) -> None:
    host.parents = {3: 1}
    events.script += [birth(host, ROOT, 4), birth(host, 4, 5), Death(4, 4), birth(host, 3, 6)]
    del host.parents[4]
    host.parents[5] = 1
    family = Family(ROOT, open_events=lambda: events, known=[3, 9], leaving=[9])
    assert host.listed == 0
    assert family.turn() == [5, 6]
    assert sorted(family.members) == [3, 5, 6]


def test_threads_are_no_processes(family: Family, events: Script) -> None:
    events.script = [Birth(ROOT, 5, ROOT)]
    assert family.turn() == []


def test_a_child_is_known_after_its_parent_has_ended(
    host: Host, family: Family, events: Script
) -> None:
    events.script = [birth(host, ROOT, 1), birth(host, 1, 2), Death(1, 1)]
    del host.parents[1]
    assert family.turn() == [2]
    assert family.members == {2: 1}


def test_one_that_is_still_ending_is_forgotten_when_it_has(
    host: Host, family: Family, events: Script
) -> None:
    events.script = [birth(host, ROOT, 1)]
    family.turn()
    events.script = [Death(9, 1), Death(1, 1)]  # a thread of it, and it
    family.turn()
    assert family.members == {1: ROOT}
    del host.parents[1]
    family.turn()
    assert family.members == {}


def test_lost_events_are_looked_for_and_the_blindness_is_told(
    host: Host, family: Family, events: Script
) -> None:
    host.now_s += RESCAN_S
    host.parents = {1: ROOT, 2: 1}
    events.script = [EventsLost()]
    assert family.turn() == [1, 2]
    assert (family.births.overflows, family.births.rescans) == (1, 2)
    host.parents[3] = 1
    events.script = [EventsLost()]
    host.now_s += 0.25
    assert family.turn() == []  # looking through all has its price
    host.now_s += 0.75
    assert family.turn() == [3]
    assert family.births.blind_seconds == 0.75
    assert family.births.source == "connector"


def test_a_child_that_is_listed_before_its_parent_is_found(host: Host, events: Script) -> None:
    host.parents = {2: 5, 5: ROOT}
    family = Family(ROOT, open_events=lambda: events, clock=lambda: host.now_s)
    assert family.members == {2: None, 5: None}


def test_a_crowd_of_processes_is_looked_through_a_part_in_each_turn(
    host: Host, events: Script
) -> None:
    def spent_ns() -> int:
        return host.listed * 20_000

    family = Family(ROOT, open_events=lambda: events, clock=lambda: host.now_s, spent_ns=spent_ns)
    host.parents = dict.fromkeys(range(10000, 20000), 7) | {30_000: ROOT}
    events.script = [EventsLost()]
    found, turns = family.turn(), 1
    while not found:
        listed = host.listed
        host.now_s += 0.25
        found, turns = family.turn(), turns + 1
        assert host.listed - listed < 1100
    assert found == [30_000]
    assert turns > 10


def test_events_that_are_lost_during_a_rescan_call_for_another(host: Host, events: Script) -> None:
    family = Family(
        ROOT,
        open_events=lambda: events,
        clock=lambda: host.now_s,
        spent_ns=lambda: host.listed * 1_000_000,
    )
    host.parents = dict.fromkeys(range(100, 200), 7)
    host.now_s += RESCAN_S
    events.script = [EventsLost()]
    family.turn()
    host.parents[50] = ROOT  # listed already
    events.script = [EventsLost()]
    found: list[int] = []
    for _ in range(100):
        host.now_s += RESCAN_S
        found += family.turn()
    assert found == [50]
    assert family.births.blind_seconds < 100 * RESCAN_S


def test_without_events_it_looks_now_and_then(host: Host) -> None:
    def closed() -> ProcessEvents:
        raise RightsError("process events: no (needs CAP_NET_ADMIN)")

    family = Family(ROOT, open_events=closed, clock=lambda: host.now_s)
    assert family.births.source == "rescans"
    assert "CAP_NET_ADMIN" in family.births.reason
    host.parents[1] = ROOT
    assert family.turn() == []
    host.now_s += RESCAN_S
    assert family.turn() == [1]
    assert family.births.blind_seconds == RESCAN_S
    del host.parents[1]
    host.now_s += 2 * RESCAN_S
    family.turn()
    host.now_s += 2 * RESCAN_S
    family.turn()
    assert family.members == {}


def test_descendants_are_found_by_their_parents() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 100 & echo $!; wait"], stdout=-1, text=True) as shell:
        assert shell.stdout
        child = int(shell.stdout.readline())
        assert tasks.descendants(shell.pid) == [child]
        assert tasks.descendants(shell.pid, child) == []
        shell.kill()
        subprocess.run(["kill", str(child)], check=True)
