"""On whose CPUs, and in which class, the guardian works after a death."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.guardian.restoring import Restoring
from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.journal.journal import Journal

LAST = max(os.sched_getaffinity(0))
MASK = ("/batch/cpuset.cpus", str(LAST))
NOT_HERE = 8000
"""A CPU that no machine has."""


def in_a_child(what: Callable[[], str]) -> str:
    """What ``what`` returns, called in a process of its own."""
    told, tell = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(tell, what().encode())
        finally:
            os._exit(0)
    os.close(tell)
    os.waitpid(pid, 0)
    with os.fdopen(told) as answer:
        return answer.read()


@pytest.mark.root
@pytest.mark.parametrize(("minimum", "niceness"), [(LAST, -20), (NOT_HERE, 19)])
def test_before_the_long_part_it_leaves_real_time_and_the_primarys_cpus(
    tmp_path: Path, minimum: int, niceness: int
) -> None:
    journal = Journal(str(tmp_path))
    journal.expect({}, (), minimum_cpus=[minimum])
    journal.record_created("/nowhere/at/all")

    def restore() -> str:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(11))
        Restoring(journal.path, PosixFiles(), restores=False).after_death(1)
        policy, nice = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
        return f"{policy} {nice} {sorted(os.sched_getaffinity(0))}"

    journal.release()
    before = sorted(os.sched_getaffinity(0))
    cpus = [LAST] if minimum == LAST else before
    assert in_a_child(restore) == f"{os.SCHED_OTHER} {niceness} {cpus}"


def test_while_it_shrinks_it_is_on_the_elastic_sides_own_cpus_and_then_anywhere(
    tmp_path: Path,
) -> None:
    seen: list[set[int]] = []

    class Files(PosixFiles):
        def mounts(self) -> list[str]:
            return ["/batch"]

        def write(self, path: str, value: str) -> None:
            seen.append(os.sched_getaffinity(0) if (path, value) == MASK else set())

    journal = Journal(str(tmp_path), claims=["/web", "/batch"])
    journal.expect({}, (MASK,))
    before = os.sched_getaffinity(0)
    assert Restoring(journal.path, Files(), restores=True).shrink()
    assert (seen, os.sched_getaffinity(0)) == ([{LAST}], before)
    journal.release()
