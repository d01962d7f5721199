"""Targets that name groups by a pattern or a systemd unit, or virtual machines: which are now."""

from __future__ import annotations

import fnmatch
import os
import re

from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.target import guests, libvirt_domains
from smartharvest.host.target.spec import TargetSpec

MOST_GROUPS = 10_000
"""Looked at for one pattern; a host with more has to be told more exactly."""
_MAGIC = re.compile(r"[*?[]")


def is_pattern(spec: TargetSpec) -> bool:
    """Whether it may stand for several groups, or for none until later.

    A systemd unit's group is made when the unit starts and removed when it stops; a virtual machine
    that is not named by its process may end and come back.
    """
    if spec.kind in guests.MONITORS:
        return not guests.is_fixed(spec)
    return spec.kind in ("systemd", "libvirt") or (
        spec.kind == "cgroup" and bool(_MAGIC.search(spec.value))
    )


def expand(spec: TargetSpec, tree: CgroupTree) -> list[TargetSpec]:
    """The targets that ``spec`` stands for now, by path; ``spec`` itself if it is no pattern.

    ``*``, ``?`` and ``[...]`` match within one level. A unit is found by the name systemd gives its
    group, below slices, in any hierarchy; one of a user's manager only by ``user.slice``'s path.
    """
    if not is_pattern(spec):
        return [spec]
    if spec.kind in guests.MONITORS:
        return guests.find(spec)
    if spec.kind == "libvirt":
        return libvirt_domains.find(spec, tree)
    found: set[str] = set()
    for mount in dict.fromkeys(os.path.realpath(point) for point in tree.hierarchies.values()):
        if spec.kind == "systemd":
            found |= _units(tree, mount, spec.value)
        else:
            found |= _matches(tree, mount, spec.value)
    return [TargetSpec("cgroup", path) for path in sorted(found)]


def _matches(tree: CgroupTree, mount: str, pattern: str) -> set[str]:
    if os.path.isabs(pattern):
        mounts = (mount, tree.root)
        below = next((m for m in mounts if pattern.startswith(m.rstrip("/") + "/")), None)
        if below is None:
            return set()
        pattern = os.path.relpath(pattern, below)
    elif tree.version == 1 and pattern.startswith(f"{os.path.basename(mount)}/"):
        pattern = pattern.split("/", 1)[1]  # cpuset/web-*
    places = [""]
    for part in pattern.strip("/").split("/"):
        places = [
            os.path.join(place, name)
            for place in places[:MOST_GROUPS]
            for name in _below(tree, mount, place)
            if fnmatch.fnmatchcase(name, part)
        ]
    return set(places)


def _units(tree: CgroupTree, mount: str, unit: str) -> set[str]:
    found: set[str] = set()
    places = [""]
    for place in places:  # which grows meanwhile
        for name in _below(tree, mount, place):
            path = os.path.join(place, name)
            # systemd puts _ before names that would be taken for a controller's file.
            if fnmatch.fnmatchcase(name.removeprefix("_"), unit):
                found.add(path)
            elif name.endswith(".slice") and path != "user.slice" and len(places) < MOST_GROUPS:
                places.append(path)
    return found


def _below(tree: CgroupTree, mount: str, place: str) -> list[str]:
    try:
        return tree.files.subdirectories(os.path.join(mount, place))
    except OSError:
        return []
