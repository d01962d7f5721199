from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from smartharvest.core._actuators import Actuator, ThreadsActuator

MAX_SPLITS: int

class _KernelFiles(Protocol):
    def read(self, path: str, /) -> str: ...
    def write(self, path: str, value: str, /) -> None: ...

class _WritableBuffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

class GroupAffinityActuator(ThreadsActuator):
    """Affinity of the threads in ``task_lists`` (affinity.h); ``cpus[level]`` per level.

    ``task_lists`` are `tasks` or `cgroup.threads` files, the target's own first. ``added_cpu`` is
    as of CpusetActuator; ``pins`` are the CPUs that single threads are to stay within, as far as
    the level has any of them. ``nudge_slot`` has a thread's id while any may be on one CPU alone;
    ``beat_slot`` gets the time while many threads are moved.
    """

    def __init__(
        self,
        task_lists: Sequence[str],
        cpus: Sequence[Sequence[int]],
        added_cpu: Sequence[int],
        pins: Mapping[int, Collection[int]] | None = None,
        nudge_slot: _WritableBuffer | None = None,
        beat_slot: _WritableBuffer | None = None,
    ) -> None: ...
    def refresh(self) -> None:
        """Confines those that have joined since; by one thread that is not the loop's.

        Raises OSError.
        """

    @property
    def writes(self) -> int: ...

class CpuGroupsActuator(Actuator):
    """Moves tasks between groups, one for each split (csrc/actuators/cpugroups.h).

    ``outer`` and each of ``splits`` are (list of tasks, file that takes a task); ``split_of`` has
    the split of each level. ``beat_slot`` gets the time while many tasks are moved;
    ``kernel_files`` answers instead of the kernel.
    """

    def __init__(
        self,
        outer: tuple[str, str],
        splits: Sequence[tuple[str, str]],
        split_of: Sequence[int],
        kernel_files: _KernelFiles | None = None,
        beat_slot: _WritableBuffer | None = None,
    ) -> None: ...
    @property
    def current(self) -> int:
        """The split that has all tasks; -1 while they are moved and after a failure."""

    @property
    def writes(self) -> int:
        """How often a task or process was moved."""
