"""Who goes home from a group that tasks were moved into, and who stays."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.contents import MovedEntry, OccupiedEntry, read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.moves import MovesBack, move
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.process.table import Process
from tests.unit.host.fake_trees import make_group, make_v1_tree

MOVED, CHILD, GRANDCHILD, ORPHAN, BEFORE, OF_BEFORE, JOINED, OLDER, SHELL, ADOPTED, ITS_CHILD = (
    range(101, 112)
)
MEMBER, OF_THE_REAPER = 112, 113
"""In the session of a subreaper: one in a moved task's process group, and one in its own."""
AT = 50
"""When the first task was moved, in clock ticks."""


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    tree = make_v1_tree(tmp_path / "tree")
    everybody = (
        MOVED,
        CHILD,
        GRANDCHILD,
        ORPHAN,
        BEFORE,
        OF_BEFORE,
        JOINED,
        OLDER,
        ADOPTED,
        ITS_CHILD,
        MEMBER,
        OF_THE_REAPER,
    )
    make_group(tree, "home", "0-3", tids=(SHELL,))
    make_group(tree, "there", "0-3", tids=everybody)
    return tree


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict[int, Process]:
    parents = {
        MOVED: SHELL,
        CHILD: MOVED,
        GRANDCHILD: CHILD,
        ORPHAN: 1,
        BEFORE: SHELL,
        OF_BEFORE: BEFORE,
        JOINED: SHELL,
        OLDER: 1,
        SHELL: 1,
        ADOPTED: SHELL,
        ITS_CHILD: ADOPTED,
        MEMBER: SHELL,
        OF_THE_REAPER: SHELL,
        1: 0,
    }
    late = (CHILD, GRANDCHILD, ORPHAN, OF_BEFORE, JOINED, ADOPTED, ITS_CHILD, MEMBER, OF_THE_REAPER)
    groups = {MEMBER: MOVED, OF_THE_REAPER: SHELL}
    of_the_shell = (JOINED, MEMBER, OF_THE_REAPER)
    made = {
        pid: Process(
            pid,
            parent,
            groups.get(pid, pid),
            SHELL if pid in of_the_shell else pid,
            AT + 5 if pid in late else 10,
        )
        for pid, parent in parents.items()
    }
    monkeypatch.setattr(tasks, "start_time", lambda tid: made[tid].start_time)
    monkeypatch.setattr(tasks, "process_of", lambda tid: tid)
    monkeypatch.setattr(tasks, "process_threads", lambda pid: [pid])
    return made


def test_children_of_moved_tasks_go_home_and_everybody_else_stays(
    tree: CgroupTree, table: dict[int, Process]
) -> None:
    home, there = tree.group("home"), tree.group("there")
    moved = MovedEntry(MOVED, 10, home.path, there.path)
    occupied = OccupiedEntry(there.path, 0, AT, (BEFORE,))
    told: list[str] = []
    back = MovesBack(
        [occupied, moved], tree.files, lambda *what: told.append(what[2]), table=lambda: table
    )
    back.give_back(moved)
    back.send_home(occupied)
    went = [MOVED, CHILD, GRANDCHILD, ORPHAN, ADOPTED, ITS_CHILD, MEMBER]
    assert home.tasks() == sorted([*went, SHELL])
    assert there.tasks() == [BEFORE, OF_BEFORE, JOINED, OLDER, OF_THE_REAPER]
    assert told == [f"task {tid}" for tid in went]


@pytest.mark.parametrize("lacking", [CHILD, ORPHAN, SHELL], ids=["a parent", "itself", "a reaper"])
def test_who_is_not_known_by_a_torn_table_is_looked_up_again(
    tree: CgroupTree, table: dict[int, Process], lacking: int
) -> None:
    home, there = tree.group("home"), tree.group("there")
    moved = MovedEntry(MOVED, 10, home.path, there.path)
    occupied = OccupiedEntry(there.path, 0, AT, (BEFORE,))
    torn = {pid: process for pid, process in table.items() if pid != lacking}
    tables = [torn, torn]
    back = MovesBack(
        [occupied, moved],
        tree.files,
        lambda *_: None,
        table=lambda: tables.pop() if tables else table,
    )
    back.give_back(moved)
    back.send_home(occupied)
    assert there.tasks() == [BEFORE, OF_BEFORE, JOINED, OLDER, OF_THE_REAPER]


def test_who_is_never_known_stays_where_it_is(tree: CgroupTree, table: dict[int, Process]) -> None:
    home, there = tree.group("home"), tree.group("there")
    moved = MovedEntry(MOVED, 10, home.path, there.path)
    torn = {pid: process for pid, process in table.items() if pid not in (MOVED, CHILD)}
    occupied = OccupiedEntry(there.path, 0, AT, (BEFORE,))
    MovesBack([occupied, moved], tree.files, lambda *_: None, table=lambda: torn).send_home(
        occupied
    )
    assert {CHILD, GRANDCHILD} <= set(there.tasks())


@pytest.mark.parametrize("elsewhere", [False, True], ids=["of the family", "a stranger"])
def test_a_child_goes_home_whose_parent_a_killed_agent_had_already_sent_home(
    tree: CgroupTree, table: dict[int, Process], *, elsewhere: bool
) -> None:
    """The parent is an orphan, so nothing else tells whose it is."""
    home, there = tree.group("home"), tree.group("there")
    make_group(tree, "elsewhere", "0-3")
    move(tree.files, ADOPTED, tree.group("elsewhere").path if elsewhere else home.path)
    moved = MovedEntry(MOVED, 10, home.path, there.path)
    occupied = OccupiedEntry(there.path, 0, AT, (BEFORE,))
    back = MovesBack([occupied, moved], tree.files, lambda *_: None, table=lambda: table)
    back.give_back(moved)
    back.send_home(occupied)
    assert (ITS_CHILD in there.tasks()) is elsewhere


def test_a_child_goes_home_whose_parent_ends_while_it_is_judged(
    tree: CgroupTree, table: dict[int, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can ask any more which groups the parent was in."""
    home, there = tree.group("home"), tree.group("there")
    make_group(tree, "ended", "0-3")  # in none that a moved task is in
    move(tree.files, ADOPTED, tree.group("ended").path)
    ended = {pid: process for pid, process in table.items() if pid != ADOPTED}
    ended[ITS_CHILD] = table[ITS_CHILD]._replace(parent=1)
    monkeypatch.setattr(
        tasks, "start_time", lambda tid: ended[tid].start_time if tid in ended else None
    )
    tables = [table]
    moved = MovedEntry(MOVED, 10, home.path, there.path)
    back = MovesBack(
        [moved], tree.files, lambda *_: None, table=lambda: tables.pop() if tables else ended
    )
    back.send_home(OccupiedEntry(there.path, 0, AT, (BEFORE,)))
    assert ITS_CHILD in home.tasks()


def test_a_group_into_which_nothing_was_moved_keeps_everybody(
    tree: CgroupTree, table: dict[int, Process]
) -> None:
    there = tree.group("there")
    before = there.tasks()
    back = MovesBack([], tree.files, lambda *_: None, table=lambda: table)
    back.send_home(OccupiedEntry(there.path, 0, AT, ()))
    assert there.tasks() == before


SHELL_SCRIPT = "while read line; do sleep 100 & echo $!; done"
Bear = Callable[[], int]


@pytest.fixture
def family() -> Iterator[tuple[int, Bear]]:
    """A shell, and what has it start a child."""
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", SHELL_SCRIPT], stdin=pipe, stdout=pipe, text=True) as shell:
        children: list[int] = []

        def bear() -> int:
            assert shell.stdin is not None
            assert shell.stdout is not None
            print(file=shell.stdin, flush=True)
            children.append(int(shell.stdout.readline()))
            return children[-1]

        yield shell.pid, bear
        for child in children:
            os.kill(child, signal.SIGKILL)


def test_the_writer_journals_who_was_there_and_sends_home_who_was_born_there(
    tmp_path: Path, family: tuple[int, Bear]
) -> None:
    pid, bear = family
    tree = make_v1_tree(tmp_path / "tree")
    make_group(tree, "home", "0-3", tids=(pid,))
    make_group(tree, "there", "0-3", tids=(os.getpid(),))
    home, there = tree.group("home"), tree.group("there")
    journal = Journal(str(tmp_path / "state"))
    writer = HostWriter(tree.files, journal)
    writer.move_task(pid, home.path, there.path)
    kept = [one for one in read_journal(journal.path).entries if isinstance(one, OccupiedEntry)]
    assert [one.threads for one in kept] == [(os.getpid(),)]
    child = bear()
    tree.files.write(there.tasks_file, str(child))  # where the kernel puts it
    writer.restore()
    assert home.tasks() == sorted([pid, child])
    assert there.tasks() == [os.getpid()]


def test_a_process_with_all_its_threads_is_moved_at_once_and_back(tmp_path: Path) -> None:
    program = "import threading; [threading.Thread(target=input).start() for _ in 'abc']; input()"
    with subprocess.Popen(
        ["python3", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        try:
            while len(threads := tasks.process_threads(process.pid)) < 4:
                pass
            tree = make_v1_tree(tmp_path / "tree")
            make_group(tree, "home", "0-3", tids=tuple(threads))
            make_group(tree, "there", "0-3")
            home, there = tree.group("home"), tree.group("there")
            logged: list[tuple[str, str, str]] = []
            journal = Journal(str(tmp_path / "state"))
            writer = HostWriter(tree.files, journal, lambda *what: logged.append(what))
            writer.move_tasks([(tid, home.path, there.path) for tid in threads])
            assert there.tasks() == threads
            assert logged == [(there.path, home.path, str(process.pid))]
            writer.restore()
            assert home.tasks() == threads
        finally:
            process.kill()


def test_undoing_moves_lists_a_process_once_not_for_each_of_its_threads(
    tree: CgroupTree, table: dict[int, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, there = tree.group("home"), tree.group("there")
    asked: list[int] = []

    def threads_of(pid: int) -> list[int]:
        asked.append(pid)
        return [MOVED, CHILD, 200]  # one that is elsewhere: they go home one by one

    monkeypatch.setattr(tasks, "process_of", lambda _: MOVED)
    monkeypatch.setattr(tasks, "process_threads", threads_of)
    moves = [
        MovedEntry(tid, table[tid].start_time, home.path, there.path) for tid in (MOVED, CHILD)
    ]
    back = MovesBack(moves, tree.files, lambda *_: None, table=lambda: table)
    for moved in reversed(moves):
        back.give_back(moved)
    assert home.tasks() == [MOVED, CHILD, SHELL]
    assert asked == [MOVED]
