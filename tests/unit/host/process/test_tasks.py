from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.process import tasks


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "100"]) as process:
        yield process.pid
        process.kill()


def a_cpu_to_pin_to() -> int:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2 or allowed != tasks.online_cpus():
        pytest.skip("needs two CPUs and all that are online")
    return max(allowed)


def test_every_thread_of_a_process_is_listed() -> None:
    go = threading.Event()
    thread = threading.Thread(target=go.wait)
    thread.start()
    assert {os.getpid(), thread.native_id} <= set(tasks.process_threads(os.getpid()))
    go.set()
    thread.join()


@pytest.mark.root
def test_whom_one_may_not_confine_is_known_without_touching_anyone(sleeper: int) -> None:
    before = os.sched_getaffinity(sleeper)
    assert tasks.may_confine(sleeper)
    child = os.fork()
    if child == 0:
        os.setresuid(65534, 65534, 65534)
        os._exit(int(tasks.may_confine(sleeper)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert os.sched_getaffinity(sleeper) == before


def test_a_thread_keeps_its_start_time_and_a_gone_one_has_none(sleeper: int) -> None:
    assert tasks.start_time(sleeper) == tasks.start_time(sleeper) is not None
    assert tasks.alive(sleeper)
    assert tasks.start_time(4_194_305) is None  # above the kernel's highest possible pid
    assert not tasks.alive(4_194_305)
    assert tasks.affinity(4_194_305) == frozenset()
    assert tasks.process_threads(4_194_305) == []


def test_many_threads_are_named_as_one_by_one_whoever_they_belong_to(sleeper: int) -> None:
    go = threading.Event()
    threads = [threading.Thread(target=go.wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    Path(f"/proc/self/task/{threads[0].native_id}/comm").write_text(") R 1 (2")
    own = [thread.native_id or 0 for thread in threads]
    gone = 4_194_305  # above the kernel's highest possible pid
    tids = [own[0], gone, own[1], sleeper, own[2], os.getpid()]
    expected = [(tid, tasks.start_time(tid)) for tid in tids if tid != gone]
    assert list(tasks.started(tids)) == expected
    assert list(tasks.started([])) == []
    go.set()
    for thread in threads:
        thread.join()


def test_a_zombie_is_not_alive() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert not tasks.alive(child)
    os.waitpid(child, 0)


def test_a_thread_confined_to_a_part_of_its_group_pins_those_cpus(sleeper: int) -> None:
    cpu = a_cpu_to_pin_to()
    assert tasks.pinned_cpus([sleeper], tasks.online_cpus()) == frozenset()
    os.sched_setaffinity(sleeper, {cpu})
    assert tasks.pinned_cpus([sleeper], tasks.online_cpus()) == {cpu}
    assert tasks.pinned_cpus([sleeper], {cpu}) == frozenset()


def test_a_thread_is_looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc/TID/stat sums up all threads of the process: a look at each would be quadratic."""
    opened: list[str] = []
    real_open = os.open

    def noting_open(path: str, *arguments: int) -> int:
        opened.append(path)
        return real_open(path, *arguments)

    monkeypatch.setattr(os, "open", noting_open)
    pid = os.getpid()
    for look in (tasks.start_time, tasks.alive, tasks.state, tasks.parent_of):
        assert look(pid)
    assert tasks.settled_since(pid, 0.0) is not None
    assert set(opened) == {f"/proc/{pid}/task/{pid}/stat"}


def test_a_thread_is_settled_once_it_has_lived_so_long(sleeper: int) -> None:
    assert tasks.settled_since(os.getppid(), 0.0) == tasks.start_time(os.getppid())
    assert tasks.settled_since(sleeper, 3600.0) is None
    assert tasks.settled_since(4_194_305, 0.0) is None


def test_a_kernel_thread_is_never_settled() -> None:
    if tasks.name(2) != "kthreadd":
        pytest.skip("shows no kernel threads")
    assert tasks.settled_since(2, 0.0) is None


def test_threads_are_listed_process_by_process(sleeper: int) -> None:
    found = list(tasks.threads_of([sleeper, 4_194_305, os.getpid()]))
    assert found[0] == sleeper
    assert os.getpid() in found
    assert {os.getpid(), sleeper} <= set(tasks.process_ids())
