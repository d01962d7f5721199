# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of what moves cores (csrc/actuators/actuator.h). It owns memory and decides nothing."""

import os
from collections.abc import Sequence

cimport cython
from cpython.buffer cimport PyBuffer_Release
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy, memset

from smartharvest.core._c cimport affinity, cpuset, fake_actuator, core_hold, nudge
from smartharvest.core._c.affinity cimport cpus_of, fill_mask
from smartharvest.core._c.lend_order cimport sh_lend_order
from smartharvest.core._c.memory cimport allocate, hold_slot

EFFECTIVE_MISMATCH = cpuset.SH_ERR_EFFECTIVE
"""The error of a cpuset write that was taken but has another effect than what was written."""
MAX_ELASTIC_PROCESSES = affinity.SH_AFFINITY_MAX_PROCESSES


cdef class Actuator:
    """Base: what gives the elastic group its cores (csrc/actuators/actuator.h)."""

    def assign(self, harvested: int) -> None:
        """Leaves the elastic group its minimum + ``harvested`` cores. Raises OSError if refused."""
        cdef uint32_t level = harvested
        cdef int err
        with nogil:
            err = self.seam.assign(self.seam.ctx, level)
        if err:
            raise OSError(-err, os.strerror(-err))

    @property
    def seam_address(self) -> int:
        """Of its struct sh_actuator, for benchmarks in C."""
        return <size_t> &self.seam

    def failure(self) -> tuple[str, str]:
        """(file, value) of the last write that was refused."""
        return "", ""

    @property
    def writes(self) -> int:
        """How often it has changed something of the host."""
        return 0

    @property
    def order(self) -> object:
        """Who chooses the cores by their use; None: nobody."""
        return None

    @property
    def moves_threads(self) -> bool:
        """It moves threads one by one."""
        return False


cdef class FakeActuator(Actuator):
    """Remembers the last 4096 assignments (csrc/actuators/fake_actuator.h)."""

    cdef fake_actuator.sh_fake_actuator *fake

    def __cinit__(self) -> None:
        self.fake = <fake_actuator.sh_fake_actuator *> allocate(
            1, sizeof(fake_actuator.sh_fake_actuator)
        )
        fake_actuator.sh_fake_actuator_init(self.fake, &self.seam)

    def __dealloc__(self) -> None:
        PyMem_Free(self.fake)

    def fail(self, number: int, error: int) -> None:
        """Makes the assignment with this number, counted from 0, fail with ``error``."""
        self.fake.fail_with = error
        self.fake.fail_at = number

    @property
    def assigned(self) -> list[int]:
        """The harvests assigned so far, oldest first."""
        count = self.fake.count
        first = max(0, count - fake_actuator.SH_FAKE_ACTUATOR_KEPT)
        return [
            self.fake.levels[i % fake_actuator.SH_FAKE_ACTUATOR_KEPT] for i in range(first, count)
        ]


cdef int files_write(void *ctx, int handle, const char *value, size_t length) noexcept with gil:
    cdef FilesActuator self = <FilesActuator> ctx
    try:
        self.kernel_files.write(self.paths[handle], value[:length].decode())
    except OSError as error:
        return -(error.errno or 5)
    except BaseException:
        return -5
    return 0


cdef ssize_t files_read(void *ctx, int handle, char *value, size_t size) noexcept with gil:
    cdef FilesActuator self = <FilesActuator> ctx
    try:
        text = self.kernel_files.read(self.paths[handle]).encode()
    except OSError as error:
        return -(error.errno or 5)
    except BaseException:
        return -5
    cdef size_t length = min(<size_t> len(text), size)
    memcpy(value, <const char *> text, length)
    return <ssize_t> length


# C code, in the loop's thread even, uses what these classes hold until __dealloc__. Hence
# no_gc_clear and tuples: the collector empties lists that are in a garbage cycle or behind one.
@cython.no_gc_clear
cdef class FilesActuator(Actuator):
    """What moves cores by files: the kernel's, or those that ``kernel_files`` answers for."""

    def __cinit__(self) -> None:
        self.paths, self.fds = [], []

    def __dealloc__(self) -> None:
        for fd in self.fds or ():
            os.close(fd)

    cdef int open(self, str path, int flags) except -1:
        fd = os.open(path, flags | os.O_CLOEXEC)
        self.fds.append(fd)
        return fd

    cdef int handle(self, str path, int flags) except -1:
        """A descriptor for the kernel's files, an index into ``paths`` for a fake tree's."""
        if self.kernel_files is not None:
            self.paths.append(path)
            return len(self.paths) - 1
        fd = self.open(path, flags)
        while len(self.paths) <= fd:
            self.paths.append("")
        self.paths[fd] = path
        return fd


@cython.no_gc_clear
cdef class CpusetActuator(FilesActuator):
    """One in-place cpuset write moves the cores (csrc/actuators/cpuset.h).

    ``files`` lists (cpus path, effective path or None, masks), a group before its children; the
    masks have one entry per number of harvested cores. ``added_cpu[level]`` is the CPU a level has
    and the one below lacks, -1 if there is none. ``primary_files`` are the same of the primaries,
    whose sets shrink as the harvest grows. ``kernel_files`` answers instead of the kernel. With a
    ``fifo_priority`` real-time threads hold each core while it changes hands (core_hold.h). An
    ``order`` makes the masks as it chooses, and those of ``files`` are not used.
    """

    cdef cpuset.sh_cpuset *c
    cdef object masks
    cdef object chosen_by
    cdef Py_buffer slot
    cdef int32_t *added
    cdef const char **mask_table
    cdef core_hold.sh_core_hold core_hold

    def __cinit__(
        self,
        files: list[tuple[str, str | None, list[str]]],
        added_cpu: list[int],
        tasks_path: str | None = None,
        freezer: tuple[str, str, str] | None = None,
        kernel_files: object = None,
        nudge_slot: object = None,
        primary_files: Sequence[tuple[str, str | None, list[str]]] = (),
        fifo_priority: int = 0,
        order: object = None,
    ) -> None:
        cdef Py_ssize_t i, level
        cdef Py_ssize_t levels = len(added_cpu)
        cdef Py_ssize_t elastic_count = len(files)
        files = [*files, *primary_files]
        if len(files) > cpuset.SH_CPUSET_MAX_FILES:
            raise ValueError(f"more than {cpuset.SH_CPUSET_MAX_FILES} groups to write")
        self.kernel_files = kernel_files
        self.masks = []
        self.c = <cpuset.sh_cpuset *> allocate(1, sizeof(cpuset.sh_cpuset))
        self.added = <int32_t *> allocate(levels, sizeof(int32_t))
        self.mask_table = <const char **> allocate(levels * len(files), sizeof(char *))
        if kernel_files is None:
            cpuset.sh_file_ops_posix(&self.c.ops)
        else:
            self.c.ops.write = files_write
            self.c.ops.read = files_read
            self.c.ops.ctx = <void *> self
        for level in range(levels):
            self.added[level] = added_cpu[level]
        for i in range(len(files)):
            cpus_path, effective_path, masks = files[i]
            for level in range(levels if order is None else 0):
                mask = masks[level].encode()
                self.masks.append(mask)
                self.mask_table[i * levels + level] = <const char *> mask
            self.c.files[i].cpus = self.handle(cpus_path, os.O_RDWR)
            self.c.files[i].effective = (
                self.handle(effective_path, os.O_RDONLY) if effective_path else -1
            )
            self.c.files[i].masks = &self.mask_table[i * levels]
            self.c.files[i].primary = i >= elastic_count
        self.c.file_count = len(files)
        self.c.levels = levels
        self.c.added_cpu = self.added
        if order is not None:
            self.chosen_by = order
            self.c.order = <sh_lend_order *> <size_t> order.address
            self.c.added_cpu = self.c.order.added
            if self.c.order.file_count != len(files) or self.c.order.levels != levels:
                raise ValueError("the order is for other files or levels")
        self.c.nudge.tasks_fd = self.open(tasks_path, os.O_RDONLY) if tasks_path else -1
        self.c.freezer = -1
        if freezer is not None:
            path, freeze, thaw = (freezer[0], freezer[1].encode(), freezer[2].encode())
            self.masks += [freeze, thaw]
            self.c.freezer = self.handle(path, os.O_RDWR)
            self.c.freeze = <const char *> freeze
            self.c.thaw = <const char *> thaw
        if nudge_slot is not None:
            self.c.nudge.pinned_tid = <nudge.atomic_int32_t *> hold_slot(
                nudge_slot, &self.slot, sizeof(int32_t)
            )
        self.paths, self.fds, self.masks = tuple(self.paths), tuple(self.fds), tuple(self.masks)
        cpuset.sh_cpuset_init(self.c, &self.seam)
        if fifo_priority > 0:
            self.hold_by(fifo_priority)

    cdef int hold_by(self, fifo_priority: int) except -1:
        cdef uint32_t count = 0
        self.core_hold.fifo_priority = fifo_priority
        cpus = [self.added[level] for level in range(self.c.levels)]
        if self.chosen_by is not None:
            cpus = self.chosen_by.cpus[self.c.order.fixed:]
        self.core_hold.threads = <core_hold.sh_core_hold_thread *> allocate(
            max(1, len(cpus)), sizeof(core_hold.sh_core_hold_thread)
        )
        for cpu in cpus:
            if 0 <= cpu < core_hold.SH_CORE_HOLD_MAX_CPUS:
                self.core_hold.threads[count].cpu = cpu
                count += 1
        self.core_hold.count = count
        error = core_hold.sh_core_hold_start(&self.core_hold)
        if error:
            raise OSError(-error, os.strerror(-error))
        self.c.core_hold = &self.core_hold
        return 0

    def __dealloc__(self) -> None:
        core_hold.sh_core_hold_stop(&self.core_hold)
        PyMem_Free(self.core_hold.threads)
        if self.c != NULL:
            nudge.sh_nudge_close(&self.c.nudge)
        PyBuffer_Release(&self.slot)
        PyMem_Free(self.c)
        PyMem_Free(self.added)
        PyMem_Free(self.mask_table)

    def failure(self) -> tuple[str, str]:
        cdef uint32_t index = self.c.failed_file
        cdef uint32_t level = self.c.failed_level
        if index < self.c.file_count:
            mask = (<bytes> cpuset.sh_cpuset_mask(self.c, index, level)).decode()
            return self.paths[self.c.files[index].cpus], mask
        if self.c.freezer < 0:
            return "", ""
        value = self.c.thaw if level else self.c.freeze
        return self.paths[self.c.freezer], (<bytes> value).decode()

    @property
    def order(self) -> object:
        return self.chosen_by

    @property
    def writes(self) -> int:
        return self.c.writes

    @property
    def skipped(self) -> int:
        """Writes that were not needed: the mask was in force already."""
        return self.c.skipped

    @property
    def nudges(self) -> int:
        return self.c.nudge.nudges


cdef list strays_of(const affinity.sh_affinity_stray *strays, uint32_t count):
    cdef uint32_t i
    return [
        (strays[i].tid, cpus_of(&strays[i].found), cpus_of(&strays[i].given)) for i in range(count)
    ]


cdef class ThreadsActuator(Actuator):
    """Base: moves threads one by one (csrc/actuators/affinity.h)."""

    @property
    def moves_threads(self) -> bool:
        return True

    def given(self, tid: int) -> frozenset[int] | None:
        """The CPUs that a thread was given last, if it was there; None amid a move."""
        cdef affinity.sh_affinity_mask mask
        cdef int64_t level = self.threads.current
        if level < 0:
            return None
        affinity.sh_affinity_wanted(self.threads, <uint32_t> level, tid, &mask)
        return cpus_of(&mask)

    @property
    def strays(self) -> list[tuple[int, frozenset[int], frozenset[int]]]:
        """(thread, CPUs it had, CPUs it had been given) of those that a move met with others.

        The first so many. One that has just come to a group is among them.
        """
        return strays_of(self.threads.strays, self.threads.stray_count)

    def strays_at_rest(
        self, tids: Sequence[int], online: Sequence[int]
    ) -> list[tuple[int, frozenset[int], frozenset[int]]] | None:
        """The same of those ``tids`` that have other CPUs now than as far as ``online`` they were
        given; the first so many, without those that have ended. None amid a move."""
        cdef affinity.sh_affinity_mask online_mask
        cdef affinity.sh_affinity_stray found[32]
        cdef uint32_t count = len(tids), i
        cdef int strays
        cdef int32_t *numbers = <int32_t *> allocate(max(1, count), sizeof(int32_t))
        try:
            memset(&online_mask, 0, sizeof(online_mask))
            fill_mask(&online_mask, online)
            for i in range(count):
                numbers[i] = tids[i]
            with nogil:
                strays = affinity.sh_affinity_find_strays(
                    self.threads, numbers, count, &online_mask, found, 32
                )
        finally:
            PyMem_Free(numbers)
        return None if strays < 0 else strays_of(found, strays)


@cython.no_gc_clear
cdef class AffinityActuator(ThreadsActuator):
    """Affinity of the threads of ``pids`` (csrc/actuators/affinity.h); ``cpus[level]`` per level.

    ``pins`` are the CPUs that single threads are to stay within, as far as they have any of them.
    ``beat_slot`` gets the time while many threads are moved.
    """

    cdef affinity.sh_affinity c
    cdef affinity.sh_affinity_mask *masks
    cdef affinity.sh_affinity_pin *pins
    cdef object fds
    cdef Py_buffer beat

    def __cinit__(
        self,
        pids: list[int],
        cpus: Sequence[Sequence[int]],
        pins: object = None,
        beat_slot: object = None,
    ) -> None:
        if len(pids) > affinity.SH_AFFINITY_MAX_PROCESSES:
            raise ValueError(f"more than {affinity.SH_AFFINITY_MAX_PROCESSES} elastic processes")
        self.fds = []
        self.masks = <affinity.sh_affinity_mask *> allocate(
            len(cpus), sizeof(affinity.sh_affinity_mask)
        )
        pins = pins or {}
        self.pins = <affinity.sh_affinity_pin *> allocate(
            max(1, len(pins)), sizeof(affinity.sh_affinity_pin)
        )
        for level, level_cpus in enumerate(cpus):
            fill_mask(&self.masks[level], level_cpus)
        for i, tid in enumerate(sorted(pins)):
            self.pins[i].tid = tid
            fill_mask(&self.pins[i].mask, pins[tid])
        for i, pid in enumerate(pids):
            fd = os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self.fds.append(fd)
            self.c.task_dirs[i] = fd
        self.c.process_count = len(pids)
        self.c.masks = self.masks
        self.c.levels = len(cpus)
        self.c.pins = self.pins
        self.c.pin_count = len(pins)
        if beat_slot is not None:
            self.c.beat = <affinity.atomic_int64_t *> hold_slot(
                beat_slot, &self.beat, sizeof(int64_t)
            )
        self.threads = &self.c
        affinity.sh_affinity_init(&self.c, &self.seam)

    def __dealloc__(self) -> None:
        for fd in self.fds or ():
            os.close(fd)
        PyMem_Free(self.masks)
        PyMem_Free(self.pins)
        PyBuffer_Release(&self.beat)

    def follow(self, slot: int, pid: int) -> None:
        """Confines another process like the others, from now on.

        ``slot`` is the next free one, from 1 (MAX_ELASTIC_PROCESSES in all), or that of a process
        that has ended. Only one thread may call this. Raises OSError; ESRCH: it has ended, and the
        slot is taken all the same.
        """
        cdef int err
        cdef uint32_t at = slot
        cdef bint new = at == self.c.process_count
        cdef int fd = os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with nogil:
            err = affinity.sh_affinity_follow(&self.c, at, fd)
        if new and self.c.process_count > at:
            self.fds.append(fd)
        if err:
            raise OSError(-err, os.strerror(-err))

    def failure(self) -> tuple[str, str]:
        return "sched_setaffinity", "the elastic processes' threads"

    @property
    def writes(self) -> int:
        return self.c.writes
