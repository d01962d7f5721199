"""A group's memory, by the files of its version of cgroups."""

from __future__ import annotations

from smartharvest.host.cgroup.tree import Group

_USAGE = {1: "memory.usage_in_bytes", 2: "memory.current"}


def memory_bytes(group: Group) -> int | None:
    """What is charged to the group; None where that is not known, as without the controller."""
    directory = group.directory("memory")
    if directory is None:
        return None
    try:
        return int(group.tree.files.read(f"{directory}/{_USAGE[group.tree.version]}"))
    except (OSError, ValueError):
        return None
