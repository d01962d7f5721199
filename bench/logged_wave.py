"""A thread that keeps a log of when it ran: ``python -m bench.logged_wave PARENT_PID LOG_FD CPU
ON_NS OFF_NS SEED POLICY``.

It uses ON_NS of CPU time and sleeps until the next begin of a fixed grid. Its log has its own clock
and its own CPU time at the begin and the end of each turn, so what the scheduler gave it is known
at any moment, noise or not.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bench import probe
from bench.subject import NotMeasurableError
from smartharvest.demo.parent import die_with

CAPACITY = 1 << 15
_START_TIMEOUT_S = 20.0
_LOG_BYTES = 8 + CAPACITY * 40


class LoggedWave:
    """The wave in a child process pinned to ``cpu``; it ends with this one, or at the exit.

    With a ``seed`` its turns vary between a quarter and seven quarters; ``policy`` is the
    scheduling policy it asks for (sched(7)) and goes without where that is refused.
    """

    def __init__(
        self,
        cpu: int,
        on_ns: int,
        off_ns: int,
        *,
        seed: int = 0,
        policy: int = os.SCHED_OTHER,
    ) -> None:
        log_fd = os.memfd_create("smartharvest-bench-log")
        numbers = (os.getpid(), log_fd, cpu, on_ns, off_ns, seed, policy)
        try:
            os.truncate(log_fd, _LOG_BYTES)
            self._log = mmap.mmap(log_fd, _LOG_BYTES)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.logged_wave", *map(str, numbers)],
                pass_fds=(log_fd,),
                process_group=0,
            )
        finally:
            os.close(log_fd)

    @property
    def pid(self) -> int:
        return self._process.pid

    def spans(self) -> NDArray[np.int64]:
        """The latest turns in order, one a row: start, CPU time at it, end, CPU time at it, and
        what of it the hypervisor has stolen, all in ns."""
        count = self._count()
        table = np.frombuffer(self._log[8:], dtype=np.int64).reshape(CAPACITY, 5)
        first = max(0, self._count() - CAPACITY + 1)  # what was written meanwhile took old ones
        return table[np.arange(first, count) % CAPACITY]

    def _count(self) -> int:
        return int.from_bytes(self._log[:8], sys.byteorder)

    def __enter__(self) -> Self:
        deadline_s = time.monotonic() + _START_TIMEOUT_S
        while not any(self._log[:8]):
            if self._process.poll() is not None or time.monotonic() > deadline_s:
                self.__exit__(None, None, None)
                raise NotMeasurableError("the wave's process did not start")
            time.sleep(0.001)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()


def main(
    parent_pid: int, log_fd: int, cpu: int, on_ns: int, off_ns: int, seed: int, policy: int
) -> None:
    """Runs the wave until the process is killed."""
    die_with(parent_pid)
    os.sched_setaffinity(0, {cpu})
    with suppress(PermissionError):
        os.sched_setscheduler(0, policy, os.sched_param(int(policy == os.SCHED_FIFO)))
    log = mmap.mmap(log_fd, _LOG_BYTES)
    address = ctypes.addressof(ctypes.c_uint8.from_buffer(log))
    probe.logged_wave(on_ns, off_ns, seed, CAPACITY, address)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
