"""What a guest misses of its time, against what its vCPU is seen to wait for from outside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bench.subject import NotMeasurableError
from bench.virtual.guests import Guest, make_initramfs
from smartharvest.host.process.waits import read_schedstat
from smartharvest.host.target.qmp import read_vcpus
from tests.integration.processes import Processes, wait_until

pytestmark = [
    pytest.mark.timing,
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="needs qemu-system-x86_64"),
]
LINES = 3
"""A guest tells of itself once a second."""


def over_some_lines(guest: Guest, vcpu: int) -> tuple[int, int]:
    """(missed inside, waited outside) in ns, both from one line of the guest to a later one."""

    def now() -> tuple[int, int]:
        told, waits = guest.describe(), read_schedstat(vcpu)
        assert told is not None
        assert waits is not None
        return told["gap_ns"], waits[0]

    def next_line() -> None:
        before = guest.describe()
        wait_until(lambda: guest.describe() != before)

    next_line()
    before = now()
    for _ in range(LINES):
        next_line()
    after = now()
    return after[0] - before[0], after[1] - before[1]


def test_a_vcpu_waits_for_what_its_guest_misses(processes: Processes, tmp_path: Path) -> None:
    try:
        boot = make_initramfs(tmp_path)
    except NotMeasurableError as error:
        pytest.skip(str(error))
    last = {max(os.sched_getaffinity(0))}
    with Guest(boot, tmp_path, "bully", cpus=1, work_us=1000, groups=[]) as guest:
        wait_until(lambda: guest.describe() is not None)
        (vcpu,) = read_vcpus(guest.socket, timeout_s=10).threads
        os.sched_setaffinity(vcpu, last)
        alone = over_some_lines(guest, vcpu)
        rival = processes.start(["sh", "-c", "while :; do :; done"]).pid
        os.sched_setaffinity(rival, last)
        missed_ns, waited_ns = over_some_lines(guest, vcpu)
    assert waited_ns > 5 * alone[1]
    assert missed_ns > 5 * alone[0]
    # A guest takes note of a millisecond or more at a time.
    assert missed_ns == pytest.approx(waited_ns, rel=0.25)
