from __future__ import annotations

import contextlib
import os
import shutil
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


def test_a_confined_task_of_others_is_found_on_the_pool_only(sleeper: int) -> None:
    cpu = a_cpu_to_pin_to()
    os.sched_setaffinity(sleeper, {cpu})
    others = set(os.sched_getaffinity(0)) - {cpu}
    assert cpu in tasks.foreign_cpus({cpu}, ours=())
    assert cpu not in tasks.foreign_cpus(others, ours=())


def test_a_confined_task_counts_only_once_it_has_lived_long_enough(sleeper: int) -> None:
    cpu = a_cpu_to_pin_to()
    os.sched_setaffinity(sleeper, {cpu})
    found = tasks.foreign_cpus({cpu}, ours=(), settled_s=3600.0)
    assert f"({sleeper})" not in found.get(cpu, "")


def test_a_task_with_a_known_name_is_passed_over_and_hides_no_other(tmp_path: Path) -> None:
    cpu = a_cpu_to_pin_to()
    sleep = shutil.which("sleep")
    assert sleep is not None
    with contextlib.ExitStack() as stack:
        for name in ("known", "stranger"):
            (tmp_path / name).symlink_to(sleep)
            process = stack.enter_context(subprocess.Popen([tmp_path / name, "100"]))
            stack.callback(process.kill)
            os.sched_setaffinity(process.pid, {cpu})
        found = tasks.foreign_cpus({cpu}, (), {"known"})[cpu]
        others = tasks.foreign_cpus({cpu}, (), {"known", "stranger"}).get(cpu, "")
    assert not found.startswith("known")
    assert not others.startswith(("known", "stranger"))
