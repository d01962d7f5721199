"""Counters of a control group by this kernel's perf_event_open(2).

Few machines that run tests have counters of instructions. What the kernel counts itself, the time
that tasks run, is opened and read by the same call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.process import instructions
from smartharvest.host.process.instructions import Counter
from tests.integration.hosts import remove_group
from tests.integration.processes import Processes, wait_until

pytestmark = pytest.mark.root

PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK = 1, 1
NAMES = ("busy", "empty")


@pytest.fixture
def groups(processes: Processes) -> Iterator[dict[str, str]]:
    """Two of version 2, where the controller is without being switched on."""
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    mount = next((one[4] for one in mounts if one[one.index("-") + 1] == "cgroup2"), None)
    if mount is None:
        pytest.skip("no cgroup v2 is mounted")
    made = {name: f"{mount}/smartharvest-test-{os.getpid()}-{name}" for name in NAMES}
    try:
        for directory in made.values():
            os.mkdir(directory)
        Path(made["busy"], "cgroup.procs").write_text(str(processes.busy()))
        yield made
    finally:
        processes.end()
        for directory in made.values():
            remove_group(directory)


def test_the_kernel_counts_what_the_tasks_of_one_group_do(
    groups: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instructions, "_HARDWARE", PERF_TYPE_SOFTWARE)
    monkeypatch.setattr(instructions, "_INSTRUCTIONS", PERF_COUNT_SW_TASK_CLOCK)
    cpus = sorted(os.sched_getaffinity(0))
    try:
        counters = {name: Counter(path, cpus) for name, path in groups.items()}
    except OSError as error:
        pytest.skip(f"no counters of control groups here: {error.strerror}")
    try:
        before = counters["busy"].read()
        wait_until(lambda: counters["busy"].read() > before)
        assert counters["empty"].read() == 0
    finally:
        for counter in counters.values():
            counter.close()
