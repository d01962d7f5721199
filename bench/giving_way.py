"""How soon a task that wakes passes one of another session: ``python -m bench.giving_way``.

As the control plane and a primary meet on a CPU. One works for 3 ms of 15 and is scheduled in
several ways; the other wakes every 300 us. Interleaved rounds.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

from bench import probe
from smartharvest.core._tasks import ask_for_slice
from smartharvest.host.process.start import worker_context

ON_MS, OFF_MS = 3, 12
PERIOD_NS = 300_000
SECONDS, ROUNDS = 4.0, 3
QUANTILES = (0.5, 0.9, 0.99, 0.999)
_processes = worker_context()


def _idle() -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


WAYS: dict[str, Callable[[], object]] = {
    "as every task": lambda: None,
    "nice 19": lambda: os.nice(19),
    "SCHED_IDLE": _idle,
    "slice of 0.1 ms": lambda: ask_for_slice(100_000),
    "slice of 10 ms": lambda: ask_for_slice(10_000_000),
    "slice of 100 ms": lambda: ask_for_slice(100_000_000),
}


def main() -> None:
    """Prints one line for each way."""
    cpu = max(os.sched_getaffinity(0))
    found: dict[str, list[NDArray[np.int64]]] = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name in WAYS:
            found[name].append(_late_ns(name, cpu))
    print(f"late, us: {', '.join(f'P{q * 100:g}' for q in QUANTILES)}; P99 of the rounds")
    for name, rounds in found.items():
        us = np.quantile(np.concatenate(rounds), QUANTILES) / 1000
        each = [round(float(np.quantile(one, 0.99)) / 1000) for one in rounds]
        print(f"{name:16}{''.join(f'{one:8.0f}' for one in us)}   {each}")


def _late_ns(name: str, cpu: int) -> NDArray[np.int64]:
    """How late the one that wakes was each time."""
    ours, theirs = _processes.Pipe(duplex=False)
    works = _processes.Process(target=_work, args=(name, cpu), daemon=True)
    wakes = _processes.Process(target=_wake, args=(cpu, theirs), daemon=True)
    try:
        works.start()
        wakes.start()
        late_ns: NDArray[np.int64] = ours.recv()
    finally:
        for process in (works, wakes):
            process.kill()
            process.join()
    return late_ns


def _work(name: str, cpu: int) -> None:
    os.setsid()
    os.sched_setaffinity(0, {cpu})
    WAYS[name]()
    page = np.zeros(8, dtype=np.uint8)
    probe.wave(ON_MS * 1_000_000, OFF_MS * 1_000_000, page.ctypes.data)


def _wake(cpu: int, told: Connection) -> None:
    os.setsid()
    os.sched_setaffinity(0, {cpu})
    told.send(probe.nanosleep_loop(PERIOD_NS, int(SECONDS * 1e9) // PERIOD_NS)[0])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    main()
