"""A guardian whose agent dies before it watches, or whose journal others have hold of."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from smartharvest.guardian import process as process_module
from smartharvest.guardian import restoring
from smartharvest.guardian.process import GuardianConfig, GuardianProcess, main
from smartharvest.guardian.verdict import Limits, Look
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.journal import recovery
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.places import lock_path, try_lock
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.journal.writer import HostWriter
from tests.integration.worlds import World, make_world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, 2)


def dies_amid_its_work(world: World) -> GuardianConfig:
    """What to guard of an agent that has changed a mask and died."""
    told, tell = os.pipe()
    pid = os.fork()
    if not pid:
        journal = Journal(str(world.state_dir))
        journal.expect({world.elastic.cpus_file: ["7"]})
        HostWriter(world.kernel, journal).set(world.elastic.cpus_file, "7")
        os.write(tell, journal.path.encode())
        os._exit(0)
    path = os.read(told, 4096).decode()
    for fd in (told, tell):
        os.close(fd)
    os.waitpid(pid, 0)
    return GuardianConfig(path, world.tree.root, restores=True, limits=Limits())


def test_a_guardian_restores_what_an_agent_left_that_died_before_it_watched(world: World) -> None:
    before = world.files()
    charge = dies_amid_its_work(world)
    assert world.files() != before
    assert GuardianProcess(charge).run() == 0
    assert world.files() == before
    assert world.journals() == []


def test_a_guardian_names_what_it_does_not_put_back(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    charge = dies_amid_its_work(world)
    mask = world.elastic.cpus_file
    world.kernel.write(mask, "6")
    assert GuardianProcess(charge).run() == 0
    assert f"not put back: {mask}: holds '6', which another" in capfd.readouterr().err
    assert world.kernel.read(mask).strip() == "6"
    assert world.journals() == []


def test_a_guardian_restores_for_an_agent_that_does_not_wait_for_it_any_more(world: World) -> None:
    before = world.files()
    charge = dies_amid_its_work(world)
    nobody_reads, ready = os.pipe()
    os.close(nobody_reads)
    command = [sys.executable, "-m", "smartharvest.guardian", *charge.arguments()]
    done = subprocess.run(command, stdout=ready, stderr=subprocess.PIPE, text=True, check=False)
    os.close(ready)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert world.files() == before
    assert world.journals() == []


def test_a_guardian_waits_for_whoever_holds_the_dead_agents_lock(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(restoring, "OTHERS_MAY_TAKE_S", 0.01)
    monkeypatch.setattr(recovery, "OTHERS_MAY_TAKE_S", 0.01)
    monkeypatch.setattr(restoring, "_LOCK_PAUSE_S", 0.01)
    before = world.files()
    charge = dies_amid_its_work(world)
    lock = try_lock(lock_path(charge.journal))
    assert lock is not None
    guardian = threading.Thread(target=GuardianProcess(charge).run)
    guardian.start()
    told = ""
    while "another process holds this lock" not in told:
        told += capfd.readouterr().err
        assert guardian.is_alive()
    os.close(lock)
    guardian.join()
    assert world.files() == before
    assert world.journals() == []


def test_a_guardian_says_what_is_wrong_with_a_damaged_journal(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    charge = dies_amid_its_work(world)
    whole = Path(charge.journal).read_bytes()
    Path(charge.journal).write_bytes(whole[: len(whole) // 2])
    monkeypatch.setattr(process_module, "_make_punctual", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert main(charge.arguments()) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "the journal is damaged" in line


@pytest.mark.parametrize("minimum", [True, False])
def test_what_it_takes_back_is_counted_before_it_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch, minimum: bool
) -> None:
    mask, write, counted = world.elastic.cpus_file, FakeKernel.write, []
    journal = Journal(str(world.state_dir))
    journal.expect({mask: ["7"]}, ((mask, "7"),) if minimum else ())
    HostWriter(world.kernel, journal).set(mask, "3-7")
    journal.page.phase = Phase.RUNNING

    def write_and_read_the_count(kernel: FakeKernel, path: str, value: str) -> None:
        counted.append((path, value, journal.page.shrinks))
        write(kernel, path, value)

    monkeypatch.setattr(FakeKernel, "write", write_and_read_the_count)
    config = GuardianConfig(journal.path, world.tree.root, restores=True, limits=Limits())
    GuardianProcess(config)._shrink_if_running(Look(1, Phase.RUNNING, 0, 0), "it is silent")
    assert counted == ([(mask, "7", 1)] if minimum else [])
    assert journal.page.shrinks == minimum
    journal.release()
