"""A family of processes that goes on being born, daemonized and pinned while agents are struck."""

from __future__ import annotations

import os
import random
from pathlib import Path

from bench.compiling import build_program
from smartharvest.host.process import tasks
from tests.faults.host_state import Pins
from tests.integration.processes import Processes

SOURCE = Path(__file__).with_name("population.c")
LIBRARIES = ("-pthread",)
PINS_PER_S = 60.0
LEAF = "leaf"


class Population:
    """``root`` and its offspring. What has lost its parent belongs to a keeper from then on.

    ``threads`` of it only sleep; ``rate`` threads, children and daemons a second are born, some of
    which pin themselves if it ``pins``.
    """

    def __init__(self, processes: Processes, threads: int, rate: int, *, pins: bool) -> None:
        program = build_program(SOURCE, *LIBRARIES)
        self._keeper = processes.start([str(program), str(threads), str(rate), str(int(pins))])
        assert self._keeper.stdout is not None
        self.root = int(self._keeper.stdout.readline())

    def begin(self) -> None:
        """Has it begin, where it has been placed; returns once all that lasts is there."""
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.write("go\n")
        self._keeper.stdin.flush()
        said = self._keeper.stdout.readline()
        assert said == "complete\n", said


class Stranger:
    """Pins tasks that are not its own, some of which are about to end."""

    def __init__(self, numbers: random.Random) -> None:
        self._numbers = numbers
        self._next_s = 0.0
        self.active = False
        self.pinned: Pins = {}

    def turn(self, now_s: float, root: int) -> None:
        """Pins a task of ``root`` that never forks, if it is time: others pass their pins on."""
        if not self.active or now_s < self._next_s:
            return
        self._next_s = now_s + self._numbers.expovariate(PINS_PER_S)
        threads = [tid for tid in tasks.process_threads(root) if tid != root]
        leaves = [pid for pid in _children(root) if tasks.name(pid) == LEAF]
        self.pin_one([*threads[-3:], *leaves])

    def pin_one(self, tids: list[int]) -> None:
        if not tids:
            return
        tid = self._numbers.choice(tids)
        cpus = frozenset({self._numbers.choice(sorted(tasks.online_cpus()))})
        try:
            os.sched_setaffinity(tid, cpus)
        except OSError:  # it has ended, or its cpuset has none of these
            return
        self.pinned.setdefault(tid, []).append(cpus)

    def rest(self) -> Pins:
        """Ends for this strike; what it has pinned."""
        self.active = False
        pinned, self.pinned = self.pinned, {}
        return pinned


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []
