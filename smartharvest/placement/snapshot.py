"""What the host looks like, as far as the loop depends on it. Reads only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from smartharvest.config.settings import Settings
from smartharvest.errors import TargetVanished
from smartharvest.host.cgroup.tree import SPLIT, CgroupTree, Group
from smartharvest.host.target.base import Target
from smartharvest.host.topology import this_machine
from smartharvest.placement.capacity import Capacity, PrimaryCpus, plan_capacity
from smartharvest.placement.confinement import Confinement


class MechanismNeeds(NamedTuple):
    """What a snapshot has to heed for the mechanism that is to move the cores."""

    most_sets: int | None = None
    """It can have so many different sets of elastic CPUs at most; None: any number."""
    groups_below: bool = False
    """Whether it looks into the groups below the elastic one in v2 as well."""


NO_NEEDS = MechanismNeeds()


@dataclass(frozen=True)
class HostSnapshot:
    """What a loop is built for; a host that looks different needs another one."""

    capacity: Capacity
    sources: tuple[tuple[str, int], ...]
    """(list of tasks, index of the primary): where the primaries' tasks are found."""
    kernel_ids: tuple[tuple[str, int, int], ...]
    """(hierarchy, id, index of the primary or -1): how the kernel knows the targets."""
    elastic_groups: tuple[str, ...]
    """Those below the elastic group whose masks (v1) or threads have to follow its own."""
    primary_groups: tuple[str, ...] = ()
    """The same of the primaries, with exclusive placement."""
    foreign: tuple[tuple[int, str], ...] = field(default=(), compare=False)
    """CPUs that are not lent because a task of somebody else is confined to them, and that task.
    Another task on the same CPU changes nothing."""


def take_snapshot(
    settings: Settings,
    tree: CgroupTree,
    primaries: Sequence[Target],
    elastic: Target | None,
    confinement: Confinement | None = None,
    held: Sequence[PrimaryCpus] = (),
    needs: MechanismNeeds = NO_NEEDS,
) -> HostSnapshot:
    """Looks at the targets now. Raises ConfigError or TargetError if nothing can be shared so.

    Without an ``elastic`` side, as for watching only, every core counts as one to lend.
    ``confinement`` knows who is confined where; without it nobody is. ``held`` is what primaries
    had before CPUs were taken from their groups, which no longer show it.
    """
    runs_tasks, is_v1 = tree.runs_tasks, tree.version == 1
    primary_cpus = held or look_at_primaries(primaries, confinement)
    sources = [
        (path, index) for index, primary in enumerate(primaries) for path in primary.task_lists()
    ]
    union = frozenset[int]().union(*(primary.cpus for primary in primary_cpus))
    pool = frozenset(settings.cores or union)
    foreign: dict[int, str] = {}
    if confinement is not None and not settings.lend_shared:
        everywhere = settings.lends_nobodys
        foreign = {
            cpu: who for cpu, who in confinement.foreign.items() if everywhere or cpu in pool
        }
    online = tree.online_cpus()
    capacity = plan_capacity(
        online=online,
        primaries=primary_cpus,
        cores=settings.cores,
        elastic_min=settings.elastic_min,
        foreign=foreign,
        grantable=None if elastic is None else elastic.grantable_cpus(),
        max_harvest=settings.max_harvest,
        keep_idle=settings.keep_idle,
        topology=this_machine(online) if runs_tasks else None,
        shared=settings.placement != "exclusive",
        unallocated=settings.lends_nobodys,
        by_quota=settings.unallocated_by_quota,
        least_elastic=settings.least_elastic,
        most_elastic=settings.most_elastic,
    )
    if needs.most_sets is not None:
        capacity = capacity.in_steps(needs.most_sets)
    numbered = [*enumerate(primaries), *([(-1, elastic)] if elastic is not None else [])]
    kernel_ids = tuple(
        (*kernel_id, index) for index, target in numbered for kernel_id in target.kernel_ids()
    )
    return HostSnapshot(
        capacity,
        tuple(sources),
        kernel_ids,
        _groups_below([elastic]) if is_v1 or needs.groups_below else (),
        _groups_below(primaries) if held and is_v1 else (),
        tuple(sorted(foreign.items())),
    )


def look_at_primaries(
    primaries: Sequence[Target], confinement: Confinement | None
) -> list[PrimaryCpus]:
    """What each primary may use now, and of that, as ``confinement`` knows, the CPUs that its
    threads are pinned to. Affinities are about this host's CPUs, which are not those of a fake
    tree."""
    found = []
    for primary in primaries:
        cpus = primary.cpus()
        pinned = frozenset[int]() if confinement is None else confinement.pinned(primary, cpus)
        found.append(PrimaryCpus(cpus, primary.quota_cores(), pinned))
    return found


def _groups_below(targets: Sequence[Target | None]) -> tuple[str, ...]:
    """The groups below these that have masks (v1), a parent before its children; not our own."""
    return tuple(
        group.path
        for target in targets
        for group in (() if target is None else target.groups_below())
        if _has_cpus(group) and not os.path.basename(group.path).startswith(SPLIT)
    )


def _has_cpus(group: Group) -> bool:
    """Whether a v1 group has a mask; a new one has none and holds nothing back."""
    try:
        return group.tree.version == 2 or bool(group.cpus())
    except TargetVanished:
        return False
