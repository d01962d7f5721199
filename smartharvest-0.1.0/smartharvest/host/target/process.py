"""One process as a target: managed by affinity, and never moved between groups."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Self

from smartharvest.errors import TargetError
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.process import tasks
from smartharvest.host.process.cpu_usage import ReadCpuUsage, cpu_usage_of_process
from smartharvest.host.target.base import Kind, Prepare
from smartharvest.host.target.spec import TargetSpec, is_process_id, is_zero


@dataclass(frozen=True)
class PidTarget:
    """One process with all its threads, managed by affinity and never moved between groups."""

    spec: TargetSpec
    tree: CgroupTree
    pid: int
    start_time: int
    """Of the process's first thread, in clock ticks since boot: the id may be used again."""
    group: ClassVar[None] = None

    @classmethod
    def resolve(cls, spec: TargetSpec, tree: CgroupTree, _prepare: Prepare) -> Self:
        """The process that runs by this number. Raises TargetError if there is none."""
        pid = int(spec.value)
        start_time = tasks.start_time(pid)
        if start_time is None or not tasks.alive(pid):
            raise TargetError(f"{spec}: no such process")
        return cls(spec, tree, pid, start_time)

    def cpus(self) -> frozenset[int]:
        online, found = tasks.online_cpus(), set[int]()
        for tid in tasks.threads_of(self.processes()) if self.alive() else ():
            found |= tasks.affinity(tid)
            if found >= online:  # there may be thousands
                break
        return frozenset(found)

    def grantable_cpus(self) -> frozenset[int]:
        return self.tree.group_of(self.pid, "cpuset").effective_cpus()

    def quota_cores(self) -> float | None:
        group = self.cpu_group()
        return None if group is None else group.quota_cores()

    def threads(self) -> list[int]:
        return _threads_of(self.processes()) if self.alive() else []

    def alive(self) -> bool:
        return tasks.start_time(self.pid) == self.start_time and tasks.alive(self.pid)

    def processes(self) -> list[int]:
        """Itself, and what works for it outside of it."""
        return [self.pid]

    def task_lists(self) -> list[str]:
        return [f"/proc/{pid}/task" for pid in self.processes()]

    def kernel_ids(self) -> list[tuple[str, int]]:
        return [("pid", pid) for pid in self.processes()]

    def groups_below(self) -> list[Group]:
        return []

    def cpu_group(self) -> Group | None:
        if "cpu" not in self.tree.hierarchies:
            return None
        return self.tree.group_of(self.pid, "cpu")

    def read_cpu_usage(self) -> ReadCpuUsage:
        return cpu_usage_of_process(self.pid)

    def name_failure(self, _path: str, _value: str) -> tuple[str, str]:
        return str(self.spec), "the affinity of its threads"


def _threads_of(processes: Collection[int]) -> list[int]:
    return [tid for pid in processes for tid in tasks.process_threads(pid)]


KIND = Kind(
    "pid:N",
    "a process id",
    names_one=lambda value: is_process_id(value) and not is_zero(value),
    resolve=PidTarget.resolve,
)
