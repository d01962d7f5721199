"""The files of a fake tree: which a new group has, and how they are read and stored."""

from __future__ import annotations

import contextlib
import os

V1_FILES = {
    "": {"cgroup.clone_children": "0\n", "cgroup.procs": "", "notify_on_release": "0\n"}
    | {"tasks": ""},
    "cpuset": {"cpuset.cpus": "\n", "cpuset.effective_cpus": "\n", "cpuset.mems": "\n"}
    | {"cpuset.effective_mems": "\n"},
    "cpu": {"cpu.cfs_period_us": "100000\n", "cpu.cfs_quota_us": "-1\n", "cpu.idle": "0\n"}
    | {"cpu.rt_runtime_us": "0\n", "cpu.shares": "1024\n"},
    "freezer": {"freezer.self_freezing": "0\n", "freezer.state": "THAWED\n"},
    "memory": {"memory.limit_in_bytes": "9223372036854771712\n", "memory.swappiness": "60\n"}
    | {"memory.soft_limit_in_bytes": "9223372036854771712\n", "memory.stat": ""}
    | {"memory.usage_in_bytes": "0\n"},
}
V2_FILES = {
    "": {"cgroup.procs": "", "cgroup.threads": "", "cgroup.subtree_control": "\n"}
    | {"cgroup.controllers": "\n", "cgroup.freeze": "0\n", "cgroup.type": "domain\n"},
    "cpuset": {"cpuset.cpus": "\n", "cpuset.cpus.effective": "\n", "cpuset.mems": "\n"}
    | {"cpuset.mems.effective": "\n"},
    "cpu": {"cpu.idle": "0\n", "cpu.max": "max 100000\n", "cpu.weight": "100\n"},
    "memory": {"memory.current": "0\n", "memory.high": "max\n", "memory.max": "max\n"}
    | {"memory.pressure": "", "memory.reclaim": "", "memory.stat": ""}
    | {"memory.swap.current": "0\n", "memory.swap.max": "max\n"},
}
TASK_FILES = ("tasks", "cgroup.threads", "cgroup.procs")


def first_line(directory: str, name: str) -> str | None:
    """A file's first line, stripped, or all lines of a list of tasks; None if it is missing.

    Others write these files in place, so a shorter value may have older bytes after its newline.
    """
    try:
        with open(os.path.join(directory, name)) as file:
            return (file.read() if name in TASK_FILES else file.readline()).strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def whole_text(directory: str, name: str) -> str:
    with contextlib.suppress(OSError), open(os.path.join(directory, name)) as file:
        return file.read()
    return ""


def store(path: str, value: str) -> None:
    put(path, value.rstrip("\n") + "\n" if value or not path.endswith(TASK_FILES) else value)


def put(path: str, text: str) -> None:
    """Replaces the contents and keeps the inode: others hold the file open."""
    with open(path, "w") as file:
        file.write(text)


def subtree(directory: str) -> list[str]:
    """``directory`` and every group below it, parents first."""
    return [
        directory,
        *sorted(os.path.join(at, name) for at, names, _ in os.walk(directory) for name in names),
    ]
