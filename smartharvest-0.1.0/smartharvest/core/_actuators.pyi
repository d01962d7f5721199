from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from smartharvest.core._lend_order import LendOrder

EFFECTIVE_MISMATCH: int
"""The error of a cpuset write that was taken but has another effect than what was written."""
MAX_ELASTIC_PROCESSES: int

class _KernelFiles(Protocol):
    def read(self, path: str, /) -> str: ...
    def write(self, path: str, value: str, /) -> None: ...

class _WritableBuffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Actuator:
    """Base: what gives the elastic group its cores (csrc/actuators/actuator.h)."""

    def assign(self, harvested: int) -> None:
        """Leaves the elastic group its minimum + ``harvested`` cores. Raises OSError if refused."""

    @property
    def seam_address(self) -> int:
        """Of its struct sh_actuator, for benchmarks in C."""

    def failure(self) -> tuple[str, str]:
        """(file, value) of the last write that was refused."""

    @property
    def writes(self) -> int:
        """How often it has changed something of the host."""

    @property
    def order(self) -> LendOrder | None:
        """Who chooses the cores by their use; None: nobody."""

    @property
    def moves_threads(self) -> bool:
        """It moves threads one by one."""

class FakeActuator(Actuator):
    """Remembers the last 4096 assignments (csrc/actuators/fake_actuator.h)."""

    def fail(self, number: int, error: int) -> None:
        """Makes the assignment with this number, counted from 0, fail with ``error``."""

    @property
    def assigned(self) -> list[int]:
        """The harvests assigned so far, oldest first."""

class CpusetActuator(Actuator):
    """One in-place cpuset write moves the cores (csrc/actuators/cpuset.h).

    ``files`` lists (cpus path, effective path or None, masks), a group before its children; the
    masks have one entry per number of harvested cores. ``added_cpu[level]`` is the CPU a level has
    and the one below lacks, -1 if there is none. ``primary_files`` are the same of the primaries,
    whose sets shrink as the harvest grows. ``kernel_files`` answers instead of the kernel. With a
    ``fifo_priority`` real-time threads hold each core while it changes hands (core_hold.h). An
    ``order`` makes the masks as it chooses, and those of ``files`` are not used.
    """

    def __init__(
        self,
        files: list[tuple[str, str | None, list[str]]],
        added_cpu: list[int],
        tasks_path: str | None = None,
        freezer: tuple[str, str, str] | None = None,
        kernel_files: _KernelFiles | None = None,
        nudge_slot: _WritableBuffer | None = None,
        primary_files: Sequence[tuple[str, str | None, list[str]]] = (),
        fifo_priority: int = 0,
        order: LendOrder | None = None,
    ) -> None: ...
    @property
    def skipped(self) -> int:
        """Writes that were not needed: the mask was in force already."""

    @property
    def nudges(self) -> int: ...

class ThreadsActuator(Actuator):
    """Base: moves threads one by one (csrc/actuators/affinity.h)."""

    def given(self, tid: int) -> frozenset[int] | None:
        """The CPUs that a thread was given last, if it was there; None amid a move."""

    @property
    def strays(self) -> list[tuple[int, frozenset[int], frozenset[int]]]:
        """(thread, CPUs it had, CPUs it had been given) of those that a move met with others.

        The first so many. One that has just come to a group is among them.
        """
    def strays_at_rest(
        self, tids: Sequence[int], online: Iterable[int]
    ) -> list[tuple[int, frozenset[int], frozenset[int]]] | None:
        """The same of those ``tids`` that have other CPUs now than as far as ``online`` they were
        given; the first so many, without those that have ended. None amid a move."""

class AffinityActuator(ThreadsActuator):
    """Affinity of the threads of ``pids`` (csrc/actuators/affinity.h); ``cpus[level]`` per level.

    ``pins`` are the CPUs that single threads are to stay within, as far as they have any of them.
    ``beat_slot`` gets the time while many threads are moved.
    """

    def __init__(
        self,
        pids: list[int],
        cpus: Sequence[Sequence[int]],
        pins: Mapping[int, Iterable[int]] | None = None,
        beat_slot: memoryview | None = None,
    ) -> None: ...
    def follow(self, slot: int, pid: int) -> None:
        """Confines another process like the others, from now on.

        ``slot`` is the next free one, from 1 (MAX_ELASTIC_PROCESSES in all), or that of a process
        that has ended. Only one thread may call this. Raises OSError; ESRCH: it has ended, and the
        slot is taken all the same.
        """
