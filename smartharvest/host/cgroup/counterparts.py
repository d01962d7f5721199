"""A v1 group's directories in the other hierarchies, made where they are missing.

With cgroup v1 a group exists once per controller. A target may exist in one of them only, while the
agent needs its cpuset, its cpu.idle switch and perhaps its freezer. What is made here is journaled
like every write, and the tasks go back and the directory away afterwards.
"""

from __future__ import annotations

import logging

from smartharvest.errors import TargetVanished
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import Group, tasks_below
from smartharvest.host.journal.writer import HostWriter

_log = logging.getLogger(__name__)

CONTROLLERS = ("cpuset", "cpu", "freezer")
"""What the agent uses."""


def make_counterpart(group: Group, controller: str, writer: HostWriter) -> bool:
    """Makes ``group``'s directory in ``controller``'s hierarchy and moves its tasks there.

    Tasks that already are in a group of their own there stay. Returns whether all of the group's
    tasks are in the counterpart; False too where the controller is not mounted. With cgroup v2
    there is nothing to make. Raises WriteRefused if the kernel refuses the directory.
    """
    directory = group.directory(controller)
    if directory is None:
        return False
    if group.tree.version == 2:
        return group.tree.files.exists(directory)
    if not group.tree.files.exists(directory):
        writer.make_group(directory)
        _log.info("Created %s (removed on exit)", directory)
    return adopt_tasks(group, controller, writer)


def make_missing_cpuset(group: Group, writer: HostWriter) -> None:
    """Makes the cpuset of a group that exists in other hierarchies only."""
    if group.relative and group.cpuset_path is None and exists_somewhere(group):
        make_counterpart(group, "cpuset", writer)


def adopt_tasks(group: Group, controller: str, writer: HostWriter) -> bool:
    """Moves the group's tasks that ``controller``'s root group has to the counterpart.

    ``group``'s tasks are those of any hierarchy it exists in. Returns whether all of them are there
    now.
    """
    if group.tree.version == 2:
        return True
    counterpart = group.directory(controller)
    assert counterpart is not None
    complete = True
    moves: list[tuple[int, str, str]] = []
    root = group.tree.hierarchies[controller]
    there = tasks_below(group.tree.files, counterpart)
    outside = _member_threads(group).difference(there)
    at_root = _listed(group.tree.files, root) if outside else set()
    for tid in sorted(outside):
        if tid in at_root:
            moves.append((tid, root, counterpart))
            continue
        try:
            current = group.tree.group_of(tid, controller)
        except TargetVanished:
            continue
        if group.contains(current):
            continue
        if current.relative:
            _log.warning("task %d stays in %s and out of %s", tid, current.relative, counterpart)
            complete = False
            continue
        moves.append((tid, root, counterpart))
    refusals = writer.move_tasks(moves)
    for refusal in refusals:
        _log.warning("%s", refusal)
    return complete and not refusals


def _member_threads(group: Group) -> set[int]:
    """The threads of the group, and of those below it, in whatever hierarchies it exists."""
    threads: set[int] = set()
    for controller in CONTROLLERS:
        directory = group.directory(controller)
        if directory is not None and group.relative:
            threads.update(tasks_below(group.tree.files, directory))
    return threads


def _listed(files: KernelFiles, directory: str) -> set[int]:
    """The threads right in a v1 group: one file, where asking each of thousands takes long."""
    try:
        return set(map(int, files.read(f"{directory}/tasks").split()))
    except (OSError, ValueError):
        return set()


def exists_somewhere(group: Group) -> bool:
    """Whether any of the hierarchies the agent uses has the group."""
    directories = (group.directory(controller) for controller in CONTROLLERS)
    return any(path is not None and group.tree.files.exists(path) for path in directories)
