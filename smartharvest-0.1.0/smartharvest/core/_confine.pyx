# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
"""Binding of confine.h: the guardian takes cores back with it. It decides nothing."""

import os
from collections.abc import Iterable

from libc.stdint cimport uint32_t, uint64_t

from smartharvest.core._c.affinity cimport fill_mask, sh_affinity_mask
from smartharvest.core._c.confine cimport sh_confine


def confine_threads(lists: Iterable[str], cpus: Iterable[int], passes: int = 1) -> int:
    """Gives all threads in ``lists`` the affinity ``cpus``; how many affinities were set.

    A list is a /proc/PID/task directory, or a group's `tasks` or `cgroup.threads`; it is read
    ``passes`` times, or until nobody has another affinity, since a thread may be born meanwhile.
    Lists that are gone, and threads that have ended or may not have these CPUs, are passed over.
    Raises ValueError for a CPU number beyond the mask.
    """
    cdef sh_affinity_mask mask
    cdef uint64_t changed = 0
    cdef uint32_t times = passes
    cdef int fd
    cdef bint directory
    for word in range(128):
        mask.bits[word] = 0
    fill_mask(&mask, cpus)
    for path in lists:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        directory = os.path.isdir(path)
        with nogil:
            sh_confine(fd, directory, &mask, times, &changed)
        os.close(fd)
    return changed
