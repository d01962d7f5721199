"""``python -m bench.cluster.node STATE_DIR PRIMARY SEED [HOLD_S]``: an agent of a made machine.

The simulation is held back to real time, and the capacity told on the socket where an agent's is.
With HOLD_S it runs ahead to that second and stands still until a line comes in, so that its cores
change at the same moments of each run. Ends with its standard input.
"""

from __future__ import annotations

import os
import selectors
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from smartharvest.agent.promise import HarvestMonitor
from smartharvest.core.window import Window
from smartharvest.lab.simulator.machine import Machine
from smartharvest.lab.simulator.mechanisms import make_mechanism
from smartharvest.lab.simulator.run import Experiment, run_policy
from smartharvest.lab.simulator.workloads import WORKLOADS, Workload
from smartharvest.telemetry.client import socket_path
from smartharvest.telemetry.server import ControlSocket

CORES = 6
"""Of each machine: the elastic minimum of one, and five that are the primary's when it wants."""
ELASTIC_MIN = 1
LENDABLE = CORES - ELASTIC_MIN
POLICY = "adaptive-quiet"
_S = 1_000_000_000
PRIMARIES = {
    "search": ("indexserve", ((30 * _S, 900.0), (40 * _S, 40.0), (30 * _S, 300.0))),
    "cache": ("memcached", ((45 * _S, 40_000.0), (45 * _S, 1_000.0))),
}
"""A workload of the paper's, and (nanoseconds, requests a second) one after the other. Long enough
for new workers, which first import what the job needs."""
MORE = {
    "shop": ("memcached", ((20 * _S, 8_000.0), (25 * _S, 50_000.0), (15 * _S, 20_000.0))),
}
"""Of other demonstrations."""
LONGEST_S = 600.0
TURN_S = 0.02
"""Between two looks at the socket and at standard input."""


class _Ended(Exception):
    """Nobody wants this node any more."""


def simulate(name: str, seed: int, lends: Callable[[Machine, int, int], None]) -> None:
    """Calls ``lends`` after each window, for LONGEST_S or until that raises _Ended.

    With the machine, the elastic group's core nanoseconds so far, and the cores lent all the window
    long.
    """
    workload, schedule = {**PRIMARIES, **MORE}[name]
    primary = replace(WORKLOADS[workload].primaries[0], cores=LENDABLE, schedule=schedule)
    machines: list[Machine] = []
    last = 0, 0

    def observe(_: Window) -> None:
        nonlocal last
        simulation = machines[0].simulation
        now_ns, lent_ns = simulation.now_ns, simulation.totals()["elastic_core_ns"]
        lent = int((lent_ns - last[1]) / max(1, now_ns - last[0]) + 1e-9)
        last = now_ns, lent_ns
        lends(machines[0], lent_ns, lent)

    with suppress(_Ended):
        run_policy(
            Experiment(
                Workload(name, (primary,)),
                mechanism=make_mechanism("linux"),
                seconds=LONGEST_S,
                seed=seed,
                cores=LENDABLE,
                long_term="off",
            ),
            POLICY,
            started=machines.append,
            window_ended=observe,
        )


def cores_of(name: str, seed: int, hold_s: float, seconds: float) -> list[tuple[float, float]]:
    """What ``main`` tells from ``hold_s`` on, by second: (until when, its elastic cores)."""
    found: list[tuple[float, float]] = []
    counts: list[int] = []

    def lends(machine: Machine, _lent_ns: int, lent: int) -> None:
        if machine.simulation.now_ns < hold_s * _S:
            return
        counts.append(ELASTIC_MIN + lent)
        if machine.simulation.now_ns >= (hold_s + len(found) + 1) * _S:
            found.append((len(found) + 1.0, sum(counts) / len(counts)))
            counts.clear()
        if len(found) >= seconds:
            raise _Ended

    simulate(name, seed, lends)
    return found


def main(state_dir: str, name: str, seed: str, hold_s: str = "") -> None:
    monitor = HarvestMonitor(ELASTIC_MIN, hold_s=5, probability=0.9)
    now_ns, lent = 0, 0
    control = ControlSocket(
        socket_path(state_dir, os.getpid()),
        {"capacity": lambda _: monitor.describe(now_ns, lent, LENDABLE)},
    )
    hold_ns = float(hold_s or 0) * _S
    started_s = None if hold_ns else time.monotonic()

    def lends(machine: Machine, lent_ns: int, lent_now: int) -> None:
        nonlocal now_ns, lent, started_s
        now_ns, lent = machine.simulation.now_ns, lent_now
        monitor.observe(now_ns, lent_ns)
        while started_s is not None or now_ns >= hold_ns:
            left_s = TURN_S
            if started_s is not None:
                left_s = min(TURN_S, started_s + now_ns / _S - time.monotonic())
            if left_s <= 0:
                return
            control.serve()
            if waiting.select(left_s):
                if not sys.stdin.readline():
                    raise _Ended
                started_s = time.monotonic() - now_ns / _S

    with selectors.DefaultSelector() as waiting:
        waiting.register(sys.stdin, selectors.EVENT_READ)
        try:
            with suppress(KeyboardInterrupt):
                simulate(name, int(seed), lends)
        finally:
            control.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
