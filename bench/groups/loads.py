"""Programs of the groups: ``python -m bench.groups.loads KIND PROCESSES FILE``.

``spin`` computes and counts nothing. ``beats`` counts a heartbeat in FILE for each unit of work;
SIGUSR1 makes a unit twice as much work. ``locked`` does nine tenths of each unit under one lock for
which it spins, so that it uses every core that it has and does hardly more with many than with one.
``bursts`` is a primary: its processes wake up together and use 2 ms each; FILE gets how long each
took, in ns.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import struct
import sys
import time
from contextlib import suppress
from multiprocessing.synchronize import Lock
from typing import Any

from smartharvest.telemetry.heartbeat import Heartbeat

UNIT_S = 0.001
BURST_S = 0.002
PERIOD_S = 0.1
_PR_SET_PDEATHSIG = 1


def work(seconds: float) -> None:
    """Uses so much CPU time."""
    until_s = time.thread_time() + seconds
    while time.thread_time() < until_s:
        pass


def spin(_path: str, _lock: Lock) -> None:
    while True:
        work(1.0)


def beats(path: str, _lock: Lock) -> None:
    units = [UNIT_S]

    def double(*_: Any) -> None:
        units[0] *= 2

    signal.signal(signal.SIGUSR1, double)
    heart = Heartbeat(path)
    while True:
        work(units[0])
        heart.beat()


def locked(path: str, lock: Lock) -> None:
    heart = Heartbeat(path)
    while True:
        work(0.1 * UNIT_S)
        while not lock.acquire(block=False):
            pass
        try:
            work(0.9 * UNIT_S)
        finally:
            lock.release()
        heart.beat()


def bursts(path: str, _lock: Lock) -> None:
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    while True:
        next_s = (time.monotonic() // PERIOD_S + 1) * PERIOD_S
        time.sleep(max(0.0, next_s - time.monotonic()))
        work(BURST_S)
        os.write(log, struct.pack("=q", int((time.monotonic() - next_s) * 1e9)))


KINDS = {"spin": spin, "beats": beats, "locked": locked, "bursts": bursts}


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _run(kind: str, path: str, lock: Lock) -> None:
    _die_with_parent()
    KINDS[kind](path, lock)


def main(kind: str, processes: int, path: str) -> None:
    """Runs until it is killed, or the process that started it ends."""
    _die_with_parent()
    lock = multiprocessing.Lock()
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_run, args=(kind, path, lock)) for _ in range(processes)]
    for child in children:
        child.start()

    def pass_on(*_: Any) -> None:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child.pid or 0, signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, pass_on)
    print("started", flush=True)
    for child in children:
        child.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
