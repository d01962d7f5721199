# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the mechanisms that are there for comparison (csrc/actuators/).

It converts and owns memory; it decides nothing.
"""

import os
from collections.abc import Collection, Mapping, Sequence

cimport cython
from cpython.buffer cimport PyBuffer_Release
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint16_t

from smartharvest.core._actuators cimport FilesActuator, ThreadsActuator, files_read, files_write
from smartharvest.core._c cimport affinity, cpugroups
from smartharvest.core._c.affinity cimport fill_mask
from smartharvest.core._c.memory cimport allocate, hold_slot

MAX_SPLITS = cpugroups.SH_CPUGROUPS_MAX_SPLITS // 2
"""Of one loop; those of an earlier one may have to be emptied as well."""


# C code, in the loop's thread even, uses what these classes hold until __dealloc__. Hence
# no_gc_clear and tuples: the collector empties lists that are in a garbage cycle or behind one.
@cython.no_gc_clear
cdef class GroupAffinityActuator(ThreadsActuator):
    """Affinity of the threads in ``task_lists`` (affinity.h); ``cpus[level]`` per level.

    ``task_lists`` are `tasks` or `cgroup.threads` files, the target's own first. ``added_cpu`` is
    as of CpusetActuator; ``pins`` are the CPUs that single threads are to stay within, as far as
    the level has any of them. ``nudge_slot`` has a thread's id while any may be on one CPU alone;
    ``beat_slot`` gets the time while many threads are moved.
    """

    cdef affinity.sh_affinity *c
    cdef affinity.sh_affinity_mask *masks
    cdef affinity.sh_affinity_pin *pins
    cdef int32_t *added
    cdef object fds, paths
    cdef Py_buffer slot, beat

    def __cinit__(
        self,
        task_lists: Sequence[str],
        cpus: Sequence[Sequence[int]],
        added_cpu: Sequence[int],
        pins: Mapping[int, Collection[int]] | None = None,
        nudge_slot: object = None,
        beat_slot: object = None,
    ) -> None:
        cdef Py_ssize_t i
        pins = pins or {}
        if not 0 < len(task_lists) <= affinity.SH_AFFINITY_MAX_GROUPS:
            raise ValueError(f"more than {affinity.SH_AFFINITY_MAX_GROUPS} elastic groups")
        if len(cpus) != len(added_cpu):
            raise ValueError("each level has its CPUs and the one that is added")
        self.fds = []
        self.paths = tuple(task_lists)
        self.c = <affinity.sh_affinity *> allocate(1, sizeof(affinity.sh_affinity))
        self.masks = <affinity.sh_affinity_mask *> allocate(
            len(cpus), sizeof(affinity.sh_affinity_mask)
        )
        self.added = <int32_t *> allocate(len(cpus), sizeof(int32_t))
        for i in range(len(cpus)):
            self.added[i] = added_cpu[i]
            fill_mask(&self.masks[i], cpus[i])
        self.pins = <affinity.sh_affinity_pin *> allocate(
            max(1, len(pins)), sizeof(affinity.sh_affinity_pin)
        )
        for i, tid in enumerate(sorted(pins)):
            self.pins[i].tid = tid
            fill_mask(&self.pins[i].mask, pins[tid])
        self.c.pins = self.pins
        self.c.pin_count = len(pins)
        for i in range(len(task_lists)):
            fd = os.open(task_lists[i], os.O_RDONLY | os.O_CLOEXEC)
            self.fds.append(fd)
            self.c.task_files[i] = fd
        self.fds = tuple(self.fds)
        self.c.group_count = len(task_lists)
        self.c.masks = self.masks
        self.c.levels = len(cpus)
        self.c.added_cpu = self.added
        if nudge_slot is not None:
            self.c.pinned_tid = <affinity.atomic_int32_t *> hold_slot(
                nudge_slot, &self.slot, sizeof(int32_t)
            )
        if beat_slot is not None:
            self.c.beat = <affinity.atomic_int64_t *> hold_slot(
                beat_slot, &self.beat, sizeof(int64_t)
            )
        self.threads = self.c
        affinity.sh_affinity_init(self.c, &self.seam)

    def __dealloc__(self) -> None:
        for fd in self.fds or ():
            os.close(fd)
        PyMem_Free(self.c)
        PyMem_Free(self.masks)
        PyMem_Free(self.pins)
        PyMem_Free(self.added)
        PyBuffer_Release(&self.slot)
        PyBuffer_Release(&self.beat)

    def refresh(self) -> None:
        """Confines those that have joined since; by one thread that is not the loop's.

        Raises OSError.
        """
        cdef int err
        with nogil:
            err = affinity.sh_affinity_refresh(self.c)
        if err:
            raise OSError(-err, os.strerror(-err))

    def failure(self) -> tuple[str, str]:
        return self.paths[0], "the affinity of its threads"

    @property
    def writes(self) -> int:
        return self.c.writes


@cython.no_gc_clear
cdef class CpuGroupsActuator(FilesActuator):
    """Moves tasks between groups, one for each split (csrc/actuators/cpugroups.h).

    ``outer`` and each of ``splits`` are (list of tasks, file that takes a task); ``split_of`` has
    the split of each level. ``beat_slot`` gets the time while many tasks are moved;
    ``kernel_files`` answers instead of the kernel.
    """

    cdef cpugroups.sh_cpugroups *c
    cdef uint16_t *split_of
    cdef Py_buffer beat

    def __cinit__(
        self,
        outer: tuple[str, str],
        splits: Sequence[tuple[str, str]],
        split_of: Sequence[int],
        kernel_files: object = None,
        beat_slot: object = None,
    ) -> None:
        cdef Py_ssize_t i
        if not 0 < len(splits) <= cpugroups.SH_CPUGROUPS_MAX_SPLITS:
            raise ValueError(f"not 1 to {cpugroups.SH_CPUGROUPS_MAX_SPLITS} splits")
        self.kernel_files = kernel_files
        self.c = <cpugroups.sh_cpugroups *> allocate(1, sizeof(cpugroups.sh_cpugroups))
        self.split_of = <uint16_t *> allocate(len(split_of), sizeof(uint16_t))
        if kernel_files is None:
            cpugroups.sh_cpugroups_ops_posix(&self.c.ops)
        else:
            self.c.ops.write = files_write
            self.c.ops.read = files_read
            self.c.ops.ctx = <void *> self
        for i in range(len(split_of)):
            if not 0 <= split_of[i] < len(splits):
                raise ValueError(f"there is no split {split_of[i]}")
            self.split_of[i] = split_of[i]
        self.c.outer.list = self.handle(outer[0], os.O_RDONLY)
        self.c.outer.take = self.handle(outer[1], os.O_WRONLY)
        for i in range(len(splits)):
            self.c.splits[i].list = self.handle(splits[i][0], os.O_RDONLY)
            self.c.splits[i].take = self.handle(splits[i][1], os.O_WRONLY)
        self.c.split_count = len(splits)
        self.c.split_of = self.split_of
        self.c.levels = len(split_of)
        if beat_slot is not None:
            self.c.beat = <cpugroups.atomic_int64_t *> hold_slot(
                beat_slot, &self.beat, sizeof(int64_t)
            )
        self.paths, self.fds = tuple(self.paths), tuple(self.fds)
        cpugroups.sh_cpugroups_init(self.c, &self.seam)

    def __dealloc__(self) -> None:
        PyBuffer_Release(&self.beat)
        PyMem_Free(self.c)
        PyMem_Free(self.split_of)

    def failure(self) -> tuple[str, str]:
        return self.paths[self.c.splits[self.c.failed_split].take], str(self.c.failed_tid)

    @property
    def current(self) -> int:
        """The split that has all tasks; -1 while they are moved and after a failure."""
        return self.c.current

    @property
    def writes(self) -> int:
        return self.c.moves
