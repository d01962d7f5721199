"""A thread whose state is known: ``python -m bench.wave PARENT_PID TRUTH_FD CPU``.

It runs for 200 us and sleeps for 300, and keeps a byte of shared memory true about it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import time
from types import TracebackType
from typing import Self

from bench import probe
from bench.subject import NotMeasurableError
from smartharvest.demo.parent import die_with

ON_NS = 200_000
OFF_NS = 300_000
_START_TIMEOUT_S = 20.0


class WaveProcess:
    """The wave in a child process pinned to ``cpu``, which ends with this one or at the exit."""

    def __init__(self, cpu: int) -> None:
        truth_fd = os.memfd_create("smartharvest-bench-wave")
        try:
            os.truncate(truth_fd, mmap.PAGESIZE)
            self.truth = mmap.mmap(truth_fd, mmap.PAGESIZE)
            """Byte 0 is 1 while the thread runs, otherwise 0."""
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.wave", str(os.getpid()), str(truth_fd), str(cpu)],
                pass_fds=(truth_fd,),
                process_group=0,
            )
        finally:
            os.close(truth_fd)

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        deadline_s = time.monotonic() + _START_TIMEOUT_S
        while not self.truth[0]:
            if self._process.poll() is not None or time.monotonic() > deadline_s:
                self.__exit__(None, None, None)
                raise NotMeasurableError("the wave's process did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()


def main(parent_pid: int, truth_fd: int, cpu: int) -> None:
    """Runs the wave until the process is killed."""
    die_with(parent_pid)
    os.sched_setaffinity(0, {cpu})
    truth = mmap.mmap(truth_fd, mmap.PAGESIZE)
    probe.wave(ON_NS, OFF_NS, ctypes.addressof(ctypes.c_uint8.from_buffer(truth)))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
