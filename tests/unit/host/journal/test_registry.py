"""Which state directories are found, whoever used them, and whom nobody believes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.journal import registry
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.removal import remove
from smartharvest.host.process import tasks


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registry of its own, on a machine without guardians."""
    own = tmp_path / "run" / "agents"
    monkeypatch.setattr(registry, "DIRECTORY", str(own))
    monkeypatch.setattr(registry, "_guarded", lambda: iter(()))
    return own


def entries(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.exists() else []


def die(journal: str, directory: Path) -> None:
    """Lets the one who has noted ``journal`` be dead."""
    for entry in entries(directory):
        document = json.loads(entry.read_text())
        if document["journal"] == journal:
            entry.write_text(json.dumps(document | {"start_time": 1}))


def test_an_agent_is_found_from_its_note_to_the_end_of_its_journal(
    tmp_path: Path, directory: Path
) -> None:
    assert registry.state_directories() == []
    journal = Journal(str(tmp_path / "state"))
    registry.note(journal.path)
    assert registry.state_directories() == [str(tmp_path / "state")]
    journal.close()
    assert entries(directory) == []


def test_what_a_dead_agent_left_is_found_until_it_is_restored(
    tmp_path: Path, directory: Path
) -> None:
    journal = Journal(str(tmp_path / "state"))
    registry.note(journal.path)
    die(journal.path, directory)
    journal.release()
    assert registry.state_directories() == [str(tmp_path / "state")]
    remove(journal.path)
    assert registry.state_directories() == []


def test_one_that_left_nothing_is_forgotten(tmp_path: Path, directory: Path) -> None:
    path = str(tmp_path / "agent-1.journal")
    registry.note(path)
    assert registry.state_directories() == [str(tmp_path)]  # it may be about to journal
    die(path, directory)
    assert registry.state_directories() == []
    assert entries(directory) == []


@pytest.mark.parametrize("how", ["writable", "link", "garbage", "relative", "huge"])
def test_a_note_that_others_could_have_written_is_not_believed(
    tmp_path: Path, directory: Path, how: str
) -> None:
    (tmp_path / "agent-1.journal").touch()
    registry.note(str(tmp_path / "agent-1.journal"))
    (entry,) = entries(directory)
    match how:
        case "writable":
            entry.chmod(0o622)
        case "link":
            entry.rename(tmp_path / "elsewhere")
            entry.symlink_to(tmp_path / "elsewhere")
        case "garbage":
            entry.write_bytes(b'{"journal": 7}\xff')
        case "relative":
            entry.write_text(entry.read_text().replace(str(tmp_path), "."))
        case "huge":
            entry.write_text(" " * registry.LARGEST_ENTRY_BYTES + entry.read_text())
    assert registry.state_directories() == []


def test_a_registry_that_others_may_write_is_neither_read_nor_written(
    tmp_path: Path, directory: Path
) -> None:
    registry.note(str(tmp_path / "agent-1.journal"))
    directory.chmod(0o777)
    assert registry.state_directories() == []
    registry.note(str(tmp_path / "agent-2.journal"))
    assert len(entries(directory)) == 1


@pytest.mark.root
def test_a_note_of_another_user_is_not_believed(tmp_path: Path, directory: Path) -> None:
    registry.note(str(tmp_path / "agent-1.journal"))
    os.chown(entries(directory)[0], 65534, 65534)
    assert registry.state_directories() == []


def test_without_the_right_to_note_it_an_agent_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "DIRECTORY", "/proc/1/agents")
    registry.note(str(tmp_path / "agent-1.journal"))
    assert registry.state_directories() == []


@pytest.fixture
def guardian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A process with the command line of a guardian, as its agent starts it."""
    monkeypatch.undo()  # the real search
    code = "import time; print(flush=True); time.sleep(600)"
    words = ["smartharvest.guardian", f"{tmp_path}/agent-1.journal", "", "1"]
    command = [sys.executable, "-c", code, "-m", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()  # execve(2) lets its parent go on before /proc tells the words
        yield process
        process.kill()


def test_a_guardian_names_its_journal(tmp_path: Path, guardian: subprocess.Popen[bytes]) -> None:
    assert tasks.alive(guardian.pid)
    assert f"{tmp_path}/agent-1.journal" in list(registry._guarded())


def test_what_a_killed_writer_left_unfinished_goes(tmp_path: Path, directory: Path) -> None:
    registry.note(str(tmp_path / "state" / "agent-1.journal"))
    (entry,) = entries(directory)
    old, fresh = directory / f"{entry.name}.new", directory / "0123456789abcdef.new"
    for path in (old, fresh):
        path.touch()
    os.utime(old, (0, 0))
    assert registry.state_directories() == [str(tmp_path / "state")]
    assert entries(directory) == sorted([entry, fresh])
