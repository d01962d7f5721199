"""What is concluded from wakes beside an idle-class task, and that nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from smartharvest.errors import WriteRefused
from smartharvest.host import preemption
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import recover
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.preemption import (
    GROUP,
    Kept,
    Preemption,
    probe_preemption,
    probe_task_policy,
)
from tests.unit.host.fake_trees import make_v2_tree

SOON = Kept((1.0,) * 10, (12.0,) * 10)
LATE = Kept((1.0,) * 10, (12.0, 900.0) * 5)
DISTURBED = Kept((1.0,) * 10, (12.0, 900.0) * 5, alone=0.5)
SILENT = Kept((), (12.0,) * 10)


class FakeWakes:
    """Series of wakes with the results it is given, in turn; notes what the host is meanwhile."""

    def __init__(self, tree: CgroupTree, group: list[Kept], tasks: Kept = LATE) -> None:
        self._tree, self._group, self._tasks = tree, iter(group), tasks
        self.idle: list[str] = []
        self.policies: list[bool] = []

    def __call__(
        self,
        _cpu: int,
        _waker_cpu: int | None,
        directory: str | None = None,
        *,
        idle_policy: bool,
        enter_idle: Callable[[], None],
        leave_idle: Callable[[], None],
    ) -> Kept:
        enter_idle()
        self.idle.append(self._tree.files.read(f"{directory}/cpu.idle").strip())
        self.policies.append(idle_policy)
        leave_idle()
        return self._tasks if idle_policy else next(self._group)


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    return make_v2_tree(tmp_path / "cgroup")


@pytest.fixture
def writer(tree: CgroupTree, tmp_path: Path) -> Iterator[HostWriter]:
    with closing(Journal(str(tmp_path / "state"))) as journal:
        yield HostWriter(tree.files, journal)


def everyone(cpus: Collection[int]) -> list[int]:
    return [*cpus]


def tried(tree: CgroupTree, writer: HostWriter, wakes: FakeWakes) -> Preemption:
    mine = sorted(os.sched_getaffinity(0))
    return probe_preemption(
        tree, writer, mine, measure=wakes, find_idle=everyone, clock_s=lambda: 0.0
    )


def groups(tree: CgroupTree) -> list[str]:
    top = tree.group("").directory("cpu")
    assert top is not None
    return [name for name in os.listdir(top) if name.startswith(GROUP)]


def test_a_kernel_that_keeps_its_promise_is_relied_on(tree: CgroupTree, writer: HostWriter) -> None:
    wakes = FakeWakes(tree, [SOON])
    found = tried(tree, writer, wakes)
    assert (found.defence, found.gives_way) == ("cpu.idle", True)
    assert wakes.idle == ["1"]
    assert "12 us after a wake from another CPU" in found.reason


def test_one_that_does_not_is_asked_twice_and_then_about_tasks(
    tree: CgroupTree, writer: HostWriter
) -> None:
    wakes = FakeWakes(tree, [LATE, LATE], tasks=SOON)
    found = tried(tree, writer, wakes)
    assert (found.defence, found.gives_way, found.tasks_give_way) == ("confinement", False, True)
    assert wakes.policies == [False, False, True]
    assert "chrt --idle 0" in found.reason


@pytest.mark.parametrize("answers", [[LATE, SOON], [SILENT], [DISTURBED]])
def test_in_doubt_only_the_lent_cores_protect(
    tree: CgroupTree, writer: HostWriter, answers: list[Kept]
) -> None:
    found = tried(tree, writer, FakeWakes(tree, answers))
    assert (found.defence, found.gives_way) == ("confinement", None)


def test_what_there_is_no_time_for_is_not_tried(tree: CgroupTree, writer: HostWriter) -> None:
    times = iter([0.0, *[preemption.MOST_S] * 10])
    mine = sorted(os.sched_getaffinity(0))
    wakes = FakeWakes(tree, [LATE])
    found = probe_preemption(
        tree, writer, mine, measure=wakes, find_idle=everyone, clock_s=lambda: next(times)
    )
    assert (found.gives_way, wakes.policies) == (None, [False])


def test_where_no_cpu_is_idle_nothing_is_touched(tree: CgroupTree, writer: HostWriter) -> None:
    def nobody(_cpus: Collection[int]) -> list[int]:
        return []

    wakes = FakeWakes(tree, [])
    found = probe_preemption(tree, writer, [0, 1], measure=wakes, find_idle=nobody)
    assert (found.defence, found.gives_way, wakes.idle) == ("cpu.idle", None, [])
    assert "no CPU of the pool was idle" in found.reason


def test_a_refusal_is_a_reason_and_leaves_nothing(tree: CgroupTree, writer: HostWriter) -> None:
    class Refused(FakeWakes):
        def __call__(self, *_: object, **__: object) -> Kept:
            raise WriteRefused("/x/cpu.idle", "1", 1)

    found = tried(tree, writer, Refused(tree, []))
    assert (found.defence, found.gives_way) == ("confinement", None)
    assert "/x/cpu.idle" in found.reason
    assert groups(tree) == []


def test_the_group_is_removed_and_out_of_the_journal(tree: CgroupTree, tmp_path: Path) -> None:
    with closing(Journal(str(tmp_path / "state"))) as journal:
        tried(tree, HostWriter(tree.files, journal), FakeWakes(tree, [SOON]))
        assert journal.entries == ()
    assert groups(tree) == []


def test_tasks_are_tried_without_a_group() -> None:
    def wakes(_cpu: int, _waker: int | None, *, idle_policy: bool, **_: object) -> Kept:
        assert idle_policy
        return SOON

    found = probe_task_policy(measure=wakes, find_idle=everyone)
    assert found.tasks_give_way is True


DYING = """
import os, signal, sys
from smartharvest.host import preemption
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter

class Dying(preemption.WakeProbe):
    def run(self):
        os.kill(os.getpid(), signal.SIGKILL)

preemption.WakeProbe = Dying
tree = CgroupTree.discover()
writer = HostWriter(tree.files, Journal(sys.argv[1]))
mine = sorted(os.sched_getaffinity(0))
print(preemption.probe_preemption(tree, writer, mine, find_idle=list), flush=True)
"""


@pytest.mark.root
def test_nothing_is_left_on_this_host(tmp_path: Path) -> None:
    tree, made = CgroupTree.discover(), []
    with closing(Journal(str(tmp_path / "state"))) as journal:
        writer = HostWriter(tree.files, journal, lambda path, _, value: made.append((path, value)))
        found = probe_preemption(
            tree, writer, sorted(os.sched_getaffinity(0)), find_idle=list, clock_s=lambda: 0.0
        )
        writer.restore()
    assert any(GROUP in path and value == "mkdir" for path, value in made), found.reason
    assert groups(tree) == []


@pytest.mark.root
def test_nothing_is_left_after_kill_9(tmp_path: Path) -> None:
    tree = CgroupTree.discover()
    state = str(tmp_path / "state")
    killed = subprocess.run(
        [sys.executable, "-c", DYING, state], check=False, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    report = recover(tree.files, state)
    assert report.failed == []
    assert any(GROUP in line and "removed" in line for line in report.restored)
    assert groups(tree) == []


def test_few_answers_are_none() -> None:
    few = (1.0,) * (preemption.LEAST_ANSWERS - 1)
    assert Kept(few, None).gives_way() is None
    assert Kept((*few, 1.0), None).gives_way() is True
    assert Kept((*few, 1.0), few).gives_way() is None
