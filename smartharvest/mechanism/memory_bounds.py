"""Which elastic groups have bounds of memory, and whether this machine can keep them."""

from __future__ import annotations

from collections.abc import Iterator

from smartharvest.config.elastic_groups import ElasticGroup, MemoryBounds
from smartharvest.config.settings import Settings
from smartharvest.config.sizes import format_size
from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.cgroup.memory import host_bytes, limit_file
from smartharvest.host.cgroup.tree import CgroupTree, Group


def bounded_groups(settings: Settings) -> Iterator[tuple[ElasticGroup, MemoryBounds]]:
    """Those whose memory follows what there is."""
    for group in settings.elastic_groups:
        if group.memory is not None:
            yield group, group.memory


def check_memory(settings: Settings, tree: CgroupTree) -> None:
    """Raises ConfigError for bounds that this machine cannot keep, TargetError for a group there
    is no memory controller for. A group may still be to come."""
    bounded = list(bounded_groups(settings))
    if not bounded:
        return
    least = sum(bounds.min for _, bounds in bounded)
    try:
        host = host_bytes(tree)
    except (OSError, ValueError) as error:
        raise TargetError(f"memory cannot be bounded: {error}; leave memory out") from error
    if least > host["total"]:
        raise ConfigError(
            f"elastic: the groups' minima of memory add up to {format_size(least)}, and this "
            f"machine has {host['total'] >> 20} MiB; they must be less"
        )
    for group, _ in bounded:
        place = tree.group(group.target.value)
        if tree.files.exists(place.path) and limit_file(place) is None:
            raise TargetError(
                f"elastic {group.name!r}: memory cannot be bounded: {no_controller(place)}"
            )


def no_controller(place: Group) -> str:
    """Why its memory cannot be bounded, and what to do."""
    above = (place.parent or place).path
    if place.tree.version == 1:
        return f"{place.relative} is in no memory hierarchy; make it there, or leave memory out"
    return (
        f"{place.path} has no memory controller; echo +memory >{above}/cgroup.subtree_control, or "
        "leave memory out"
    )


def memory_writes(settings: Settings, tree: CgroupTree) -> Iterator[tuple[str, str]]:
    """(file, values) of what would be written while memory is lent."""
    for group, bounds in bounded_groups(settings):
        path = limit_file(tree.group(group.target.value))
        if path is not None:
            yield path, f"{bounds.min} … {bounds.max}"
