"""A batch of the idle class that is off its CPU amid a write keeps the lock of the file.

What to do about it: docs/how-to/share-no-locks.md. ``python -m bench.kernel_lock`` measures it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.process import tasks
from tests.cpus import needs_two_cpus
from tests.integration.processes import Processes, wait_until

pytestmark = pytest.mark.timing

WHOLE_BYTES = 256 << 20
"""Of the batch's one write: a tenth of a second of a CPU, and far more of a share in one."""
BATCH = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
block = bytes(int(sys.argv[3]))
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.pwrite(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT), block, 0)
"""
PRIMARY = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.pwrite(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT), b"x", 0)
"""
SPINNER = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while True: pass
"""


@pytest.fixture
def memory() -> Iterator[Path]:
    if shutil.disk_usage("/dev/shm").free < 2 * WHOLE_BYTES:
        pytest.skip("/dev/shm has too little room")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield Path(directory)


@needs_two_cpus
def test_a_primary_waits_for_an_idle_batch_that_holds_a_lock_and_is_not_served(
    processes: Processes, memory: Path
) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    primary_cpu, batch_cpu = str(cpus[0]), str(cpus[-1])
    shared, other = memory / "shared", memory / "other"

    def amid_its_write() -> bool:
        return shared.exists() and 0 < shared.stat().st_size < WHOLE_BYTES

    def start(program: str, *arguments: str) -> subprocess.Popen[str]:
        return processes.start([sys.executable, "-c", program, *arguments])

    spinner = start(SPINNER, batch_cpu)
    batch = start(BATCH, batch_cpu, str(shared), str(WHOLE_BYTES))
    wait_until(amid_its_write)

    # The batch's core has been taken back. Who does not need its lock is not held up ...
    assert start(PRIMARY, primary_cpu, str(other)).wait(timeout=20) == 0
    assert amid_its_write()
    # ... and who does waits, on a CPU of its own, as long as the batch is not served.
    waiting = start(PRIMARY, primary_cpu, str(shared))
    wait_until(lambda: tasks.state(waiting.pid) == "D")
    assert amid_its_write()
    assert waiting.poll() is None
    assert batch.poll() is None

    # With a core for the batch the lock is free soon.
    spinner.kill()
    assert waiting.wait(timeout=20) == 0
    assert shared.stat().st_size == WHOLE_BYTES
    assert batch.wait(timeout=20) == 0
