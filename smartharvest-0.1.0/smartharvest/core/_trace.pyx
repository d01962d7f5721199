# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the recorder and of the recorded host (csrc/lab/recorder.h, csrc/lab/trace_host.h).

It converts and owns memory; it decides nothing. Changes travel as numpy arrays of CHANGE.
"""

import numpy as np
from numpy.typing import NDArray

cimport cython
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int64_t, uint32_t

from smartharvest.core._actuators cimport Actuator
from smartharvest.core._c cimport histogram
from smartharvest.core._c.memory cimport allocate
from smartharvest.core._c.recorder cimport (
    SH_TRACE_UNSEEN,
    sh_change,
    sh_recorder,
    sh_recorder_init,
    sh_recorder_take,
)
from smartharvest.core._c.trace_host cimport (
    sh_trace_host,
    sh_trace_host_feed,
    sh_trace_host_init,
    sh_trace_host_play,
)
from smartharvest.core._loop cimport Loop
from smartharvest.core._sensors cimport Sensor

UNSEEN = SH_TRACE_UNSEEN
"""As busy and demand: nobody looked."""
CHANGE = np.dtype(
    {
        "names": ["time_ns", "busy", "demand"],
        "formats": [np.int64, np.uint16, np.uint16],
        "itemsize": sizeof(sh_change),
    }
)
"""From ``time_ns`` on, until the next change, so many cores are busy and wanted."""
Changes = NDArray[np.void]


@cython.no_gc_clear
cdef class RecordingSensor(Sensor):
    """Passes the readings of ``inner`` on and notes their changes (csrc/lab/recorder.h)."""

    cdef readonly Sensor inner
    cdef sh_recorder *recorder

    def __cinit__(self, inner: Sensor, poll_ns: int, gap_ns: int) -> None:
        self.inner = inner
        self.recorder = <sh_recorder *> allocate(1, sizeof(sh_recorder))
        sh_recorder_init(self.recorder, &self.inner.seam, poll_ns, gap_ns, &self.seam)

    def __dealloc__(self) -> None:
        PyMem_Free(self.recorder)

    def attend(self) -> None:
        self.inner.attend()

    def close(self) -> None:
        self.inner.close()

    def take(self, most: int = 1 << 16):
        """(changes, oldest first; the time up to which they tell all, 0 before the first)."""
        changes = np.empty(most, CHANGE)
        cdef sh_change[::1] view = changes
        cdef int64_t until_ns = 0
        cdef uint32_t room = most, taken = 0
        if room > 0:
            taken = sh_recorder_take(self.recorder, &view[0], room, &until_ns)
        return changes[:taken], until_ns

    @property
    def counts(self) -> dict[str, int]:
        """changes noted, gaps among them, and changes lost because nobody took them in time."""
        return {
            "changes": self.recorder.changes,
            "gaps": self.recorder.gaps,
            "lost": self.recorder.lost,
        }


@cython.no_gc_clear
cdef class TraceHost(Sensor):
    """A recorded host to run the loop on in virtual time (csrc/lab/trace_host.h).

    ``total`` is what the primary has when nothing is lent; ``actuator`` its other seam.
    """

    cdef sh_trace_host *host
    cdef object stretch
    cdef readonly Actuator actuator

    def __cinit__(self, total: int) -> None:
        self.host = <sh_trace_host *> allocate(1, sizeof(sh_trace_host))
        self.actuator = _TraceActuator(self)
        sh_trace_host_init(self.host, total, &self.seam, &self.actuator.seam)

    def __dealloc__(self) -> None:
        PyMem_Free(self.host)

    def feed(self, changes, until_ns: int) -> None:
        """The next stretch of the trace, ascending CHANGEs that tell all up to ``until_ns``."""
        stretch = np.ascontiguousarray(changes, CHANGE)
        cdef const sh_change[::1] view = stretch
        cdef uint32_t length = len(stretch)
        self.stretch = stretch
        sh_trace_host_feed(self.host, &view[0] if length else NULL, length, until_ns)

    def play(self, loop: Loop, deadline_ns: int, until_ns: int):
        """Drives the loop's polls before ``until_ns``; see sh_trace_host_play.

        (the next poll's deadline, 0 or the negative errno the loop halted on). Stops early when a
        window waits to be taken.
        """
        cdef int64_t deadline = deadline_ns, until = until_ns
        cdef int err
        with nogil:
            err = sh_trace_host_play(self.host, loop.c, &deadline, until)
        return deadline, err

    @property
    def shortage(self) -> dict[str, int]:
        """Cores wanted and not held: seen_ns, short_ns, short_core_ns, short_spells, short_most."""
        return {
            "seen_ns": self.host.seen_ns,
            "short_ns": self.host.short_ns,
            "short_core_ns": self.host.short_core_ns,
            "short_spells": self.host.short_spells,
            "short_most": self.host.short_most,
        }

    def waits(self) -> tuple[tuple[int, int], ...]:
        """How long each missing core was missing: (upper edge in ns, count), without empty ones."""
        return histogram.durations(&self.host.waits)


cdef class _TraceActuator(Actuator):
    """Lends the recorded host's cores. The host owns it: a loop has to hold the sensor, too."""
