"""Does the running kernel keep what cpu.idle promises: a waking task has its CPU at once?

Kernels have broken the promise in several ways, and say nothing of it: so it is tried where the
agent starts, on one idle CPU, for at most MOST_S. What tries it is an idle-class child of ours and
a thread that wakes beside it (csrc/sensors/wake_probe.h).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from smartharvest.core._wake_probe import WakeProbe
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.writer import HostWriter

MOST_S = 0.2
"""Of time and of CPU time, for all of it."""
LOOK_S = 0.03
"""How long it is watched which CPUs are idle."""
LOOKS = 3
WAKES = 20
INTERVAL_NS = 2_000_000
ONCE_S = 0.052
"""For one series of wakes: a kernel that waits for its tick delays them."""
SOON_US = 300.0
"""Longer than an interrupt and a switch take, and well below the shortest tick (1 ms)."""
SOON_SHARE = 0.75
ALONE = 0.85
"""Part of the time that the child must have had for a late wake to count."""
LEAST_ANSWERS = 5
"""Of each kind of wake; with fewer it is not known."""
GROUP = "smartharvest-probe-"


@dataclass(frozen=True)
class Kept:
    """Microseconds that the idle-class child stayed on its CPU after each wake there."""

    by_timer_us: Sequence[float] = ()
    from_afar_us: Sequence[float] | None = None
    """Of wakes that another CPU asked for; None: there was no other."""
    alone: float = 1.0
    """Part of the time that the child had the CPU: what else ran there may have delayed a wake."""

    def gives_way(self) -> bool | None:
        """Whether it left at once; None where too few wakes say so, or others may have been why."""
        kinds = [self.by_timer_us] + ([] if self.from_afar_us is None else [self.from_afar_us])
        if any(len(kind) < LEAST_ANSWERS for kind in kinds):
            return None
        if all(sum(us <= SOON_US for us in kind) >= SOON_SHARE * len(kind) for kind in kinds):
            return True
        return False if self.alone >= ALONE else None

    def in_words(self) -> str:
        """The medians."""
        there = [
            f"{sorted(kind)[len(kind) // 2]:.0f} us after {what}"
            for kind, what in (
                (self.by_timer_us, "its own timer"),
                (self.from_afar_us or (), "a wake from another CPU"),
            )
            if kind
        ]
        return " and ".join(there) or "no answer"


Defence = Literal["cpu.idle", "strict", "confinement"]
"""What keeps the batch off the primary where they meet: that the kernel prefers the primary to
``cpu.idle``, a scheduler of the batch's own, or that it has the lent cores only."""


@dataclass(frozen=True)
class Preemption:
    """What was found, and so what is relied on."""

    defence: Defence
    reason: str
    gives_way: bool | None = None
    """Whether a batch under cpu.idle leaves its CPU at once; None: not tried, or not known."""
    tasks_give_way: bool | None = None
    """The same for one whose tasks are SCHED_IDLE as well."""
    cpu: int | None = None
    """Where it was tried."""
    kept: Kept = field(default_factory=Kept)

    def describe(self) -> dict[str, Any]:
        """For ``status`` and the audit log."""
        return {name: getattr(self, name) for name in _TOLD} | asdict(self.kept)


_TOLD = ("defence", "reason", "gives_way", "tasks_give_way", "cpu")


def unknown(reason: str) -> Preemption:
    """Nothing was found, so nothing is relied on but the cpuset."""
    return Preemption("confinement", reason)


Measure = Callable[..., Kept]
"""The seam: one series of wakes, as ``measure`` has it."""


def _nothing() -> None:
    pass


def measure(
    cpu: int,
    waker_cpu: int | None,
    directory: str | None = None,
    *,
    idle_policy: bool,
    enter_idle: Callable[[], None] = _nothing,
    leave_idle: Callable[[], None] = _nothing,
) -> Kept:
    """One series of wakes beside a child in the group at ``directory``, on this host.

    None: in this process's group. ``enter_idle`` is called once the child is inside, and
    ``leave_idle`` before it is killed. Raises OSError or SmartHarvestError.
    """
    fd = -1 if directory is None else os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        probe = WakeProbe(
            cpu,
            waker_cpu,
            group_fd=fd,
            idle_policy=idle_policy,
            wakes=WAKES,
            interval_ns=INTERVAL_NS,
            seconds=MOST_S,
        )
        try:
            enter_idle()
            began_s = time.monotonic()
            by_timer, from_afar = probe.run()
            took_s = time.monotonic() - began_s
        finally:
            try:
                leave_idle()
            finally:
                probe.close()
    finally:
        if fd >= 0:
            os.close(fd)
    afar = None if waker_cpu is None else tuple(from_afar)
    return Kept(tuple(by_timer), afar, probe.cpu_s / took_s)


def idle_cpus(cpus: Collection[int], look_s: float = LOOK_S) -> list[int]:
    """Those of ``cpus`` that were idle for half of ``look_s`` or more, the idlest first."""
    before = _times()
    time.sleep(look_s)
    after = _times()
    idle = {}
    for cpu in cpus:
        if cpu in before and cpu in after:
            idle_ticks, busy_ticks = (
                now - then for now, then in zip(after[cpu], before[cpu], strict=True)
            )
            if idle_ticks > 0 and idle_ticks >= busy_ticks:
                idle[cpu] = busy_ticks
    return sorted(idle, key=lambda cpu: idle[cpu])


def _times() -> dict[int, tuple[int, int]]:
    """CPU -> (idle, busy) ticks, by /proc/stat."""
    found = {}
    with open("/proc/stat") as file:
        for line in file:
            name, *fields = line.split()
            if name.startswith("cpu") and name[3:].isdigit():
                user, nice, system, idle, iowait, irq, softirq, steal, *_ = map(int, fields)
                busy = user + nice + system + irq + softirq + steal
                found[int(name[3:])] = (idle + iowait, busy)
    return found


def probe_preemption(
    tree: CgroupTree,
    writer: HostWriter,
    cpus: Sequence[int],
    *,
    measure: Measure = measure,
    find_idle: Callable[[Collection[int]], list[int]] = idle_cpus,
    clock_s: Callable[[], float] = time.monotonic,
) -> Preemption:
    """Whether a task that wakes on one of ``cpus`` has it from an idle group. Never raises.

    Makes a group at the top of the hierarchy, through ``writer``, and removes it. Where something
    is refused, it is not known; where no CPU is idle, it is taken for granted.
    """
    until_s = clock_s() + MOST_S
    try:
        found = _places(cpus, find_idle)
        if found is None:
            # As without a probe: `adaptive` sees by itself what sharing costs.
            return Preemption(
                "cpu.idle", "taken for granted: no CPU of the pool was idle to try it on"
            )
        cpu, waker_cpu = found
        with _idle_group(tree, writer) as (directory, enter_idle, leave_idle):

            def series(idle_policy: bool) -> Kept:
                writer.show_life()
                return measure(
                    cpu, waker_cpu, directory,
                    idle_policy=idle_policy, enter_idle=enter_idle, leave_idle=leave_idle,
                )  # fmt: skip

            kept = series(idle_policy=False)
            answers = [kept.gives_way()]
            if answers[0] is False and clock_s() + ONCE_S < until_s:
                kept = series(idle_policy=False)  # one refusal may be chance
                answers.append(kept.gives_way())
            gives_way = answers[0] if answers[0] or answers == [False, False] else None
            tasks_give_way = None
            if not gives_way and clock_s() + ONCE_S < until_s:
                tasks_give_way = series(idle_policy=True).gives_way()
    except (OSError, SmartHarvestError) as error:
        return unknown(f"it could not be tried: {error}")
    if gives_way is None:
        reason = f"too few of the wakes on CPU {cpu} gave a clear answer"
    elif gives_way:
        reason = f"an idle-class task left CPU {cpu} {kept.in_words()}"
    else:
        reason = f"an idle-class task kept CPU {cpu}: it left {kept.in_words()}"
    if tasks_give_way:
        reason += (
            "; one that is SCHED_IDLE itself leaves at once (chrt --idle 0 starts such a batch)"
        )
    defence: Defence = "cpu.idle" if gives_way else "confinement"
    return Preemption(defence, reason, gives_way, tasks_give_way, cpu, kept)


def probe_task_policy(
    cpus: Collection[int] | None = None,
    *,
    measure: Measure = measure,
    find_idle: Callable[[Collection[int]], list[int]] = idle_cpus,
) -> Preemption:
    """The same for SCHED_IDLE tasks without a group, so that no file of the host is written.

    ``cpus``: those this process may use. Never raises.
    """
    try:
        found = _places(sorted(os.sched_getaffinity(0) if cpus is None else cpus), find_idle)
        if found is None:
            return unknown("no CPU was idle")
        kept = measure(*found, idle_policy=True)
    except OSError as error:
        return unknown(f"it could not be tried: {error.strerror}")
    return Preemption("confinement", kept.in_words(), None, kept.gives_way(), found[0], kept)


def _places(
    cpus: Collection[int], find_idle: Callable[[Collection[int]], list[int]]
) -> tuple[int, int | None] | None:
    """The idle CPU to try it on, and another to wake from; None: all are in use."""
    mine = os.sched_getaffinity(0)
    allowed = [cpu for cpu in cpus if cpu in mine]
    looks = (find_idle(allowed) for _ in range(LOOKS))
    idle = next(filter(None, looks), None)
    if idle is None:
        return None
    others = [*idle[1:], *sorted(mine - {idle[0]}), None]
    return idle[0], others[0]


@contextlib.contextmanager
def _idle_group(
    tree: CgroupTree, writer: HostWriter
) -> Iterator[tuple[str, Callable[[], None], Callable[[], None]]]:
    """A group of our own, and what makes it idle and not. At the top: beside all that is not ours.

    The kernel compares the groups right below the last that two tasks have in common.
    """
    top = tree.group("").directory("cpu")
    if top is None:
        raise OSError("there is no cpu controller")
    path = f"{top}/{GROUP}{os.getpid()}"
    writer.make_group(path)
    switch = f"{path}/cpu.idle"
    try:
        if not tree.files.exists(switch):
            raise OSError("groups at the top have no cpu.idle")
        yield path, lambda: writer.set(switch, "1"), lambda: writer.set(switch, "0")
    finally:
        writer.remove_group(path)
