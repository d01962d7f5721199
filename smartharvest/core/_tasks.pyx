# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
"""Binding of task_list.h for threads by the thousand, and of the caller's slice."""

from collections.abc import Sequence

from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint32_t

from smartharvest.core._c.loop_pace cimport sh_ask_for_slice
from smartharvest.core._c.memory cimport allocate
from smartharvest.core._c.task_list cimport sh_task_start_times


def start_times(tids: Sequence[int]) -> list[int]:
    """When each of these threads started, in clock ticks since boot; -1 for one that is gone."""
    cdef Py_ssize_t i
    cdef uint32_t count = len(tids)
    cdef int32_t *ids = NULL
    cdef int64_t *found = NULL
    try:
        ids = <int32_t *> allocate(max(1, count), sizeof(int32_t))
        found = <int64_t *> allocate(max(1, count), sizeof(int64_t))
        for i in range(count):
            ids[i] = tids[i]
        with nogil:
            sh_task_start_times(ids, count, found)
        return [found[i] for i in range(count)]
    finally:
        PyMem_Free(ids)
        PyMem_Free(found)


def ask_for_slice(slice_ns: int) -> None:
    """The slice of the calling thread, 0.1 to 100 ms, or 0 for the kernel's own.

    Without effect on a real-time thread and before Linux 6.12. Raises OSError.
    """
    cdef int error = sh_ask_for_slice(slice_ns)
    if error:
        raise OSError(-error, f"sched_setattr: a slice of {slice_ns} ns was refused")
