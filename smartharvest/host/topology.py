"""The machine's cores, caches, memory nodes and interrupts, and the order in which cores are lent.

Everything is read from /sys and /proc below a root, so that a fake tree can be any machine
(Documentation/ABI/testing/sysfs-devices-system-cpu of the kernel names the files). What a kernel or
a virtual machine does not show counts as equal: a CPU without siblings is a core of its own,
without caches it shares those of its node, without nodes there is one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from smartharvest.host.cpulist import format_cpulist, parse_cpulist

CPUS = "sys/devices/system/cpu"
BUSY_INTERRUPTS_PER_S = 1000
"""A CPU with this many device interrupts, on average since boot, loses about 1 % to them."""


@dataclass(frozen=True)
class Topology:
    """How the online CPUs are related. A CPU that is missing in a mapping has no relatives."""

    siblings: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """CPU -> the online hardware threads of its core, with itself."""
    cache: Mapping[int, int] = field(default_factory=dict)
    """CPU -> the lowest CPU it shares the last-level cache with."""
    node: Mapping[int, int] = field(default_factory=dict)
    """CPU -> its memory node."""
    efficient: frozenset[int] = frozenset()
    """CPUs that are slower by design than the fastest: E cores, little cores."""
    isolated: Mapping[int, str] = field(default_factory=dict)
    """CPU -> the boot parameter that sets it apart: isolcpus or nohz_full."""
    interrupted: frozenset[int] = frozenset()
    """CPUs that devices interrupt often."""

    def core(self, cpu: int) -> frozenset[int]:
        """The hardware threads of ``cpu``'s core."""
        return self.siblings.get(cpu, frozenset({cpu}))

    def cores(self, cpus: Collection[int]) -> list[frozenset[int]]:
        """``cpus`` by cores, lowest number first; threads outside ``cpus`` are left out."""
        chosen = frozenset(cpus)
        return sorted({self.core(cpu) & chosen for cpu in chosen}, key=min)

    def caches(self, cpus: Collection[int]) -> list[frozenset[int]]:
        """``cpus`` by last-level caches, lowest number first; a CPU without one is in the first."""
        by_cache: dict[int, set[int]] = {}
        for cpu in cpus:
            by_cache.setdefault(self.cache.get(cpu, 0), set()).add(cpu)
        return sorted(map(frozenset, by_cache.values()), key=min)

    def lend_order(self, cpus: Collection[int]) -> list[frozenset[int]]:
        """The cores of ``cpus`` in the order they are lent.

        Slower cores first, so that the primary keeps the fast ones. Cores that devices interrupt
        come last of their kind. Otherwise one memory node after the other, in it one last-level
        cache after the other, and in that the highest number first, since housekeeping runs on the
        low ones. So the lent cores are close together, and lending one more core only adds one.
        """

        return sorted(self.cores(cpus), key=lambda core: (self._kind(core), -min(core)))

    def _kind(self, core: frozenset[int]) -> tuple[bool, bool, int, int]:
        """What distinguishes cores regardless of their users; the smaller is lent first."""
        first = min(core)
        return (
            first not in self.efficient,
            not core.isdisjoint(self.interrupted),
            -self.node.get(first, 0),
            -self.cache.get(first, 0),
        )

    def kinds(self, cpus: Collection[int]) -> tuple[int, ...]:
        """The kind of each CPU's core as a number, the smaller being lent first."""
        kinds = {cpu: self._kind(self.core(cpu)) for cpu in cpus}
        numbers = {kind: number for number, kind in enumerate(sorted(set(kinds.values())))}
        return tuple(numbers[kinds[cpu]] for cpu in cpus)


def read_topology(online: Collection[int], root: str = "/") -> Topology:
    """The topology of the ``online`` CPUs, from the files below ``root``; never raises."""
    cpus = frozenset(online)
    node = _nodes(root, cpus)
    siblings: dict[int, frozenset[int]] = {}
    cache: dict[int, int] = {}
    for cpu in sorted(cpus):
        where = f"{CPUS}/cpu{cpu}"
        core = _cpulist(root, f"{where}/topology/thread_siblings_list") & cpus
        siblings[cpu] = core | {cpu}
        cache[cpu] = min(_last_level(root, where) & cpus, default=_first_of_node(cpu, node))
    return Topology(
        siblings,
        cache,
        node,
        _efficient(root, cpus),
        {
            cpu: parameter
            for parameter, name in (("nohz_full", "nohz_full"), ("isolcpus", "isolated"))
            for cpu in _cpulist(root, f"{CPUS}/{name}") & cpus
        },
        _interrupted(root, cpus),
    )


@lru_cache(maxsize=4)
def this_machine(online: frozenset[int]) -> Topology:
    """That of this machine at the first call: the order must not change later."""
    return read_topology(online)


def _nodes(root: str, cpus: frozenset[int]) -> dict[int, int]:
    directory = "sys/devices/system/node"
    found = {}
    for name in _names(root, directory):
        number = _whole(name.removeprefix("node"))
        if number is not None:
            for cpu in _cpulist(root, f"{directory}/{name}/cpulist") & cpus:
                found[cpu] = number
    return found


def _first_of_node(cpu: int, node: Mapping[int, int]) -> int:
    return min((other for other in node if node[other] == node.get(cpu)), default=0)


def _last_level(root: str, cpu_directory: str) -> frozenset[int]:
    """The CPUs that share the largest cache that holds data."""
    best, shared = 0, frozenset[int]()
    for name in _names(root, f"{cpu_directory}/cache"):
        where = f"{cpu_directory}/cache/{name}"
        level = _number(root, f"{where}/level")
        if level > best and _text(root, f"{where}/type") != "Instruction":
            best, shared = level, _cpulist(root, f"{where}/shared_cpu_list")
    return shared


def _efficient(root: str, cpus: frozenset[int]) -> frozenset[int]:
    """Intel shows E cores by their perf device, Arm the capacity of every CPU."""
    atoms = _cpulist(root, "sys/devices/cpu_atom/cpus") & cpus
    if atoms and atoms != cpus:
        return atoms
    capacity = {cpu: _number(root, f"{CPUS}/cpu{cpu}/cpu_capacity") for cpu in cpus}
    fastest = max(capacity.values(), default=0)
    return frozenset(cpu for cpu, value in capacity.items() if 0 < value < fastest)


def _interrupted(root: str, cpus: frozenset[int]) -> frozenset[int]:
    """Counts all of an interrupt where it goes now."""
    up_s = _whole(_text(root, "proc/uptime").partition(".")[0]) or 0
    counts: dict[int, int] = dict.fromkeys(cpus, 0)
    heading, *lines = _text(root, "proc/interrupts").splitlines() or [""]
    columns = len(heading.split())
    for line in lines:
        number, _, rest = line.partition(":")
        if _whole(number.strip()) is None:  # NMI, LOC and the like come from no device
            continue
        count = sum(_whole(word) or 0 for word in rest.split()[:columns])
        targets = _cpulist(root, f"proc/irq/{number.strip()}/effective_affinity_list") & cpus
        for cpu in targets:
            counts[cpu] += count // len(targets)
    most = BUSY_INTERRUPTS_PER_S * max(up_s, 1.0)
    return frozenset(cpu for cpu, count in counts.items() if count > most)


def _names(root: str, path: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(root, path)))
    except OSError:
        return []


def _text(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, path), errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _number(root: str, path: str) -> int:
    return _whole(_text(root, path)) or 0


def _whole(text: str) -> int | None:
    """The number of up to 18 digits that ``text`` is; None if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _cpulist(root: str, path: str) -> frozenset[int]:
    try:
        return parse_cpulist(_text(root, path).removeprefix("(null)"))  # nohz_full without any
    except ValueError:
        return frozenset()


def remarks(topology: Topology, pool: Iterable[int], whole_cores: bool) -> tuple[str, ...]:
    """What decided the order, one line each; empty on a machine whose CPUs are all alike."""
    cpus = frozenset(pool)
    cores = topology.cores(cpus)
    most = max(map(len, cores), default=1)
    caches = {topology.cache.get(cpu, 0) for cpu in cpus}
    nodes = {topology.node.get(cpu, 0) for cpu in cpus}
    found = []
    if most > 1 and whole_cores:
        found.append(f"whole cores, of {most} hardware threads at most")
    elif most > 1:
        found.append("hardware threads one by one: two whole cores are needed to lend one")
    if topology.efficient & cpus:
        found.append(f"slower cores first: {format_cpulist(topology.efficient & cpus)}")
    if topology.interrupted & cpus:
        found.append(
            f"last the CPUs that devices interrupt: {format_cpulist(topology.interrupted & cpus)}"
        )
    if 1 < len(caches) < len(cores):
        found.append(f"one of {len(caches)} last-level caches after the other")
    if len(nodes) > 1:
        found.append(f"one of {len(nodes)} memory nodes after the other")
    for parameter in ("isolcpus", "nohz_full"):
        set_apart = cpus & {cpu for cpu, why in topology.isolated.items() if why == parameter}
        if set_apart:
            found.append(f"never the CPUs set apart by {parameter}: {format_cpulist(set_apart)}")
    return tuple(found)
