from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.errors import AlreadyManaged, RightsError
from smartharvest.host.journal import journal as journal_module
from smartharvest.host.journal import places
from smartharvest.host.journal.contents import (
    KINDS,
    AffinityEntry,
    ConfinedEntry,
    CreatedEntry,
    Entry,
    FileEntry,
    Head,
    JournalContents,
    JournalError,
    MovedEntry,
    OccupiedEntry,
    PolicyEntry,
    ScheduledEntry,
    head_of,
    read_head,
    read_journal,
    read_nudge,
    written,
)
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.places import is_live
from smartharvest.host.process import tasks
from smartharvest.trusted import open_trusted


def test_every_entry_is_on_disk_when_the_record_returns(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"), claims=["/a"])
    journal.record_file("/g/cpuset.cpus", "0-3")
    assert read_journal(journal.path).entries == (FileEntry("/g/cpuset.cpus", "0-3"),)
    journal.record_created("/g/new")
    journal.record(MovedEntry(101, 5, "/g", "/g/new"))
    journal.record_affinity(101, 5, [0, 3])
    read = read_journal(journal.path)
    assert read.entries[1:] == (
        CreatedEntry("/g/new"),
        MovedEntry(101, 5, "/g", "/g/new"),
        AffinityEntry(101, 5, (0, 3)),
    )
    assert (read.pid, read.claims) == (os.getpid(), ("/a",))
    journal.close()


def test_a_successor_reads_by_which_settings_the_host_is_arranged_now(tmp_path: Path) -> None:
    shared, exclusive = {"placement": "'shared'"}, {"placement": "'exclusive'"}
    journal = Journal(str(tmp_path), arrangement=shared)
    journal.record_file("/g/cpuset.cpus", "0-3")
    journal.note_arrangement(shared)
    assert read_journal(journal.path).arrangement == shared
    journal.note_arrangement(exclusive)
    assert read_journal(journal.path).arrangement == exclusive
    assert read_journal(journal.path).entries == (FileEntry("/g/cpuset.cpus", "0-3"),)
    journal.close()


def test_the_first_original_wins(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.record_file("/g/cpuset.cpus", "0-3")
    journal.record_file("/g/cpuset.cpus", "7")
    assert read_journal(journal.path).entries == (FileEntry("/g/cpuset.cpus", "0-3"),)
    journal.close()


def test_closing_leaves_nothing_and_releasing_leaves_the_journal(tmp_path: Path) -> None:
    Journal(str(tmp_path)).close()
    assert os.listdir(tmp_path) == []
    journal = Journal(str(tmp_path))
    assert is_live(journal.path)
    journal.release()
    assert os.path.exists(journal.path)
    assert not is_live(journal.path)


def test_an_agent_whose_files_cannot_be_written_here_is_alive_or_not_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(str(tmp_path))

    def read_only(path: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return open_trusted(path, flags, mode)

    monkeypatch.setattr(places, "open_trusted", read_only)
    assert is_live(journal.path)
    with pytest.raises(OSError, match="Read-only file system"):
        places.try_lock(places.lock_path(journal.path), create=True)
    monkeypatch.undo()
    journal.close()


def test_a_dead_agents_journal_of_the_same_pid_is_not_overwritten(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.record_file("/g/cpuset.cpus", "0-3")
    journal.release()
    with pytest.raises(JournalError, match="smartharvest restore"):
        Journal(str(tmp_path))
    assert read_journal(journal.path).entries == journal.entries


@pytest.mark.parametrize("claim", ["/cpuset/g", "/cpuset/g/child", "/cpuset"])
def test_a_group_that_another_living_agent_manages_is_taken(
    claim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", os.getppid)
        journal = Journal(str(tmp_path), claims=["/cpuset/g"])
    with pytest.raises(AlreadyManaged, match=f"pid {os.getppid()}"):
        Journal(str(tmp_path), claims=["/cpuset/h", claim])
    Journal(str(tmp_path), claims=["/cpuset/g2"]).close()
    journal.close()


def test_a_group_is_taken_whatever_the_state_directory(tmp_path: Path) -> None:
    web, batch = tmp_path / "web", tmp_path / "batch"
    web.mkdir()
    batch.mkdir()
    journal = Journal(str(tmp_path / "one"), claims=[str(web), str(web)])
    with pytest.raises(AlreadyManaged, match=f"{web}: .* another state directory"):
        Journal(str(tmp_path / "two"), claims=[str(batch), str(web)])
    assert os.listdir(tmp_path / "two") == []
    Journal(str(tmp_path / "two"), claims=[str(batch), "pid:1", str(tmp_path / "none")]).close()
    journal.close()
    Journal(str(tmp_path / "two"), claims=[str(web)]).close()


def test_groups_in_each_other_are_taken_whatever_the_state_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = tmp_path / "slice"
    inner, other = outer / "web", outer / "batch"
    for group in (outer, inner, other):
        group.mkdir()
    for first, second in ((inner, outer), (outer, inner)):
        with monkeypatch.context() as another_process:
            another_process.setattr(journal_module, "_claimed_here", set())
            journal = Journal(str(tmp_path / "one"), claims=[str(first)])
        with pytest.raises(AlreadyManaged, match=f"{second}: .* another state directory"):
            Journal(str(tmp_path / "two"), claims=[str(second)])
        journal.close()
    beside = Journal(str(tmp_path / "one"), claims=[str(inner)])
    Journal(str(tmp_path / "two"), claims=[str(other)]).close()
    beside.close()


def test_one_process_may_claim_groups_in_each_other(tmp_path: Path) -> None:
    inner = tmp_path / "demo" / "web"
    inner.mkdir(parents=True)
    outer = Journal(str(tmp_path / "state"), name="demo", claims=[str(inner.parent)])
    Journal(str(tmp_path / "state"), claims=[str(inner)]).close()
    outer.close()


def test_a_journal_that_goes_away_while_it_is_read_claims_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", os.getppid)
        leaving = Journal(str(tmp_path), claims=["/cpuset/g"])

    def close_first(path: str) -> JournalContents:
        leaving.close()
        return read_journal(path)

    monkeypatch.setattr(journal_module, "read_journal", close_first)
    Journal(str(tmp_path), claims=["/cpuset/g"]).close()


def test_many_entries_are_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(str(tmp_path))
    replaced: list[str] = []
    rename = os.rename

    def note(source: str, destination: str) -> None:
        replaced.append(destination)
        rename(source, destination)

    monkeypatch.setattr(os, "rename", note)
    moves = [MovedEntry(tid, 5, "/g", "/h") for tid in range(100, 200)]
    journal.record(*moves, MovedEntry(100, 5, "/elsewhere", "/h"))
    assert replaced == [journal.path]
    assert read_journal(journal.path).entries == tuple(moves)
    journal.close()


def test_one_process_may_hold_several_journals(tmp_path: Path) -> None:
    demo = Journal(str(tmp_path), name="demo", claims=["/cpuset/demo"])
    agent = Journal(str(tmp_path), claims=["/cpuset/demo/primary"])
    assert {Path(demo.path).name, Path(agent.path).name} == {
        f"demo-{os.getpid()}.journal",
        f"agent-{os.getpid()}.journal",
    }
    agent.close()
    demo.close()
    assert os.listdir(tmp_path) == []


def test_the_nudged_thread_can_be_read_after_a_crash(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    assert read_nudge(journal.path) == 0
    journal.page.nudge_slot.cast("i")[0] = 4711
    assert read_nudge(journal.path) == 4711
    journal.close()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": 2}', '{"version": 2, "entries": [{"kind": "spell"}]}', "null"],
)
def test_a_damaged_journal_is_an_error_that_names_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "agent-1.journal"
    path.write_text(text)
    with pytest.raises(JournalError, match=r"agent-1\.journal: the journal is damaged"):
        read_journal(str(path))


def test_a_journal_of_another_version_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "agent-1.journal"
    path.write_text(json.dumps({"version": 99, "entries": []}))
    with pytest.raises(JournalError, match="version 99 is unknown"):
        read_journal(str(path))


def test_a_state_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RightsError, match="file/state"):
        Journal(str(tmp_path / "file" / "state"))


def failing_with(error: int) -> Callable[[int], None]:
    def fsync(_fd: int) -> None:
        raise OSError(error, os.strerror(error))

    return fsync


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (errno.ENOSPC, "No space left on device; choose another state directory"),
        (errno.EACCES, "Permission denied; run as root or choose another state directory"),
    ],
)
def test_only_a_missing_right_asks_for_root(
    error: int, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", failing_with(error))
        with pytest.raises(RightsError, match=f"cannot be written: {advice}$"):
            Journal(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_what_could_not_be_journaled_is_not_taken_for_journaled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(str(tmp_path))
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", failing_with(errno.ENOSPC))
        with pytest.raises(RightsError, match="nothing was changed"):
            journal.record_file("/g/cpuset.cpus", "0-3")
    assert journal.entries == ()
    journal.record_file("/g/cpuset.cpus", "0-2")
    assert read_journal(journal.path).entries == (FileEntry("/g/cpuset.cpus", "0-2"),)
    journal.close()


def test_a_disk_that_is_full_is_told_whatever_was_to_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(str(tmp_path / "state"))
    journal.record_created("/g/new")
    journal.record_affinity(101, 5, [0, 3])
    before = sorted(os.listdir(tmp_path / "state"))

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    notes: tuple[Callable[[], None], ...] = (
        lambda: journal.note_made("/g/new"),
        lambda: journal.replace_affinity(101, 5, [0]),
        lambda: journal.withdraw_created("/g/new"),
        lambda: journal.record_file("/g/cpuset.cpus", "0-3"),
        lambda: journal.note_arrangement({"placement": "'exclusive'"}),
    )
    for note in notes:
        with pytest.raises(RightsError, match="cannot be written: No space left on device"):
            note()
        assert sorted(os.listdir(tmp_path / "state")) == before
    monkeypatch.undo()
    journal.close()


def test_the_first_line_tells_what_taking_the_cores_back_needs(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path), claims=["/web", "/batch"])
    journal.expect({}, (("/batch/cpuset.cpus", "6-7"),))
    assert read_head(journal.path).elastic_cpus == (6, 7)
    journal.record(AffinityEntry(7, 5, (0,), 5), AffinityEntry(8, 5, (0,)), ConfinedEntry("/g", 3))
    journal.expect({}, (), minimum_cpus=[3])
    head = read_head(journal.path)
    assert head == Head((), (3,), ((7, 5),), ("/g",), ("/web", "/batch"))
    assert head == head_of(read_journal(journal.path))
    assert head.elastic_cpus == (3,)
    first = Path(journal.path).read_text().partition("\n")[0]
    Path(journal.path).write_text(first + '\n"entries": what is beyond does not matter')
    assert read_head(journal.path) == head
    journal.release()


def test_the_first_line_forgets_a_process_that_has_ended(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path), claims=["/batch"])
    own = tasks.start_time(os.getpid()) or 0
    ended = [AffinityEntry(2**22 + n, 5, (0,), 5) for n in range(1, 65)]  # above any pid
    journal.record(*ended, AffinityEntry(os.getpid(), own, (0,), own))
    assert len(read_head(journal.path).processes) == 65
    journal.forget_dead_threads()
    journal.record(ConfinedEntry("/g", 3))
    assert read_head(journal.path).processes == ((os.getpid(), own),)
    assert read_head(journal.path) == head_of(read_journal(journal.path))
    journal.release()


def test_entries_of_every_kind_are_read_as_they_were_written_whatever_their_names(
    tmp_path: Path,
) -> None:
    odd = '/a%s"}, {"kind\n\\é'
    entries: tuple[Entry, ...] = (
        FileEntry(odd, "%d", 3),
        CreatedEntry(odd, 4),
        MovedEntry(7, 5, odd, f"{odd}/b"),
        OccupiedEntry(odd, 4, 5, (7, 8)),
        AffinityEntry(7, 5, (0, 3), 6),
        AffinityEntry(8, 5, ()),
        ConfinedEntry(odd, 4),
        PolicyEntry(7, 5, 0x4000_0000),
        ScheduledEntry(odd, 4, 5),
    )
    assert {type(entry) for entry in entries} == set(KINDS.values())
    journal = Journal(str(tmp_path))
    journal.record(*entries)
    assert read_journal(journal.path).entries == entries
    journal.release()


def test_a_journal_of_the_release_before_is_read_as_well(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path), claims=["/batch"])
    journal.record_affinity(101, 5, [0, 3])
    journal.expect({}, (), minimum_cpus=[3])
    entries, head = read_journal(journal.path).entries, read_head(journal.path)
    path = Path(journal.path)
    older = {**json.loads(path.read_text()), "version": 2}
    for key in ("processes", "groups"):
        del older[key]
    path.write_text(json.dumps(older, indent=1))
    assert (read_journal(journal.path).entries, read_head(journal.path)) == (entries, head)
    journal.release()


def test_an_entry_is_formatted_once_however_often_the_journal_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    formatted: list[object] = []

    def format_it(entry: Entry) -> str:
        formatted.append(entry)
        return written(entry)

    monkeypatch.setattr(journal_module, "written", format_it)
    journal = Journal(str(tmp_path))
    journal.record(*(AffinityEntry(tid, 5, (0, 1)) for tid in range(5000)))
    for tid in range(5000, 5010):
        journal.record_affinity(tid, 5, [0])
    journal.replace_affinity(5000, 5, [1])
    assert len(formatted) == 5011
    assert read_journal(journal.path).entries == journal.entries
    journal.release()
