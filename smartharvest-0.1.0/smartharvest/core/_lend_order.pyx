# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the choice of cores (csrc/actuators/lend_order.h). It converts and owns memory."""

from collections.abc import Collection, Sequence

cimport cython
from cpython.buffer cimport PyBuffer_Release
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest.core._c cimport lend_order
from smartharvest.core._c.memory cimport allocate, hold_slot
from smartharvest.core._sensors cimport Sensor

MAX_CPUS = lend_order.SH_LEND_ORDER_MAX_CPUS
SLOT_BYTES = 8 * lend_order.SH_LEND_ORDER_WORDS


cdef int fill(lend_order.sh_cpu_set *cpus, numbers: Collection[int]) except -1:
    for cpu in numbers:
        if not 0 <= cpu < lend_order.SH_LEND_ORDER_MAX_CPUS:
            raise ValueError(f"CPU {cpu} is beyond those that can be chosen among")
        cpus.words[cpu // 64] |= (<uint64_t> 1) << (cpu % 64)
    return 0


# C code, in the loop's thread even, uses what this class holds until __dealloc__. Hence
# no_gc_clear: the collector empties lists that are in a garbage cycle or behind one.
@cython.no_gc_clear
cdef class LendOrder:
    cdef lend_order.sh_lend_order c
    cdef readonly Sensor sensor
    cdef Py_buffer slots

    def __cinit__(
        self,
        cpus: Sequence[int],
        kinds: Sequence[int],
        *,
        unit: int,
        fixed: int,
        elastic_min: int,
        levels: int,
        rules: Sequence[tuple[Collection[int], Collection[int]]],
        sensor: Sensor,
        slots: object = None,
    ) -> None:
        cdef uint32_t i
        cdef char *start
        self.c.count = len(cpus)
        self.c.unit, self.c.fixed, self.c.elastic_min = unit, fixed, elastic_min
        self.c.levels, self.c.file_count = levels, len(rules)
        self.c.cpus = <int32_t *> allocate(max(1, len(cpus)), sizeof(int32_t))
        self.c.ranks = <uint32_t *> allocate(max(1, len(cpus)), sizeof(uint32_t))
        self.c.free_ns = <int64_t *> allocate(max(1, len(cpus)), sizeof(int64_t))
        self.c.added = <int32_t *> allocate(max(1, levels), sizeof(int32_t))
        self.c.files = <lend_order.sh_lend_order_file *> allocate(
            max(1, len(rules)), sizeof(lend_order.sh_lend_order_file)
        )
        for i, (cpu, kind) in enumerate(zip(cpus, kinds, strict=True)):
            self.c.cpus[i] = cpu
            self.c.ranks[i] = min(<uint32_t> kind, 0xffff) << 16 | i
        for i, (own, always) in enumerate(rules):
            fill(&self.c.files[i].own, own)
            fill(&self.c.files[i].always, always)
            self.c.files[i].text[0] = <char *> allocate(lend_order.SH_LEND_ORDER_TEXT, 1)
            self.c.files[i].text[1] = <char *> allocate(lend_order.SH_LEND_ORDER_TEXT, 1)
        if slots is not None:
            start = <char *> hold_slot(slots, &self.slots, 2 * SLOT_BYTES)
            for i in range(2):
                self.c.slots[i] = <lend_order.atomic_uint64_t *> (
                    start + i * 8 * lend_order.SH_LEND_ORDER_WORDS
                )
        self.sensor = sensor
        self.c.sensor = &sensor.seam
        if lend_order.sh_lend_order_init(&self.c):
            raise ValueError(f"{len(cpus)} CPUs by {unit}, {fixed} of them fixed, cannot be chosen")

    def __dealloc__(self) -> None:
        cdef uint32_t i
        if self.c.files is not NULL:
            for i in range(self.c.file_count):
                PyMem_Free(self.c.files[i].text[0])
                PyMem_Free(self.c.files[i].text[1])
        PyMem_Free(self.c.files)
        PyMem_Free(self.c.added)
        PyMem_Free(self.c.free_ns)
        PyMem_Free(self.c.ranks)
        PyMem_Free(self.c.cpus)
        PyBuffer_Release(&self.slots)

    @property
    def address(self) -> int:
        return <size_t> &self.c

    @property
    def cpus(self) -> tuple[int, ...]:
        return tuple(self.c.cpus[i] for i in range(self.c.count))

    @property
    def masks(self) -> list[str]:
        cdef uint32_t in_force = self.c.in_force
        return [
            (<bytes> self.c.files[i].text[in_force]).decode() for i in range(self.c.file_count)
        ]
