"""What an agent may change of a host: every file that it could write, and every task.

Tasks come and go while an agent is struck. One that was there before must be as it was; one that
was born since, as the state implies that its ancestor had before.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from smartharvest.host.process.tasks import fields_after_name

_MEMBERS = frozenset({"tasks", "cgroup.procs", "cgroup.threads"})
_NO_SETTINGS = re.compile(
    r"cgroup\.(event_control|kill|reclaim)|.*\.pressure|cpuacct\.usage.*"
    r"|memory\..*(peak|max_usage_in_bytes|failcnt)"
)
"""Files that may be written and hold nothing that would stay."""
_PARAMETERS = ("/sys/module/kvm/parameters/halt_poll_ns",)
_FLAGS = 6  # of proc_pid_stat(5), after the name
_PF_EXITING = 4  # include/linux/sched.h
_PIN = re.compile(r"pin(\d+)")


@dataclass(frozen=True)
class TaskState:
    """How the kernel schedules a thread."""

    name: str
    cpus: frozenset[int]
    policy: int
    priority: int
    nice: int
    groups: str

    @property
    def own_pin(self) -> frozenset[int] | None:
        """What its name says that it has pinned itself to."""
        match = _PIN.fullmatch(self.name)
        return None if match is None else frozenset({int(match[1])})


@dataclass(frozen=True)
class HostState:
    """The files by path, the directories among them as None, and the tasks by id."""

    files: Mapping[str, bytes | None]
    tasks: Mapping[int, TaskState] = field(default_factory=dict)


Pins = dict[int, list[frozenset[int]]]
"""Thread -> what a stranger has given it, one after the other."""


@dataclass
class Allowances:
    """What may be otherwise than it was, since somebody else has changed it meanwhile."""

    files: dict[str, set[bytes]] = field(default_factory=dict)
    """File -> what it may hold as well."""
    pinned: Pins = field(default_factory=dict)
    narrowed: set[frozenset[int]] = field(default_factory=set)
    """Cpusets of the batch that a stranger has written."""
    pins_may_be_lost: bool = False
    """Where affinities are given one by one: a pin may look like the agent's own."""


def read_files(
    mounts: Iterable[str], prefix: str, others: Iterable[str] = ()
) -> dict[str, bytes | None]:
    """Of all groups whose names begin so: directories, and each file that holds a setting."""
    found: dict[str, bytes | None] = {}
    for mount in sorted(set(mounts)):
        for top in sorted(Path(mount).glob(f"{prefix}*")):
            for directory, _, names in os.walk(top):
                found[directory] = None
                for path in (f"{directory}/{name}" for name in names if name not in _MEMBERS):
                    if not _NO_SETTINGS.fullmatch(os.path.basename(path)):
                        _read_setting(path, found)
    for path in (*_PARAMETERS, *others):
        _read_setting(path, found)
    return found


def _read_setting(path: str, found: dict[str, bytes | None]) -> None:
    with contextlib.suppress(OSError):  # of another kind of group, or gone
        if os.stat(path).st_mode & (stat.S_IWUSR | stat.S_IRUSR) == stat.S_IWUSR | stat.S_IRUSR:
            found[path] = Path(path).read_bytes()


def members(mounts: Iterable[str], prefix: str) -> set[int]:
    """The threads in all groups whose names begin so."""
    found: set[int] = set()
    for mount in set(mounts):
        for top in Path(mount).glob(f"{prefix}*"):
            for directory, _, names in os.walk(top):
                listing = "tasks" if "tasks" in names else "cgroup.threads"
                with contextlib.suppress(OSError):
                    found.update(map(int, Path(directory, listing).read_text().split()))
    return found


def read_tasks(tids: Collection[int]) -> dict[int, TaskState]:
    """Those of ``tids`` that have not ended."""
    return {tid: state for tid in sorted(tids) if (state := _read_task(tid)) is not None}


def _read_task(tid: int) -> TaskState | None:
    try:
        with open(f"/proc/{tid}/comm") as file:
            name = file.read().strip()
        with open(f"/proc/{tid}/cgroup") as file:
            groups = file.read()
        with open(f"/proc/{tid}/task/{tid}/stat") as file:
            if int(fields_after_name(file.read())[_FLAGS]) & _PF_EXITING:  # and in no group
                return None
        return TaskState(
            name,
            frozenset(os.sched_getaffinity(tid)),
            os.sched_getscheduler(tid),
            os.sched_getparam(tid).sched_priority,
            os.getpriority(os.PRIO_PROCESS, tid),
            groups,
        )
    except (OSError, IndexError):
        return None


def differences(
    before: HostState, after: HostState, ancestors: Collection[int], allowed: Allowances
) -> Iterator[str]:
    """A line for each thing that is not as it has to be.

    ``ancestors`` are the roots of populations, by whose original state the newcomers of their
    groups are judged.
    """
    for path in sorted(before.files.keys() | after.files.keys()):
        was, now = before.files.get(path, b"(no such file)"), after.files.get(path, b"(gone)")
        if was != now and now not in allowed.files.get(path, ()):
            yield f"{path}: {was!r} -> {now!r}"
    roots = [before.tasks[pid] for pid in ancestors]
    for tid, now_state in after.tasks.items():
        was_state = before.tasks.get(tid)
        born = was_state is None
        if was_state is None and roots:
            was_state = min(roots, key=lambda root: len(_moves(root, now_state)))
        if was_state is not None:
            yield from _task_differences(tid, was_state, now_state, allowed, born=born)


def _moves(was: TaskState, now: TaskState) -> list[str]:
    """The lines of /proc/TID/cgroup that are different, as they are now."""
    before = was.groups.splitlines()
    return [line for line in now.groups.splitlines() if line not in before]


def _task_differences(
    tid: int, was: TaskState, now: TaskState, allowed: Allowances, *, born: bool
) -> Iterator[str]:
    who = f"task {tid} ({now.name}{', born since' if born else ''})"
    if moves := _moves(was, now):
        yield f"{who}: is in {' '.join(moves)}"
    for what in ("policy", "priority", "nice"):
        if getattr(was, what) != getattr(now, what):
            yield f"{who}: {what}: {getattr(was, what)!r} -> {getattr(now, what)!r}"
    pins = allowed.pinned.get(tid, [])
    own = now.own_pin if born or was.cpus != now.own_pin else None
    if own is not None:  # before or after a stranger's
        pins = [*pins, own]
        fitting = set(pins)
    else:
        fitting = {pins[-1]} if pins else {was.cpus}
    if pins and allowed.pins_may_be_lost:
        fitting = {was.cpus, *pins}
    if allowed.pins_may_be_lost:  # the kernel takes no pin that a cpuset has nothing of
        fitting |= {pin | left for pin in fitting for left in allowed.narrowed if not pin & left}
    if now.cpus not in fitting:
        yield f"{who}: CPUs {' or '.join(map(str, map(sorted, fitting)))} -> {sorted(now.cpus)}"
