"""How long a fixed piece of Python takes.

It tells how much slower an emulator makes an agent's control plane than the servers, whose work is
calibrated to guest time.
"""

from __future__ import annotations

import time

STEPS, TRIES = 20_000, 5


def piece_ms() -> float:
    """CPU time of the fastest of TRIES, by this machine's clock."""
    return min(_once_ms() for _ in range(TRIES))


def _once_ms() -> float:
    counts: dict[int, int] = {}
    began_s = time.thread_time()
    for step in range(STEPS):
        counts[step % 64] = counts.get(step % 64, 0) + step
    return (time.thread_time() - began_s) * 1e3
