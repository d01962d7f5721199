"""What cannot be: one line that names it, the documented exit code, and the tree untouched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from smartharvest.agent.supervisor import Supervisor
from tests.commands import smartharvest, smartharvest_here
from tests.integration.processes import Processes
from tests.integration.supervisors import settings_for
from tests.integration.worlds import EITHER, World, make_world


def refuse(world: World, *arguments: str, code: int) -> str:
    """The line an agent ends with, having left the tree and the state directory alone."""
    before = world.files()
    outcome = smartharvest_here("agent", *world.arguments, *arguments)
    assert outcome.code == code, outcome
    assert outcome.out == ""
    assert world.files() == before
    assert world.journals() == []
    return outcome.failure


def test_equal_groups(quiet_world: World) -> None:
    line = refuse(quiet_world, "--primary", "cgroup:web", "--elastic", "cgroup:web", code=2)
    assert line == "elastic: cgroup:web is a primary, too; name separate targets"


def test_one_group_by_two_names(quiet_world: World) -> None:
    path = quiet_world.tree.group("web").path
    os.symlink(path, f"{path}-too")
    line = refuse(quiet_world, "--primary", "cgroup:web", "--elastic", f"cgroup:{path}-too", code=4)
    assert "they are the same group; name separate targets" in line


@pytest.mark.parametrize(
    ("primary", "elastic"), [("batch/inner", "batch"), ("batch", "batch/inner"), ("", "batch")]
)
def test_nested_groups(quiet_world: World, primary: str, elastic: str) -> None:
    if quiet_world.tree.version == 2:
        control = f"{quiet_world.elastic.path}/cgroup.subtree_control"
        quiet_world.kernel.write(control, "+cpuset +cpu")
    quiet_world.add_group("batch/inner", "0-7")
    primary = primary or quiet_world.tree.group("").path
    code = 4 if os.path.isabs(primary) else 2  # names alone show what relative ones are
    line = refuse(
        quiet_world, "--primary", f"cgroup:{primary}", "--elastic", f"cgroup:{elastic}", code=code
    )
    assert " lies in " in line


def test_two_primaries_that_are_one(quiet_world: World) -> None:
    path = quiet_world.tree.group("web").path
    line = refuse(quiet_world, *quiet_world.targets, "--primary", f"cgroup:{path}", code=4)
    assert "they are the same group" in line


def test_the_root_group_as_elastic(quiet_world: World) -> None:
    path = quiet_world.tree.group("").path
    targets = ("--primary", "cgroup:web", "--elastic", f"cgroup:{path}")
    assert "the root group cannot be confined" in refuse(quiet_world, *targets, code=4)


@pytest.mark.parametrize("side", ["--primary", "--elastic"])
def test_a_missing_group(quiet_world: World, side: str) -> None:
    other = {"--primary": "--elastic", "--elastic": "--primary"}[side]
    line = refuse(quiet_world, side, "cgroup:nobody", other, "cgroup:web", code=4)
    path = quiet_world.tree.group("nobody").path
    assert line == f"cgroup:nobody: {path} does not exist; make the group first"


def test_a_path_outside_the_tree(quiet_world: World) -> None:
    line = refuse(quiet_world, "--primary", "cgroup:../../etc", "--elastic", "cgroup:web", code=4)
    assert "not in the cgroup tree" in line


def test_a_v1_directory_that_is_no_cpuset(tmp_path: Path) -> None:
    world = make_world(tmp_path, 1)
    (Path(world.tree.root) / "cpuset" / "plain").mkdir()
    line = refuse(world, "--primary", "cgroup:web", "--elastic", "cgroup:plain", code=4)
    assert "plain is no cpuset: it has no cpuset.cpus" in line


def test_a_v2_group_without_the_cpuset_controller(tmp_path: Path) -> None:
    world = make_world(tmp_path, 2)
    world.kernel.write(f"{world.elastic.path}/cgroup.subtree_control", "+cpu")
    world.kernel.mkdir(f"{world.elastic.path}/inner")
    line = refuse(world, "--primary", "cgroup:web", "--elastic", "cgroup:batch/inner", code=4)
    assert line.endswith(f"write +cpuset into {world.elastic.path}/cgroup.subtree_control")


def test_a_v2_tree_without_the_cpuset_controller(tmp_path: Path) -> None:
    world = make_world(tmp_path, 2)
    controllers = Path(world.tree.root) / "cgroup.controllers"
    controllers.write_text("cpu memory\n")
    line = refuse(world, *world.targets, code=3)
    assert line.startswith(f"{controllers}: the cpuset controller is not among")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cores", "0-9"), "cores: 8-9 is not online here; choose among 0-7"),
        (("--cores", "8"), "cores: 8 is not online here"),
        (("--elastic-min", "8"), "elastic_min: 8 leaves the primary none of the pool's 8 cores"),
        (("--elastic-min", "3", "--cores", "0-1"), "choose 0..1"),
        (("--keep-idle", "8"), "keep_idle: 8 is not possible with 7 primary cores"),
    ],
)
def test_cores_that_cannot_be(quiet_world: World, arguments: tuple[str, ...], words: str) -> None:
    assert words in refuse(quiet_world, *quiet_world.targets, *arguments, code=2)


def test_cores_that_no_primary_has(quiet_world: World) -> None:
    web = quiet_world.tree.group("web")
    quiet_world.kernel.write(web.cpus_file, "0-3")
    line = refuse(quiet_world, *quiet_world.targets, "--cores", "4-7", code=2)
    assert line == "cores: no primary may run on 4-7; the primaries have 0-3"


def test_a_parent_that_cannot_give_the_elastic_group_any_of_them(tmp_path: Path) -> None:
    world = make_world(tmp_path, 1)
    world.add_group("small", "0-1")
    world.add_group("small/batch", "0-1")
    world.kernel.write(world.tree.group("web").cpus_file, "4-7")
    line = refuse(world, "--primary", "cgroup:web", "--elastic", "cgroup:small/batch", code=4)
    assert "no core can be lent: the elastic target's parent has none of them" in line


def test_a_process_that_does_not_exist(quiet_world: World) -> None:
    targets = ("--primary", "cgroup:web", "--elastic", "pid:2147483647")
    assert refuse(quiet_world, *targets, code=4) == "pid:2147483647: no such process"


def test_a_process_that_is_in_the_other_sides_group(
    quiet_world: World, processes: Processes
) -> None:
    pid = processes.asleep()
    listing = "tasks" if quiet_world.tree.version == 1 else "cgroup.procs"
    quiet_world.kernel.write(f"{quiet_world.elastic.path}/{listing}", str(pid))
    line = refuse(quiet_world, "--primary", f"pid:{pid}", "--elastic", "cgroup:batch", code=4)
    assert f"both have thread {pid}" in line


def test_a_freezer_for_a_process(quiet_world: World, processes: Processes) -> None:
    targets = ("--primary", "cgroup:web", "--elastic", f"pid:{processes.asleep()}")
    line = refuse(quiet_world, *targets, "--park", "freeze", code=2)
    assert line == "park: freeze needs an elastic group, not a process"


def test_a_tree_that_is_none(tmp_path: Path) -> None:
    arguments = ("--primary", "cgroup:web", "--elastic", "cgroup:batch", "--cgroup-root")
    empty = smartharvest_here("agent", *arguments, str(tmp_path))
    assert (empty.code, "neither cgroup.controllers (v2) nor cpuset/ (v1)" in empty.failure) == (
        2,
        True,
    )
    missing = smartharvest_here("agent", *arguments, str(tmp_path / "nowhere"))
    assert missing.failure == f"cgroup root {tmp_path / 'nowhere'}: no such directory"


# --- where the originals are to be saved ---------------------------------------------------------


def test_a_state_directory_that_cannot_be_made(quiet_world: World, tmp_path: Path) -> None:
    before = quiet_world.files()
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        arguments = ("--cgroup-root", quiet_world.tree.root, "--state-dir", str(tmp_path / place))
        outcome = smartharvest_here("agent", *arguments, *quiet_world.targets)
        assert outcome.code == 3
        assert outcome.failure.startswith(str(tmp_path / "file"))
    assert quiet_world.files() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_state_directory_without_the_right_to_write(quiet_world: World) -> None:
    quiet_world.state_dir.mkdir(mode=0o500)
    assert str(quiet_world.state_dir) in refuse(quiet_world, *quiet_world.targets, code=3)


@EITHER
@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit of util-linux")
@pytest.mark.parametrize("missing", [1.0, 0.7, 0.3, 0.05])
def test_a_full_state_directory(quiet_world: World, missing: float) -> None:
    settings = settings_for(quiet_world)
    with Supervisor(settings) as session:
        assert session.arrangement.undo is not None
        enough = os.path.getsize(session.arrangement.undo.journal.path)
    before = quiet_world.files()
    outcome = smartharvest(
        *("agent", *quiet_world.arguments, *quiet_world.targets, "--duration", "100ms"),
        largest_file=int(enough * (1 - missing)),
    )
    assert outcome.code == 3
    assert "the journal cannot be written: File too large" in outcome.failure
    assert quiet_world.files() == before
    assert quiet_world.journals() == []


def test_a_damaged_journal_is_named_and_kept(quiet_world: World) -> None:
    quiet_world.state_dir.mkdir()
    journal = quiet_world.state_dir / "agent-1.journal"
    journal.write_text('{"version": 1, "pid"')
    outcome = smartharvest_here("restore", *quiet_world.arguments)
    assert outcome.code == 9
    assert outcome.failure.startswith(f"{journal}: the journal is damaged")
    assert journal.exists()


def test_restore_with_nothing_to_do(quiet_world: World) -> None:
    before = quiet_world.files()
    outcome = smartharvest_here("restore", *quiet_world.arguments)
    assert (outcome.code, outcome.out, outcome.err) == (0, "nothing to restore\n", "")
    assert quiet_world.files() == before
