"""What the scheduler of ``strict`` adds to a switch, in a guest whose time is counted.

The kernel's own account of BPF programs (``kernel.bpf_stats_enabled``), in instructions: a
nanosecond each. It counts its two looks at the clock as well.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bench.manycore.spare_inside import program_times
from smartharvest.host.process.policy import SCHED_EXT, set_policy
from smartharvest.host.sched_ext import state
from smartharvest.host.sched_ext.loader import Loaded

SLICE_NS = 1_000_000
TURNS = 400
"""Of what is counted."""
PAUSE_S = 0.001
SETTLE_S = 0.05
SPARES = (0, 2)

Child = Callable[[str, int, Callable[[], None]], int]
"""Starts one in a group, on a CPU."""


def hand_over(start: Child, group: str, cpu: int, policy: int) -> float:
    """Two tasks that wake each other in turn; instructions a turn."""
    there, back = os.pipe(), os.pipe()
    took = os.pipe()

    def first() -> None:
        set_policy(0, policy)
        os.read(there[0], 1)  # the other is there
        began_s = time.monotonic()
        for _ in range(TURNS // 2):
            os.write(back[1], b"x")
            os.read(there[0], 1)
        os.write(took[1], str(1e9 * (time.monotonic() - began_s) / TURNS).encode())

    def second() -> None:
        set_policy(0, policy)
        os.write(there[1], b"x")
        for _ in range(TURNS // 2):
            os.read(back[0], 1)
            os.write(there[1], b"x")

    children = [start(group, cpu, run) for run in (first, second)]
    for pid in children:
        os.waitpid(pid, 0)
    found = float(os.read(took[0], 100))
    for fd in (*there, *back, *took):
        os.close(fd)
    return found


def wake(start: Child, cpu: int) -> None:
    """A primary that sleeps and wakes."""

    def run() -> None:
        for _ in range(TURNS):
            time.sleep(PAUSE_S)

    os.waitpid(start("web", cpu, run), 0)


@contextmanager
def spinners(start: Child, cpu: int, count: int) -> Iterator[None]:
    """Of the batch."""

    def run() -> None:
        set_policy(0, SCHED_EXT)
        while True:
            pass

    children = [start("batch", cpu, run) for _ in range(count)]
    time.sleep(SETTLE_S)
    try:
        yield
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def price(start: Child, cpu: int, cpus: int) -> dict[str, Any]:
    """By what happens: how often, and what each program took."""
    bare = hand_over(start, "web", cpu, os.SCHED_OTHER)
    found: dict[str, Any] = {"primaries hand over, no scheduler": {"turn": round(bare)}}
    for spare in SPARES:
        with Loaded() as scheduler:
            state.control(
                scheduler.memory,
                slice_ns=SLICE_NS,
                keep_preempted=scheduler.calls_back,
                spare={frozenset(range(cpus)): spare},
            )
            scheduler.attach()

            def count(
                what: str, act: Callable[[], float | None], batch: int = 0, spare: int = spare
            ) -> None:
                with spinners(start, cpu, batch), program_times() as times:
                    turn = act()
                ran = {name: one for name, one in times.items() if one["runs"]}
                turns = ran["running"]["runs"] if batch > 1 and ran else TURNS
                own = {"turns": turns, "programs": ran}
                found[f"{what}, {spare} spare"] = own | ({"turn": round(turn)} if turn else {})

            count("primaries hand over", lambda: hand_over(start, "web", cpu, os.SCHED_OTHER))
            count("the batch hands over", lambda: hand_over(start, "batch", cpu, SCHED_EXT))
            count("a primary wakes on an idle CPU", lambda: wake(start, cpu))
            count("a primary wakes where the batch runs", lambda: wake(start, cpu), 1)
            count("two of the batch take turns", lambda: time.sleep(SLICE_NS * TURNS / 1e9), 2)
    return found
