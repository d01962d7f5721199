from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.affinities import OurAffinities
from smartharvest.host.journal.contents import NOT_KNOWN, Given, read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.restoration import put_back
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from tests.unit.host.fake_trees import make_v1_tree

ALLOWED = sorted(os.sched_getaffinity(0))
LAST, BOTH = ALLOWED[-1], ALLOWED[-2:]

needs_two_cpus = pytest.mark.skipif(len(ALLOWED) < 2, reason="needs two CPUs")


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
