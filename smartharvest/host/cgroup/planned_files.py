"""Cgroup files that remember what is written to them and leave the host as it is.

What a plan of the agent reads afterwards is what the kernel would show then: values written, groups
made and tasks moved. What the kernel would refuse for its own reasons is not seen.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.process import tasks

_NEW_V1 = {
    "cpuset.cpus": "",
    "cpuset.mems": "",
    "cpuset.effective_cpus": "",
    "cpu.shares": "1024",
    "cpu.idle": "0",
    "tasks": "",
    "cgroup.procs": "",
}
_NEW_V2 = {
    "cpuset.cpus": "",
    "cpuset.cpus.effective": "",
    "cgroup.type": "domain",
    "cgroup.procs": "",
    "cgroup.threads": "",
}
_MASK_IN_FORCE = ("cpuset.effective_cpus", "cpuset.cpus.effective")
_TASK_LISTS = ("tasks", "cgroup.procs", "cgroup.threads")


class PlannedWrite(NamedTuple):
    """One thing that would be written."""

    path: str
    before: str
    """"" for a group that would be made."""
    after: str


class PlannedFiles:
    """KernelFiles over ``files``, which are only read."""

    def __init__(self, files: KernelFiles) -> None:
        self._files = files
        self._values: dict[str, str] = {}
        self._made: set[str] = set()
        self.writes: list[PlannedWrite] = []
        self.moved: dict[str, set[int]] = {}
        """Group directory -> tasks that would be moved there."""

    @property
    def runs_tasks(self) -> bool:
        return self._files.runs_tasks

    @property
    def stand_in(self) -> KernelFiles:
        return self

    def read(self, path: str) -> str:
        directory, name = os.path.split(path)
        if path in self._values:
            text = self._values[path]
        elif directory in self._made:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        else:
            text = self._files.read(path)
        if name in _TASK_LISTS and (moved := self.moved.get(directory)):
            text = "\n".join(dict.fromkeys([*text.split(), *map(str, sorted(moved))]))
        return text

    def write(self, path: str, value: str) -> None:
        """Raises OSError as the kernel does for rights and for a file that is not there."""
        directory, name = os.path.split(path)
        if not self.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if directory not in self._made and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        value = value.strip()
        if name in _TASK_LISTS:
            process = name == "cgroup.procs" and tasks.process_threads(int(value))
            self.moved.setdefault(directory, set()).update(process or [int(value)])
            return
        before = self.read(path).strip()
        if name == "cgroup.subtree_control":
            value = " ".join([*before.split(), *value.replace("+", "").split()])
        self._values[path] = value
        self.writes.append(PlannedWrite(path, before, value))
        if name == "cpuset.cpus":
            for effective in _MASK_IN_FORCE:
                if f"{directory}/{effective}" in self._values:
                    self._values[f"{directory}/{effective}"] = value

    def mkdir(self, path: str) -> None:
        parent = os.path.dirname(path)
        if self.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        if parent not in self._made and not os.access(parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        self._made.add(path)
        new = _NEW_V1 if self.exists(f"{parent}/tasks") else _NEW_V2
        for name, value in new.items():
            if self.exists(f"{parent}/{name}") or name == "cgroup.type":
                self._values[f"{path}/{name}"] = value
        if "freezer" in os.path.relpath(path, "/").split("/"):  # the root group has no such file
            self._values[f"{path}/freezer.state"] = "THAWED"
        self.writes.append(PlannedWrite(path, "", "new group"))

    def rmdir(self, path: str) -> None:
        self._made.discard(path)

    def subdirectories(self, path: str) -> list[str]:
        made = {os.path.basename(one) for one in self._made if os.path.dirname(one) == path}
        return sorted(made.union(() if path in self._made else self._files.subdirectories(path)))

    def exists(self, path: str) -> bool:
        return path in self._values or path in self._made or self._files.exists(path)

    def inode(self, path: str) -> int:
        return 0 if path in self._made else self._files.inode(path)

    def mounts(self) -> list[str]:
        return self._files.mounts()

    def membership(self, tid: int) -> str:
        return self._files.membership(tid)
