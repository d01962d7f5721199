"""A fake tree of plain files that answers as the kernel's cgroup filesystems do.

Everything is kept in the files themselves, so a tree can be prepared and looked at with cat, and
written by others with plain writes; what the kernel derives (effective masks) is computed at
each read. Files a tree made by hand lacks are done without.

The v1 rules were taken from a running Linux 6.18 and are held to it by a test; functions of the
kernel (kernel/cgroup/ and kernel/sched/ of that version) are named where their rule is copied. The
v2 rules come from its sources. Not imitated: partitions, exclusive CPUs, hotplug, memory nodes
beyond their masks, permissions.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator

from smartharvest.host.cgroup.fake_files import (
    TASK_FILES,
    V1_FILES,
    V2_FILES,
    first_line,
    put,
    store,
    subtree,
)
from smartharvest.host.cgroup.fake_numbers import INTEGER, c_integer, parse_bitmap_list, refusal
from smartharvest.host.cgroup.fake_values import VALUES
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.process import tasks

_EFFECTIVE = {  # file -> the mask it is computed from
    "cpuset.effective_cpus": "cpuset.cpus",
    "cpuset.cpus.effective": "cpuset.cpus",
    "cpuset.effective_mems": "cpuset.mems",
    "cpuset.mems.effective": "cpuset.mems",
}
_EFFECTIVE_FILES = {
    "cpuset.cpus": ("cpuset.effective_cpus", "cpuset.cpus.effective"),
    "cpuset.mems": ("cpuset.effective_mems", "cpuset.mems.effective"),
}
REFUSALS = ".refusals"
"""A file in the root with lines of a path's ending and an error number: each refuses one change, in
whatever process it is made."""
_THREADED = {"cpu", "cpuset", "perf_event", "pids"}  # controllers that threaded groups can have

LOCK_TRIES, LOCK_PAUSE_S = 1000, 0.001


class FakeKernel:
    """KernelFiles over the plain directory ``root``, a v1 or a v2 tree.

    ``root`` is v2 if it holds ``cgroup.controllers``; otherwise each directory in it is a v1
    hierarchy. The machine's CPUs are those of the root group's mask, if it has one, and else those
    of this machine. ``thread_exists`` says whether a thread id is one; without it every id is, so
    that a fake tree can name tasks that never ran.
    """

    def __init__(self, root: str, *, thread_exists: Callable[[int], bool] | None = None) -> None:
        self._root = os.path.realpath(root)
        self._version = 2 if os.path.exists(os.path.join(root, "cgroup.controllers")) else 1
        self._thread_exists = thread_exists
        self._faults: list[tuple[str, int]] = []
        self._most: dict[str, int] = {}
        self._lock_tries = LOCK_TRIES
        self._writers: dict[str, Callable[[str, str], None]] = {
            "cpuset.cpus": self._write_mask,
            "cpuset.mems": self._write_mask,
            "freezer.state": self._write_freezer_state,
            "cgroup.subtree_control": self._write_subtree_control,
            **dict.fromkeys(TASK_FILES, self._move),
        }

    # For tests

    def fail_next(self, path_suffix: str, error: int) -> None:
        """Makes the next write, mkdir or rmdir of a path with this ending fail with ``error``."""
        self._faults.append((path_suffix, error))

    def vanish(self, path: str) -> None:
        """Removes the group at ``path`` with all below it, as its owner might at any time."""
        with self._serialized(fcntl.LOCK_EX):
            shutil.rmtree(path)

    def at_rest(self) -> contextlib.AbstractContextManager[None]:
        """While it is held no process is amid a change of the tree, however many make some."""
        return self._serialized(fcntl.LOCK_EX, tries=5 * LOCK_TRIES)

    # KernelFiles

    @property
    def runs_tasks(self) -> bool:
        """Never: the tasks it names run elsewhere, or nowhere."""
        return False

    @property
    def stand_in(self) -> FakeKernel:
        return self

    def inode(self, path: str) -> int:
        return os.stat(path).st_ino

    def mounts(self) -> list[str]:
        return [self._root]

    def membership(self, tid: int) -> str:
        """As /proc/TID/cgroup; the root group's where the tree does not name ``tid``."""
        mounts = {"": self._root}
        if self._version == 1:
            mounts = {name: f"{self._root}/{name}" for name in self.subdirectories(self._root)}
        return "".join(
            f"0:{controllers}:{self._group_of(tid, mount).removeprefix(mount) or '/'}\n"
            for controllers, mount in mounts.items()
        )

    def _group_of(self, tid: int, mount: str) -> str:
        return next((group for group in subtree(mount) if tid in self._threads(group)), mount)

    def read(self, path: str) -> str:
        with self._serialized(fcntl.LOCK_SH):
            directory, name = os.path.split(path)
            if name in _EFFECTIVE and os.path.isdir(directory):
                return format_cpulist(self._effective(directory, _EFFECTIVE[name])) + "\n"
            if name == "freezer.state" and os.path.exists(path):
                return "FROZEN\n" if self._is_frozen(directory) else "THAWED\n"
            with open(path) as file:
                return file.read()

    def write(self, path: str, value: str) -> None:
        with self._serialized(fcntl.LOCK_EX):
            self._write(path, value)

    def mkdir(self, path: str) -> None:
        with self._serialized(fcntl.LOCK_EX):
            self._mkdir(path)

    def rmdir(self, path: str) -> None:
        with self._serialized(fcntl.LOCK_EX):
            self._rmdir(path)

    def subdirectories(self, path: str) -> list[str]:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir())

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    @contextlib.contextmanager
    def _serialized(self, how: int, tries: int | None = None) -> Iterator[None]:
        """One change at a time, from any process, as under the kernel's cgroup_mutex.

        A process cannot be stopped while it holds that; here it can, so nobody waits for ever, nor
        at every change. On a busy machine it may be off the CPU for a while: a process that
        goes on then reads half a write.
        """
        root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for _ in range(tries or self._lock_tries):
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(root, how | fcntl.LOCK_NB)
                    self._lock_tries = LOCK_TRIES
                    break
                time.sleep(LOCK_PAUSE_S)
            else:
                self._lock_tries = 1
            yield
        finally:
            os.close(root)

    def _write(self, path: str, value: str) -> None:
        self._inject(path)
        name = os.path.basename(path)
        if not os.path.exists(path):
            raise refusal(errno.ENOENT, path)
        if not value:  # vfs_write() returns early: an empty write changes nothing
            return
        if name in _EFFECTIVE:  # no write handler: kernfs_fop_write_iter()
            raise refusal(errno.EINVAL, path)
        if name in VALUES:
            VALUES[name](path, value, self._parent(os.path.dirname(path)) is None)
        else:
            self._writers.get(name, store)(path, value)

    def _mkdir(self, path: str) -> None:
        self._inject(path)
        if "\n" in path:  # cgroup_mkdir(): /proc/<pid>/cgroup could not be parsed
            raise refusal(errno.EINVAL, path)
        os.mkdir(path)
        parent = os.path.dirname(path)
        contents = V1_FILES if self._version == 1 else V2_FILES
        for controller in ["", *self._controllers_below(parent)]:
            for name, text in contents.get(controller, {}).items():
                store(os.path.join(path, name), text)
        if self._version == 2:
            controllers = " ".join(self._controllers_below(parent))
            store(os.path.join(path, "cgroup.controllers"), controllers)
        elif first_line(parent, "cgroup.clone_children") == "1":
            store(os.path.join(path, "cgroup.clone_children"), "1")
            for name in ("cpuset.cpus", "cpuset.mems"):  # cpuset_css_online()
                if os.path.exists(os.path.join(path, name)):
                    store(os.path.join(path, name), first_line(parent, name) or "")
        self._refresh_effective(path)
        self._refresh_freezer(path)

    def _rmdir(self, path: str) -> None:
        self._inject(path)
        if self._threads(path) or self.subdirectories(path):  # cgroup_destroy_locked()
            raise refusal(errno.EBUSY, path)
        for entry in os.scandir(path):
            os.unlink(entry.path)
        os.rmdir(path)

    # The tree

    def _mount_of(self, directory: str) -> str:
        """The root group of the hierarchy that ``directory`` belongs to."""
        if self._version == 2:
            return self._root
        relative = os.path.relpath(directory, self._root)
        return os.path.join(self._root, relative.split(os.sep)[0])

    def _parent(self, directory: str) -> str | None:
        return None if directory == self._mount_of(directory) else os.path.dirname(directory)

    def _controllers_below(self, directory: str) -> list[str]:
        """The controllers that a child of ``directory`` has."""
        if self._version == 1:
            return os.path.basename(self._mount_of(directory)).split(",")
        return (first_line(directory, "cgroup.subtree_control") or "").split()

    def _inject(self, path: str) -> None:
        self._refuse(path)
        for fault in self._faults:
            if path.endswith(fault[0]):
                self._faults.remove(fault)
                raise refusal(fault[1], path)

    def _refuse(self, path: str) -> None:
        """Takes the first line for ``path`` out of the refusals, and obeys it."""
        listing = os.path.join(self._root, REFUSALS)
        if not os.path.exists(listing):
            return
        with open(listing) as file:
            lines = file.read().splitlines()
        for number, line in enumerate(lines):
            ending, error = line.split()
            if path.endswith(ending):
                with open(listing, "w") as file:
                    file.write("\n".join(lines[:number] + lines[number + 1 :]))
                raise refusal(int(error), path)

    # Masks: kernel/cgroup/cpuset.c and cpuset-v1.c

    def _machine(self, name: str) -> frozenset[int]:
        """All CPUs or memory nodes of the made machine."""
        root = self._root if self._version == 2 else os.path.join(self._root, "cpuset")
        for own in (name, *_EFFECTIVE_FILES[name]):
            mask = parse_cpulist(first_line(root, own) or "")
            if mask:
                return mask
        return frozenset(range(os.cpu_count() or 1)) if name == "cpuset.cpus" else frozenset({0})

    def _numbers(self, name: str) -> int:
        """How many CPUs or nodes there can be; those that are offline keep theirs (nr_cpu_ids).

        Groups still show those that went before anybody looked.
        """
        if name not in self._most:
            masks = [parse_cpulist(first_line(group, name) or "") for group in subtree(self._root)]
            self._most[name] = max(frozenset[int]().union(*masks), default=0) + 1
        self._most[name] = max(self._most[name], max(self._machine(name)) + 1)
        return self._most[name]

    def _mask(self, directory: str, name: str) -> frozenset[int]:
        """The mask asked for; a group without the file has what its parent has."""
        text, parent = first_line(directory, name), self._parent(directory)
        if parent is None:
            return self._machine(name)
        return parse_cpulist(text) if text is not None else self._mask(parent, name)

    def _effective(self, directory: str, name: str) -> frozenset[int]:
        parent = self._parent(directory)
        if self._version == 1 or parent is None:
            return self._mask(directory, name)
        granted = self._effective(parent, name)
        return (self._mask(directory, name) & granted) or granted  # update_cpumasks_hier()

    def _write_mask(self, path: str, value: str) -> None:
        directory, name = os.path.split(path)
        parent, machine = self._parent(directory), self._machine(name)
        if parent is None:  # cpuset_write_resmask(): the root's mask is read-only
            raise refusal(errno.EACCES, path)
        mask = parse_bitmap_list(path, value, self._numbers(name))
        if self._version == 1 and not mask <= machine:  # possible, but offline
            raise refusal(errno.EINVAL, path)
        if self._version == 1:  # cpuset1_validate_change(), in this order
            for child in self.subdirectories(directory):
                if not self._mask(os.path.join(directory, child), name) <= mask:
                    raise refusal(errno.EBUSY, path)
            if not mask <= self._mask(parent, name):
                raise refusal(errno.EACCES, path)
        populated = any(self._threads(group) for group in subtree(directory))
        if not mask and self._mask(directory, name) and populated:  # validate_change()
            raise refusal(errno.ENOSPC, path)
        store(path, format_cpulist(mask))
        self._refresh_effective(directory)

    def _refresh_effective(self, directory: str) -> None:
        """Rewrites the effective masks of the subtree, for those who read the files directly."""
        for group in subtree(directory):
            for name, source in _EFFECTIVE.items():
                path = os.path.join(group, name)
                if os.path.exists(path):
                    store(path, format_cpulist(self._effective(group, source)))

    # Tasks: cgroup.c, cgroup-v1.c

    def _threads(self, directory: str) -> set[int]:
        for name in TASK_FILES:
            text = first_line(directory, name)
            if text is not None:
                return set(map(int, text.split()))
        return set()

    def _move(self, path: str, value: str) -> None:
        directory, name = os.path.split(path)
        if not INTEGER.fullmatch(value.strip()):  # cgroup_procs_write_start()
            raise refusal(errno.EINVAL, path)
        tid = c_integer(value.strip()) or os.getpid()
        if not 0 < tid < 2**31:
            raise refusal(errno.EINVAL, path)
        if self._thread_exists and not self._thread_exists(tid):
            raise refusal(errno.ESRCH, path)
        if self._version == 1:
            masks = (first_line(directory, "cpuset.cpus"), first_line(directory, "cpuset.mems"))
            if "" in masks:  # cpuset_can_attach_check()
                raise refusal(errno.ENOSPC, path)
        elif name == "cgroup.threads" and first_line(directory, "cgroup.type") != "threaded":
            raise refusal(errno.EOPNOTSUPP, path)
        elif self._holds_no_tasks(directory):  # cgroup_migrate_vet_dst()
            raise refusal(errno.EBUSY, path)
        moving = {tid} if name in ("tasks", "cgroup.threads") else _process_of(tid)
        for group in subtree(self._mount_of(directory)):
            before = self._threads(group)
            after = before | moving if group == directory else before - moving
            if after != before:
                self._store_threads(group, after)

    def _store_threads(self, directory: str, threads: set[int]) -> None:
        processes = {tasks.process_of(tid) or tid for tid in threads}
        for name in TASK_FILES:
            path = os.path.join(directory, name)
            if os.path.exists(path):
                ids = sorted(processes if name == "cgroup.procs" else threads)
                put(path, "".join(f"{number}\n" for number in ids))

    def _holds_no_tasks(self, directory: str) -> bool:
        """The no-internal-process rule of v2, from which threaded controllers are exempt."""
        controllers = set((first_line(directory, "cgroup.subtree_control") or "").split())
        return (
            self._parent(directory) is not None
            and bool(controllers)
            and (not controllers <= _THREADED or self._has_populated_child(directory))
        )

    def _has_populated_child(self, directory: str) -> bool:
        """Threaded children are none: cgroup_can_be_thread_root()."""
        return any(
            self._threads(group) and first_line(group, "cgroup.type") != "threaded"
            for group in subtree(directory)
            if group != directory
        )

    def _write_subtree_control(self, path: str, value: str) -> None:
        directory = os.path.dirname(path)
        available = (first_line(directory, "cgroup.controllers") or "").split()
        enabled = set((first_line(directory, "cgroup.subtree_control") or "").split())
        wanted = set(enabled)
        for word in value.split():  # cgroup_subtree_control_write()
            if word[0] not in "+-" or word[1:] not in {*available, "cpuset", "cpu", "memory"}:
                raise refusal(errno.EINVAL, path)
            (wanted.add if word[0] == "+" else wanted.discard)(word[1:])
        if not wanted <= set(available):
            raise refusal(errno.ENOENT, path)
        children = [os.path.join(directory, name) for name in self.subdirectories(directory)]
        for child in children:
            in_use = set((first_line(child, "cgroup.subtree_control") or "").split())
            if in_use & (enabled - wanted):
                raise refusal(errno.EBUSY, path)
        gained = wanted - enabled
        competing = self._threads(directory) and self._parent(directory) is not None
        threaded = wanted <= _THREADED and not self._has_populated_child(directory)
        if gained and competing and not threaded:  # cgroup_vet_subtree_control_enable()
            raise refusal(errno.EBUSY, path)
        store(path, " ".join(sorted(wanted)))
        for child in children:
            store(os.path.join(child, "cgroup.controllers"), " ".join(sorted(wanted)))
            for controller in enabled ^ wanted:
                for name, text in V2_FILES.get(controller, {}).items():
                    if controller in wanted:
                        store(os.path.join(child, name), text)
                    else:
                        with contextlib.suppress(FileNotFoundError):
                            os.unlink(os.path.join(child, name))
            self._refresh_effective(child)

    # Freezer: kernel/cgroup/legacy_freezer.c

    def _write_freezer_state(self, path: str, value: str) -> None:
        directory = os.path.dirname(path)
        if value.strip() not in ("FROZEN", "THAWED"):  # freezer_write()
            raise refusal(errno.EINVAL, path)
        frozen = "1" if value.strip() == "FROZEN" else "0"
        store(os.path.join(directory, "freezer.self_freezing"), frozen)
        self._refresh_freezer(directory)

    def _is_frozen(self, directory: str) -> bool:
        """Whether the group or one above it was asked to freeze."""
        parent = self._parent(directory)
        own = first_line(directory, "freezer.self_freezing")
        if own is None:
            own = "1" if first_line(directory, "freezer.state") == "FROZEN" else "0"
        return own == "1" or (parent is not None and self._is_frozen(parent))

    def _refresh_freezer(self, directory: str) -> None:
        for group in subtree(directory):
            path = os.path.join(group, "freezer.state")
            if os.path.exists(path):
                store(path, "FROZEN" if self._is_frozen(group) else "THAWED")


def _process_of(tid: int) -> set[int]:
    """All threads of the process that ``tid`` leads or belongs to."""
    try:
        return set(map(int, os.listdir(f"/proc/{tasks.process_of(tid) or tid}/task")))
    except OSError:
        return {tid}
