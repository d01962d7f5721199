"""Below everything else: cpu.idle for an elastic group, where it counts."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence

from smartharvest.errors import RightsError
from smartharvest.host.cgroup.counterparts import make_counterpart
from smartharvest.host.cgroup.tree import Group, tasks_below
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target

_log = logging.getLogger(__name__)

SMALLEST_WEIGHT = {1: "2", 2: "1"}
"""Of cpu.shares and cpu.weight, by the version of cgroups."""


def enter_idle_class(elastic: Group, primaries: Sequence[Target], writer: HostWriter) -> str | None:
    """Puts the group below everything else, where its subtree and the primaries' part.

    When a task wakes the kernel compares the group entities right below the last common group
    (find_matching_se(), kernel/sched/fair.c): what stands further down does not count. Returns the
    cpu.idle switch that is on, the elastic group's own if it is among them; None if none is.
    """
    try:
        everything_inside = make_counterpart(elastic, "cpu", writer)
    except RightsError as error:
        _log.warning("%s; running without cpu.idle", error)
        return None
    if elastic.idle_file is None and elastic.weight_file is None:
        _log.warning("%s has no cpu controller: running without cpu.idle", elastic)
        return None
    if not everything_inside:
        _log.warning("not all tasks of %s are in its cpu group: running without cpu.idle", elastic)
        return None
    for group in shared_groups(elastic, primaries):
        _log.warning(
            "%s holds the batch and a primary: outside it the batch counts as normal, and the "
            "kernel's threads and this agent may wait for it; put both right below the root",
            group.cpu_path,
        )
    lowered = (elastic, *parting_groups(elastic, primaries))
    switches = [_lower(group, elastic, writer) for group in lowered]
    return next(filter(None, switches), None)


def shared_groups(elastic: Group, primaries: Sequence[Target]) -> tuple[Group, ...]:
    """The groups below the root that hold ``elastic`` and a primary, each the lowest that does."""
    found: dict[Group, None] = {}
    for primary in primaries:
        other = primary.cpu_group()
        if other is not None and (common := _common(elastic, other)):
            found[Group(elastic.tree, common)] = None
    found.pop(elastic, None)
    return tuple(found)


def parting_groups(elastic: Group, primaries: Sequence[Target]) -> tuple[Group, ...]:
    """The groups at or above ``elastic`` that stand right below what it shares with a primary."""
    found: dict[Group, None] = {}
    mine = elastic.relative.split("/")
    for primary in primaries:
        other = primary.cpu_group()
        if other is None:
            continue
        common = _common(elastic, other)
        depth = common.count("/") + 2 if common else 1
        found[Group(elastic.tree, "/".join(mine[:depth]))] = None
    found.pop(elastic, None)
    return tuple(found)


def _common(one: Group, other: Group) -> str:
    """The path of the lowest group that holds both; empty: the root."""
    return os.path.commonpath([f"/{one.relative}", f"/{other.relative}"])[1:]


def _lower(group: Group, elastic: Group, writer: HostWriter) -> str | None:
    """Sets cpu.idle, or before Linux 5.15 the smallest weight, unless that hits others.

    The switch, if it has set one.
    """
    if others := _foreign_tasks(group, elastic):
        _log.warning(
            "%s also holds task %d, which is not elastic: running without cpu.idle there",
            group.cpu_path,
            min(others),
        )
    elif group.idle_file is not None:
        writer.set(group.idle_file, "1")
        return group.idle_file
    elif group.weight_file is not None:
        writer.set(group.weight_file, SMALLEST_WEIGHT[group.tree.version])
        _log.info("%s has no cpu.idle (Linux 5.15): the smallest weight instead", group)
    return None


def _foreign_tasks(group: Group, elastic: Group) -> set[int]:
    """Tasks of the group's cpu directory that the elastic cpuset does not hold."""
    if group.tree.version == 2:
        inside = set(group.tasks())
    else:
        inside = set(tasks_below(group.tree.files, group.cpu_path or ""))
    # Read last, so that it holds those that the batch forks meanwhile.
    ours = set(elastic.tasks())
    return {tid for tid in inside - ours if tasks.alive(tid)}
