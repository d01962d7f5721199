"""Thousands of threads: those of the batch, and those of somebody without rights."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.crowds import CROWD, NOBODY
from smartharvest.agent.supervisor import Supervisor
from smartharvest.core._tasks import start_times
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.target.spec import TargetSpec
from smartharvest.placement import confinement
from smartharvest.placement.confinement import Confinement
from tests.cpus import ALLOWED, needs_two_cpus
from tests.integration.processes import Processes
from tests.integration.supervisors import Script, run_until, settings_for
from tests.integration.worlds import make_world

BOTH = {ALLOWED[0], ALLOWED[-1]}
THREADS = 3000
pytestmark = needs_two_cpus


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file was read for what it says of a task."""
    counted: Counter[str] = Counter()
    read = tasks._fields_of

    def counting(path: str) -> list[str]:
        counted[path] += 1
        return read(path)

    def counting_start_times(tids: Sequence[int]) -> Sequence[int]:
        counted.update(f"/proc/{tid}/task/{tid}/stat" for tid in tids)
        return start_times(tids)

    monkeypatch.setattr(tasks, "_fields_of", counting)
    monkeypatch.setattr(tasks, "start_times", counting_start_times)
    return counted


def a_crowd(processes: Processes, cpus: Sequence[int], user: int = 0) -> subprocess.Popen[str]:
    numbers = ",".join(map(str, cpus))
    process = processes.start([sys.executable, "-c", CROWD, str(THREADS), str(user), numbers])
    assert process.stdout
    assert process.stdout.readline() == "\n"
    return process


def test_a_batch_of_thousands_of_threads_is_arranged_with_one_look_at_each(
    tmp_path: Path, processes: Processes, reads: Counter[str]
) -> None:
    batch = a_crowd(processes, sorted(BOTH))
    world = make_world(tmp_path, 1, cpus=format_cpulist(sorted(BOTH)))
    target = TargetSpec("pid", str(batch.pid))
    session = Supervisor(settings_for(world, elastic=target, elastic_min=1))
    threads, both = tasks.process_threads(batch.pid), {frozenset(BOTH)}
    assert len(threads) == THREADS
    with session:
        looks = [reads[f"/proc/{tid}/task/{tid}/stat"] for tid in threads if tid != batch.pid]
        assert max(looks) == 1
        assert not any(path.count("/") == 3 for path in reads)  # which would sum up all threads
        run_until(
            session, Script(1, total=1), lambda *_: not set(map(tasks.affinity, threads)) & both
        )
    assert set(map(tasks.affinity, threads)) == both


@pytest.mark.root
def test_a_crowd_of_another_user_is_found_as_one_and_each_of_it_is_looked_at_once(
    processes: Processes, reads: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "SETTLED_S", 0.0)
    cpu = ALLOWED[-1]
    crowd = a_crowd(processes, [cpu], NOBODY)
    found = Confinement(list, lambda: None, lambda: ())
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1

    found.finish(beat)
    assert cpu in found.foreign
    assert beats > THREADS / 100
    of_crowd = [reads[f"/proc/{tid}/task/{tid}/stat"] for tid in tasks.process_threads(crowd.pid)]
    assert sum(of_crowd) <= 4
