"""``python -m bench.cluster.node STATE_DIR PRIMARY SEED``: the agent on a simulated machine.

The simulation is held back to real time, and the capacity told on the socket where an agent's is.
Ends with its standard input.
"""

from __future__ import annotations

import os
import selectors
import sys
import time
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


class _Ended(Exception):
    """Nobody wants this node any more."""


def main(state_dir: str, name: str, seed: str) -> None:
    workload, schedule = {**PRIMARIES, **MORE}[name]
    lendable = CORES - ELASTIC_MIN
    primary = replace(WORKLOADS[workload].primaries[0], cores=lendable, schedule=schedule)
    monitor = HarvestMonitor(ELASTIC_MIN, hold_s=5, probability=0.9)
    machines: list[Machine] = []
    lent = 0
    last = 0, 0
    control = ControlSocket(
        socket_path(state_dir, os.getpid()),
        {"capacity": lambda _: monitor.describe(machines[0].simulation.now_ns, lent, lendable)},
    )
    started_s = time.monotonic()

    def observe(_: Window) -> None:
        nonlocal lent, last
        simulation = machines[0].simulation
        now_ns, lent_ns = simulation.now_ns, simulation.totals()["elastic_core_ns"]
        monitor.observe(now_ns, lent_ns)
        lent = int((lent_ns - last[1]) / max(1, now_ns - last[0]) + 1e-9)  # all the window long
        last = now_ns, lent_ns
        due_s = started_s + simulation.now_ns / _S
        while (left_s := due_s - time.monotonic()) > 0:
            control.serve()
            if waiting.select(min(left_s, 0.02)):
                raise _Ended

    with selectors.DefaultSelector() as waiting:
        waiting.register(sys.stdin, selectors.EVENT_READ)
        try:
            run_policy(
                Experiment(
                    Workload(name, (primary,)),
                    mechanism=make_mechanism("linux"),
                    seconds=LONGEST_S,
                    seed=int(seed),
                    cores=lendable,
                    long_term="off",
                ),
                POLICY,
                started=machines.append,
                window_ended=observe,
            )
        except (_Ended, KeyboardInterrupt):
            pass
        finally:
            control.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
