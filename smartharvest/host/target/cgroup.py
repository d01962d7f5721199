"""A control group as a target, and patterns of paths that stand for several."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process.cpu_usage import ReadCpuUsage, cpu_usage_of_group
from smartharvest.host.target.base import Kind, Prepare, Target
from smartharvest.host.target.spec import TargetSpec

MOST_GROUPS = 10_000
"""The most groups searched for one pattern; a larger host needs a narrower one."""
_MAGIC = re.compile(r"[*?[]")


@dataclass(frozen=True)
class CgroupTarget:
    """A control group with all that is below it."""

    spec: TargetSpec
    group: Group
    pid: ClassVar[None] = None

    def cpus(self) -> frozenset[int]:
        return self.group.effective_cpus()

    def grantable_cpus(self) -> frozenset[int]:
        return self.group.grantable_cpus()

    def quota_cores(self) -> float | None:
        return self.group.quota_cores()

    def threads(self) -> list[int]:
        return self.group.tasks()

    def alive(self) -> bool:
        return self.group.cpuset_path is not None

    def task_lists(self) -> list[str]:
        return [group.tasks_file for group in (self.group, *self.group.descendants())]

    def kernel_ids(self) -> list[tuple[str, int]]:
        try:
            # A cgroup's id is the inode of its directory (cgroup_ino() in include/linux/cgroup.h).
            inode = self.group.tree.files.inode(self.group.path)
        except OSError as error:
            raise TargetVanished(f"{self.spec}: is gone") from error
        return [("cpuset" if self.group.tree.version == 1 else "v2", inode)]

    def groups_below(self) -> list[Group]:
        return self.group.descendants()

    def cpu_group(self) -> Group | None:
        return self.group

    def read_cpu_usage(self) -> ReadCpuUsage:
        return cpu_usage_of_group(self.group)

    def name_failure(self, path: str, value: str) -> tuple[str, str]:
        return path, value


def resolve(spec: TargetSpec, tree: CgroupTree, prepare: Prepare) -> CgroupTarget:
    """The group. Raises TargetError if it is missing, no cpuset, or without CPUs or nodes (v1)."""
    group = tree.group(spec.value)
    prepare(group)
    if group.cpuset_path is None:
        raise TargetError(f"{spec}: {_why_no_cpuset(group)}")
    if group.tree.version == 1:
        _check_filled(spec, group)
    return CgroupTarget(spec, group)


def _why_no_cpuset(group: Group) -> str:
    files, parent = group.tree.files, group.parent
    if not files.exists(group.path):
        return f"{group.path} does not exist; make the group first"
    if group.tree.version == 2 and parent is not None:
        by_systemd = parent.path.endswith(".slice")
        return (
            f"{group.path} has no cpuset.cpus; "
            f"write +cpuset into {parent.path}/cgroup.subtree_control"
            + (", or let the unit do so: it does when it starts (Delegate=)" if by_systemd else "")
        )
    return f"{group.path} is no cpuset: it has no cpuset.cpus"


def _check_filled(spec: TargetSpec, group: Group) -> None:
    """Refuses a v1 cpuset as mkdir leaves it.

    It takes no tasks, and once it was filled and has some the kernel refuses to empty it again.
    """
    if group.parent is None:
        return
    _check_filled(spec, group.parent)
    for path, own, above in (
        (group.cpus_file, group.cpus, group.parent.cpus),
        (group.mems_file, group.mems, group.parent.mems),
    ):
        with contextlib.suppress(TargetVanished):  # fake trees may lack the file
            if not own():
                wanted = format_cpulist(above())
                raise TargetError(f"{spec}: {path} is empty; write {wanted} into it")


def is_pattern(value: str) -> bool:
    """Whether a path has ``*``, ``?`` or ``[...]``, which match within one level."""
    return _MAGIC.search(value) is not None


def find(spec: TargetSpec, tree: CgroupTree) -> list[TargetSpec]:
    """The groups that the pattern matches now, by path."""
    return find_in_every(tree, lambda mount: _matches(tree, mount, spec.value))


def find_in_every(tree: CgroupTree, look: Callable[[str], set[str]]) -> list[TargetSpec]:
    """What ``look`` finds in each hierarchy that is mounted, as groups by path."""
    mounts = dict.fromkeys(os.path.realpath(point) for point in tree.hierarchies.values())
    found = {path for mount in mounts for path in look(mount)}
    return [TargetSpec("cgroup", path) for path in sorted(found)]


def names_below(tree: CgroupTree, mount: str, place: str) -> list[str]:
    """The names of the groups right below ``place``; none if it is gone."""
    try:
        return tree.files.subdirectories(os.path.join(mount, place))
    except OSError:
        return []


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
            for name in names_below(tree, mount, place)
            if fnmatch.fnmatchcase(name, part)
        ]
    return set(places)


KIND = Kind(
    "cgroup:PATH",
    "a path",
    is_pattern=is_pattern,
    find=find,
    resolve=resolve,
    claim=lambda spec, tree: tree.group(spec.value).path,
)


def have_caps_of_their_own(primaries: Sequence[Target], elastic: Target | None) -> bool:
    """Whether no cap on the primaries' CPU time (cpu.max) is the elastic group's, too: what they
    wait because of one is not lending's doing then. In doubt False. Raises TargetVanished."""
    if not isinstance(elastic, CgroupTarget):
        return False
    return all(
        isinstance(primary, CgroupTarget)
        and primary.group.cpu_path is not None
        and not primary.group.is_capped_with(elastic.group)
        for primary in primaries
    )
