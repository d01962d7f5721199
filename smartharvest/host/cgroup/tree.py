"""Control groups, versions 1 and 2, through one seam.

The rest of the project asks a Group for CPUs, quotas and tasks and never for a file's name. All
access goes through KernelFiles: PosixFiles on a mounted hierarchy, FakeKernel on a fake tree of
plain files, which then answers as the kernel would.

Version 1 keeps each controller in a hierarchy of its own, so one group is a directory at the same
place in several of them; version 2 has one directory for everything.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from smartharvest.errors import ConfigError, RightsError, TargetError, TargetVanished
from smartharvest.host.cgroup.kernel_files import KernelFiles, PosixFiles, read_proc
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.process import tasks

T = TypeVar("T")

SPLIT = "smartharvest-split-"
"""What the name of a group begins with that we made for a split; the number of its CPUs follows."""
DEEPEST = 50
"""Levels of groups that are looked at below one."""
MOST_GROUPS = 2_000
"""Groups that are looked at below one."""
_LONGEST_PATH = 4000
"""Bytes, so that the path of each file of a group is below PATH_MAX."""


def files_for(root: str) -> KernelFiles:
    """PosixFiles if a cgroup hierarchy is mounted at or below ``root``, otherwise FakeKernel."""
    root = os.path.realpath(root)
    for mount in _mounts():
        if _is_within(mount.point, root) or _is_within(root, mount.point):
            return PosixFiles()
    from smartharvest.host.cgroup.fake_kernel import FakeKernel  # not needed on a host

    return FakeKernel(root)


@dataclass(frozen=True)
class CgroupTree:
    """Where the controllers are on this host, or in a fake tree."""

    root: str
    """The directory that relative group paths start from (with v1, the hierarchies' parent)."""
    version: int
    """1 or 2: the version that the cpuset controller lives in."""
    hierarchies: Mapping[str, str]
    """Controller -> mount point. Always has ``cpuset``; with v2 all are the one mount point."""
    files: KernelFiles = field(compare=False, repr=False)

    @classmethod
    def discover(cls, root: str | None = None) -> CgroupTree:
        """The tree of this host (from /proc/self/mountinfo), or the one in directory ``root``.

        ``root`` holds either a v2 tree (``cgroup.controllers``) or one directory per v1 hierarchy
        (``cpuset``, ``cpu`` or ``cpu,cpuacct``, ``freezer``). On a hybrid host the version that
        has the cpuset controller wins. Raises ConfigError if ``root`` is no such directory and
        RightsError if there is no cpuset controller.
        """
        if root is None:
            return cls._of_this_host()
        root = os.path.realpath(root)
        if not os.path.isdir(root):
            raise ConfigError(f"cgroup root {root}: no such directory")
        files = files_for(root)
        if os.path.exists(os.path.join(root, "cgroup.controllers")):
            return cls._version_2(root, files)
        hierarchies = {
            controller: entry.path
            for entry in os.scandir(root)
            if entry.is_dir(follow_symlinks=False)  # cpu is often a link to cpu,cpuacct
            for controller in entry.name.split(",")
        }
        if "cpuset" not in hierarchies:
            raise ConfigError(
                f"cgroup root {root}: neither cgroup.controllers (v2) nor cpuset/ (v1) is there"
            )
        return cls(root, 1, hierarchies, files)

    @classmethod
    def _of_this_host(cls) -> CgroupTree:
        mounts = _mounts()
        hierarchies: dict[str, str] = {}
        for mount in mounts:
            for controller in mount.controllers:
                hierarchies.setdefault(controller, mount.point)
        if "cpuset" in hierarchies:
            return cls(os.path.dirname(hierarchies["cpuset"]), 1, hierarchies, PosixFiles())
        for mount in mounts:
            if mount.version == 2:
                return cls._version_2(mount.point, PosixFiles())
        raise RightsError(
            "no cgroup hierarchy with cpusets is mounted; mount one with "
            "mount -t cgroup2 none /sys/fs/cgroup"
        )

    @classmethod
    def _version_2(cls, root: str, files: KernelFiles) -> CgroupTree:
        controllers_file = os.path.join(root, "cgroup.controllers")
        controllers = files.read(controllers_file).split()
        if "cpuset" not in controllers:
            raise RightsError(
                f"{controllers_file}: the cpuset controller is not among {controllers}; "
                "boot a kernel that has it, or free it from the v1 hierarchy that uses it"
            )
        # The freezer is part of the core in v2 (cgroup.freeze) and in no list.
        return cls(root, 2, dict.fromkeys([*controllers, "freezer"], root), files)

    def group(self, path: str) -> Group:
        """The group at ``path``, whether it exists or not.

        ``path`` is absolute (below any hierarchy's mount point) or relative: to the root if it
        starts with a hierarchy's directory (``cpuset/web``), otherwise to every hierarchy
        (``web``). Raises TargetError if it leads out of the tree.
        """
        mounts = {os.path.realpath(point) for point in self.hierarchies.values()}
        if not os.path.isabs(path):
            below_root = os.path.realpath(os.path.join(self.root, path))
            if any(_is_within(below_root, mount) for mount in mounts):
                path = below_root
            else:
                path = os.path.join(self.hierarchies["cpuset"], path)
        resolved = os.path.realpath(path)
        for mount in sorted(mounts, key=len, reverse=True):
            if _is_within(resolved, mount):
                relative = os.path.relpath(resolved, mount)
                return Group(self, "" if relative == "." else relative)
        raise TargetError(
            f"{path}: not in the cgroup tree; name a directory below "
            f"{self.hierarchies['cpuset']}, or a path relative to it"
        )

    def group_of(self, tid: int, controller: str = "cpuset") -> Group:
        """The group that thread ``tid`` is in, in ``controller``'s hierarchy.

        Raises TargetVanished if there is no such thread, TargetError if its group is outside this
        process's cgroup namespace: its name is not known then.
        """
        try:
            text = self.files.membership(tid)
        except OSError as error:
            raise TargetVanished(f"thread {tid} has ended") from error
        relative = parse_membership(text, controller, self.version)
        if relative.split("/")[0] == "..":
            raise TargetError(
                f"thread {tid}: its group is not in the cgroup tree as this container names it; "
                "give the container the host's cgroup namespace, or name a group"
            )
        return Group(self, relative)

    @property
    def runs_tasks(self) -> bool:
        """Whether real tasks are in its groups; in a fake tree nobody runs."""
        return self.files.runs_tasks

    def online_cpus(self) -> frozenset[int]:
        """The CPUs of the root group: those online, or those of the fake tree."""
        try:
            return Group(self, "").effective_cpus()
        except TargetVanished:
            return tasks.online_cpus()


@dataclass(frozen=True)
class Group:
    """One control group: a place in the tree, in as many hierarchies as have it.

    Methods that read raise TargetVanished if the group is gone, RightsError if reading it is not
    allowed, and TargetError if a file has other contents than Linux writes.
    """

    tree: CgroupTree = field(compare=False, repr=False)
    relative: str
    """Path below the mount points, without slashes at its ends; empty for the root group."""

    def directory(self, controller: str) -> str | None:
        """Where the group is, or would be, for ``controller``; None if that is not mounted."""
        mount = self.tree.hierarchies.get(controller)
        return None if mount is None else os.path.join(mount, self.relative).rstrip("/")

    @property
    def path(self) -> str:
        """The directory in the cpuset hierarchy, whether it exists or not."""
        return os.path.join(self.tree.hierarchies["cpuset"], self.relative).rstrip("/")

    def __str__(self) -> str:
        return self.path

    @property
    def cpuset_path(self) -> str | None:
        """The directory with the group's cpuset; None if it is missing or no cpuset."""
        files = self.tree.files
        is_cpuset = files.exists(self.cpus_file) or files.exists(self.effective_cpus_file)
        return self.path if is_cpuset else None

    @property
    def cpu_path(self) -> str | None:
        """The directory with the group's CPU weight and quota; None if there is none."""
        return self._existing("cpu", "cpu.weight")

    @property
    def freezer_path(self) -> str | None:
        """The directory with the group's freezer; None if there is none."""
        return self._existing("freezer", "cgroup.freeze")

    def _existing(self, controller: str, v2_file: str) -> str | None:
        directory = self.directory(controller)
        if directory is None:
            return None
        sign = os.path.join(directory, v2_file) if self.tree.version == 2 else directory
        return directory if self.tree.files.exists(sign) else None

    @property
    def cpus_file(self) -> str:
        """The mask that is asked for."""
        return f"{self.path}/cpuset.cpus"

    @property
    def effective_cpus_file(self) -> str:
        """The mask that is granted."""
        v1 = self.tree.version == 1
        return f"{self.path}/{'cpuset.effective_cpus' if v1 else 'cpuset.cpus.effective'}"

    @property
    def mems_file(self) -> str:
        return f"{self.path}/cpuset.mems"

    @property
    def tasks_file(self) -> str:
        """The list of thread ids in the cpuset hierarchy."""
        return f"{self.path}/{'tasks' if self.tree.version == 1 else 'cgroup.threads'}"

    @property
    def idle_file(self) -> str | None:
        """The cpu.idle switch; None without the cpu controller or before Linux 5.15."""
        path = f"{self.cpu_path}/cpu.idle"
        return path if self.cpu_path and self.tree.files.exists(path) else None

    @property
    def weight_file(self) -> str | None:
        """cpu.shares or cpu.weight; None without the cpu controller."""
        path = f"{self.cpu_path}/{'cpu.shares' if self.tree.version == 1 else 'cpu.weight'}"
        return path if self.cpu_path and self.tree.files.exists(path) else None

    @property
    def freeze_file(self) -> str | None:
        """freezer.state (FROZEN, THAWED) or cgroup.freeze (1, 0); None without a freezer."""
        name = "freezer.state" if self.tree.version == 1 else "cgroup.freeze"
        path = f"{self.freezer_path}/{name}"
        return path if self.freezer_path and self.tree.files.exists(path) else None

    @property
    def parent(self) -> Group | None:
        """The group above; None for the root group."""
        return Group(self.tree, os.path.dirname(self.relative)) if self.relative else None

    def contains(self, other: Group) -> bool:
        """Whether ``other`` is this group or lies below it."""
        return _is_within("/" + other.relative, "/" + self.relative)

    def descendants(self) -> list[Group]:
        """All cpuset groups below this one, each parent before its children.

        Whoever owns a group may make others in it without end, so those nearest are listed: to a
        depth of DEEPEST, as long as a path names them, and MOST_GROUPS at most. In v2 the others
        have no CPU that the groups above do not have.
        """
        _, *below = directories_below(self.tree.files, self.path)
        start = len(self.path) + 1
        return [Group(self.tree, os.path.join(self.relative, path[start:])) for path in below]

    def cpus(self) -> frozenset[int]:
        """The CPUs asked for; empty where the group takes its parent's (v2) or has none (v1)."""
        return self._parsed(self.cpus_file, parse_cpulist)

    def effective_cpus(self) -> frozenset[int]:
        """The CPUs granted."""
        return self._parsed(self.effective_cpus_file, parse_cpulist)

    def grantable_cpus(self) -> frozenset[int]:
        """The CPUs this group could be given: those its parent has."""
        return (self.parent or self).effective_cpus()

    def mems(self) -> frozenset[int]:
        """The memory nodes asked for."""
        return self._parsed(self.mems_file, parse_cpulist)

    def quota_cores(self) -> float | None:
        """CPU bandwidth in cores, the tightest of this group and those above; None if unlimited."""
        group: Group | None = self
        tightest: float | None = None
        while group is not None:
            own = group._own_quota_cores()
            if own is not None and (tightest is None or own < tightest):
                tightest = own
            group = group.parent
        return tightest

    def is_capped_with(self, other: Group) -> bool:
        """Whether one CPU bandwidth limits both: that of a group that is above the two."""
        group: Group | None = self
        while group is not None:
            if group.contains(other) and group._own_quota_cores() is not None:
                return True
            group = group.parent
        return False

    def _own_quota_cores(self) -> float | None:
        directory, files = self.cpu_path, self.tree.files
        if directory is None:
            return None
        if self.tree.version == 2:
            if not files.exists(f"{directory}/cpu.max"):  # the root group has none
                return None
            return self._parsed(f"{directory}/cpu.max", _cores_of_cpu_max)
        if not files.exists(f"{directory}/cpu.cfs_quota_us"):  # CONFIG_CFS_BANDWIDTH is off
            return None
        quota_us = self._parsed(f"{directory}/cpu.cfs_quota_us", int)
        if quota_us < 0:
            return None
        return self._parsed(f"{directory}/cpu.cfs_period_us", lambda text: quota_us / int(text))

    def tasks(self) -> list[int]:
        """Thread ids in this group and below it, ascending."""
        threads = self._parsed(self.tasks_file, _numbers)
        for child in self.descendants():
            try:
                threads |= child._parsed(child.tasks_file, _numbers)
            except TargetVanished:  # a child that went away has no tasks
                continue
        return sorted(threads)

    def _parsed(self, path: str, parse: Callable[[str], T]) -> T:
        text = self._read(path)
        try:
            return parse(text)
        except (ValueError, ArithmeticError):
            raise TargetError(f"{path}: {text[:40]!r} is nothing that Linux writes there") from None

    def _read(self, path: str) -> str:
        try:
            return self.tree.files.read(path)
        except PermissionError as error:
            raise RightsError(f"{path}: reading is not allowed; run as root") from error
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENODEV, errno.ENOTDIR):
                raise TargetVanished(f"{path}: the group is gone or lacks this file") from error
            raise RightsError(f"{path}: {error.strerror}") from error


def _cores_of_cpu_max(text: str) -> float | None:
    quota, _, period = text.partition(" ")
    return None if quota.strip() == "max" else int(quota) / int(period)


def _numbers(text: str) -> set[int]:
    return set(map(int, text.split()))


@dataclass(frozen=True)
class Mount:
    point: str
    version: int
    controllers: tuple[str, ...]


def parse_mounts(text: str) -> list[Mount]:
    """The cgroup mounts, in mount order (proc_pid_mountinfo(5)); lines of no use are skipped."""
    found = []
    for line in text.split("\n"):
        before, _, after = line.partition(" - ")
        fields, (filesystem, *rest) = before.split(), after.split() or [""]
        if filesystem not in ("cgroup", "cgroup2") or len(fields) < 5 or len(rest) < 2:
            continue
        point = re.sub(r"\\([0-3][0-7]{2})", lambda code: chr(int(code[1], 8)), fields[4])
        if filesystem == "cgroup2":
            found.append(Mount(point, 2, ("unified",)))
        else:
            # Flags such as xattr stand among the controllers and do no harm there.
            names = [name for name in rest[1].split(",") if name not in ("rw", "ro")]
            found.append(Mount(point, 1, tuple(names)))
    return found


def _mounts() -> list[Mount]:
    """Those that this process sees."""
    return parse_mounts(read_proc("/proc/self/mountinfo"))


def parse_membership(text: str, controller: str, version: int) -> str:
    """A thread's group in the hierarchy of ``controller``, from /proc/TID/cgroup; without
    slashes around it, empty for the root."""
    for line in text.split("\n"):
        _, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if colon and (controller in controllers.split(",") or (version == 2 and not controllers)):
            return path.strip("/")
    return ""


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def directories_below(files: KernelFiles, top: str) -> Iterator[str]:
    """``top`` and the groups below it that are looked at, parents first, the nearest first."""
    directories, last = [top], top.count("/") + DEEPEST
    for number, path in enumerate(directories):  # which grows meanwhile
        if number > MOST_GROUPS:
            return
        yield path
        if path.count("/") < last:
            with contextlib.suppress(OSError):  # it has gone, or may not be read
                below = (f"{path}/{name}" for name in files.subdirectories(path))
                directories += [one for one in below if len(os.fsencode(one)) < _LONGEST_PATH]


def tasks_below(files: KernelFiles, directory: str) -> list[int]:
    """The threads in the group at ``directory`` and those below it."""
    found: list[int] = []
    for path in directories_below(files, directory):
        listing = f"{path}/tasks"
        if not files.exists(listing):
            listing = f"{path}/cgroup.threads"
        with contextlib.suppress(OSError, ValueError):  # it has gone, or Linux did not write it
            found += map(int, files.read(listing).split())
    return found
