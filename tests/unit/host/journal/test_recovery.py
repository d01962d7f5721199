from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smartharvest.host.cgroup.fake_kernel import REFUSALS
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal import recovery
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import recover
from smartharvest.host.journal.restoration import is_ours
from smartharvest.host.journal.writer import HostWriter
from tests.cpus import ALLOWED, needs_two_cpus
from tests.unit.host.fake_trees import make_group, make_v1_tree

AGENT = """
import os, signal, sys
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
root, state, nudged = sys.argv[1:]
tree = CgroupTree.discover(root)
journal = Journal(state, claims=["/web", tree.group("g").path])
writer = HostWriter(tree.files, journal)
writer.set(tree.group("g").cpus_file, "1")
writer.set(tree.group("g").idle_file, "1")
if nudged := int(nudged):
    os.sched_setaffinity(nudged, {max(os.sched_getaffinity(nudged))})
    journal.page.nudge_slot.cast("i")[0] = nudged
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    tree = make_v1_tree(tmp_path / "tree")
    make_group(tree, "g", "0-3")
    tree.files.write(f"{tree.group('g').cpu_path}/cpu.shares", "4096")
    return tree


def kill_an_agent_in(tree: CgroupTree, state: Path, nudged: int = 0) -> Path:
    """Runs an agent that is killed amid its work; the journal it leaves."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", AGENT, tree.root, str(state), str(nudged)]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    (journal,) = state.glob("*.journal")
    return journal


def test_nothing_to_do_is_fine(tree: CgroupTree, tmp_path: Path) -> None:
    report = recover(tree.files, str(tmp_path / "state"))
    assert report == recovery.RecoveryReport()


def test_a_killed_agents_changes_are_put_back_once(tree: CgroupTree, tmp_path: Path) -> None:
    state = tmp_path / "state"
    kill_an_agent_in(tree, state)
    assert tree.group("g").cpus() == {1}
    report = recover(tree.files, str(state))
    assert len(report.restored) == 3  # the mask, cpu.idle and the weight that it took
    assert tree.group("g").cpus() == {0, 1, 2, 3}
    assert tree.files.read(f"{tree.group('g').cpu_path}/cpu.shares") == "4096\n"
    assert os.listdir(state) == []
    assert recover(tree.files, str(state)) == recovery.RecoveryReport()


def test_a_living_agent_is_left_alone(tree: CgroupTree, tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"))
    HostWriter(tree.files, journal).set(tree.group("g").cpus_file, "1")
    report = recover(tree.files, str(tmp_path / "state"))
    assert report.live == [os.getpid()]
    assert tree.group("g").cpus() == {1}
    journal.close()


def test_a_living_agent_whose_lock_was_deleted_is_left_alone(
    tree: CgroupTree, tmp_path: Path
) -> None:
    journal = Journal(str(tmp_path))
    HostWriter(tree.files, journal).set(tree.group("g").cpus_file, "1")
    (lock,) = tmp_path.glob("*.lock")
    lock.unlink()
    assert recover(tree.files, str(tmp_path)).live == [os.getpid()]
    assert tree.group("g").cpus() == {1}
    journal.close()


def test_a_journal_from_before_the_last_boot_is_discarded(
    tree: CgroupTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kill_an_agent_in(tree, tmp_path / "state")
    monkeypatch.setattr(recovery, "boot_id", lambda: "the next one")
    report = recover(tree.files, str(tmp_path / "state"))
    assert (report.discarded, report.restored) == ([str(path)], [])
    assert not path.exists()
    assert tree.group("g").cpus() == {1}


def test_a_thread_that_the_loop_had_pinned_is_free_again(tree: CgroupTree, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "100"]) as sleeper:
        tree.files.write(tree.group("g").tasks_file, str(sleeper.pid))
        allowed = os.sched_getaffinity(sleeper.pid)
        kill_an_agent_in(tree, tmp_path / "state", nudged=sleeper.pid)
        assert len(os.sched_getaffinity(sleeper.pid)) == 1
        recover(tree.files, str(tmp_path / "state"))
        assert os.sched_getaffinity(sleeper.pid) == allowed
        sleeper.kill()


@needs_two_cpus
@pytest.mark.parametrize("shrunk", [True, False])
def test_a_pinned_thread_whose_group_has_lost_that_cpu_shows_all_that_is_left(
    tree: CgroupTree, tmp_path: Path, shrunk: bool
) -> None:
    with subprocess.Popen(["sleep", "100"]) as sleeper:
        group = tree.group("g")
        tree.files.write(group.tasks_file, str(sleeper.pid))
        kill_an_agent_in(tree, tmp_path / "state", nudged=sleeper.pid)
        os.sched_setaffinity(sleeper.pid, ALLOWED[-2:])
        left = ALLOWED[-2:] if shrunk else ALLOWED[-1:]
        tree.files.write(group.cpus_file, ",".join(map(str, left)))
        report = recover(tree.files, str(tmp_path / "state"))
        assert any("unpinned" in line for line in report.restored) is shrunk
        sleeper.kill()


@needs_two_cpus
def test_another_thread_under_the_id_of_a_pinned_one_is_not_touched(
    tree: CgroupTree, tmp_path: Path
) -> None:
    with subprocess.Popen(["sleep", "100"]) as stranger:
        tree.files.write(tree.group("").tasks_file, str(stranger.pid))
        kill_an_agent_in(tree, tmp_path / "state", nudged=stranger.pid)
        own = os.sched_getaffinity(stranger.pid)
        assert len(own) == 1
        recover(tree.files, str(tmp_path / "state"))
        assert os.sched_getaffinity(stranger.pid) == own
        stranger.kill()


def test_a_damaged_journal_is_reported_kept_and_does_not_hide_another(
    tree: CgroupTree, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    kill_an_agent_in(tree, state)
    damaged = state / "agent-1.journal"
    damaged.write_text("{")
    report = recover(tree.files, str(state))
    assert [str(damaged) in str(error) for error in report.damaged] == [True]
    assert damaged.exists()
    assert tree.group("g").cpus() == {0, 1, 2, 3}


def test_what_cannot_be_put_back_yet_is_at_the_next_recovery(
    tree: CgroupTree, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    kill_an_agent_in(tree, state)
    Path(tree.root, REFUSALS).write_text(f"g/cpuset.cpus {errno.EACCES}\n" * 9)
    assert len(recover(tree.files, str(state)).failed) == 1
    Path(tree.root, REFUSALS).unlink()
    assert recover(tree.files, str(state)).failed == []
    assert tree.group("g").cpus() == {0, 1, 2, 3}
    assert os.listdir(state) == []


def test_what_an_agent_leaves_that_had_no_journal_yet_is_swept_away(
    tree: CgroupTree, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    living = Journal(str(state))
    for name in ("agent-1.lock", "agent-1.shared", "agent-2.sock", "agent-3.bound"):
        (state / name).write_text("")
    recover(tree.files, str(state))
    assert {path.suffix for path in state.iterdir()} == {".journal", ".lock", ".shared"}
    living.close()
    assert os.listdir(state) == []


def test_what_somebody_else_has_written_since_is_left_alone(
    tree: CgroupTree, tmp_path: Path
) -> None:
    kill_an_agent_in(tree, tmp_path / "state")
    tree.files.write(tree.group("g").cpus_file, "2-3")
    report = recover(tree.files, str(tmp_path / "state"))
    assert tree.group("g").cpus() == {2, 3}
    assert report.left == [
        f"{tree.group('g').cpus_file}: holds '2-3', which another process wrote; left alone"
    ]
    assert tree.files.read(f"{tree.group('g').cpu_path}/cpu.shares") == "4096\n"
    assert os.listdir(tmp_path / "state") == []


def test_a_weight_that_somebody_else_has_written_since_is_left_alone(
    tree: CgroupTree, tmp_path: Path
) -> None:
    kill_an_agent_in(tree, tmp_path / "state")
    directory = tree.group("g").cpu_path
    tree.files.write(f"{directory}/cpu.idle", "0")
    tree.files.write(f"{directory}/cpu.shares", "333")
    recover(tree.files, str(tmp_path / "state"))
    assert tree.files.read(f"{directory}/cpu.shares") == "333\n"


def test_a_new_group_by_an_old_name_is_left_alone(tree: CgroupTree, tmp_path: Path) -> None:
    kill_an_agent_in(tree, tmp_path / "state")
    group = tree.group("g")
    os.rename(group.path, f"{group.path}-before")  # so that the kernel cannot reuse the inode
    tree.files.mkdir(group.path)
    tree.files.write(group.cpus_file, "1")
    report = recover(tree.files, str(tmp_path / "state"))
    assert group.cpus() == {1}
    assert f"{group.path}: is another group of that name; left alone" in report.left
    assert os.listdir(tmp_path / "state") == []


def test_a_mask_that_has_lost_only_what_went_offline_is_still_ours() -> None:
    def ours(now: str, online: set[int]) -> bool:
        path = "/x/cpuset.cpus"
        return is_ours(path, now, "0-3", {path: ["1-3"]}, lambda: online)

    assert ours("1-2", {0, 1, 2})
    assert not ours("1-2", {0, 1, 2, 3})
    assert not ours("2", {0, 1, 2})


CHOOSING_AGENT = """
import os, signal, sys
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
root, state, lent = sys.argv[1:]
tree = CgroupTree.discover(root)
journal = Journal(state, claims=["/web", tree.group("g").path])
cpus_file = tree.group("g").cpus_file
HostWriter(tree.files, journal).adopt(cpus_file)
journal.expect({cpus_file: ["3"]}, chosen={cpus_file: ("1-3", "3")})
journal.page.choice_slots[0] = 0b0101  # CPUs 0 and 2 were in force,
journal.page.choice_slots[128] = 0b1010  # or 1 and 3 are
tree.files.write(cpus_file, lent)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("lent", "is_ours"), [("3", True), ("2-3", True), ("1,3", True), ("1-2", False), ("1", False)]
)
def test_a_chosen_set_is_ours_if_it_was_journaled(
    tree: CgroupTree, tmp_path: Path, lent: str, is_ours: bool
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    state = str(tmp_path / "state")
    command = [sys.executable, "-c", CHOOSING_AGENT, tree.root, state, lent]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    report = recover(tree.files, state)
    assert not report.failed
    assert bool(report.left) == (not is_ours)
    assert tree.files.read(tree.group("g").cpus_file).strip() == ("0-3" if is_ours else lent)
