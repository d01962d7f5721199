"""What all targets can, and what a kind of target has to say of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.process.cpu_usage import ReadCpuUsage
from smartharvest.host.target.spec import TargetSpec


class Target(Protocol):
    """One primary, or the elastic side. Its methods read the host at each call.

    It is either a group or a process.
    """

    @property
    def spec(self) -> TargetSpec: ...

    @property
    def group(self) -> Group | None:
        """The control group, with all that is below it; None for a process."""

    @property
    def pid(self) -> int | None:
        """The process; None for a group."""

    def cpus(self) -> frozenset[int]:
        """The CPUs it may run on now."""

    def grantable_cpus(self) -> frozenset[int]:
        """The CPUs it could be confined to: what its parent group has, or its own group."""

    def quota_cores(self) -> float | None:
        """CPU bandwidth in cores; None if unlimited."""

    def threads(self) -> list[int]:
        """Its thread ids, ascending."""

    def alive(self) -> bool:
        """Whether it is still there. A group without tasks is."""

    def task_lists(self) -> list[str]:
        """Where its tasks are listed: files of groups, or directories of /proc."""

    def kernel_ids(self) -> list[tuple[str, int]]:
        """(hierarchy, id): by what the scheduler's data lead to it. Raises TargetVanished."""

    def groups_below(self) -> list[Group]:
        """The groups below it, a parent before its children."""

    def cpu_group(self) -> Group | None:
        """The group by which the scheduler weighs it; None without the cpu controller."""

    def read_cpu_usage(self) -> ReadCpuUsage:
        """Reads its CPU time so far."""

    def name_failure(self, path: str, value: str) -> tuple[str, str]:
        """What to call a refused write of ``value`` to ``path`` that was to move it."""


Prepare = Callable[[Group], object]
"""Called with a group before it is looked at, which may make what it lacks."""


def itself(spec: TargetSpec, _tree: CgroupTree) -> list[TargetSpec]:
    """What a name that is no pattern stands for."""
    return [spec]


def never(_value: str) -> bool:
    """No name is a pattern."""
    return False


def nothing_else(_text: str, _value: str, _key: str) -> None:
    """Every name that is not empty will do."""


@dataclass(frozen=True)
class Kind:
    """One kind of target: how its names are written, and what stands behind one."""

    form: str
    """As the user reads it: ``cgroup:PATH``."""
    named_by: str
    """What follows the colon, in words."""
    names_one: Callable[[str], bool] = bool
    """Whether what follows the colon can be a name at all."""
    check: Callable[[str, str, str], None] = nothing_else
    """Raises ConfigError for (the whole text, the name, the key it is the value of)."""
    is_machine: bool = False
    is_pattern: Callable[[str], bool] = never
    """Whether a name may stand for several targets, or for none until later."""
    find: Callable[[TargetSpec, CgroupTree], list[TargetSpec]] = itself
    """What a pattern stands for now."""
    resolve: Callable[[TargetSpec, CgroupTree, Prepare], Target] | None = None
    """The target of a name that is no pattern; None: ``find`` leads to other kinds."""
    claim: Callable[[TargetSpec, CgroupTree], str] = lambda spec, _tree: f"pid:{spec.value}"
    """What the journal calls it: a process is the same one whatever it is named by."""
