"""The arithmetic of cores: which CPUs the agent plays with and who gets how many.

pool
    The CPUs that change hands: ``--cores``, or else the union of the primaries' effective CPUs. If
    the primaries' CPU quotas add up to less than that union (rounded up to whole cores), the pool
    is that many of its lowest-numbered CPUs, core by core: what the primaries may not use is not
    theirs to lend.
elastic_min
    Cores that the elastic side always has (the minimum of section 3.1 of the paper). By default 1
    (all threads of one core) where the pool has more than two cores and 0 elsewhere. With 0 and
    nothing harvested the elastic group is *parked* on one core: a cpuset with tasks cannot be
    empty, so ``cpu.idle`` or the freezer keep it out of the primary's way.
total
    ``|pool| - elastic_min``, the cores that are the primary's when nothing is harvested. The
    learner has the classes ``0..total``.
harvested
    ``total - primary_cores``. The elastic group runs on ``elastic_min + harvested`` CPUs.
allocation
    What one primary may use: ``min(|effective CPUs|, ceil(quota))``. Of several primaries, which
    are one logical entity to the agent (section 5.4), none counts for more busy cores than that.
exhausted
    ``busy >= primary_cores`` while something is lent. Placement is shared, so the primary may run
    on lent cores too and ``busy`` may exceed ``primary_cores``.
lendable
    The CPUs of the pool that can be lent, in the order they are (``Topology.lend_order``); the
    elastic minimum is the first of them. Never lent are CPUs that some primary thread is pinned to,
    CPUs that tasks of others, ten seconds old or more, are confined to, CPUs set apart at boot, and
    CPUs that the elastic side's parent group does not have; nor any other thread of such a CPU's
    core.
whole
    Where cores have several hardware threads, all of one are lent or none: a number to be lent is
    rounded down to whole cores, towards the primary. (Not in a pool of one core, which could lend
    nothing then.)
unallocated
    CPUs that no primary may use, if they are to be lent: always, beyond all that is counted here,
    and before any lendable one. By the same rules, and whole cores only. By quota also what the
    primaries' quotas leave over, though their tasks may run there: CPUs that are not of the pool,
    and that only such primaries may use as may use all of the pool.
max_harvest
    The most that is ever harvested: ``--max-harvest``, the lendable cores beyond the minimum, and
    what ``--keep-idle`` leaves, whichever is least.
max_shared
    The same for a policy under which the primary preempts the elastic group (``everywhere``): idle
    cores need not be kept, unless more than one is asked for. Placement must be shared.
keep_idle
    Idle cores that the primary always keeps while there are cores: it holds at least
    ``busy + keep_idle``. At least 1, the ``busy + 1`` of Algorithm 1 (line 20).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.topology import Topology, remarks
from smartharvest.printable import counted


class PrimaryCpus(NamedTuple):
    """What one primary may use."""

    cpus: Collection[int]
    """Effective CPUs."""
    quota_cores: float | None = None
    """CPU bandwidth in cores; None if unlimited."""
    pinned: Collection[int] = ()
    """CPUs that some of its threads are pinned to."""


@dataclass(frozen=True)
class Capacity:
    """The outcome of the arithmetic above; all counts are cores."""

    pool: tuple[int, ...]
    """CPU numbers, ascending."""
    elastic_min: int
    lendable: tuple[int, ...]
    """CPU numbers in the order they are lent; never empty."""
    allocations: tuple[int, ...]
    """One per primary, in the order the primaries were given."""
    max_harvest: int
    """0..total"""
    max_shared: int
    """max_harvest..total"""
    keep_idle: int
    """At least 1."""
    whole: frozenset[int] = frozenset()
    """How many of the lendable CPUs are whole cores together; empty: any number is."""
    remarks: tuple[str, ...] = ()
    """Why the order is as it is, one line each."""
    notes: tuple[str, ...] = ()
    """What the settings ask for that this host does not have, one line each."""
    unallocated: tuple[int, ...] = ()
    """CPU numbers in the order they are lent, which they always are; not of the pool."""
    cores: tuple[tuple[int, ...], ...] = field(default=(), compare=False)
    """All that is ever lent, in that order, by whole cores."""
    kinds: tuple[int, ...] = ()
    """Of each lendable CPU, rising: cores of one kind are alike but for who uses them."""

    @property
    def total(self) -> int:
        return len(self.pool) - self.elastic_min

    @property
    def unit(self) -> int:
        """CPUs of each core that can be lent; 0 if they differ, so that no two can be swapped."""
        counts = [0, *sorted(self.whole)] if self.whole else [0, 1]
        sizes = {after - before for before, after in itertools.pairwise(counts)}
        return sizes.pop() if len(sizes) == 1 else 0

    @property
    def least_primary_cores(self) -> int:
        """The fewest cores the primary is ever left with by the hard limits."""
        return self.total - self.max_harvest

    def primary_cores(self, wanted: int, busy: int) -> int:
        """``wanted`` within the hard limits: at least ``busy + keep_idle`` and at most total."""
        cores = min(self.total, max(wanted, busy + self.keep_idle, self.least_primary_cores))
        return self.total - self.whole_harvest(self.total - cores)

    def whole_harvest(self, harvested: int) -> int:
        """The most of ``harvested`` cores, 0 or more, that can be lent as whole cores."""
        while harvested > 0 and self.whole and self.elastic_min + harvested not in self.whole:
            harvested -= 1
        return harvested

    def in_steps(self, most: int) -> Capacity:
        """The same with at most so many different sets of elastic CPUs, evenly spaced."""
        first, last = self.elastic_min, self.elastic_min + self.max_shared
        sizes = [n for n in self.whole or range(last + 1) if first < n <= last]
        if len(sizes) < most:
            return self
        step = -(-len(sizes) // (most - 1))
        coarse = replace(self, whole=frozenset([first, *sorted(sizes)[step - 1 :: step]]))
        return replace(
            coarse,
            max_harvest=coarse.whole_harvest(self.max_harvest),
            max_shared=coarse.whole_harvest(self.max_shared),
        )

    @property
    def whole_harvests(self) -> list[int] | None:
        """``whole_harvest`` of 0..total; None if any number can be lent."""
        return [self.whole_harvest(n) for n in range(self.total + 1)] if self.whole else None

    def elastic_cpus(self, harvested: int) -> tuple[int, ...]:
        """The CPUs of the elastic group, ascending; the parking core if it is to have none.

        ``harvested`` is in ``0..max_shared``; ValueError otherwise.
        """
        if not 0 <= harvested <= self.max_shared:
            raise ValueError(f"{harvested} harvested cores are not in 0..{self.max_shared}")
        count = self.elastic_min + self.whole_harvest(harvested)
        fewest = 0 if self.unallocated else 1
        return tuple(sorted((*self.unallocated, *self.lendable[: max(fewest, count)])))

    def elastic_sets(self) -> list[tuple[int, ...]]:
        """``elastic_cpus`` of ``0..max_shared``."""
        return [self.elastic_cpus(harvested) for harvested in range(self.max_shared + 1)]

    def is_parked(self, harvested: int) -> bool:
        """Whether the elastic group then has no core of its own."""
        return not self.unallocated and self.elastic_min + self.whole_harvest(harvested) == 0


def plan_capacity(
    *,
    online: Collection[int],
    primaries: Sequence[PrimaryCpus],
    cores: Collection[int] | None = None,
    elastic_min: int | None = None,
    foreign: Mapping[int, str] | None = None,
    grantable: Collection[int] | None = None,
    max_harvest: int | None = None,
    keep_idle: int = 1,
    topology: Topology | None = None,
    shared: bool = True,
    unallocated: bool = False,
    by_quota: bool = False,
    least_elastic: int | None = None,
    most_elastic: int | None = None,
) -> Capacity:
    """Who may get which CPUs; see the module's text for the rules.

    ``online`` are the host's CPUs, ``cores`` those the user chose (None: not chosen), ``foreign``
    those that others are confined to, with an example of who, and ``grantable`` those that the
    elastic side's parent has (None: all). Without a ``topology`` cores are lent by their numbers;
    ``shared`` is the placement. With ``unallocated`` the CPUs of no primary are lent, too, and
    ``by_quota`` those that the quotas leave over, unless ``cores`` are chosen.
    ``least_elastic`` and ``most_elastic`` bound what the elastic side has of all that. Raises
    ConfigError for invalid settings and TargetError if the primaries' CPUs leave nothing to lend.
    """
    machine = topology or Topology()
    pool = _pool(frozenset(online), primaries, cores, machine)
    pinned = frozenset().union(*(primary.pinned for primary in primaries))
    reserved = pinned | machine.isolated.keys() | (foreign or {}).keys()
    free = {cpu for cpu in pool if cpu not in reserved and (grantable is None or cpu in grantable)}
    whole_cores = len(machine.cores(pool)) > 1
    order = [
        core
        for core in machine.lend_order(pool)
        if core <= free or (not whole_cores and not core.isdisjoint(free))
    ]
    lendable = tuple(cpu for core in order for cpu in sorted(core & free, reverse=True))
    if not lendable:
        raise TargetError(_why_nothing_is_lendable(pool, pinned, foreign or {}, machine))
    whole = frozenset(itertools.accumulate(map(len, order))) if whole_cores else frozenset[int]()
    if len(whole) == len(lendable):  # every core is one CPU
        whole = frozenset()
    # A primary that may use the whole pool, which is all that the quotas allow, needs no more.
    heeds_quotas = by_quota and cores is None
    need = [one.cpus for one in primaries if not heeds_quotas or not set(pool) <= set(one.cpus)]
    kept = reserved.union(pool, *need)
    apart = _unallocated(online, kept, grantable, machine) if unallocated else []
    loose = tuple(cpu for core in apart for cpu in core)
    if elastic_min is None and least_elastic is not None:
        _check_minima(least_elastic, len(pool), len(lendable), len(loose))
        elastic_min = max(0, least_elastic - len(loose))
        elastic_min = min((n for n in whole if n >= elastic_min > 0), default=elastic_min)
    elif elastic_min is None and loose:
        elastic_min = 0
    if elastic_min is None:
        elastic_min = min(whole, default=1) if len(machine.cores(pool)) > 2 else 0
    _check_limits(pool, lendable, elastic_min, max_harvest, keep_idle)
    if whole and elastic_min and elastic_min not in whole:
        raise ConfigError(
            f"elastic_min: {elastic_min} would split a core of several hardware threads; choose "
            f"one of 0, {', '.join(map(str, sorted(whole)[:4]))}"
        )
    total = len(pool) - elastic_min
    keep_idle = max(1, keep_idle)
    most = min(len(lendable) - elastic_min, total if max_harvest is None else max_harvest)
    if most_elastic is not None:
        most = max(0, min(most, most_elastic - elastic_min - len(loose)))
    notes = []
    if max_harvest is not None and max_harvest > (limit := min(most, total - keep_idle)):
        notes.append(
            f"max_harvest: {max_harvest} is more than this host can lend; "
            f"at most {counted(limit, 'core')} {'is' if limit == 1 else 'are'} lent"
        )
    max_harvest = min(most, total - keep_idle)
    capacity = Capacity(
        pool=pool,
        elastic_min=elastic_min,
        lendable=lendable,
        allocations=tuple(_allocation(primary) for primary in primaries),
        max_harvest=max_harvest,
        max_shared=most if shared and keep_idle == 1 else max_harvest,
        keep_idle=keep_idle,
        whole=whole,
        remarks=remarks(machine, pool, whole_cores),
        notes=tuple(notes),
        unallocated=loose,
        cores=(*apart, *(tuple(sorted(core & free, reverse=True)) for core in order)),
        kinds=machine.kinds(lendable),
    )
    return replace(
        capacity,
        max_harvest=capacity.whole_harvest(capacity.max_harvest),
        max_shared=capacity.whole_harvest(capacity.max_shared),
    )


def _pool(
    online: frozenset[int],
    primaries: Sequence[PrimaryCpus],
    cores: Collection[int] | None,
    machine: Topology,
) -> tuple[int, ...]:
    union = frozenset().union(*(primary.cpus for primary in primaries)) & online
    if cores is None:
        if not union:
            raise TargetError("the primaries have no online CPU; check their cpusets")
        bandwidth = sum(
            min(float(len(primary.cpus)), primary.quota_cores or math.inf) for primary in primaries
        )
        by_cores = [cpu for core in machine.cores(union) for cpu in sorted(core)]
        return tuple(sorted(by_cores[: math.ceil(bandwidth)]))
    chosen = frozenset(cores)
    if not chosen:
        raise ConfigError("cores: the list is empty; name at least one CPU")
    if not chosen <= online:
        raise ConfigError(
            f"cores: {format_cpulist(chosen - online)} is not online here; "
            f"choose among {format_cpulist(online)}"
        )
    if chosen.isdisjoint(union):
        raise ConfigError(
            f"cores: no primary may run on {format_cpulist(chosen)}; "
            f"the primaries have {format_cpulist(union) or 'no CPUs'}"
        )
    return tuple(sorted(chosen))


def _unallocated(
    online: Collection[int],
    kept: Collection[int],
    grantable: Collection[int] | None,
    machine: Topology,
) -> list[tuple[int, ...]]:
    """The whole cores none of which is ``kept`` for others, in order."""
    free = {cpu for cpu in online if cpu not in kept and (grantable is None or cpu in grantable)}
    whole = [core for core in machine.cores(frozenset(online)) if core <= free]
    wanted = frozenset[int]().union(*whole)
    return [tuple(sorted(core, reverse=True)) for core in machine.lend_order(wanted)]


def _allocation(primary: PrimaryCpus) -> int:
    if primary.quota_cores is None:
        return len(primary.cpus)
    return min(len(primary.cpus), math.ceil(primary.quota_cores))


def _check_minima(least: int, pool: int, lendable: int, nobodys: int) -> None:
    """Whether there is as much as elastic groups are promised together; counts of cores."""
    most = min(lendable, pool - 1) + nobodys
    if least > most:
        raise ConfigError(
            f"elastic: the groups' minima add up to {counted(least, 'core')}, and there are "
            f"{most} to promise: the primaries keep at least one of their {pool}; promise less"
        )


def _check_limits(
    pool: Sequence[int],
    lendable: Sequence[int],
    elastic_min: int,
    max_harvest: int | None,
    keep_idle: int,
) -> None:
    if not 0 <= elastic_min < len(pool):
        raise ConfigError(
            f"elastic_min: {elastic_min} leaves the primary none of the pool's "
            f"{counted(len(pool), 'core')}; choose 0..{len(pool) - 1}"
        )
    if elastic_min > len(lendable):
        raise ConfigError(
            f"elastic_min: {elastic_min} is more than the "
            f"{counted(len(lendable), 'core')} that can be lent ({format_cpulist(lendable)}); "
            "tasks are pinned to the others"
        )
    if max_harvest is not None and max_harvest < 0:
        raise ConfigError(f"max_harvest: {max_harvest} is negative; choose 0 or more")
    most = len(pool) - elastic_min
    if not 0 <= keep_idle <= most:
        raise ConfigError(
            f"keep_idle: {keep_idle} is not possible with {counted(most, 'primary core')}; "
            f"choose 0..{most}"
        )


def _why_nothing_is_lendable(
    pool: Sequence[int],
    pinned: Collection[int],
    foreign: Mapping[int, str],
    machine: Topology,
) -> str:
    apart = sorted(set(pool) & machine.isolated.keys())
    mine = sorted(set(pool) & set(pinned))
    theirs = sorted(set(pool) & set(foreign))
    reasons = []
    if mine:
        reasons.append(f"primary threads are pinned to {format_cpulist(mine)}")
    if theirs:
        who = ", ".join(sorted({foreign[cpu] for cpu in theirs})[:3])
        reasons.append(f"others are confined to {format_cpulist(theirs)}, such as {who}")
    if apart:
        parameters = " and ".join(sorted({machine.isolated[cpu] for cpu in apart}))
        reasons.append(f"{parameters} sets {format_cpulist(apart)} apart")
    if any(len(core) > 1 for core in machine.cores(pool)):
        reasons.append("and no other core is left whole")
    why = "; ".join(reasons) or "the elastic target's parent has none of them"
    hint = "widen the pool or unpin them" + (", or use --lend-shared" if theirs else "")
    return f"pool {format_cpulist(pool)}: no core can be lent: {why}; {hint}"
