"""Threads get their policies back, whoever they are now and however the agent ended."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.journal import policies as module
from smartharvest.host.journal import writer as writer_module
from smartharvest.host.journal.contents import PolicyEntry, ScheduledEntry, read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.restoration import put_back
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.process.policy import RESET_ON_FORK, SCHED_EXT
from tests.unit.host.fake_trees import make_group, make_v2_tree


class Threads:
    """Threads of a host that has sched_ext: number -> policy; all started at 100 times that."""

    def __init__(self) -> None:
        self.policies: dict[int, int] = {}
        self.processes: dict[int, int] = {}
        self.refusing: set[int] = set()

    def policy_of(self, tid: int) -> int | None:
        return self.policies.get(tid)

    def set_policy(self, tid: int, policy: int) -> None:
        if tid not in self.policies:
            raise ProcessLookupError(3, "No such process")
        if tid in self.refusing:
            raise PermissionError(1, "Operation not permitted")
        self.policies[tid] = policy

    def start_time(self, tid: int) -> int | None:
        if tid == os.getpid():
            return 1  # of the journal's writer
        return 100 * tid if tid in self.policies else None

    def started(self, tids: Iterable[int]) -> list[tuple[int, int]]:
        return [(tid, at) for tid in tids if (at := self.start_time(tid)) is not None]


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Threads:
    found = Threads()
    for place in (module, writer_module):
        monkeypatch.setattr(place, "policy_of", found.policy_of)
        monkeypatch.setattr(place, "set_policy", found.set_policy)
    monkeypatch.setattr(tasks, "start_time", found.start_time)
    monkeypatch.setattr(tasks, "started", found.started)
    monkeypatch.setattr(tasks, "process_of", lambda tid: found.processes.get(tid, tid))
    monkeypatch.setattr(tasks, "process_ids", lambda: iter(list(found.policies)))
    monkeypatch.setattr(tasks, "process_threads", lambda pid: [pid])
    monkeypatch.setattr(tasks, "start_time_of_newcomers", lambda: 1000)
    monkeypatch.setattr(module, "PAUSE_S", 0.0)
    return found


class Host:
    def __init__(self, directory: Path) -> None:
        tree = make_v2_tree(directory / "tree")
        make_group(tree, "batch", "0-3")
        assert isinstance(tree.files, FakeKernel)
        self.files = tree.files
        self.group = f"{tree.root}/batch"
        self.journal = Journal(str(directory / "state"))
        self.writer = HostWriter(self.files, self.journal)

    def place(self, *tids: int) -> None:
        Path(self.group, "cgroup.threads").write_text("".join(f"{tid}\n" for tid in tids))

    def put_back(self) -> list[str]:
        return put_back(self.journal.entries, self.files).failed


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_every_thread_gets_the_policy_it_had(threads: Threads, host: Host) -> None:
    before = {1: os.SCHED_OTHER, 2: os.SCHED_BATCH, 3: os.SCHED_IDLE | RESET_ON_FORK}
    threads.policies.update(before)
    host.place(1, 2, 3)
    assert host.writer.set_policies(host.group) == (3, [])
    assert threads.policies == {1: SCHED_EXT, 2: SCHED_EXT, 3: SCHED_EXT | RESET_ON_FORK}
    assert host.put_back() == []
    assert threads.policies == before


def test_all_is_on_disk_before_the_first_policy_changes(threads: Threads, host: Host) -> None:
    threads.policies.update({1: os.SCHED_OTHER, 2: os.SCHED_BATCH})
    host.place(1, 2)
    threads.refusing = {1, 2}
    changed, refused = host.writer.set_policies(host.group)
    assert changed == 0
    assert len(refused) == 2
    entries = read_journal(host.journal.path).entries
    assert PolicyEntry(2, 200, os.SCHED_BATCH) in entries
    assert any(isinstance(entry, ScheduledEntry) for entry in entries)


def test_real_time_threads_stay_what_they_are(threads: Threads, host: Host) -> None:
    threads.policies.update({1: os.SCHED_FIFO, 2: os.SCHED_OTHER})
    host.place(1, 2)
    host.writer.set_policies(host.group)
    assert threads.policies[1] == os.SCHED_FIFO
    host.put_back()
    assert threads.policies == {1: os.SCHED_FIFO, 2: os.SCHED_OTHER}


def test_who_was_born_since_is_given_back_wherever_it_is(threads: Threads, host: Host) -> None:
    threads.policies.update({1: os.SCHED_BATCH})
    host.place(1)
    host.writer.set_policies(host.group)
    threads.policies.update({11: SCHED_EXT, 12: SCHED_EXT, 13: SCHED_EXT})
    threads.processes[11] = 1  # a thread of a process that is known; 13 has left the group
    host.place(1, 11, 12)
    host.put_back()
    assert threads.policies == {
        1: os.SCHED_BATCH, 11: os.SCHED_BATCH, 12: os.SCHED_OTHER, 13: os.SCHED_OTHER,
    }  # fmt: skip


def test_a_stranger_s_policy_from_before_is_left_alone(threads: Threads, host: Host) -> None:
    threads.policies.update({1: os.SCHED_OTHER, 5: SCHED_EXT})
    host.place(1)
    host.writer.set_policies(host.group)
    host.put_back()
    assert threads.policies == {1: os.SCHED_OTHER, 5: SCHED_EXT}


def test_what_another_process_has_set_since_stays(threads: Threads, host: Host) -> None:
    threads.policies.update({1: os.SCHED_BATCH})
    host.place(1)
    host.writer.set_policies(host.group)
    threads.policies[1] = os.SCHED_IDLE
    assert host.writer.set_policies(host.group) == (0, [])
    host.put_back()
    assert threads.policies == {1: os.SCHED_IDLE}


def test_a_refusal_is_told_once_and_the_others_are_given_back(threads: Threads, host: Host) -> None:
    threads.policies.update({1: os.SCHED_OTHER, 2: os.SCHED_OTHER})
    host.place(1, 2)
    host.writer.set_policies(host.group)
    threads.refusing = {1}
    (line,) = host.put_back()
    assert line.startswith("policy of thread 1 (was 0): ")
    assert threads.policies == {1: SCHED_EXT, 2: os.SCHED_OTHER}
