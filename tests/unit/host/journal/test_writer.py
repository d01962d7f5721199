from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from smartharvest.errors import RightsError, TargetVanished, WriteRefused
from smartharvest.host import kernels
from smartharvest.host.cgroup.fake_kernel import REFUSALS
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.contents import AffinityEntry, FileEntry
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.process.events import Birth, Death, ProcessEvents
from smartharvest.host.process.family import Family
from tests.cpus import needs_two_cpus
from tests.unit.host.fake_trees import kernel_of, make_group, make_v1_tree, make_v2_tree


@pytest.fixture
def v1(tmp_path: Path) -> CgroupTree:
    return make_v1_tree(tmp_path / "v1")


@pytest.fixture
def v2(tmp_path: Path) -> CgroupTree:
    return make_v2_tree(tmp_path / "v2")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(str(tmp_path / "state"))
    yield journal
    journal.release()


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "100"]) as process:
        yield process.pid
        process.kill()


def snapshot(tree: CgroupTree) -> dict[str, str]:
    """Every file of a fake tree with its contents."""
    return {str(path): path.read_text() for path in Path(tree.root).rglob("*") if path.is_file()}


def test_the_original_is_journaled_before_the_write(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g", "0-3")
    path = v1.group("g").cpus_file
    kernel_of(v1).fail_next(path, errno.EINVAL)
    with pytest.raises(WriteRefused, match="EINVAL"):
        HostWriter(v1.files, journal).set(path, "1")
    assert journal.entries == (FileEntry(path, "0-3", os.stat(v1.group("g").path).st_ino),)
    assert journal.ours == {path: ["1"]}


def test_a_write_that_changes_nothing_is_neither_journaled_nor_made(
    v1: CgroupTree, journal: Journal
) -> None:
    make_group(v1, "g", "0-3")
    path = v1.group("g").cpus_file
    kernel_of(v1).fail_next(path, errno.EINVAL)
    HostWriter(v1.files, journal).set(path, "3,0,1-2")
    assert journal.entries == ()


def test_changes_are_logged_with_old_and_new(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g", "0-3")
    path = v1.group("g").cpus_file
    log: list[tuple[str, str, str]] = []
    writer = HostWriter(v1.files, journal, lambda *change: log.append(change))
    writer.set(path, "1")
    writer.restore()
    assert log == [(path, "0-3", "1"), (path, "1", "0-3")]


def test_what_is_known_is_written_before_it_is_logged_and_the_rest_is_journaled_first(
    v1: CgroupTree, journal: Journal
) -> None:
    paths = []
    for name in "ab":
        make_group(v1, name, "0-3")
        paths.append(v1.group(name).cpus_file)
    log: list[tuple[str, str, str, str]] = []
    writer = HostWriter(
        v1.files, journal, lambda *change: log.append((*change, v1.files.read(paths[1]).strip()))
    )
    for path in paths:
        writer.adopt(path)
        journal.expect({path: ["1"]})
    writer.set_known([(path, "1") for path in paths])
    assert log == [(path, "0-3", "1", "1") for path in paths]
    writer.set_known([(paths[0], "2")])
    assert journal.ours[paths[0]] == ["1", "2"]
    writer.restore()
    assert [v1.files.read(path).strip() for path in paths] == ["0-3", "0-3"]


def test_a_group_made_again_by_a_known_name_is_not_known(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g", "0-3")
    path = v1.group("g").cpus_file
    HostWriter(v1.files, journal).adopt(path)
    journal.expect({path: ["1"]})
    assert journal.knows(path, "1")
    assert not journal.knows(path, "2")
    directory = Path(v1.group("g").path)
    directory.rename(directory.with_name("before"))
    directory.mkdir()
    assert not journal.knows(path, "1")


def test_a_missing_group_is_reported_as_vanished(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g", "0-3")
    path = v1.group("g").cpus_file
    kernel_of(v1).vanish(v1.group("g").path)
    with pytest.raises(TargetVanished, match=path):
        HostWriter(v1.files, journal).set(path, "1")


def test_v1_parents_and_children_are_put_back_in_the_order_the_kernel_allows(
    v1: CgroupTree, journal: Journal
) -> None:
    groups = [f"{name}{below}" for name in ("n", "w", "m") for below in ("", "/child", "/child/2")]
    for group in groups:
        make_group(v1, group, "0-3" if group.startswith("n") else "0")
    before = snapshot(v1)
    writer = HostWriter(v1.files, journal)
    narrowed = [(group, "1") for group in reversed(groups[:3])]
    widened = [(group, "0-5") for group in groups[3:]]
    moved_to_other_cpus = [(group, "4-5") for group in reversed(groups[6:])]
    for group, cpus in narrowed + widened + moved_to_other_cpus:
        writer.set(v1.group(group).cpus_file, cpus)
    writer.restore()
    assert snapshot(v1) == before
    assert not os.path.exists(journal.path)


@pytest.mark.parametrize("weight", ["4096", "3"])
def test_switching_idle_off_again_brings_the_weight_back(
    weight: str, v1: CgroupTree, journal: Journal
) -> None:
    make_group(v1, "g")
    directory = v1.group("g").cpu_path
    v1.files.write(f"{directory}/cpu.shares", weight)
    before = snapshot(v1)
    writer = HostWriter(v1.files, journal)
    writer.set(f"{directory}/cpu.idle", "1")
    writer.restore()
    assert snapshot(v1) == before


def test_a_group_that_was_idle_stays_so(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g")
    directory = v1.group("g").cpu_path
    v1.files.write(f"{directory}/cpu.idle", "1")
    before = snapshot(v1)
    writer = HostWriter(v1.files, journal)
    writer.set(f"{directory}/cpu.idle", "0")
    writer.restore()
    assert snapshot(v1) == before


def test_a_file_that_the_loop_writes_itself_is_put_back(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g", "0-3")
    path = v1.group("g").cpus_file
    writer = HostWriter(v1.files, journal)
    writer.adopt(path)
    v1.files.write(path, "2")
    assert writer.restore() == [f"{path}: 2 -> 0-3"]
    assert v1.files.read(path) == "0-3\n"


def test_an_emptied_v1_mask_is_empty_again(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g")
    writer = HostWriter(v1.files, journal)
    writer.set(v1.group("g").cpus_file, "1")
    writer.restore()
    assert v1.group("g").cpus() == frozenset()


def test_where_a_populated_v2_mask_cannot_be_emptied_its_meaning_is_written(
    v2: CgroupTree, journal: Journal
) -> None:
    make_group(v2, "g", tids=(101,))
    writer = HostWriter(v2.files, journal)
    writer.set(v2.group("g").cpus_file, "1")
    writer.restore()
    assert v2.group("g").cpus() == v2.group("g").effective_cpus() == frozenset(range(8))


def test_groups_whose_masks_cannot_be_emptied_are_given_back_from_above(
    v2: CgroupTree, journal: Journal
) -> None:
    make_group(v2, "all")
    kernel_of(v2).write(f"{v2.group('all').path}/cgroup.subtree_control", "+cpuset")
    children = ("all/one", "all/two")
    for tid, child in enumerate(children, 101):
        make_group(v2, child, tids=(tid,))
    writer = HostWriter(v2.files, journal)
    writer.set(v2.group("all").cpus_file, "0")
    for child in children:
        writer.set(v2.group(child).cpus_file, "0")
    writer.restore()
    for group in map(v2.group, ("all", *children)):
        assert group.effective_cpus() == frozenset(range(8)), group


def test_groups_are_made_ready_for_tasks_and_go_with_what_came_to_live_there(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    make_group(v1, "g", "0-3", tids=(sleeper,))
    before = snapshot(v1)
    writer, group = HostWriter(v1.files, journal), v1.group("g/made/below")
    writer.make_group(group.path)
    assert group.cpus() == {0, 1, 2, 3}
    writer.move_task(sleeper, v1.group("g").path, group.path)
    v1.files.write(group.tasks_file, "102")  # forked by it, say
    writer.restore()
    assert v1.group("g").tasks() == sorted([102, sleeper])
    v1.files.write(f"{v1.hierarchies['cpuset']}/tasks", "102")
    v1.files.write(f"{v1.hierarchies['cpuset']}/tasks", str(sleeper))
    v1.files.write(v1.group("g").tasks_file, str(sleeper))
    assert {path: text for path, text in snapshot(v1).items() if path in before} == {
        **before,
        f"{v1.root}/cpuset/tasks": "102\n",
        f"{v1.root}/cpuset/cgroup.procs": "102\n",
    }
    assert not os.path.exists(v1.group("g/made").path)


def test_a_group_that_somebody_else_made_first_is_not_removed(
    v1: CgroupTree, journal: Journal
) -> None:
    writer, path = HostWriter(v1.files, journal), v1.group("g").path
    kernel_of(v1).fail_next(path, errno.EEXIST)
    writer.make_group(path)
    assert journal.entries == ()


def test_a_task_that_somebody_else_moved_on_stays_there(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    make_group(v1, "a", "0-3", tids=(sleeper,))
    make_group(v1, "b", "0-3")
    make_group(v1, "c", "0-3")
    writer = HostWriter(v1.files, journal)
    writer.move_task(sleeper, v1.group("a").path, v1.group("b").path)
    v1.files.write(v1.group("c").tasks_file, str(sleeper))
    writer.restore()
    assert v1.group("c").tasks() == [sleeper]


def test_a_task_moved_twice_comes_all_the_way_back(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    make_group(v1, "a", "0-3", tids=(sleeper,))
    make_group(v1, "b", "0-3")
    make_group(v1, "c", "0-3")
    writer = HostWriter(v1.files, journal)
    writer.move_task(sleeper, v1.group("a").path, v1.group("b").path)
    writer.move_task(sleeper, v1.group("b").path, v1.group("c").path)
    writer.restore()
    assert v1.group("a").tasks() == [sleeper]


@needs_two_cpus
def test_an_affinity_is_put_back(v1: CgroupTree, journal: Journal, sleeper: int) -> None:
    allowed = os.sched_getaffinity(sleeper)
    writer = HostWriter(v1.files, journal)
    writer.set_affinity(sleeper, {min(allowed)})
    assert os.sched_getaffinity(sleeper) == {min(allowed)}
    writer.restore()
    assert os.sched_getaffinity(sleeper) == allowed


@pytest.mark.parametrize("release", [(6, 1), (6, 2)])
def test_a_pin_in_a_group_is_journaled_where_the_kernel_will_not_keep_it(
    v1: CgroupTree,
    journal: Journal,
    sleeper: int,
    monkeypatch: pytest.MonkeyPatch,
    release: tuple[int, int],
) -> None:
    monkeypatch.setattr(kernels, "running", lambda: release)
    before = os.sched_getaffinity(sleeper)
    pin = {min(before)}
    os.sched_setaffinity(sleeper, pin)
    writer = HostWriter(v1.files, journal)
    writer.adopt_pins([sleeper, os.getpid()], before | {4096})
    writer.adopt_pins([os.getpid()], os.sched_getaffinity(0))
    assert len(journal.entries) == (2 if release == (6, 1) else 0)
    os.sched_setaffinity(sleeper, before)
    writer.restore()
    assert os.sched_getaffinity(sleeper) == (pin if release == (6, 1) else before)


def test_threads_that_were_pinned_before_are_told(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    first = min(os.sched_getaffinity(sleeper))
    os.sched_setaffinity(sleeper, {first})
    writer = HostWriter(v1.files, journal)
    writer.adopt_affinity(sleeper)
    assert writer.pins([first]) == {}
    assert writer.pins([first, first + 1]) == {sleeper: (first,)}
    writer.restore()


@needs_two_cpus
def test_a_process_gets_its_cpus_back_with_the_threads_it_started_meanwhile(
    v1: CgroupTree, journal: Journal
) -> None:
    allowed = os.sched_getaffinity(0)
    go = threading.Event()
    writer = HostWriter(v1.files, journal)
    writer.adopt_affinity(os.getpid())
    try:
        os.sched_setaffinity(0, {min(allowed)})
        thread = threading.Thread(target=go.wait)
        thread.start()
        assert thread.native_id is not None
        assert os.sched_getaffinity(thread.native_id) == {min(allowed)}
        writer.restore()
        assert os.sched_getaffinity(thread.native_id) == allowed
        assert os.sched_getaffinity(0) == allowed
    finally:
        os.sched_setaffinity(0, allowed)
        go.set()
    thread.join()


@needs_two_cpus
def test_a_thread_that_is_confined_again_gets_what_its_process_had_not_what_was_lent(
    v1: CgroupTree, journal: Journal
) -> None:
    allowed = os.sched_getaffinity(0)
    go, writer = threading.Event(), HostWriter(v1.files, journal)
    writer.adopt_affinity(os.getpid())
    least, lent = {min(allowed)}, {max(allowed)}
    journal.expect({}, given=[sorted(least), sorted(lent)])
    thread = threading.Thread(target=go.wait)
    try:
        os.sched_setaffinity(0, lent)
        thread.start()
        assert thread.native_id is not None
        writer.set_affinity(thread.native_id, least)
        assert os.sched_getaffinity(thread.native_id) == least
        writer.restore()
        assert os.sched_getaffinity(thread.native_id) == allowed
    finally:
        os.sched_setaffinity(0, allowed)
        go.set()
    thread.join()


@needs_two_cpus
def test_the_children_a_process_started_meanwhile_are_freed_and_older_ones_left(
    v1: CgroupTree, journal: Journal
) -> None:
    allowed = os.sched_getaffinity(0)
    writer, sleep = HostWriter(v1.files, journal), ["sleep", "100"]
    with subprocess.Popen(sleep) as older:
        os.sched_setaffinity(older.pid, {max(allowed)})
        started = tasks.start_time(older.pid)
        while tasks.start_time_of_newcomers() == started:
            time.sleep(0.001)
        writer.adopt_affinity(os.getpid())
        try:
            os.sched_setaffinity(0, {min(allowed)})
            script = ["sh", "-c", "sleep 100 & echo $!; wait"]
            with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as child:
                assert child.stdout
                grandchild = int(child.stdout.readline())
                assert os.sched_getaffinity(grandchild) == {min(allowed)}
                writer.restore()
                assert os.sched_getaffinity(child.pid) == allowed
                assert os.sched_getaffinity(grandchild) == allowed
                os.kill(grandchild, signal.SIGKILL)
        finally:
            os.sched_setaffinity(0, allowed)
            older_cpus = os.sched_getaffinity(older.pid)
            older.kill()
    assert older_cpus == {max(allowed)}


def test_the_guardian_sees_life_while_tasks_are_looked_at_before_they_move(
    v1: CgroupTree, journal: Journal, sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_group(v1, "a", "0-3", tids=(sleeper,))
    make_group(v1, "b", "0-3")
    did: list[str] = []
    started = tasks.started

    def looked_at(tids: Sequence[int]) -> Iterator[tuple[int, int]]:
        did.append("looked")
        return started(tids)

    monkeypatch.setattr(tasks, "started", looked_at)
    writer = HostWriter(v1.files, journal)
    monkeypatch.setattr(writer, "show_life", lambda: did.append("beat"))
    writer.move_task(sleeper, v1.group("a").path, v1.group("b").path)
    assert did[:2] == ["beat", "looked"]
    monkeypatch.undo()
    writer.restore()


def test_many_tasks_are_moved_and_those_refused_are_named(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    make_group(v1, "a", "0-3", tids=(sleeper, os.getpid()))
    make_group(v1, "b", "0-3")
    a, b = v1.group("a"), v1.group("b")
    kernel_of(v1).fail_next(b.tasks_file, errno.EINVAL)
    gone = 2**22 + 1  # above any pid
    writer = HostWriter(v1.files, journal)
    refusals = writer.move_tasks([(tid, a.path, b.path) for tid in (sleeper, gone, os.getpid())])
    assert [str(sleeper) in str(refusal) for refusal in refusals] == [True]
    assert (a.tasks(), b.tasks()) == ([sleeper], [os.getpid()])
    writer.restore()
    assert a.tasks() == sorted([sleeper, os.getpid()])


@pytest.mark.parametrize(("user", "kind"), [(0, WriteRefused), (1000, RightsError)])
@pytest.mark.parametrize("error", [errno.EACCES, errno.EPERM])
def test_a_refusal_for_want_of_rights_is_told_from_one_of_the_kernel(
    v1: CgroupTree,
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
    error: int,
    user: int,
    kind: type[Exception],
) -> None:
    make_group(v1, "g", "0-3")
    path = v1.group("g").cpus_file
    kernel_of(v1).fail_next(path, error)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with pytest.raises(kind, match=path):
        HostWriter(v1.files, journal).set(path, "1")


def test_the_original_mask_is_known_after_the_write(v1: CgroupTree, journal: Journal) -> None:
    make_group(v1, "g", "0-3")
    writer, path = HostWriter(v1.files, journal), v1.group("g").cpus_file
    assert writer.original_cpus(path) == {0, 1, 2, 3}
    writer.set(path, "1")
    assert writer.original_cpus(path) == {0, 1, 2, 3}


@needs_two_cpus
def test_another_thread_under_a_journaled_id_is_not_touched(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    allowed = os.sched_getaffinity(sleeper)
    os.sched_setaffinity(sleeper, {max(allowed)})
    journal.record_affinity(sleeper, 1, [min(allowed)])  # a start time before any process's
    HostWriter(v1.files, journal).restore()
    assert os.sched_getaffinity(sleeper) == {max(allowed)}


def test_controllers_given_to_children_are_taken_back(v2: CgroupTree, journal: Journal) -> None:
    make_group(v2, "g", "0-3")
    make_group(v2, "g/child")
    before = snapshot(v2)
    writer = HostWriter(v2.files, journal)
    writer.enable_controllers(v2.group("g").path, ["cpuset", "cpu"])
    writer.set(v2.group("g/child").cpus_file, "2")
    assert v2.group("g/child").effective_cpus() == {2}
    writer.restore()
    assert snapshot(v2) == before


def test_vanished_groups_and_tasks_do_not_stop_the_rest(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    make_group(v1, "a", "0-3", tids=(sleeper,))
    make_group(v1, "b", "0-3")
    writer = HostWriter(v1.files, journal)
    writer.set(v1.group("b").cpus_file, "1")
    writer.set(v1.group("a").cpus_file, "1")
    writer.make_group(v1.group("b/made").path)
    writer.move_task(sleeper, v1.group("a").path, v1.group("b/made").path)
    kernel_of(v1).vanish(v1.group("a").path)
    kernel_of(v1).vanish(v1.group("b/made").path)
    writer.restore()
    assert v1.group("b").cpus() == {0, 1, 2, 3}


def test_what_cannot_be_put_back_is_named_and_its_journal_kept(
    v1: CgroupTree, journal: Journal
) -> None:
    make_group(v1, "g", "0-3")
    make_group(v1, "h", "0-3")
    writer = HostWriter(v1.files, journal)
    writer.set(v1.group("g").cpus_file, "1")
    writer.set(v1.group("h").cpus_file, "1")
    Path(v1.root, REFUSALS).write_text(f"g/cpuset.cpus {errno.EBUSY}\n" * 9)
    with pytest.raises(RightsError, match=r"g/cpuset\.cpus \(was 0-3\): .*busy"):
        writer.restore()
    assert v1.group("h").cpus() == {0, 1, 2, 3}
    assert os.path.exists(journal.path)


NOBODY = 2**22 + 1
"""No process id is as high (PID_MAX_LIMIT)."""


class Turns(ProcessEvents):
    """What is read in one turn after the other."""

    def __init__(self, *turns: list[Birth | Death]) -> None:
        self.turns = list(turns)
        self.read_count = 0

    def read(self, most: int = 100) -> Iterator[Birth | Death]:  # noqa: ARG002
        yield from self.turns.pop(0) if self.turns else ()

    def close(self) -> None:
        pass


def journaled(journal: Journal) -> dict[int, tuple[int, ...]]:
    return {entry.tid: entry.cpus for entry in journal.entries if isinstance(entry, AffinityEntry)}


def test_orphans_born_between_two_sessions_are_journaled_by_the_second(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    journal.record(AffinityEntry(NOBODY, 1, (0, 1), 1))
    events = Turns([Birth(NOBODY, NOBODY + 1, NOBODY + 1), Birth(NOBODY + 1, sleeper, sleeper)])
    family = Family(NOBODY, open_events=lambda: events, known=[])
    writer = HostWriter(v1.files, journal, family=family)
    assert journaled(journal)[sleeper] == (0, 1)
    assert writer.take_family() is family
    assert writer.take_family() is None


def test_one_born_to_a_newcomer_that_ended_before_it_was_journaled_is_journaled(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    journal.record(AffinityEntry(NOBODY, 1, (0, 1), 1))
    parent = os.getpid()  # which lives when its birth is read
    events = Turns([Birth(NOBODY, parent, parent)], [Birth(parent, sleeper, sleeper)])
    family = Family(NOBODY, open_events=lambda: events, known=[])
    HostWriter(v1.files, journal).adopt_last_births(family)
    assert journaled(journal)[sleeper] == (0, 1)


def test_births_all_the_time_do_not_keep_it_from_its_end(
    v1: CgroupTree, journal: Journal, sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.record(AffinityEntry(NOBODY, 1, (0, 1), 1))
    births: list[Birth | Death] = [Birth(NOBODY, sleeper, sleeper)]
    events = Turns(*[births] * 50)
    family = Family(NOBODY, open_events=lambda: events, known=[])
    started = tasks.start_time(sleeper)
    monkeypatch.setattr(tasks, "start_time_of_newcomers", lambda: started)
    HostWriter(v1.files, journal).adopt_last_births(family)
    assert len(events.turns) == 49
    assert journaled(journal)[sleeper] == (0, 1)


def test_an_elastic_process_that_has_ended_leaves_its_cpus_to_those_born_later(
    v1: CgroupTree, journal: Journal, sleeper: int
) -> None:
    ended = [AffinityEntry(NOBODY + more, 1, (0, 1), 1) for more in range(100)]
    journal.record(*ended)
    writer = HostWriter(v1.files, journal)
    writer.adopt_forked_children(NOBODY, [])
    assert len(journaled(journal)) < len(ended)
    writer.adopt_forked_children(NOBODY, [(sleeper, NOBODY + 200)])
    assert journaled(journal)[sleeper] == (0, 1)
