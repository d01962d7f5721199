"""A systemd unit as a target: the group that it has while it runs.

A unit is found by the name systemd gives its group, below slices, in any hierarchy; one of a user's
manager only by ``user.slice``'s path.
"""

from __future__ import annotations

import fnmatch
import os

from smartharvest.errors import ConfigError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.target.base import Kind
from smartharvest.host.target.cgroup import MOST_GROUPS, find_in_every, names_below
from smartharvest.host.target.spec import TargetSpec

UNITS = (".service", ".scope", ".slice")


def check(text: str, value: str, key: str) -> None:
    """Raises ConfigError for what is no unit that has processes."""
    if "/" in value or not value.endswith(UNITS):
        raise ConfigError(
            f"{key}: {text!r} names no unit that has processes; write {', '.join(UNITS)} "
            "at its end, such as systemd:nginx.service"
        )


def find(spec: TargetSpec, tree: CgroupTree) -> list[TargetSpec]:
    """The groups of the unit, or of the units that the pattern matches, by path."""
    return find_in_every(tree, lambda mount: _units(tree, mount, spec.value))


def _units(tree: CgroupTree, mount: str, unit: str) -> set[str]:
    found: set[str] = set()
    places = [""]
    for place in places:  # which grows meanwhile
        for name in names_below(tree, mount, place):
            path = os.path.join(place, name)
            # systemd puts _ before names that would be taken for a controller's file.
            if fnmatch.fnmatchcase(name.removeprefix("_"), unit):
                found.add(path)
            elif name.endswith(".slice") and path != "user.slice" and len(places) < MOST_GROUPS:
                places.append(path)
    return found


KIND = Kind("systemd:UNIT", "a unit", check=check, is_pattern=bool, find=find)
