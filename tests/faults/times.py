"""``python -m tests.faults.times``: how soon a core comes back from an agent that dies or hangs.

On groups of this host (root); a real-time process looks at the elastic group's set and at the
journal, five times a millisecond.

- ``stop``: SIGSTOP to the agent, until the elastic group has its minimum. The agent goes on then.
- ``wedge``: its interpreter is in a C call that does not let go of the GIL; likewise.
- ``kill``: SIGKILL, until every original is back and the journal is gone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from smartharvest.host.cpulist import parse_cpulist
from tests.faults.campaign import difference, quantiles
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent, wait_until

FAULTS = ("stop", "wedge", "kill")
_LOOK_S = 0.0002
_LONGEST_S = 5.0
_WEDGE_US = 400_000
"""Short of the second after which a guardian kills."""
_BULLY = ("sh", "-c", "while :; do :; done")
_AGENT = f"""
import ctypes, os, signal, struct, sys, time
from smartharvest.cli import main
notes = os.open(sys.argv.pop(1), os.O_WRONLY)
hold = ctypes.PyDLL(None).usleep
def wedge(*_):
    os.pwrite(notes, struct.pack("q", time.monotonic_ns()), 0)
    hold({_WEDGE_US})
signal.signal(signal.SIGUSR1, wedge)
sys.exit(main(sys.argv[1:]))
"""


class Measurement:
    """One host with an idle primary and a batch that spins."""

    def __init__(self, host: Host, processes: Processes, state_dir: Path, policy: str) -> None:
        self._host, self._processes, self._policy = host, processes, policy
        self._notes = state_dir / "wedged"
        self._notes.write_bytes(bytes(8))
        host.populate()
        os.kill(host.spinner, signal.SIGSTOP)
        self._before = host.files()
        self._set = os.open(host.batch.cpus_file, os.O_RDONLY)

    def _cpus(self) -> frozenset[int]:
        return parse_cpulist(os.pread(self._set, 4096, 0).decode())

    def start(self) -> None:
        words = ["agent", *self._host.state, *self._host.targets, "--policy", self._policy]
        program = [sys.executable, "-c", _AGENT, str(self._notes), *words, "--lend-shared"]
        self._agent = RunningAgent(self._processes.start(program))
        self._agent.wait_until(self._is_running)
        masks = json.loads(self._journal().read_text())["minimum"]
        self._smallest = parse_cpulist(dict(masks)[self._host.batch.cpus_file])
        self._agent.wait_until(self._lends)

    def _lends(self) -> bool:
        return self._cpus() > self._smallest

    def _is_running(self) -> bool:
        return any(self._host.state_dir.glob("*.sock"))

    def _journal(self) -> Path:
        return next(self._host.state_dir.glob("*.journal"))

    def stop(self) -> float:
        wait_until(self._lends)
        began_ns = time.monotonic_ns()
        os.kill(self._agent.pid, signal.SIGSTOP)
        took_ms = _until(lambda: self._cpus() == self._smallest, began_ns)
        os.kill(self._agent.pid, signal.SIGCONT)
        return took_ms

    def wedge(self) -> float:
        wait_until(self._lends)
        self._notes.write_bytes(bytes(8))
        os.kill(self._agent.pid, signal.SIGUSR1)
        while not (began_ns := struct.unpack("q", self._notes.read_bytes())[0]):
            time.sleep(_LOOK_S)
        took_ms = _until(lambda: self._cpus() == self._smallest, began_ns)
        time.sleep(_WEDGE_US / 1e6)
        return took_ms

    def kill(self) -> float:
        wait_until(self._lends)
        journal = self._journal()
        began_ns = time.monotonic_ns()
        os.kill(self._agent.pid, signal.SIGKILL)
        took_ms = _until(lambda: not journal.exists(), began_ns)
        self._agent.outcome()
        self._check()
        self.start()
        return took_ms

    def end(self) -> None:
        self._agent.send(signal.SIGTERM)
        self._check()

    def _check(self) -> None:
        after = self._host.files()
        assert after == self._before, difference(self._before, after)


def _until(what: Callable[[], bool], began_ns: int) -> float:
    """Milliseconds from then until it is so, or for ever."""
    while not what():
        if time.monotonic_ns() - began_ns > _LONGEST_S * 1e9:
            return float("inf")
        time.sleep(_LOOK_S)
    return (time.monotonic_ns() - began_ns) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.times", description=__doc__)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9, help="at most, for each fault")
    parser.add_argument("--policy", default="everywhere", help="one that lends the whole pool")
    parser.add_argument("--bullies", type=int, default=0, help="processes that spin beside it")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    numbers, processes = random.Random(options.seed), Processes()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        stack.callback(processes.end)
        host = Host(processes, Path(directory, "state"))
        stack.callback(host.remove)
        measurement = Measurement(host, processes, Path(directory), options.policy)
        for _ in range(options.bullies):
            processes.start(_BULLY)
        measurement.start()
        # Below the agent's and its guardian's own priorities.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        for fault in options.faults:
            took_ms: list[float] = []
            until_s = time.monotonic() + options.seconds
            while len(took_ms) < options.times and time.monotonic() < until_s:
                time.sleep(numbers.uniform(0.02, 0.1))
                took_ms.append(getattr(measurement, fault)())
            print(
                json.dumps(
                    {"fault": fault, "bullies": options.bullies, "policy": options.policy}
                    | {"ms": quantiles(took_ms)}
                ),
                flush=True,
            )
        measurement.end()


if __name__ == "__main__":
    main()
