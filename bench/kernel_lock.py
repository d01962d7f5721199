"""A batch of the idle class that holds a lock of the kernel: what a primary that needs it does.

    python -m bench.kernel_lock

Both write to one file, which is the inode's lock for as long as the write lasts. The primary has a
CPU of its own all the time. ``starved``: somebody else works on the batch's CPU, as a primary that
has taken its core back does; the batch is then off its CPU amid a write, and keeps the lock.
``apart``: the same, but the batch writes to a file of its own. ``served``: both write to the one
file, and the batch has its CPU to itself, as with an elastic minimum of 1.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from smartharvest.host.process.start import worker_context

CONDITIONS = ("apart", "served", "starved")
BATCH_WRITE_BYTES = 1 << 20
_SETTLE_S = 0.2
_processes = worker_context()


@dataclass(frozen=True)
class Outcome:
    """What the primary did, one byte at a time."""

    condition: str
    seconds: float
    writes: int
    longest_ms: float


def measure(condition: str, seconds: float) -> Outcome:
    """Needs two CPUs. Leaves nothing behind."""
    primary_cpu, batch_cpu, *_ = sorted(os.sched_getaffinity(0))
    ours, theirs = _processes.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        shared, own = f"{directory}/shared", f"{directory}/own"
        others: list[tuple[Callable[..., None], tuple[object, ...]]] = [
            (_batch, (batch_cpu, own if condition == "apart" else shared))
        ]
        if condition != "served":
            others.append((_spin, (batch_cpu,)))
        started: list[SpawnProcess] = []
        try:
            for work, arguments in others:
                started.append(_processes.Process(target=work, args=arguments, daemon=True))
                started[-1].start()
            time.sleep(_SETTLE_S)
            started.append(
                _processes.Process(
                    target=_primary, args=(primary_cpu, shared, seconds, theirs), daemon=True
                )
            )
            started[-1].start()
            theirs.close()
            writes, longest_s = ours.recv()
        finally:
            for process in reversed(started):
                process.kill()
                process.join()
    return Outcome(condition, seconds, writes, longest_s * 1e3)


def _primary(cpu: int, path: str, seconds: float, told: Connection) -> None:
    os.sched_setaffinity(0, {cpu})
    writes, longest_s = 0, 0.0
    with open(path, "wb", buffering=0) as file:
        until = now = time.monotonic()
        until += seconds
        while now < until:
            os.pwrite(file.fileno(), b"x", 0)
            before, now = now, time.monotonic()
            writes, longest_s = writes + 1, max(longest_s, now - before)
    told.send((writes, longest_s))


def _batch(cpu: int, path: str) -> None:
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    block = bytes(BATCH_WRITE_BYTES)
    with open(path, "wb", buffering=0) as file:
        while True:
            os.pwrite(file.fileno(), block, 0)


def _spin(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})
    while True:
        pass


if __name__ == "__main__":
    length_s = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    for round_number in range(3):
        for name in CONDITIONS:
            print(json.dumps({"round": round_number, **asdict(measure(name, length_s))}))
