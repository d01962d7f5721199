# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
"""Binding of confine.h, which takes cores back and gives affinities back. It decides nothing."""

import os
from collections.abc import Iterable, Sequence

from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, uint32_t, uint64_t

from smartharvest.core._c.affinity cimport fill_mask, sh_affinity_mask
from smartharvest.core._c.confine cimport give_back_one, sh_confine, sh_give_back
from smartharvest.core._c.memory cimport allocate


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


def give_back(
    tids: Sequence[int],
    known: Sequence[Iterable[int]],
    every: Iterable[int],
    within: Iterable[int],
) -> list[int]:
    """Gives threads the affinity ``known[0]``, unless they have one that is not ``known``.

    Where that is all a cpuset has, and it has all of ``within``, a thread gets ``every`` CPU: no
    affinity of its own. For each thread the number of the known one that it had; ``len(known)`` if
    it stays as it is; ``-errno`` if the kernel refused. Raises ValueError for a CPU number beyond
    the mask.
    """
    cdef Py_ssize_t i, threads = len(tids)
    cdef uint32_t count = len(known)
    cdef sh_give_back how
    cdef sh_affinity_mask *masks = NULL
    cdef int32_t *found = NULL
    if count == 0:
        raise ValueError("no affinity to give back")
    try:
        masks = <sh_affinity_mask *> allocate(count, sizeof(sh_affinity_mask))
        found = <int32_t *> allocate(max(1, threads), sizeof(int32_t))
        how.known, how.count = masks, count
        for word in range(128):
            how.every.bits[word] = how.within.bits[word] = 0
        fill_mask(&how.every, every)
        fill_mask(&how.within, within)
        for i in range(count):
            fill_mask(&masks[i], known[i])
        for i in range(threads):
            found[i] = tids[i]
        with nogil:
            for i in range(threads):
                found[i] = give_back_one(&how, found[i])
        return [found[i] for i in range(threads)]
    finally:
        PyMem_Free(masks)
        PyMem_Free(found)
