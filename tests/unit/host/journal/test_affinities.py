from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from smartharvest.core._confine import confine_threads
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal import affinities
from smartharvest.host.journal.affinities import OurAffinities
from smartharvest.host.journal.contents import NOT_KNOWN, ConfinedEntry, Given, read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.restoration import put_back
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from tests.cpus import ALLOWED, needs_two_cpus
from tests.unit.host.fake_trees import make_group, make_v1_tree

LAST, BOTH = ALLOWED[-1], ALLOWED[-2:]


def cpus(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


GIVEN = Given((cpus(3), cpus(2, 3), cpus(1, 2, 3)))
PINS = {cpus(0, 1), cpus(0, 1, 2, 3)}


@pytest.mark.parametrize(
    ("now", "reach", "is_ours"),
    [
        (cpus(2, 3), cpus(0, 1, 2, 3), True),
        (cpus(1), cpus(0, 1, 2, 3), True),  # of (1, 2, 3), as far as it is pinned to (0, 1)
        (cpus(0), cpus(0, 1, 2, 3), False),
        (cpus(0, 1, 2, 3), cpus(0, 1, 2, 3), False),
        (cpus(1, 3), cpus(0, 1, 2, 3), False),
        (cpus(1, 3), cpus(0, 1, 3), True),  # CPU 2 has gone, or the cpuset has lost it
        (cpus(2), cpus(0, 1, 2, 3), False),
    ],
)
def test_what_was_given_is_ours_and_what_is_left_of_it(
    now: frozenset[int], reach: frozenset[int], is_ours: bool
) -> None:
    assert OurAffinities(GIVEN, PINS).may_be(now, lambda: reach) is is_ours


def test_while_a_loop_nudges_one_cpu_of_those_given_is_ours() -> None:
    nudging = OurAffinities(Given(GIVEN.sets, nudging=True), PINS)
    assert nudging.may_be(cpus(2), lambda: cpus(0, 1, 2, 3))
    assert not nudging.may_be(cpus(0), lambda: cpus(0, 1, 2, 3))
    assert not nudging.may_be(cpus(1, 3), lambda: cpus(0, 1, 2, 3))


def test_where_it_is_not_known_what_was_given_everything_is_ours() -> None:
    assert OurAffinities(NOT_KNOWN, PINS).may_be(cpus(0), lambda: cpus(0, 1))


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "100"]) as process:
        os.sched_setaffinity(process.pid, BOTH)
        yield process.pid
        process.kill()


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    return make_v1_tree(tmp_path / "tree")


def journal_of(tree: CgroupTree, state: Path, pid: int, *, nudged: int = 0) -> Journal:
    """Of an agent that gives the threads of ``pid`` their last CPU, or both."""
    journal = Journal(str(state))
    HostWriter(tree.files, journal).adopt_affinity(pid)
    journal.expect({}, given=[[LAST], BOTH])
    journal.page.nudge_slot.cast("i")[0] = nudged
    return journal


@needs_two_cpus
@pytest.mark.parametrize("nudging", [False, True])
def test_a_thread_that_somebody_else_has_pinned_since_is_left_alone(
    tree: CgroupTree, tmp_path: Path, sleeper: int, nudging: bool
) -> None:
    journal = journal_of(tree, tmp_path / "state", sleeper, nudged=sleeper if nudging else 0)
    other = {BOTH[0]}
    os.sched_setaffinity(sleeper, other)
    found = read_journal(journal.path)
    result = put_back(found.entries, tree.files, given=found.given)
    assert result.failed == []
    # The loop itself may have pinned it just before it ended.
    assert tasks.affinity(sleeper) == (set(BOTH) if nudging else other)
    assert [f"thread {sleeper}" in line for line in result.left] == ([] if nudging else [True])
    journal.close()


@needs_two_cpus
@pytest.mark.parametrize(
    ("online", "group_is_back", "outcome"),
    [
        (BOTH, True, "left"),
        (BOTH, False, "failed"),  # its group may get the CPU back
        ([LAST], True, "failed"),  # the CPU may come back
    ],
)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_pin_to_a_cpu_that_somebody_else_has_taken_from_its_group_is_no_failure(
    tree: CgroupTree,
    tmp_path: Path,
    sleeper: int,
    monkeypatch: pytest.MonkeyPatch,
    online: list[int],
    group_is_back: bool,
    outcome: str,
    one_by_one: bool,
) -> None:
    os.sched_setaffinity(sleeper, {BOTH[0]})
    journal = journal_of(tree, tmp_path / "state", sleeper)
    os.sched_setaffinity(sleeper, {LAST})
    if not group_is_back:
        make_group(tree, "batch", cpus="0-7")
        HostWriter(tree.files, journal).set(tree.group("batch").cpus_file, "0")
        monkeypatch.setattr(type(tree.files), "write", refuse)
    if one_by_one:
        look_closer(monkeypatch)
    else:
        monkeypatch.setattr(affinities, "give_back", lambda tids, *_: [-errno.EINVAL] * len(tids))
    real = os.sched_setaffinity

    def set_affinity(tid: int, cpus: Collection[int]) -> None:
        if set(cpus) == {BOTH[0]}:
            raise OSError(errno.EINVAL, "Invalid argument")
        real(tid, cpus)

    monkeypatch.setattr(os, "sched_setaffinity", set_affinity)
    monkeypatch.setattr(tasks, "online_cpus", lambda: frozenset(online))
    found = read_journal(journal.path)
    result = put_back(found.entries, tree.files, given=found.given)
    lines = getattr(result, outcome)
    assert any(f"affinity of thread {sleeper}" in line for line in lines)
    assert len(result.left) + len(result.failed) == (1 if group_is_back else 2)
    journal.close()


def look_closer(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each thread, one by one, by Python's calls, as where an affinity is not known."""

    def nothing_is_known(tids: Sequence[int], known: Sequence[object], *_: object) -> list[int]:
        return [len(known)] * len(tids)

    monkeypatch.setattr(affinities, "give_back", nothing_is_known)


class NarrowedCpuset:
    """The kernel's part (__sched_setaffinity, __set_cpus_allowed_ptr): what a thread asked for
    last is remembered, and holds as far as its cpuset has it."""

    def __init__(self, asked: Mapping[int, Iterable[int]], reach: Iterable[int]) -> None:
        self.asked = {tid: frozenset(cpus) for tid, cpus in asked.items()}
        self.reach = frozenset(reach)

    def set_affinity(self, tid: int, cpus: Collection[int]) -> None:
        if self.reach.isdisjoint(cpus):
            raise OSError(errno.EINVAL, "Invalid argument")
        self.asked[tid] = frozenset(cpus)

    def affinity(self, tid: int) -> frozenset[int]:
        return (self.asked[tid] & self.reach) or self.reach


@needs_two_cpus
@pytest.mark.parametrize("left", [BOTH[0], LAST])
def test_a_pin_outlasts_that_somebody_else_takes_cpus_from_the_cpuset_for_a_time(
    tree: CgroupTree, tmp_path: Path, sleeper: int, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    with subprocess.Popen(["sleep", "100"]) as pinned:
        os.sched_setaffinity(pinned.pid, {LAST})
        journal = journal_of(tree, tmp_path / "state", sleeper)
        HostWriter(tree.files, journal).adopt_affinity(pinned.pid)
        kernel = NarrowedCpuset({pinned.pid: [LAST], sleeper: [LAST]}, reach=[left])
        look_closer(monkeypatch)
        monkeypatch.setattr(os, "sched_setaffinity", kernel.set_affinity)
        monkeypatch.setattr(tasks, "affinity", kernel.affinity)
        monkeypatch.setattr(affinities, "cpuset_cpus", lambda _tid: kernel.reach)
        found = read_journal(journal.path)
        result = put_back(found.entries, tree.files, given=found.given)
        assert result.failed == []
        kernel.reach = frozenset(BOTH)
        assert kernel.affinity(pinned.pid) == {LAST}
        assert kernel.affinity(sleeper) == set(BOTH)
        journal.close()
        pinned.kill()


@needs_two_cpus
@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_pin_to_a_cpu_that_somebody_else_has_taken_does_not_stay_on_the_lent_one(
    tree: CgroupTree,
    tmp_path: Path,
    sleeper: int,
    monkeypatch: pytest.MonkeyPatch,
    one_by_one: bool,
) -> None:
    pin, lent = BOTH
    os.sched_setaffinity(sleeper, {pin})
    journal = journal_of(tree, tmp_path / "state", sleeper)
    kernel = NarrowedCpuset({sleeper: [lent]}, reach=[lent])
    if one_by_one:
        look_closer(monkeypatch)
    else:
        monkeypatch.setattr(affinities, "give_back", lambda tids, *_: [-errno.EINVAL] * len(tids))
    monkeypatch.setattr(os, "sched_setaffinity", kernel.set_affinity)
    monkeypatch.setattr(tasks, "affinity", kernel.affinity)
    monkeypatch.setattr(affinities, "cpuset_cpus", lambda _tid: kernel.reach)
    found = read_journal(journal.path)
    result = put_back(found.entries, tree.files, given=found.given)
    assert result.failed == []
    assert [f"affinity of thread {sleeper}" in line for line in result.left] == [True]
    kernel.reach = frozenset(BOTH)
    assert kernel.affinity(sleeper) == set(BOTH)
    journal.close()


def refuse(*_: object) -> None:
    raise OSError(errno.EBUSY, "Device or resource busy")


@needs_two_cpus
def test_what_a_thread_was_given_is_taken_back(
    tree: CgroupTree, tmp_path: Path, sleeper: int
) -> None:
    journal = journal_of(tree, tmp_path / "state", sleeper)
    os.sched_setaffinity(sleeper, {LAST})
    HostWriter(tree.files, journal).restore()
    assert tasks.affinity(sleeper) == set(BOTH)


@needs_two_cpus
def test_a_journal_that_does_not_say_what_was_given_is_undone_as_before(
    tree: CgroupTree, tmp_path: Path, sleeper: int
) -> None:
    journal = journal_of(tree, tmp_path / "state", sleeper)
    path = Path(journal.path)
    older = json.loads(path.read_text())
    del older["given"]
    path.write_text(json.dumps(older))
    lock, *group_locks = map(os.dup, journal.descriptors)
    heir = Journal.inherit(journal.path, lock, group_locks)
    heir.expect({}, given=[[LAST]])  # beside what its predecessor has given, which nobody knows
    assert read_journal(heir.path).given == NOT_KNOWN
    os.sched_setaffinity(sleeper, {BOTH[0]})
    HostWriter(tree.files, heir).restore()
    assert tasks.affinity(sleeper) == set(BOTH)
    journal.release()


MANY = 2000
CROWD = f"""
import threading
threading.stack_size(64 * 1024)
for _ in range({MANY} - 1):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print(flush=True)
input()
"""


@needs_two_cpus
def test_thousands_of_threads_are_undone_without_a_look_at_each_or_at_all_processes_for_each(
    tree: CgroupTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(["python3", "-c", CROWD], stdin=pipe, stdout=pipe) as crowd:
        assert crowd.stdout is not None
        crowd.stdout.readline()
        threads = tasks.process_threads(crowd.pid)
        for tid in threads:
            os.sched_setaffinity(tid, BOTH)
        pinned = threads[MANY // 2]
        os.sched_setaffinity(pinned, {LAST})  # of its own accord
        journal = journal_of(tree, tmp_path / "state", crowd.pid)
        assert confine_threads([f"/proc/{crowd.pid}/task"], [LAST]) == MANY
        assert {tasks.affinity(tid) for tid in threads} == {frozenset({LAST})}
        looks: list[str] = []

        def looked(at: str, how: Callable[..., object]) -> Callable[..., object]:
            def call(*arguments: object) -> object:
                looks.append(at)
                return how(*arguments)

            return call

        monkeypatch.setattr(tasks, "start_time", looked("thread", tasks.start_time))
        monkeypatch.setattr(os, "listdir", looked("list", os.listdir))
        result = put_back(journal.entries, tree.files, given=journal.given)
        monkeypatch.undo()
        assert (result.failed, result.left, len(result.restored)) == ([], [], MANY - 1)
        assert {tid for tid in threads if tasks.affinity(tid) != set(BOTH)} == {pinned}
        assert len(looks) < 100
        journal.close()
        crowd.kill()


@needs_two_cpus
def test_a_thread_that_is_born_while_its_group_is_freed_is_freed(
    tree: CgroupTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["sleep", "100"]) as first, subprocess.Popen(["sleep", "100"]) as second:
        for process in (first, second):
            os.sched_setaffinity(process.pid, {LAST})
        make_group(tree, "g", "0-3", tids=(first.pid,))
        group = tree.group("g")
        journal = Journal(str(tmp_path / "state"))
        journal.record(ConfinedEntry(group.path))
        journal.expect({}, given=[[LAST]])
        set_affinity = os.sched_setaffinity
        freed: list[int] = []

        def frees(tid: int, cpus: Iterable[int]) -> None:
            set_affinity(tid, cpus)
            if not freed:  # it was started a moment before, and is seen only now
                tree.files.write(group.tasks_file, str(second.pid))
            freed.append(tid)

        monkeypatch.setattr(os, "sched_setaffinity", frees)
        put_back(journal.entries, tree.files, given=journal.given)
        monkeypatch.undo()
        assert tasks.affinity(first.pid) == tasks.affinity(second.pid) == set(ALLOWED)
        journal.close()
        first.kill()
        second.kill()
