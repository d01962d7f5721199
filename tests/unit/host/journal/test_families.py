"""Who inherited a confinement, told from strangers; on a host that is made up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from smartharvest.errors import RightsError
from smartharvest.host.journal import families as module
from smartharvest.host.journal.contents import AffinityEntry
from smartharvest.host.journal.families import MOST_LOOKS, BirthEvents, Families, Member
from smartharvest.host.process import tasks
from smartharvest.host.process.events import Birth, Death, EventsLost, ProcessEvents
from smartharvest.host.process.table import Process

INIT, SHELL, ROOT = 1, 50, 100
HAD, CONFINED, OTHER = frozenset({0, 1, 2, 3}), frozenset({3}), frozenset({0})
ARRANGED = 1000
"""When, in clock ticks."""


class Host(ProcessEvents):
    """Processes of one thread each, and the events of their births."""

    def __init__(self) -> None:
        self.table = {INIT: Process(INIT, 0, INIT, INIT, 1)}
        self.affinities = {INIT: HAD}
        self.groups: dict[int, str] = {}
        self.events: list[Birth | Death | EventsLost] = []
        self.looks = 0
        self.now = ARRANGED
        self.start(SHELL, INIT, at=10, session=SHELL)
        self.start(ROOT, SHELL, at=20)

    def start(self, pid: int, parent: int, *, at: int = 0, session: int = 0) -> None:
        """It inherits affinity, session and groups; without a time it is heard of."""
        above = self.table.get(parent, self.table[INIT])
        self.table[pid] = Process(pid, parent, pid, session or above.session, at or self.now)
        self.affinities[pid] = self.affinities.get(parent, HAD)
        self.groups[pid] = self.groups.get(parent, "batch")
        if not at:
            self.events.append(Birth(parent, pid, pid))

    def end(self, pid: int) -> None:
        """Its children are init's then."""
        del self.table[pid]
        for child, process in self.table.items():
            if process.parent == pid:
                self.table[child] = process._replace(parent=INIT)

    def read(self, most: int = 100) -> Iterator[Birth | Death]:
        for _ in range(min(most, len(self.events))):
            event = self.events.pop(0)
            if isinstance(event, EventsLost):
                raise event
            yield event

    def close(self) -> None:
        pass

    def free(self, *entries: AffinityEntry, unheard_since: int | None = None) -> list[int]:
        """Frees the families of ``entries``; whom, in that order."""
        found = []
        families = Families(
            entries,
            BirthEvents(lambda: self),
            lambda cpus: cpus == CONFINED,
            unheard_since,
            table=self.look,
            threads=lambda pid: [pid] if pid in self.table else [],
            sleep=self.pass_time,
        )

        def free(members: Sequence[Member]) -> bool:
            any_confined = False
            for tid, cpus in members:
                was_confined = self.affinities[tid] == CONFINED
                if was_confined:
                    self.affinities[tid] = frozenset(cpus)
                found.append(tid)
                self.after(tid)
                any_confined |= was_confined
            return any_confined

        families.visit(free)
        return found

    def look(self) -> dict[int, Process]:
        self.looks += 1
        return dict(self.table)

    def after(self, tid: int) -> None:
        """Called when ``tid`` was freed."""

    def pass_time(self, _seconds: float) -> None:
        self.now += 1

    def confined(self) -> set[int]:
        return {pid for pid in self.table if self.affinities[pid] == CONFINED}


def entry(pid: int, start_time: int = 20, since: int = ARRANGED) -> AffinityEntry:
    return AffinityEntry(pid, start_time, tuple(sorted(HAD)), since)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host()
    made.affinities[ROOT] = CONFINED
    monkeypatch.setattr(tasks, "affinity", lambda tid: made.affinities.get(tid, frozenset()))
    monkeypatch.setattr(tasks, "start_time_of_newcomers", lambda: made.now)
    monkeypatch.setattr(module, "_likeness", lambda pid: (0, made.groups.get(pid, "")))
    return made


def test_ancestors_come_first_whatever_the_order_of_the_entries(host: Host) -> None:
    host.start(101, ROOT)
    host.start(102, 101)
    host.start(103, 102)
    host.events.clear()
    entries = [entry(103, ARRANGED), entry(101, ARRANGED), entry(ROOT)]
    assert host.free(*entries) == [ROOT, 101, 102, 103]


def test_what_is_started_meanwhile_is_freed_with_what_that_has_started(host: Host) -> None:
    host.start(101, ROOT)
    host.events.clear()

    def bear(tid: int) -> None:
        if tid == ROOT:  # from one that is still confined, and has ended when we look
            host.start(102, 101)
            host.start(103, 102)
            host.end(102)

    host.after = bear  # type: ignore[method-assign]
    host.free(entry(ROOT))
    assert 103 in host.affinities
    assert host.confined() == set()


def test_a_child_of_one_that_ended_after_it_was_journaled_is_known_by_its_birth(
    host: Host,
) -> None:
    host.start(101, ROOT)
    host.events.clear()
    host.start(102, 101)
    host.end(101)
    host.free(entry(ROOT), entry(101, ARRANGED))
    assert host.confined() == set()


def test_an_orphan_in_a_session_of_the_family_is_of_the_family(host: Host) -> None:
    host.start(101, ROOT, at=ARRANGED, session=101)
    host.start(102, 101, at=ARRANGED)
    host.end(101)  # journaled, so its number tells whose session that is
    host.free(entry(ROOT), entry(101, ARRANGED))
    assert host.confined() == set()


def test_a_session_whose_number_a_stranger_has_tells_nothing(host: Host) -> None:
    host.start(101, INIT, at=ARRANGED + 5, session=101)  # the journaled one had ended before
    host.start(102, 101, at=ARRANGED + 6)
    host.affinities[102] = CONFINED
    host.free(entry(ROOT), entry(101, ARRANGED))
    assert host.confined() == {102}


def test_an_orphan_that_nobody_heard_of_is_taken_for_one_of_the_family(host: Host) -> None:
    host.start(101, ROOT, at=ARRANGED + 50)
    host.start(102, 101, at=ARRANGED + 50, session=102)
    host.end(101)
    host.free(entry(ROOT), unheard_since=ARRANGED + 40)
    assert host.confined() == set()


@pytest.mark.parametrize(
    "stranger",
    [
        {"at": ARRANGED + 39},  # the agent would have heard of it
        {"parent": 60},  # whoever started it lives
        {"affinity": OTHER},
        {"group": "elsewhere"},
    ],
)
def test_a_strangers_own_pin_stays(host: Host, stranger: dict[str, object]) -> None:
    host.start(60, INIT, at=ARRANGED)
    host.start(61, int(str(stranger.get("parent", INIT))), at=int(str(stranger.get("at", 1050))))
    own = CONFINED if "affinity" not in stranger else OTHER
    host.affinities[61] = own
    host.groups[61] = str(stranger.get("group", "batch"))
    assert 61 not in host.free(entry(ROOT), unheard_since=ARRANGED + 40)
    assert host.affinities[61] == own


def test_where_all_births_were_heard_resemblance_counts_for_nothing(host: Host) -> None:
    host.start(61, INIT, at=ARRANGED + 50)
    host.affinities[61] = CONFINED
    assert 61 not in host.free(entry(ROOT))


def test_where_births_are_not_told_orphans_of_the_moment_are_looked_for(host: Host) -> None:
    def bear(tid: int) -> None:
        if tid == ROOT:
            host.affinities[102] = CONFINED
            host.start(102, INIT, at=host.now)
            host.affinities[102] = CONFINED
            host.events.append(EventsLost())

    host.after = bear  # type: ignore[method-assign]
    host.free(entry(ROOT))
    assert host.confined() == set()


def test_it_ends_although_free_ones_are_born_all_the_time(host: Host) -> None:
    def pass_time(_seconds: float) -> None:
        host.now += 1
        host.start(10_000 + host.now, ROOT)

    host.pass_time = pass_time  # type: ignore[method-assign]
    host.free(entry(ROOT))
    assert host.looks < MOST_LOOKS / 10
    assert host.confined() == set()


def test_it_ends_although_some_are_born_all_the_time_who_pin_themselves(host: Host) -> None:
    def pass_time(_seconds: float) -> None:
        host.now += 1
        host.start(10_000 + host.now, ROOT)
        host.affinities[10_000 + host.now] = OTHER

    host.pass_time = pass_time  # type: ignore[method-assign]
    host.free(entry(ROOT))
    assert host.looks < MOST_LOOKS / 10


def test_another_process_by_a_journaled_number_is_not_touched(host: Host) -> None:
    assert host.free(entry(ROOT, start_time=19)) == []


def test_without_the_right_to_hear_births_it_knows_that_it_misses_some() -> None:
    def closed() -> ProcessEvents:
        raise RightsError("process events: no")

    births = BirthEvents(closed)
    assert births.read() == []
    assert not births.complete
