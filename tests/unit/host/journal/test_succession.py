"""A batch that stays confined from an agent's death until its successor lends."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal import succession
from smartharvest.host.journal.contents import read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import RecoveryReport, recover
from smartharvest.host.journal.succession import take_over
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from tests.unit.host.fake_trees import make_group, make_v1_tree

DEAD = 2**22 + 1
"""More than any process id."""
SETTINGS = {"mechanism": "'merge'"}


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    tree = make_v1_tree(tmp_path / "tree")
    make_group(tree, "batch", cpus="0-7")
    return tree


@pytest.fixture
def state(tree: CgroupTree, tmp_path: Path) -> Path:
    """Where an agent that has died had lent two cores next to its minimum, CPU 7."""
    state, file = tmp_path / "state", tree.group("batch").cpus_file
    journal = Journal(str(state), claims=claims(tree), arrangement=SETTINGS)
    writer = HostWriter(tree.files, journal)
    writer.set(tree.group("batch").idle_file or "", "1")
    writer.adopt(file)
    journal.expect({file: ["7", "5-7"]}, minimum=((file, "7"),))
    tree.files.write(file, "5-7")
    journal.release()
    for path in state.iterdir():
        path.rename(path.with_name(path.name.replace(str(os.getpid()), str(DEAD))))
    change(state, pid=DEAD)
    return state


def claims(tree: CgroupTree) -> list[str]:
    return ["/web", tree.group("batch").path]


def change(state: Path, **values: Any) -> None:
    """Other ``values`` in the journal of the dead."""
    path = state / f"agent-{DEAD}.journal"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def succeed(tree: CgroupTree, state: Path, **other: Any) -> Journal | None:
    return take_over(
        tree.files,
        str(state),
        **{"claims": claims(tree), "root": "", "arrangement": SETTINGS, **other},
    )


def test_the_next_agent_takes_the_journal_over_and_the_batch_is_never_let_go(
    tree: CgroupTree, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = tree.group("batch")
    written: list[tuple[str, str]] = []
    write = type(tree.files).write

    def note(files: KernelFiles, path: str, value: str) -> None:
        written.append((path, value.strip()))
        write(files, path, value)

    with monkeypatch.context() as noting:
        noting.setattr(type(tree.files), "write", note)
        journal = succeed(tree, state)
        assert recover(tree.files, str(state)) == RecoveryReport(live=[os.getpid()])
    assert written == [(group.cpus_file, "7")]  # who died had still lent
    assert journal is not None
    assert [path.name for path in state.glob("*.journal")] == [f"agent-{os.getpid()}.journal"]
    heir = read_journal(journal.path)
    assert heir.minimum == ((group.cpus_file, "7"),)
    assert heir.ours[group.cpus_file] == ["7", "5-7"]
    HostWriter(tree.files, journal).restore()
    assert group.cpus() == set(range(8))
    assert tree.files.read(group.idle_file or "") == "0\n"
    assert list(state.iterdir()) == []


def test_should_the_successor_die_too_everything_is_put_back(
    tree: CgroupTree, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(succession, "remove", fail)  # right between the two journals
    with pytest.raises(InterruptedError):
        succeed(tree, state)
    for path in state.glob(f"*{os.getpid()}*.lock"):
        path.unlink()  # as the kernel drops the lock
    own = state / f"agent-{os.getpid()}.journal"
    own.write_text(json.dumps({**json.loads(own.read_text()), "start_time": 1}))
    recover(tree.files, str(state))
    assert tree.group("batch").cpus() == set(range(8))
    assert list(state.glob("*.journal")) == []


def fail(*_: object) -> None:
    raise InterruptedError


def test_without_room_for_a_journal_recovery_is_left_the_old_one(
    tree: CgroupTree, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_journal: Journal) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Journal, "_write", refuse)
        assert succeed(tree, state) is None
    assert [path.name for path in state.glob("*.journal")] == [f"agent-{DEAD}.journal"]
    recover(tree.files, str(state))
    assert tree.group("batch").cpus() == set(range(8))


def a_file(directory: str, name: str, inode: int = 0) -> list[dict[str, Any]]:
    return [{"kind": "file", "path": f"{directory}/{name}", "original": "0-7", "inode": inode}]


LEFT_ALONE: dict[str, Callable[[CgroupTree], dict[str, Any]]] = {
    "of another boot": lambda _: {"boot_id": "another"},
    "of an agent that lives": lambda _: {
        "pid": os.getppid(),
        "start_time": tasks.start_time(os.getppid()),
    },
    "of an earlier release": lambda _: {"arrangement": None},
    "with threads of a process": lambda _: {
        "entries": [
            {"kind": "affinity", "tid": 1, "start_time": 2, "cpus": [3], "newcomers_since": 4}
        ]
    },
    "that froze the batch": lambda tree: {
        "entries": a_file(tree.group("batch").path, "freezer.state")
    },
    "of a group that is another one now": lambda tree: {
        "entries": a_file(tree.group("batch").path, "cpuset.cpus", inode=1)
    },
}


@pytest.mark.parametrize("left", LEFT_ALONE)
def test_recovery_is_left_a_journal(tree: CgroupTree, state: Path, left: str) -> None:
    change(state, **LEFT_ALONE[left](tree))
    before = (state / f"agent-{DEAD}.journal").read_bytes()
    assert succeed(tree, state) is None
    assert (state / f"agent-{DEAD}.journal").read_bytes() == before
    assert tree.group("batch").cpus() == {5, 6, 7}


@pytest.mark.parametrize(
    "other", [{"claims": ["/web", "/other"]}, {"arrangement": {"mechanism": "'affinity'"}}]
)
def test_with_other_targets_or_settings_recovery_is_left_a_journal(
    tree: CgroupTree, state: Path, other: dict[str, Any]
) -> None:
    assert succeed(tree, state, **other) is None
    assert tree.group("batch").cpus() == {5, 6, 7}
