# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
"""Binding of wake_probe.h: how long an idle-class task keeps a CPU from one that wakes."""

import os
import time

from libc.stdint cimport uint32_t

from smartharvest.core._c.wake_probe cimport (
    sh_wake_probe,
    sh_wake_probe_run,
    sh_wake_probe_start,
    sh_wake_probe_stop,
)


cdef class WakeProbe:
    """A child that is to spin on ``cpu`` from ``run`` on, in the group of directory ``group_fd``.

    -1 is the caller's own group. With ``idle_policy`` the child is SCHED_IDLE. ``waker_cpu`` is
    from where every second of the ``wakes`` (at most 64) is asked for; None: only timers wake. All
    has ended after ``seconds``. Raises OSError.
    """

    cdef sh_wake_probe c

    def __cinit__(
        self,
        cpu: int,
        waker_cpu: int | None,
        *,
        group_fd: int,
        idle_policy: bool,
        wakes: int,
        interval_ns: int,
        seconds: float,
    ) -> None:
        cdef int err
        self.c.cpu = cpu
        self.c.waker_cpu = -1 if waker_cpu is None else waker_cpu
        self.c.group_fd = group_fd
        self.c.idle_policy = idle_policy
        self.c.wakes = wakes
        self.c.interval_ns = interval_ns
        self.c.until_ns = time.monotonic_ns() + int(seconds * 1e9)
        with nogil:
            err = sh_wake_probe_start(&self.c)
        if err:
            raise OSError(-err, os.strerror(-err))

    def __dealloc__(self) -> None:
        sh_wake_probe_stop(&self.c)

    @property
    def cpu_s(self) -> float:
        """CPU time of the child in seconds, once it is closed."""
        return self.c.spun_ns / 1e9

    def run(self) -> tuple[list[float], list[float]]:
        """Microseconds that the child stayed on its CPU after a wake: (by timer, from afar).

        Wakes that it was not there for are left out. Once only. Raises OSError.
        """
        cdef int err
        cdef uint32_t i
        with nogil:
            err = sh_wake_probe_run(&self.c)
        if err:
            raise OSError(-err, os.strerror(-err))
        by_timer, from_afar = [], []
        for i in range(self.c.wakes):
            if self.c.kept_ns[i] >= 0:
                (from_afar if self.c.from_afar[i] else by_timer).append(self.c.kept_ns[i] / 1e3)
        return by_timer, from_afar

    def close(self) -> None:
        """Ends the child; harmless when it has ended. Its group must not be idle any more."""
        with nogil:
            sh_wake_probe_stop(&self.c)
