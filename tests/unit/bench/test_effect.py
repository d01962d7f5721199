"""Time to effect, without a group: what counts as one."""

from __future__ import annotations

import os
import threading
import time
from contextlib import nullcontext

import numpy as np
import pytest

from bench import cpuset, effect, probe
from bench.others import OTHERS_NS
from bench.subject import Effort, NotMeasurableError
from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.lab.demo.standstill import Standstills

EFFORT = Effort(rounds=1, share=0.01, seed=1)


class MadeStamps:
    """Two threads as the program's page shows them: running, first_ns, last_ns."""

    def __init__(self) -> None:
        self.stamps = np.zeros((2, 8), dtype=np.int64)
        self.others_ns: list[int] = []

    def now_ns(self) -> int:
        """What others have run on the CPU: as scripted, then nothing more."""
        return self.others_ns.pop(0) if self.others_ns else 0

    def move(self, level: int) -> None:
        now_ns = time.monotonic_ns()
        if level == 0:
            self.stamps[:, effect.LAST_NS] = now_ns + 10_000, now_ns + 30_000
        else:
            self.stamps[:, effect.FIRST_NS] = now_ns + 900_000, now_ns + 500_000


@pytest.fixture
def unscheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "scheduled", lambda _name: nullcontext())


def measured(made: MadeStamps, count: int) -> cpuset.Times:
    cpu = min(os.sched_getaffinity(0))
    return effect.swing(made, [cpu, cpu], count, made.move, made.now_ns, Standstills([]))  # type: ignore[arg-type]


@pytest.mark.usefixtures("unscheduled")
def test_a_shrink_lasts_until_the_last_thread_left_and_a_grow_until_the_first_came() -> None:
    times = measured(MadeStamps(), 3)
    assert (times["shrink"] >= 30_000).all()
    assert (times["grow"] >= 500_000).all()
    assert len(times["shrink"]) == len(times["grow"]) == 3


@pytest.mark.usefixtures("unscheduled")
def test_a_shrink_of_a_cpu_with_no_thread_on_it_is_no_sample() -> None:
    made = MadeStamps()
    made.move = lambda level: None if level == 0 else MadeStamps.move(made, 1)  # type: ignore[method-assign]
    times = measured(made, 2)
    assert len(times["shrink"]) == 0
    assert len(times["grow"]) == 2


@pytest.mark.usefixtures("unscheduled")
def test_a_grow_without_effect_counts_as_the_whole_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect, "GIVEN_UP_NS", 1_000_000)
    made = MadeStamps()
    made.move = lambda _level: None  # type: ignore[method-assign,assignment]
    assert (measured(made, 1)["grow"] >= 1_000_000).all()


@pytest.mark.usefixtures("unscheduled")
def test_a_grow_beside_which_others_ran_is_not_alone() -> None:
    made = MadeStamps()
    made.others_ns = [1000, 1000 + OTHERS_NS, 1000 + OTHERS_NS, 2000 + OTHERS_NS]
    times = measured(made, 2)
    assert len(times["grow"]) == 2
    assert times["grow_alone"].tolist() == times["grow"][1:].tolist()


def test_the_threads_stamp_the_cpu_they_run_on_and_end_at_the_exit() -> None:
    cpu = min(os.sched_getaffinity(0))
    entered = threading.Event()

    def enter(pid: int) -> None:
        os.sched_setaffinity(pid, {cpu})
        entered.set()

    with effect.Hogs(1, cpu, enter) as batch:
        pid = batch.pid
        while not batch.stamps[:, effect.LAST_NS].all():
            time.sleep(0.001)
        assert batch.stamps[0, effect.FIRST_NS] <= time.monotonic_ns()
    assert entered.is_set()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_effect_is_not_measured_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = CgroupTree("/sys/fs/cgroup", 1, {"cpuset": "/sys/fs/cgroup/cpuset"}, PosixFiles())
    monkeypatch.setattr(CgroupTree, "discover", lambda: tree)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotMeasurableError, match="needs root"):
        effect.measure(EFFORT)
