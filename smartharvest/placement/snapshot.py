"""What the host looks like, as far as the loop depends on it. Reads only."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from smartharvest.config.settings import Settings
from smartharvest.errors import TargetVanished
from smartharvest.host.cgroup.tree import SPLIT, CgroupTree, Group
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target
from smartharvest.host.topology import this_machine
from smartharvest.placement.capacity import Capacity, PrimaryCpus, plan_capacity

_log = logging.getLogger(__name__)

OWN_THREADS = ("sh-loop", "sh-core-hold", "sh-rescue", "sh-standstill")
"""What agents and benches call theirs that stay on some CPUs (loop.c, core_hold.c, rescue.c and
standstill.c)."""


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
    followed: Collection[int] = (),
    held: Sequence[PrimaryCpus] = (),
    needs: MechanismNeeds = NO_NEEDS,
) -> HostSnapshot:
    """Looks at the targets now. Raises ConfigError or TargetError if nothing can be shared so.

    Without an ``elastic`` side, as for watching only, every core counts as one to lend.
    ``followed`` are the processes that an elastic process has started; ``held`` is what primaries
    had before CPUs were taken from their groups, which no longer show it.
    """
    runs_tasks = tree.runs_tasks
    primary_cpus = held or look_at_primaries(primaries, pins=elastic is not None and runs_tasks)
    sources = [
        (path, index) for index, primary in enumerate(primaries) for path in primary.task_lists()
    ]
    union = frozenset[int]().union(*(primary.cpus for primary in primary_cpus))
    foreign: dict[int, str] = {}
    if elastic is not None and runs_tasks and not settings.lend_shared:
        foreign = _foreign_cpus(settings.cores or union, [*primaries, elastic], followed)
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
        shared=settings.placement == "shared",
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
        _groups_below([elastic], version_2=needs.groups_below),
        _groups_below(primaries) if held else (),
        tuple(sorted(foreign.items())),
    )


def look_at_primaries(primaries: Sequence[Target], *, pins: bool) -> list[PrimaryCpus]:
    """What each primary may use now; with ``pins`` also the CPUs that its threads are pinned to.

    Affinities are about this host's CPUs, which are not those of a fake tree.
    """
    found = []
    for primary in primaries:
        cpus = primary.cpus()
        pinned = tasks.pinned_cpus(primary.threads(), cpus) if pins else frozenset[int]()
        found.append(PrimaryCpus(cpus, primary.quota_cores(), pinned))
    return found


def _groups_below(targets: Sequence[Target | None], *, version_2: bool = False) -> tuple[str, ...]:
    """The groups below these that have masks (v1), a parent before its children; not our own."""
    return tuple(
        group.path
        for target in targets
        for group in (target.groups_below() if target is not None else ())
        if (version_2 or group.tree.version == 1)
        and _has_cpus(group)
        and not os.path.basename(group.path).startswith(SPLIT)
    )


def _foreign_cpus(
    pool: Collection[int],
    targets: Sequence[Target],
    followed: Collection[int],
) -> dict[int, str]:
    """CPUs that foreign tasks are confined to, each with one of these tasks.

    A task of a target that starts between the two listings looks foreign, so only tasks that are
    found twice count. The threads of other agents do not keep a core from being lent.
    """

    def look() -> dict[int, str]:
        ours = set(tasks.process_threads(os.getpid()))
        for target in targets:
            ours.update(target.threads())
        ours.update(targets[-1].started_threads(followed))
        return tasks.foreign_cpus(pool, ours, OWN_THREADS, tasks.SETTLED_S)

    found = look()
    if not found:
        return found
    again = look()
    return {cpu: who for cpu, who in found.items() if again.get(cpu) == who}


def _has_cpus(group: Group) -> bool:
    """Whether a v1 group has a mask; a new one has none and holds nothing back."""
    try:
        return group.tree.version == 2 or bool(group.cpus())
    except TargetVanished:
        return False
