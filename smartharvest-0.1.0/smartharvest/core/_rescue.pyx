# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the threads that end displacements (csrc/actuators/rescue.h)."""

import os
from collections.abc import Sequence

cimport cython
from cpython.mem cimport PyMem_Free

from smartharvest.core._c cimport rescue
from smartharvest.core._c.memory cimport allocate
from smartharvest.core._sensors cimport Sensor


# Its threads use what the sensor holds until __dealloc__: the collector must not clear it before.
@cython.no_gc_clear
cdef class Rescue:
    """A thread on each of ``cpus`` that ends displacements there (csrc/actuators/rescue.h).

    For an elastic group under cpu.idle, and a ``sensor`` that tells displacements. With a
    ``fifo_priority`` of 0 they are ordinary threads. Raises OSError.
    """

    cdef rescue.sh_rescue c
    cdef readonly Sensor sensor

    def __cinit__(self, sensor: Sensor, cpus: Sequence[int], fifo_priority: int) -> None:
        cdef int err
        self.c.stop_fd = -1
        self.sensor = sensor
        self.c.displacements = sensor.displacements_seam
        self.c.threads = <rescue.sh_rescue_thread *> allocate(
            max(1, len(cpus)), sizeof(rescue.sh_rescue_thread)
        )
        for i, cpu in enumerate(cpus):
            self.c.threads[i].cpu = cpu
        self.c.count = len(cpus)
        self.c.fifo_priority = fifo_priority
        with nogil:
            err = rescue.sh_rescue_start(&self.c)
        if err:
            raise OSError(-err, os.strerror(-err))

    def __dealloc__(self) -> None:
        if self.c.threads is not NULL:
            self.close()
            PyMem_Free(self.c.threads)

    def close(self) -> None:
        """Ends the threads; harmless when they have ended."""
        with nogil:
            rescue.sh_rescue_stop(&self.c)

    @property
    def rescues(self) -> int:
        """How often a thread has woken for it."""
        return self.c.rescues
