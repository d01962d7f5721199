"""What the host looks like, as far as the loop depends on it. Reads only."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from smartharvest.config.settings import Settings
from smartharvest.errors import TargetVanished
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.process import tasks
from smartharvest.host.target.targets import CgroupTarget, PidTarget
from smartharvest.host.topology import this_machine
from smartharvest.mechanism.mechanisms import MAX_SPLITS, SPLIT
from smartharvest.placement.capacity import Capacity, PrimaryCpus, plan_capacity

_log = logging.getLogger(__name__)

OWN_THREADS = ("sh-loop", "sh-handover", "sh-rescue", "sh-standstill")
"""What agents and benches call theirs that stay on some CPUs (loop.c, handover.c, rescue.c and
standstill.c)."""


@dataclass(frozen=True)
class Survey:
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


def survey(
    settings: Settings,
    tree: CgroupTree,
    primaries: Sequence[CgroupTarget | PidTarget],
    elastic: CgroupTarget | PidTarget | None,
    followed: Collection[int] = (),
    held: Sequence[PrimaryCpus] = (),
) -> Survey:
    """Looks at the targets now. Raises ConfigError or TargetError if nothing can be shared so.

    Without an ``elastic`` side, as for watching only, every core counts as one to lend.
    ``followed`` are the processes that an elastic process has started; ``held`` is what primaries
    had before CPUs were taken from their groups, which no longer show it.
    """
    made_tree = isinstance(tree.files, FakeKernel)
    primary_cpus = held or look_at_primaries(primaries, pins=elastic is not None and not made_tree)
    sources = [
        (path, index) for index, primary in enumerate(primaries) for path in _task_lists(primary)
    ]
    union = frozenset[int]().union(*(primary.cpus for primary in primary_cpus))
    foreign: dict[int, str] = {}
    if elastic is not None and not made_tree and not settings.lend_shared:
        foreign = _foreign_cpus(settings.cores or union, [*primaries, elastic], followed)
    for cpu, who in foreign.items():
        _log.debug("CPU %d is not lent: %s is confined to it", cpu, who)
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
        topology=None if made_tree or settings.order == "numbers" else this_machine(online),
        shared=settings.placement == "shared",
    )
    if settings.mechanism == "cpugroups":
        capacity = capacity.in_steps(MAX_SPLITS)
    numbered = [*enumerate(primaries), *([(-1, elastic)] if elastic is not None else [])]
    kernel_ids = tuple(
        (*kernel_id, index) for index, target in numbered for kernel_id in _kernel_ids(target)
    )
    return Survey(
        capacity,
        tuple(sources),
        kernel_ids,
        _groups_below([elastic], version_2=settings.mechanism == "affinity"),
        _groups_below(primaries) if held else (),
    )


def look_at_primaries(
    primaries: Sequence[CgroupTarget | PidTarget], *, pins: bool
) -> list[PrimaryCpus]:
    """What each primary may use now; with ``pins`` also the CPUs that its threads are pinned to.

    Affinities are about this host's CPUs, which are not those of a made tree.
    """
    found = []
    for primary in primaries:
        cpus = primary.cpus()
        pinned = tasks.pinned_cpus(primary.threads(), cpus) if pins else frozenset[int]()
        found.append(PrimaryCpus(cpus, primary.quota_cores(), pinned))
    return found


def _groups_below(
    targets: Sequence[CgroupTarget | PidTarget | None], *, version_2: bool = False
) -> tuple[str, ...]:
    """The groups below these that have masks (v1), a parent before its children; not our own."""
    return tuple(
        group.path
        for target in targets
        if isinstance(target, CgroupTarget) and (version_2 or target.group.tree.version == 1)
        for group in target.group.descendants()
        if _has_cpus(group) and not os.path.basename(group.path).startswith(SPLIT)
    )


def _foreign_cpus(
    pool: Collection[int],
    targets: Sequence[CgroupTarget | PidTarget],
    followed: Collection[int],
) -> dict[int, str]:
    """CPUs that strangers are confined to, with one of them.

    A task born between the listing of ours and that of all looks like one of them, so whoever is
    found is looked for again. The threads of other agents are no reason to leave a core alone.
    """

    def look() -> dict[int, str]:
        ours = set(tasks.process_threads(os.getpid()))
        for target in targets:
            ours.update(target.threads())
        if isinstance(targets[-1], PidTarget):
            processes = (*followed, *tasks.descendants(targets[-1].pid, *followed))
            ours.update(tid for pid in processes for tid in tasks.process_threads(pid))
        return tasks.foreign_cpus(pool, ours, OWN_THREADS)

    found = look()
    if not found:
        return found
    again = look()
    return {cpu: who for cpu, who in found.items() if again.get(cpu) == who}


def _kernel_ids(target: CgroupTarget | PidTarget) -> list[tuple[str, int]]:
    """Where and by which numbers the scheduler's data lead to the target."""
    if isinstance(target, PidTarget):
        return [("pid", pid) for pid in target.processes()]
    group = target.group
    try:
        # A cgroup's id is the inode of its directory (cgroup_ino() in include/linux/cgroup.h).
        inode = os.stat(group.path).st_ino
    except OSError as error:
        raise TargetVanished(f"{target.spec}: is gone") from error
    return [("cpuset" if group.tree.version == 1 else "v2", inode)]


def _has_cpus(group: Group) -> bool:
    """Whether a v1 group has a mask; a new one has none and holds nothing back."""
    try:
        return group.tree.version == 2 or bool(group.cpus())
    except TargetVanished:
        return False


def _task_lists(primary: CgroupTarget | PidTarget) -> list[str]:
    if isinstance(primary, PidTarget):
        return [f"/proc/{pid}/task" for pid in primary.processes()]
    groups = [primary.group, *primary.group.descendants()]
    return [group.tasks_file for group in groups]
