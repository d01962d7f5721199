"""A zoo of machines as /sys and /proc below a directory show them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.topology import Topology, read_topology

UPTIME_S = 10_000


@dataclass(frozen=True)
class Machine:
    """What a kernel would tell of it. Lists of CPUs are those of each core, cache and node."""

    cores: Sequence[Collection[int]]
    caches: Sequence[Collection[int]] = ()
    nodes: Mapping[int, Collection[int]] = field(default_factory=dict)
    offline: Collection[int] = ()
    atoms: Collection[int] = ()
    capacities: Mapping[int, int] = field(default_factory=dict)
    isolated: str = ""
    nohz_full: str = "(null)"
    interrupts: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Number -> (how many a second, the CPU they go to now)."""

    @property
    def online(self) -> frozenset[int]:
        return frozenset(cpu for core in self.cores for cpu in core) - frozenset(self.offline)

    def topology(self, root: Path) -> Topology:
        """Makes the tree below ``root`` and reads it."""
        self.make(root)
        return read_topology(self.online, str(root))

    def make(self, root: Path) -> None:
        cpus = "sys/devices/system/cpu"
        files = {
            f"{cpus}/online": format_cpulist(self.online),
            f"{cpus}/isolated": self.isolated,
            f"{cpus}/nohz_full": self.nohz_full,
            "proc/uptime": f"{UPTIME_S}.00 1.00",
        }
        for core in self.cores:
            siblings = format_cpulist(set(core) & self.online)
            for cpu in set(core) & self.online:  # an offline CPU has neither topology nor cache
                files[f"{cpus}/cpu{cpu}/topology/thread_siblings_list"] = siblings
                files |= self._cache(f"{cpus}/cpu{cpu}/cache/index0", 1, "Data", siblings)
                files |= self._cache(f"{cpus}/cpu{cpu}/cache/index1", 1, "Instruction", siblings)
        for cache in self.caches:
            shared = format_cpulist(set(cache) & self.online)
            for cpu in set(cache) & self.online:
                files |= self._cache(f"{cpus}/cpu{cpu}/cache/index3", 3, "Unified", shared)
        for node, of_node in self.nodes.items():
            files[f"sys/devices/system/node/node{node}/cpulist"] = format_cpulist(
                set(of_node) & self.online
            )
        if self.atoms:
            files["sys/devices/cpu_atom/cpus"] = format_cpulist(self.atoms)
        for cpu, capacity in self.capacities.items():
            files[f"{cpus}/cpu{cpu}/cpu_capacity"] = str(capacity)
        files |= self._interrupts()
        for path, text in files.items():
            target = root / path
            os.makedirs(target.parent, exist_ok=True)
            target.write_text(f"{text}\n")

    @staticmethod
    def _cache(directory: str, level: int, kind: str, shared: str) -> dict[str, str]:
        return {
            f"{directory}/level": str(level),
            f"{directory}/type": kind,
            f"{directory}/shared_cpu_list": shared,
        }

    def _interrupts(self) -> dict[str, str]:
        online = sorted(self.online)
        lines = ["".join(f"{f'CPU{cpu}':>11}" for cpu in online)]
        files = {}
        for number, (a_second, goes_to) in self.interrupts.items():
            # They came to the first CPU before somebody moved them.
            counts = [a_second * UPTIME_S, *[0] * (len(online) - 1)]
            lines.append(f"{number:>4}: {' '.join(map(str, counts))} PCI-MSIX 1-edge eth{number}")
            files[f"proc/irq/{number}/effective_affinity_list"] = str(goes_to)
        lines.append(f" LOC: {' '.join(['99999999999'] * len(online))}   Local timer interrupts")
        return {**files, "proc/interrupts": "\n".join(lines)}


def threads(first: int, count: int, apart: int) -> list[tuple[int, int]]:
    """``count`` cores of two threads from ``first`` on, the second ``apart`` from the first."""
    return [(cpu, cpu + apart) for cpu in range(first, first + count)]


TWO_SOCKETS = Machine(
    cores=threads(0, 48, 48),
    caches=[{*range(24), *range(48, 72)}, {*range(24, 48), *range(72, 96)}],
    nodes={0: {*range(24), *range(48, 72)}, 1: {*range(24, 48), *range(72, 96)}},
)
"""2 x 24 cores with two threads each, as Intel's servers number them."""

EIGHT_CACHES = Machine(
    cores=threads(0, 64, 64),
    caches=[{*range(c, c + 8), *range(c + 64, c + 72)} for c in range(0, 64, 8)],
    nodes={0: range(128)},
)
"""AMD's 64 cores with two threads each and eight last-level caches, in one memory node."""

HYBRID = Machine(
    cores=[*((cpu, cpu + 1) for cpu in range(0, 16, 2)), *((cpu,) for cpu in range(16, 24))],
    caches=[range(24)],
    nodes={0: range(24)},
    atoms=range(16, 24),
)
"""8 P cores with two threads each and 8 E cores with one."""

BIG_LITTLE = Machine(
    cores=[(cpu,) for cpu in range(8)],
    capacities={cpu: 446 if cpu < 4 else 1024 for cpu in range(8)},
)
"""Arm: the little cores have the low numbers."""

HUGE = Machine(
    cores=threads(0, 256, 256),
    caches=[{*range(c, c + 16), *range(c + 256, c + 272)} for c in range(0, 256, 16)],
    nodes={n: {*range(64 * n, 64 * n + 64), *range(64 * n + 256, 64 * n + 320)} for n in range(4)},
)
"""512 CPUs: 4 memory nodes, 16 last-level caches, 256 cores with two threads each."""

HOLES = Machine(cores=threads(0, 8, 8), caches=[range(16)], offline={3, 5, 6, 13, 14})
"""8 cores with two threads each, of which 5 and 6 are offline and 3 has lost one thread."""

NODES_WITHOUT_MEMORY = Machine(
    cores=[(cpu,) for cpu in range(12)],
    caches=[range(4), range(4, 8), range(8, 12)],
    nodes={0: range(4), 1: range(4, 8), 2: (), 3: range(8, 12)},
)
"""Memory node 2 has no CPUs; whether a node has memory makes no difference here."""

SMALL_VM = Machine(cores=[(0,), (1,)])
"""2 CPUs and no word about caches or nodes."""

ONE_CORE_VM = Machine(cores=[(0, 1)], caches=[(0, 1)], nodes={0: (0, 1)})
"""2 CPUs that are the threads of one core, as clouds sell them."""

ZOO = {
    "two sockets": TWO_SOCKETS,
    "eight caches": EIGHT_CACHES,
    "hybrid": HYBRID,
    "big.LITTLE": BIG_LITTLE,
    "huge": HUGE,
    "holes": HOLES,
    "nodes without memory": NODES_WITHOUT_MEMORY,
    "small VM": SMALL_VM,
    "one core VM": ONE_CORE_VM,
}
