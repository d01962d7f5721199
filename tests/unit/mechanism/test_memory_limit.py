"""Memory that is taken back in a thread, and a limit that others put back."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from smartharvest.host.cgroup.memory import limit_file
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process.priority import IDLE, ControlPlanePriority
from smartharvest.mechanism.memory_limit import CALM_AIMS, REWRITES, MemoryLimit, Reclaimer
from tests.integration.test_group_memory import make_machine

MIB = 1 << 20


def test_taking_back_that_is_to_go_on_waits_for_no_step_that_is_under_way() -> None:
    began, may_end = threading.Event(), threading.Event()

    def step(_target: int) -> bool:
        began.set()
        may_end.wait(10)
        return False

    reclaimer = Reclaimer()
    reclaimer.start(step, 0)
    assert began.wait(10)
    reclaimer.stop()
    starting = threading.Thread(target=reclaimer.start, args=(step, 0))
    starting.start()
    starting.join(5)
    waited = starting.is_alive()
    may_end.set()
    starting.join()
    reclaimer.join()
    assert not waited


@pytest.mark.skipif(os.geteuid() != 0, reason="leaving the idle class needs CAP_SYS_NICE")
def test_taking_back_does_not_give_way_to_all_as_the_control_plane_may() -> None:
    seen: list[tuple[int, int]] = []

    def step(_target: int) -> bool:
        seen.append((os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)))
        return False

    def run() -> None:
        priority = ControlPlanePriority()
        priority.lower(IDLE)
        reclaimer = Reclaimer()
        reclaimer.start(step, 0)
        reclaimer.join()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [(os.SCHED_OTHER, 0)]


@pytest.mark.parametrize("turns", [1, CALM_AIMS + 1])
def test_a_limit_that_is_put_back_now_and_then_is_written_again(tmp_path: Path, turns: int) -> None:
    machine = make_machine(tmp_path, 2)
    journal = Journal(str(tmp_path / "journal"))
    writer = HostWriter(machine.world.kernel, journal)
    group = machine.group("analytics")
    limit = MemoryLimit(group, 256 * MIB, 2048 * MIB, writer)
    path = limit_file(group)
    assert path is not None
    limit.aim(limit.rungs[0], 0)
    for _ in range(REWRITES + 1):
        machine.world.kernel.write(path, "max\n")
        for _ in range(turns):
            limit.aim(limit.rungs[0], 0)
    assert (limit.trouble is None) is (turns > 1)
    assert machine.limit("analytics") == (256 if turns > 1 else None)
    limit.close()
