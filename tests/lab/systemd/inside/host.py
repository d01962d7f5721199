"""What an agent can change on a host, read without the agent: groups' files, and tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from tests.lab.systemd.inside.load import ITS_CPUS, SELF_PINNED

CGROUPS = Path("/sys/fs/cgroup")
GROUP_FILES = (
    *("cpuset.cpus", "cpuset.mems", "cpuset.cpus.partition"),
    *("cpu.idle", "cpu.weight", "cpu.max", "cgroup.freeze"),
)
"""Which controllers a group has (``cgroup.subtree_control``) is systemd's choice, and changes."""
OURS = (
    *("system.slice/smartharvest.service", "system.slice/smartharvest-*"),
    *("system.slice/lab.service", "system.slice/dbus.service"),
)
"""Groups that come and go with what is tested, and with who tests."""


@dataclass(frozen=True)
class Task:
    """One thread, and where it may run."""

    name: str
    group: str
    cpus: frozenset[int]
    policy: int
    nice: int


@dataclass(frozen=True)
class Snapshot:
    """``groups``: path below the root -> file -> content; ``tasks``: tid -> task."""

    groups: Mapping[str, Mapping[str, str]]
    tasks: Mapping[int, Task]


def take_snapshot() -> Snapshot:
    """The host now, without kernel threads and without what is OURS."""
    tasks = {tid: task for tid, task in _tasks() if not is_ours(task.group)}
    return Snapshot(read_groups(CGROUPS), tasks)


def read_groups(root: Path) -> dict[str, dict[str, str]]:
    """Every group below ``root`` that is not OURS, with those of GROUP_FILES that it has."""
    return {
        path: {name: text for name in GROUP_FILES if (text := read(root / path / name)) is not None}
        for path in _groups_below(root)
        if not is_ours(path)
    }


def differences(before: Snapshot, after: Snapshot, every_cpu: frozenset[int]) -> list[str]:
    """What ``after`` has otherwise, a line each.

    Groups, files and tasks that came or went are nobody's change, with two exceptions: a group that
    only an agent makes, and a task born meanwhile that may not run on ``every_cpu``.
    """
    lines = []
    for path, files in after.groups.items():
        was = before.groups.get(path)
        if was is None:
            if "smartharvest" in path:
                lines.append(f"{path}: a group that was not there")
            continue
        lines += [
            f"{path}/{name}: {was[name]!r} became {text!r}"
            for name, text in files.items()
            if name in was and _meant(name, was[name], every_cpu) != _meant(name, text, every_cpu)
        ]
    for tid, task in after.tasks.items():
        old = before.tasks.get(tid)
        chosen = (task.name, task.cpus) == (SELF_PINNED, ITS_CPUS)
        if old is None and task.cpus != every_cpu and not chosen:
            lines.append(f"task {tid} ({task.name}): born to CPUs {sorted(task.cpus)}")
        if old is not None and old != task:
            lines.append(f"task {tid} ({task.name}): {_change(old, task)}")
    return lines


def is_kernels_doing(line: str, release: str) -> bool:
    """Whether a difference is an affinity that the cpuset controller has cost its task."""
    major, minor = (int(part) for part in release.split(".")[:2])
    return (major, minor) < (6, 2) and f"({SELF_PINNED}): cpus" in line


def _meant(name: str, text: str, every_cpu: frozenset[int]) -> str:
    """The value, with one spelling of every CPU: before Linux 7.3 no mask can be emptied again."""
    return "" if name == "cpuset.cpus" and parse_cpus(text) == every_cpu else text


def is_ours(path: str) -> bool:
    return any(fnmatch(path, ours) or fnmatch(path, f"{ours}/*") for ours in OURS)


def read(path: Path) -> str | None:
    """The content without the last line's end; None if it cannot be read."""
    with suppress(OSError):
        return path.read_text().rstrip("\n")
    return None


def parse_cpus(text: str) -> frozenset[int]:
    """A kernel's list such as ``0-2,5``."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def online() -> frozenset[int]:
    return parse_cpus(Path("/sys/devices/system/cpu/online").read_text().strip())


def group_of(pid: int) -> str:
    """The path of a process's group below the root of version 2; empty if it is gone."""
    for line in (read(Path(f"/proc/{pid}/cgroup")) or "").splitlines():
        number, _, path = line.split(":", 2)
        if number == "0":
            return path.strip("/")
    return ""


def tids(pid: int) -> Sequence[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    return []


def _groups_below(root: Path) -> Iterator[str]:
    for directory, _, _ in os.walk(root):
        yield os.path.relpath(directory, root)


def _tasks() -> Iterator[tuple[int, Task]]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        pid = int(name)
        if not read(Path(f"/proc/{pid}/cmdline")):
            continue  # of the kernel, or about to be gone
        group = group_of(pid)
        for tid in tids(pid):
            with suppress(OSError):
                comm = read(Path(f"/proc/{pid}/task/{tid}/comm")) or ""
                cpus = frozenset(os.sched_getaffinity(tid))
                nice = os.getpriority(os.PRIO_PROCESS, tid)
                yield tid, Task(comm, group, cpus, os.sched_getscheduler(tid), nice)


def _change(old: Task, new: Task) -> str:
    names = ("group", "cpus", "policy", "nice")
    pairs = ((name, getattr(old, name), getattr(new, name)) for name in names)
    return ", ".join(f"{name} {_plain(a)} became {_plain(b)}" for name, a, b in pairs if a != b)


def _plain(value: object) -> str:
    return str(sorted(value)) if isinstance(value, frozenset) else str(value)
