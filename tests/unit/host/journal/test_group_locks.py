"""A group has one agent; who may only open the group keeps nobody from it."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from smartharvest.errors import AlreadyManaged, RightsError
from smartharvest.host.journal import group_locks
from smartharvest.host.journal.group_locks import VARIABLE, directory_locked, lock_groups
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.removal import sweep


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "locks"))
    return tmp_path / "locks"


@pytest.fixture
def group(tmp_path: Path) -> Path:
    made = tmp_path / "slice" / "web"
    made.mkdir(parents=True)
    return made


def take(group: Path) -> list[int]:
    return lock_groups([str(group)], str(group.parents[1]), frozenset(), "/nowhere")


def release(held: list[int]) -> None:
    for fd in held:
        os.close(fd)


def test_a_lock_on_the_group_itself_keeps_no_agent_from_starting(
    group: Path, tmp_path: Path
) -> None:
    held = [os.open(directory, os.O_RDONLY) for directory in (group, group.parent)]
    for fd in held:
        fcntl.flock(fd, fcntl.LOCK_EX)
    Journal(str(tmp_path / "state"), claims=[str(group)], root=str(tmp_path)).close()
    release(held)


def test_a_lock_that_cannot_be_had_is_named_with_its_directory(group: Path, locks: Path) -> None:
    status = group.stat()
    in_its_place = locks / f"{status.st_dev:x}-{status.st_ino:x}.lock"
    in_its_place.mkdir(parents=True)
    with pytest.raises(IsADirectoryError) as caught:
        take(group)
    assert caught.value.filename == str(in_its_place)


def test_a_lock_on_the_state_directory_keeps_no_agent_from_starting(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)
    held = os.open(tmp_path / "state", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    Journal(str(tmp_path / "state")).close()
    sweep(str(tmp_path / "state"))
    os.close(held)


def test_starts_in_one_state_directory_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_locks, "_PATIENCE_S", 0.02)
    with (
        directory_locked(str(tmp_path)),
        pytest.raises(RightsError, match="does not get on"),
        directory_locked(str(tmp_path)),
    ):
        pass
    with directory_locked(str(tmp_path)):
        pass


def test_who_may_open_the_directory_of_locks_cannot_hold_it(group: Path, locks: Path) -> None:
    locks.mkdir(mode=0o755)
    release(take(group))
    assert locks.stat().st_mode & 0o777 == 0o700


def test_a_group_reached_by_another_way_is_the_same(group: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(group.parent)
    held = take(group)
    with pytest.raises(AlreadyManaged, match="already manages it"):
        take(tmp_path / "link" / "web")
    release(held)


def test_a_refused_agent_holds_nothing(group: Path) -> None:
    (group.parent / "batch").mkdir()
    held = take(group)
    both = [str(group.parent / "batch"), str(group)]
    with pytest.raises(AlreadyManaged):
        lock_groups(both, str(group.parents[1]), frozenset(), "/nowhere")
    release(take(group.parent / "batch"))
    release(held)


def test_files_of_dead_agents_go_at_the_next_start(group: Path, locks: Path) -> None:
    release(take(group))
    assert len(list(locks.iterdir())) == 2
    other = group.parent / "other"
    other.mkdir()
    held = take(other)
    names = {path.name for path in locks.iterdir()}
    assert len(names) == 2
    assert f"{group.stat().st_dev:x}-{group.stat().st_ino:x}.lock" not in names
    release(held)


def test_a_lock_that_is_held_stays(group: Path, locks: Path) -> None:
    held = take(group)
    release(take(group.parent / "none"))
    assert len(list(locks.iterdir())) == 2
    with pytest.raises(AlreadyManaged):
        take(group)
    release(held)


def test_only_ones_own_directory_is_used(group: Path, locks: Path, tmp_path: Path) -> None:
    locks.mkdir()
    locks.chmod(0o777)
    with pytest.raises(RightsError, match=r"the journal cannot be kept: .*locks: others may put"):
        Journal(str(tmp_path / "state"), claims=[str(group)])


def test_an_agent_that_does_not_get_on_is_not_awaited_for_ever(
    group: Path, locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_locks, "_PATIENCE_S", 0.02)
    locks.mkdir(mode=0o700)
    stuck = os.open(locks, os.O_RDONLY)
    fcntl.flock(stuck, fcntl.LOCK_EX)
    with pytest.raises(RightsError, match="does not get on"):
        take(group)
    os.close(stuck)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_user_without_a_part_in_the_directory_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE)
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        for name, owner in (("of-root", 0), ("state", 65534), ("group", 0)):
            os.mkdir(f"{place}/{name}", 0o700)
            os.chown(f"{place}/{name}", owner, owner)
        monkeypatch.setattr(group_locks, "DIRECTORY", f"{place}/of-root/locks")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.setresuid(65534, 65534, 65534)
                lock_groups([f"{place}/group"], place, frozenset(), f"{place}/state")
                code = 0 if os.listdir(f"{place}/state/locks") else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
