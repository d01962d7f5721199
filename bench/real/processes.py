"""The processes of an experiment: born in their groups, metered, and gone at its end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.series import SERIES
from bench.subject import NotMeasurableError

FIRST_UNIT_S = 30.0
END_S = 2.0
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@contextmanager
def waiting(command: Sequence[str | Path]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that becomes ``command`` once ``release`` tells it to; ended on the way out."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", 'read line && exec "$@"', "sh", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0,  # ctrl-C is for the parent, which then ends its children
    )
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        process.kill()
        process.communicate()


def release(process: subprocess.Popen[bytes]) -> None:
    """Tells a process that waits for a line to go on."""
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    process.stdin.flush()


def cpu_s(pid: int) -> float:
    """CPU time of a process, of its descendants, and of those of them that were waited for.

    In clock ticks, as /proc/PID/stat counts them: 10 ms mostly.
    """
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # it ended while it was looked at; its parent counts it soon
    own = sum(int(field) for field in fields[11:15]) * _TICK_S
    return own + sum(cpu_s(child) for child in children)


def watchers_s() -> float:
    """CPU seconds of this process's threads that watch the machine: no part of the agent in it."""
    series = {thread.native_id for thread in threading.enumerate() if thread.name == SERIES}
    spent_ns = 0
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it has ended
            name = (task / "comm").read_text().strip()
            if int(task.name) in series or name == "sh-standstill":
                spent_ns += int((task / "schedstat").read_text().split()[0])
    return spent_ns / 1e9


class Batch:
    """A batch of several processes that count their work; made by ``batch``."""

    def __init__(self, process: subprocess.Popen[bytes], progress: Path, name: str) -> None:
        self.pid = process.pid
        self._process = process
        self._progress = progress
        self._name = name

    def start(self) -> None:
        """Begins, in the group the process is in by now; returns when the first unit is done."""
        release(self._process)
        ends = time.monotonic() + FIRST_UNIT_S
        while self.units() == 0:
            if self._process.poll() is not None:
                raise NotMeasurableError(f"{self._name}: ended at its start")
            if time.monotonic() > ends:
                raise NotMeasurableError(f"{self._name}: no unit within {FIRST_UNIT_S:.0f} s")
            time.sleep(0.02)

    def units(self) -> int:
        return self._progress.stat().st_size

    def cpu_s(self) -> float:
        return cpu_s(self.pid)


@contextmanager
def batch(name: str) -> Iterator[Batch]:
    """A batch process of bench.real.batch that waits to be started."""
    with tempfile.TemporaryDirectory(prefix="smartharvest-bench-") as made:
        progress = Path(made, "progress")
        with open(progress, "ab") as file:
            workers = str(os.cpu_count() or 1)
            process = subprocess.Popen(
                [sys.executable, "-m", "bench.real.batch", name, str(file.fileno()), workers],
                stdin=subprocess.PIPE,
                pass_fds=(file.fileno(),),
                process_group=0,
            )
        try:
            yield Batch(process, progress, name)
        finally:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            process.kill()
            process.wait()
