"""A thread that keeps a log of when it ran: ``python -m bench.logged_wave PARENT_PID LOG_FD CPU
ON_NS OFF_NS SEED POLICY``.

It uses ON_NS of CPU time and sleeps until the next begin of a fixed grid, which begins anew after a
pause. Its log has its own clock and its own CPU time at the begin and the end of each turn, so what
the scheduler gave it is known at any moment, noise or not.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from bench import child, probe

CAPACITY = 1 << 15
_LOG_BYTES = 8 + CAPACITY * 40


class LoggedWave(child.Child):
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
        numbers = (cpu, on_ns, off_ns, seed, policy)
        super().__init__("bench.logged_wave", _LOG_BYTES, *numbers)

    def pause(self) -> None:
        """Stops it until ``go_on``; its grid then begins anew."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def spans(self) -> NDArray[np.int64]:
        """The latest turns in order, one a row: start, CPU time at it, end, CPU time at it, and
        what of it the hypervisor has stolen, all in ns."""
        count = self._count()
        table = np.frombuffer(self.page[8:], dtype=np.int64).reshape(CAPACITY, 5)
        first = max(0, self._count() - CAPACITY + 1)  # what was written meanwhile took old ones
        return table[np.arange(first, count) % CAPACITY]

    def _count(self) -> int:
        return int.from_bytes(self.page[:8], sys.byteorder)


def main(
    parent_pid: int, log_fd: int, cpu: int, on_ns: int, off_ns: int, seed: int, policy: int
) -> None:
    """Runs the wave until the process is killed."""
    log = child.join(parent_pid, log_fd)
    os.sched_setaffinity(0, {cpu})
    with suppress(PermissionError):
        os.sched_setscheduler(0, policy, os.sched_param(int(policy == os.SCHED_FIFO)))
    probe.logged_wave(on_ns, off_ns, seed, CAPACITY, child.address(log))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
