"""Who is overloaded, for how long already, and what would cure it. Pure.

After Sandpiper (Wood et al., "Black-box and Gray-box Strategies for Virtual Machine Migration",
NSDI'07): a signal counts once it was above its limit in k of the last n reports and in the last
one. Black box is what a host sees of its VMs (use, steal, I/O wait); grey box is what the guest or
the kernel says (PSI, response times). What to move is ranked by volume over size, and the volume is
1 / ((1 - cpu)(1 - memory)).

Cures in the order of their cost: take back what is lent, freeze the elastic group, move a VM. A
move is left out if placement, asked again, would put the VM back where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from smartharvest.fleet.placement import NO_NODE, Cluster, Way, choose, fits

_NOT_CORES = ("psi_memory", "psi_io", "io_wait")
"""Signals that a batch group with fewer cores may still cause."""


@dataclass(frozen=True, slots=True)
class Vm:
    """One VM or pod in a report; shares are 0 to 1, None is not known."""

    id: str
    cores: float
    """Requested."""
    memory_gib: float
    used_cores: float = 0.0
    steal: float | None = None
    """Share of its time for which it was runnable but had no core (black box)."""
    response_ms: float | None = None
    target_ms: float | None = None
    """What its response time should be at most (grey box)."""
    movable: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """One look at a node."""

    time_s: float
    node: str
    cores: float
    memory_gib: float
    used_cores: float
    """By everything on it."""
    lent_cores: float = 0.0
    """To the elastic group, beyond its minimum."""
    elastic_cores: float = 0.0
    """That the elastic group uses, minimum included; 0: there is none."""
    io_wait: float | None = None
    psi_cpu: float | None = None
    """``some`` of /proc/pressure/cpu, avg10 as a share; the next two likewise."""
    psi_memory: float | None = None
    psi_io: float | None = None
    vms: Sequence[Vm] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Limits:
    """Above these a signal counts; ``k`` of ``n`` reports."""

    k: int = 3
    n: int = 5
    busy: float = 0.9
    steal: float = 0.05
    io_wait: float = 0.3
    psi_cpu: float = 0.2
    psi_memory: float = 0.1
    psi_io: float = 0.2
    response: float = 1.0
    """Times the target."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason to call a node overloaded."""

    name: str
    box: str
    """``black`` or ``grey``."""
    value: float
    limit: float
    who: str = ""
    """The VM, if it is the signal of one."""


@dataclass(frozen=True, slots=True)
class Cure:
    """Something that would help; the first of a list is the best."""

    kind: str
    """``take-back``, ``evict`` or ``move``."""
    node: str
    gain_cores: float
    enough: bool
    """Whether the node is then below the limit."""
    why: str
    vm: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True)
class Overload:
    """A node that is overloaded, with what would cure it."""

    node: str
    since_s: float
    """When the present stretch began."""
    for_s: float
    signals: Sequence[Signal]
    cures: Sequence[Cure]

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def signals(report: Report, limits: Limits) -> list[Signal]:
    """What is above its limit in one report."""
    seen: list[tuple[str, str, float | None, float, str]] = [
        ("busy", "black", report.used_cores / report.cores, limits.busy, ""),
        ("io_wait", "black", report.io_wait, limits.io_wait, ""),
        ("psi_cpu", "grey", report.psi_cpu, limits.psi_cpu, ""),
        ("psi_memory", "grey", report.psi_memory, limits.psi_memory, ""),
        ("psi_io", "grey", report.psi_io, limits.psi_io, ""),
    ]
    for vm in report.vms:
        seen.append(("steal", "black", vm.steal, limits.steal, vm.id))
        if vm.response_ms is not None and vm.target_ms:
            times = vm.response_ms / vm.target_ms
            seen.append(("response", "grey", times, limits.response, vm.id))
    return [
        Signal(name, box, value, limit, who)
        for name, box, value, limit, who in seen
        if value is not None and value > limit
    ]


def find(reports: Sequence[Report], limits: Limits, way: Way) -> list[Overload]:
    """The overloaded nodes, the longest first; ``reports`` of all nodes, in any order."""
    by_node: dict[str, list[Report]] = {}
    for report in sorted(reports, key=lambda one: one.time_s):
        by_node.setdefault(report.node, []).append(report)
    latest = {node: seen[-1] for node, seen in by_node.items()}
    found = []
    for node, seen in by_node.items():
        above = [bool(signals(report, limits)) for report in seen]
        if not above[-1] or sum(above[-limits.n :]) < limits.k:
            continue
        since_s = _since(seen, above, limits.n)
        now = seen[-1]
        found.append(
            Overload(
                node,
                since_s,
                now.time_s - since_s,
                signals(now, limits),
                cures(now, latest, limits, way),
            )
        )
    return sorted(found, key=lambda one: (-one.for_s, one.node))


def _since(seen: Sequence[Report], above: Sequence[bool], n: int) -> float:
    """Where the stretch begins that has no ``n`` reports below the limit in a row."""
    since_s, below = seen[-1].time_s, 0
    for report, is_above in zip(reversed(seen), reversed(above), strict=True):
        below = 0 if is_above else below + 1
        if below >= n:
            break
        if is_above:
            since_s = report.time_s
    return since_s


def cures(now: Report, latest: Mapping[str, Report], limits: Limits, way: Way) -> list[Cure]:
    """What would help ``now.node``, the best first: what is enough before what is not, then cheap
    before dear. ``latest`` has every node's last report."""
    over = signals(now, limits)
    not_cores = any(signal.name in _NOT_CORES for signal in over)
    found: list[tuple[int, float, Cure]] = []
    if now.lent_cores > 0:
        why = f"{now.lent_cores:g} cores are lent; nothing is lost"
        found.append((0, 0.0, _cure("take-back", now, now.lent_cores, limits, not_cores, why)))
    if now.elastic_cores > 0:
        gain = now.elastic_cores
        why = f"the elastic group uses {gain:g} cores; its work stands still until resume"
        found.append((1, gain, _cure("evict", now, gain, limits, False, why)))
    for cost, cure in _moves(now, latest, limits, way):
        found.append((2, cost, cure))
    return [cure for _, _, cure in sorted(found, key=lambda one: (not one[2].enough, *one[:2]))]


def _cure(
    kind: str, now: Report, gain: float, limits: Limits, short: bool, why: str, **more: str
) -> Cure:
    """``short``: not only cores are short, and this frees nothing else."""
    enough = not short and now.used_cores - gain <= limits.busy * now.cores
    return Cure(kind, now.node, gain, enough, why, **more)


def _moves(
    now: Report, latest: Mapping[str, Report], limits: Limits, way: Way
) -> list[tuple[float, Cure]]:
    """(cost, cure) of each VM that may go and has somewhere to go and to stay."""
    names = sorted(latest)
    source = names.index(now.node)
    cluster = _cluster([latest[name] for name in names])
    used = np.array([latest[name].used_cores for name in names])
    moves = []
    for vm in now.vms:
        if not vm.movable or vm.used_cores <= 0:
            continue
        request = np.array([vm.cores, vm.memory_gib])
        calm = used + vm.used_cores <= limits.busy * cluster.capacity[0]
        calm[source] = False
        if not (calm & fits(request, cluster)).any():
            continue
        cluster.free[:, source] += request
        back = choose(way.score, request, cluster)
        to = choose(way.score, request, cluster, calm)
        cluster.free[:, source] -= request
        if back == source or to == NO_NODE:
            continue
        busy = min(vm.used_cores / max(vm.cores, 1e-9), 0.99)
        volume = 1 / ((1 - busy) * (1 - min(vm.memory_gib / max(now.memory_gib, 1e-9), 0.99)))
        why = f"it uses {vm.used_cores:g} cores; {names[to]} has room, and placement agrees"
        cure = _cure("move", now, vm.used_cores, limits, False, why, vm=vm.id, to=names[to])
        moves.append((vm.memory_gib / volume, cure))
    return moves


def _cluster(reports: Sequence[Report]) -> Cluster:
    capacity = np.array([[one.cores, one.memory_gib] for one in reports]).T
    asked = np.array(
        [[sum(vm.cores for vm in r.vms), sum(vm.memory_gib for vm in r.vms)] for r in reports]
    ).T
    lent = np.array([one.lent_cores for one in reports])
    zeros = np.zeros(len(reports))
    free = np.maximum(capacity - asked, 0.0)
    return Cluster(capacity, free, lent, zeros, zeros.copy(), zeros.copy())


class Rate:
    """At most ``most`` actions within any ``span_s`` seconds."""

    def __init__(self, most: int, span_s: float, before_s: Sequence[float] = ()) -> None:
        self._most, self._span_s = most, span_s
        self._times = list(before_s)

    def take(self, now_s: float) -> bool:
        """Whether one more may be done now; then it counts. Times in the future count, too."""
        self._times = [time_s for time_s in self._times if now_s - time_s < self._span_s]
        if len(self._times) >= self._most:
            return False
        self._times.append(now_s)
        return True

    @property
    def times_s(self) -> Sequence[float]:
        """When the actions that still count were done."""
        return tuple(self._times)


def known_lately(reports: Sequence[Report], now_s: float, fresh_s: float) -> list[Report]:
    """Reports of nodes that reported in the last ``fresh_s``: older ones may be wrong by now."""
    last_s: dict[str, float] = {}
    for report in reports:
        last_s[report.node] = max(report.time_s, last_s.get(report.node, 0.0))
    return [report for report in reports if now_s - last_s[report.node] <= fresh_s]


def apply(
    found: Sequence[Overload], here: str, rate: Rate, now_s: float, act: Callable[[Cure], None],
    kinds: Collection[str] = ("take-back", "evict"),
) -> tuple[list[Cure], list[Cure]]:  # fmt: skip
    """(done, put off): hands the best cure of node ``here`` of these ``kinds`` to ``act``.

    One a node, and none beyond ``rate``.
    """
    done, put_off = [], []
    for one in found:
        if one.node != here:
            continue
        able = [cure for cure in one.cures if cure.kind in kinds]
        if not able:
            continue
        if rate.take(now_s):
            act(able[0])
            done.append(able[0])
        else:
            put_off.append(able[0])
    return done, put_off
