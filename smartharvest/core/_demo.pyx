# cython: language_level=3, boundscheck=True, wraparound=False
"""The demo's server, CPUBully and watch for standstills in C, and two libc calls Python lacks. No
logic lives here."""

import os

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.errno cimport errno
from libc.stdint cimport int64_t, uint8_t
from posix.time cimport clock_gettime, timespec
from posix.types cimport clockid_t, pid_t

from smartharvest.core._c.demo_bully cimport (
    sh_bully,
    sh_bully_block,
    sh_bully_block_size,
    sh_bully_start,
    sh_bully_state,
    sh_bully_stop,
    sh_bully_switch,
    sh_bully_units,
    SH_BULLY_PAUSED,
    SH_BULLY_RUNNING,
)
from smartharvest.core._c.demo_server cimport (
    sh_server,
    sh_server_calibrate,
    sh_server_serve,
    sh_server_slice,
    sh_server_start,
    sh_server_stop,
)
from smartharvest.core._c.standstill cimport (
    sh_standstill_gap_count,
    sh_standstill_start,
    sh_standstill_stop,
    sh_standstill_watch,
    sh_standstill_watcher,
)

cdef extern from "<sys/prctl.h>" nogil:
    int prctl(int option, unsigned long value)
    int PR_SET_PDEATHSIG

cdef extern from "<time.h>" nogil:
    int clock_getcpuclockid(pid_t pid, clockid_t *clock)


def set_parent_death_signal(unsigned long signal_number):
    if prctl(PR_SET_PDEATHSIG, signal_number) != 0:
        raise OSError(errno, os.strerror(errno))


def process_cpu_ns(pid_t pid):
    cdef clockid_t clock
    cdef timespec now
    cdef int error = clock_getcpuclockid(pid, &clock)
    if error != 0:
        raise OSError(error, os.strerror(error))
    if clock_gettime(clock, &now) != 0:
        raise OSError(errno, os.strerror(errno))
    return now.tv_sec * 1_000_000_000 + now.tv_nsec


def calibrate():
    cdef int64_t steps_per_ms
    with nogil:
        steps_per_ms = sh_server_calibrate()
    return steps_per_ms


cdef class Server:
    cdef sh_server server
    cdef bint started

    def __init__(self, int workers):
        if self.started:
            raise RuntimeError("the server is already started")
        cdef int error = sh_server_start(&self.server, workers)
        if error < 0:
            raise OSError(-error, os.strerror(-error))
        self.started = True

    def serve(
        self,
        const int64_t[::1] arrival_ns,
        const int64_t[::1] work,
        int64_t[::1] latency_ns,
        int64_t steps_per_ms=0,
    ):
        cdef sh_server_slice slice
        if not self.started:
            raise RuntimeError("the server is stopped")
        if not arrival_ns.shape[0] == work.shape[0] == latency_ns.shape[0]:
            raise ValueError("arrival_ns, work and latency_ns must have one length")
        if arrival_ns.shape[0] == 0:
            return
        slice.arrival_ns = &arrival_ns[0]
        slice.work = &work[0]
        slice.latency_ns = &latency_ns[0]
        slice.count = arrival_ns.shape[0]
        slice.steps_per_ms = steps_per_ms
        with nogil:
            sh_server_serve(&self.server, &slice)

    def stop(self):
        if self.started:
            self.started = False
            with nogil:
                sh_server_stop(&self.server)

    def __dealloc__(self):
        if self.started:
            sh_server_stop(&self.server)


cdef class Bully:
    cdef sh_bully bully
    cdef uint8_t[::1] block
    cdef bint started

    def __init__(self, uint8_t[::1] block, int threads):
        if self.started:
            raise RuntimeError("the bully is already started")
        cdef sh_bully_block *shared = bully_block(block, threads)
        cdef int error = sh_bully_start(&self.bully, shared, threads)
        if error < 0:
            raise OSError(-error, os.strerror(-error))
        self.block = block
        self.started = True

    def stop(self):
        if self.started:
            self.started = False
            with nogil:
                sh_bully_stop(&self.bully)
            self.block = None

    def __dealloc__(self):
        if self.started:
            sh_bully_stop(&self.bully)


cdef sh_bully_block *bully_block(const uint8_t[::1] block, int threads) except NULL:
    if threads < 1 or <size_t>block.shape[0] < sh_bully_block_size(threads):
        raise ValueError("the block is too small for the bully's threads")
    if <size_t>&block[0] % 64:
        raise ValueError("the block must be aligned to 64 bytes")
    return <sh_bully_block *>&block[0]


def bully_block_size(int threads):
    return sh_bully_block_size(threads)


def switch_bully(uint8_t[::1] block, bint running):
    cdef sh_bully_state state = SH_BULLY_RUNNING if running else SH_BULLY_PAUSED
    sh_bully_switch(bully_block(block, 1), state)


def bully_units(const uint8_t[::1] block, int threads):
    return sh_bully_units(bully_block(block, threads), threads)


cdef class StandstillWatch:
    cdef sh_standstill_watch watch
    cdef bint started

    def __init__(self, object cpus, int64_t period_ns, int64_t least_late_ns):
        if self.watch.watchers is not NULL:
            raise RuntimeError("the watch is already started")
        if not cpus:
            raise ValueError("no CPUs to watch")
        self.watch.watchers = <sh_standstill_watcher *> PyMem_Calloc(
            len(cpus), sizeof(sh_standstill_watcher)
        )
        if self.watch.watchers is NULL:
            raise MemoryError
        self.watch.period_ns = period_ns
        self.watch.least_late_ns = least_late_ns
        self.watch.count = len(cpus)
        for i, cpu in enumerate(cpus):
            self.watch.watchers[i].cpu = cpu
        cdef int error = sh_standstill_start(&self.watch)
        if error < 0:
            raise OSError(-error, os.strerror(-error))
        self.started = True

    def gaps(self):
        return [
            [
                (self.watch.watchers[i].gaps[j].from_ns, self.watch.watchers[i].gaps[j].until_ns)
                for j in range(sh_standstill_gap_count(&self.watch.watchers[i]))
            ]
            for i in range(self.watch.count)
        ]

    def stop(self):
        if self.started:
            self.started = False
            with nogil:
                sh_standstill_stop(&self.watch)

    def __dealloc__(self):
        if self.started:
            sh_standstill_stop(&self.watch)
        PyMem_Free(self.watch.watchers)
