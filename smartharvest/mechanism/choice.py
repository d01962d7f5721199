"""Which mechanism gives the elastic side its cores: a file of its own and an entry here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from smartharvest.config.settings import Settings
from smartharvest.core._mechanisms import MAX_SPLITS
from smartharvest.errors import ConfigError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.sched_ext.loader import why_not
from smartharvest.host.target.base import Target
from smartharvest.mechanism.base import Mechanism
from smartharvest.mechanism.cpugroups import CpuGroupsMechanism
from smartharvest.mechanism.cpuset import CpusetMechanism
from smartharvest.mechanism.divided import DividedMechanism
from smartharvest.mechanism.group_affinity import GroupAffinityMechanism
from smartharvest.mechanism.process_affinity import ProcessAffinityMechanism
from smartharvest.mechanism.strict import AutoMechanism, StrictMechanism
from smartharvest.placement.snapshot import NO_NEEDS, MechanismNeeds

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """A mechanism of elastic groups, and what has to be known before one is made."""

    make: Callable[..., Mechanism]
    needs: MechanismNeeds = NO_NEEDS
    writes_masks: bool = False
    """Whether it writes the group's own mask: that alone can place exclusively and freeze."""
    on_fake_trees: bool = True


MECHANISMS = {
    "merge": Entry(CpusetMechanism, writes_masks=True),
    "affinity": Entry(
        GroupAffinityMechanism, MechanismNeeds(groups_below=True), on_fake_trees=False
    ),
    "cpugroups": Entry(CpuGroupsMechanism, MechanismNeeds(most_sets=MAX_SPLITS)),
    "strict": Entry(StrictMechanism, writes_masks=True, on_fake_trees=False),
    "auto": Entry(AutoMechanism, writes_masks=True),
}


MakeMechanism = Callable[..., Mechanism]
"""``make_mechanism``, or what stands in for it where a part is left out to see what it does."""


def needs_of(settings: Settings) -> MechanismNeeds:
    """What the settings' mechanism needs of a snapshot."""
    return MECHANISMS[settings.mechanism].needs


def make_mechanism(
    settings: Settings,
    tree: CgroupTree,
    target: Target | None,
    writer: HostWriter | None,
    *,
    may_nudge: bool | None = None,
) -> Mechanism:
    """What gives ``target`` its cores.

    Without a target or a ``writer``, as in a dry run, that is one that changes nothing.
    ``may_nudge`` is what an earlier session has found, which has left all arranged. Raises
    ConfigError for settings that no mechanism of such a target can follow.
    """
    if target is None or writer is None:
        if settings.mechanism == "strict" and (why := why_not()) is not None:
            _log.warning("mechanism: strict: %s; an agent would refuse", why)
        return Mechanism(settings, target)
    if target.group is None:
        _check_process(settings, target)
        assert target.pid is not None
        return ProcessAffinityMechanism(
            settings, target, target.pid, writer, was_arranged=may_nudge is not None
        )
    entry = MECHANISMS[settings.mechanism]
    _check_group(settings, entry, tree)
    if settings.divides:
        return DividedMechanism(settings, tree, target, target.group, writer, may_nudge=may_nudge)
    return entry.make(settings, tree, target, target.group, writer, may_nudge=may_nudge)


def _check_process(settings: Settings, target: Target) -> None:
    if settings.placement == "exclusive":
        raise ConfigError(
            f"placement: exclusive needs an elastic group, and {target.spec} is a process; "
            "use --placement shared"
        )
    if settings.order == "dynamic":
        raise ConfigError("order: dynamic needs an elastic group, not a process")
    if settings.park == "freeze":
        raise ConfigError("park: freeze needs an elastic group, not a process")
    if settings.mechanism in ("cpugroups", "strict"):
        raise ConfigError(f"mechanism: {settings.mechanism} needs an elastic group, not a process")


def _check_group(settings: Settings, entry: Entry, tree: CgroupTree) -> None:
    name = settings.mechanism
    if not entry.writes_masks and settings.placement == "exclusive":
        raise ConfigError(f"mechanism: {name} cannot place exclusively; use --mechanism merge")
    if not entry.writes_masks and settings.park == "freeze":
        raise ConfigError(f"mechanism: {name} cannot freeze; use --mechanism merge or --park idle")
    if not (entry.on_fake_trees or tree.runs_tasks):
        raise ConfigError(f"mechanism: {name} needs a real host; a fake tree has no threads")
