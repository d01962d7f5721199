"""The bare loops and calls of probe.c, compiled when first needed; all run without the GIL."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.compiling import build_library
from smartharvest.agent.loop_builder import FIFO_PRIORITY

SCHEDULINGS = ("other", "short-slice", "fifo")
"""The first is every thread's, the others are the polling loop's choices."""
LOADED_BYTES, LOADS = 4 << 20, 100_000
"""More than a second level of caches holds, and much less than a third."""


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(build_library(Path(__file__).with_name("probe.c"))))
    int64, pointer = ctypes.c_int64, ctypes.c_void_p
    for name, result, arguments in (
        ("probe_schedule", ctypes.c_int, [ctypes.c_int, ctypes.c_int]),
        ("probe_empty_loop", int64, [int64]),
        ("probe_nanosleep_loop", int64, [int64, int64, pointer]),
        ("probe_preads", ctypes.c_int, [pointer, ctypes.c_int, int64, pointer]),
        ("probe_setaffinity", int64, [ctypes.c_int, ctypes.c_int]),
        ("probe_wave", None, [int64, int64, pointer]),
        ("probe_logged_wave", None, [int64, int64, ctypes.c_uint32, int64, pointer]),
        ("probe_ping_pong", int64, [int64]),
        ("probe_loads", int64, [int64, int64]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def empty_loop_ns(repeat: int) -> float:
    """Mean nanoseconds of a turn of a loop that does nothing."""
    return float(_library().probe_empty_loop(repeat)) / repeat


def nanosleep_loop(period_ns: int, count: int) -> tuple[NDArray[np.int64], int]:
    """How late, in nanoseconds, each turn of a bare clock_nanosleep(2) loop was; turns missed."""
    late_ns = np.zeros(count, dtype=np.int64)
    missed = _library().probe_nanosleep_loop(period_ns, count, late_ns.ctypes.data)
    return late_ns, int(missed)


def preads_ns(paths: Sequence[str], repeat: int) -> NDArray[np.int64]:
    """Nanoseconds of each of ``repeat`` passes that read every file once. Raises OSError."""
    took_ns = np.zeros(repeat, dtype=np.int64)
    fds = [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths]
    try:
        table = np.array(fds, dtype=np.intc)
        _check(_library().probe_preads(table.ctypes.data, len(fds), repeat, took_ns.ctypes.data))
    finally:
        for fd in fds:
            os.close(fd)
    return took_ns


def setaffinity_ns(tid: int, cpu: int) -> int:
    """Nanoseconds of the sched_setaffinity(2) that confines ``tid``. Raises OSError."""
    return _check(_library().probe_setaffinity(tid, cpu))


def wave(on_ns: int, off_ns: int, running: int) -> None:
    """Never returns; ``running`` is the address of the byte that says whether it runs."""
    _library().probe_wave(on_ns, off_ns, running)


def logged_wave(on_ns: int, off_ns: int, seed: int, capacity: int, log: int) -> None:
    """Never returns; ``log`` is the address of a struct probe_log with room for ``capacity``."""
    _library().probe_logged_wave(on_ns, off_ns, seed, capacity, log)


def ping_pong_ns(round_trips: int) -> float:
    """Nanoseconds of one context switch between two threads on the one CPU of the caller."""
    return _check(_library().probe_ping_pong(round_trips)) / (2 * round_trips)


def load_ns() -> float:
    """CPU time of a load that misses the second level of caches, in the mean of the CPUs that this
    thread may use: they may share the third with different neighbours. Takes 20 ms and more on
    each. Raises OSError.
    """
    allowed = os.sched_getaffinity(0)
    took_ns = 0
    try:
        for cpu in allowed:
            os.sched_setaffinity(0, {cpu})
            took_ns += _check(_library().probe_loads(LOADED_BYTES, LOADS))
    finally:
        os.sched_setaffinity(0, allowed)
    return took_ns / (LOADS * len(allowed))


def fifo_allowed() -> bool:
    """Whether this thread may be SCHED_FIFO: that needs the right and a real-time budget."""
    try:
        with scheduled("fifo"):
            return True
    except PermissionError:
        return False


@contextmanager
def scheduled(scheduling: str) -> Iterator[None]:
    """Schedules the calling thread so, one of SCHEDULINGS, and as usual afterwards."""
    set_scheduling(scheduling)
    try:
        yield
    finally:
        set_scheduling("other")


def set_scheduling(scheduling: str) -> None:
    """Schedules the calling thread so from now on. Raises PermissionError."""
    _check(_library().probe_schedule(SCHEDULINGS.index(scheduling), FIFO_PRIORITY))


def _check(result: int) -> int:
    if result < 0:
        raise OSError(-result, f"{os.strerror(-result)} ({errno.errorcode.get(-result)})")
    return result
