# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
"""Binding of the guardian's looks at a healthy agent (csrc/guardian/vigil.h)."""

import os

cimport cython
from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport int64_t

from smartharvest.core._c cimport vigil
from smartharvest.core._c.memory cimport hold_slot


# The page is written to until __dealloc__: the collector must not unmap it before.
@cython.no_gc_clear
cdef class Vigil:
    """Looks at the agent of ``pidfd`` through ``slot``, its part of the shared page.

    A look is (now, phase, loop's beat, control plane's beat), the limits are nanoseconds.
    """

    cdef vigil.sh_vigil c
    cdef Py_buffer slot

    def __cinit__(
        self,
        pidfd: int,
        slot: bytearray | memoryview,
        *,
        shrink_after: int,
        kill_after: int,
        loop_due: int,
        agent_due: int,
        look_soon: int,
        look_late: int,
        standstill: int,
    ) -> None:
        self.c.limits = vigil.sh_vigil_limits(
            shrink_after, kill_after, loop_due, agent_due, look_soon, look_late, standstill
        )
        self.c.pidfd = pidfd
        self.c.page = <vigil.sh_vigil_page *> hold_slot(
            slot, &self.slot, sizeof(vigil.sh_vigil_page)
        )

    def __dealloc__(self) -> None:
        PyBuffer_Release(&self.slot)

    @property
    def last(self) -> tuple[int, int, int, int]:
        """The look before the last one."""
        return _numbers(&self.c.last)

    @property
    def look(self) -> tuple[int, int, int, int]:
        """The last look."""
        return _numbers(&self.c.look)

    def wait(self, wait_ns: int, *, well: bool) -> bool:
        """Looks after ``wait_ns``; if the last look was plainly well, again until one is not.

        False: the agent has ended. Raises OSError.
        """
        cdef int64_t ns = wait_ns
        cdef bint goes_on = well
        cdef int err
        with nogil:
            err = vigil.sh_vigil_wait(&self.c, ns, goes_on)
        if err < 0:
            raise OSError(-err, os.strerror(-err))
        return err > 0

    def is_well(self, last: tuple[int, int, int, int], look: tuple[int, int, int, int]) -> bool:
        """Whether ``look`` is plainly well after ``last``, which was."""
        cdef vigil.sh_vigil_look before = _look(last), now = _look(look)
        return vigil.sh_vigil_is_well(&self.c.limits, &before, &now)

    def until_next(self, look: tuple[int, int, int, int]) -> int:
        """How long from ``look``, if it is plainly well, to the next."""
        cdef vigil.sh_vigil_look now = _look(look)
        return vigil.sh_vigil_until_next(&self.c.limits, &now)


cdef tuple _numbers(const vigil.sh_vigil_look *look):
    return look.now_ns, look.phase, look.loop_beat_ns, look.agent_beat_ns


cdef vigil.sh_vigil_look _look(tuple numbers) except *:
    cdef vigil.sh_vigil_look look
    look.now_ns, look.phase, look.loop_beat_ns, look.agent_beat_ns = numbers
    return look
