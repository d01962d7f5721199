"""The bully's process: ``smartharvest.lab.demo.bully PARENT_PID BLOCK_FD THREADS``.

``start`` on standard input starts the threads, paused, and is answered by ``ready``; the process
ends when the input does. Everything else goes through the shared memory behind ``BLOCK_FD``.
"""

from __future__ import annotations

import mmap
import sys

from smartharvest.core import _demo
from smartharvest.host.process.parent import die_with


def main(parent_pid: int, block_fd: int, threads: int) -> None:
    """Run the bully until the parent closes standard input."""
    die_with(parent_pid)
    block = mmap.mmap(block_fd, _demo.bully_block_size(threads))
    commands, answers = sys.stdin.buffer, sys.stdout.buffer
    if not commands.readline():
        return
    bully = _demo.Bully(block, threads)
    answers.write(b"ready\n")
    answers.flush()
    commands.read()
    bully.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
