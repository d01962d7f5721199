"""A thread whose state is known: ``python -m bench.wave PARENT_PID TRUTH_FD CPU``.

It runs for 200 us and sleeps for 300, and keeps a byte of shared memory true about it.
"""

from __future__ import annotations

import mmap
import os
import sys

from bench import child, probe

ON_NS = 200_000
OFF_NS = 300_000


class WaveProcess(child.Child):
    """The wave in a child process pinned to ``cpu``, which ends with this one or at the exit."""

    def __init__(self, cpu: int) -> None:
        super().__init__("bench.wave", mmap.PAGESIZE, cpu)
        self.truth = self.page
        """Byte 0 is 1 while the thread runs, otherwise 0."""


def main(parent_pid: int, truth_fd: int, cpu: int) -> None:
    """Runs the wave until the process is killed."""
    truth = child.join(parent_pid, truth_fd)
    os.sched_setaffinity(0, {cpu})
    probe.wave(ON_NS, OFF_NS, child.address(truth))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
