"""The seams driven and timed from C (seams.c), compiled when first needed."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.compiling import build_library
from smartharvest.core import _actuators, _loop, _sensors

_CSRC = Path(__file__).parent.parent / "csrc"
_MOVES_HEADER = 4
"""Words of struct seams_moves before its moves, of two words each."""


@functools.cache
def _library() -> ctypes.CDLL:
    source = Path(__file__).with_name("seams.c")
    library = ctypes.CDLL(str(build_library(source, f"-I{_CSRC}", "-lpthread")))
    int64, pointer = ctypes.c_int64, ctypes.c_void_p
    for name, result, arguments in (
        ("seams_pretend", ctypes.c_uint32, [pointer, ctypes.c_uint32]),
        ("seams_time_reads", ctypes.c_int, [pointer, ctypes.c_int, int64, pointer]),
        ("seams_time_nothing", None, [int64, pointer]),
        ("seams_watch", int64, [pointer, int64, int64, pointer]),
        ("seams_note_moves", None, [pointer, int64, pointer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@contextmanager
def pretending(sensor: _sensors.BpfSensor, cpus: int) -> Iterator[None]:
    """Has the sensor sweep so many CPUs (4,096 at most) meanwhile."""
    before = _library().seams_pretend(sensor.seam_address, cpus)
    try:
        yield
    finally:
        _library().seams_pretend(sensor.seam_address, before)


def reads_ns(sensor: _sensors.Sensor, count: int, writer_cpu: int = -1) -> NDArray[np.int64]:
    """What each reading took; with a ``writer_cpu`` just after that CPU has written all of it."""
    took_ns = np.zeros(count, dtype=np.int64)
    address = took_ns.ctypes.data
    _check(_library().seams_time_reads(sensor.seam_address, writer_cpu, count, address))
    return took_ns


def nothing_ns(count: int) -> NDArray[np.int64]:
    """What the clock says between two readings of it."""
    took_ns = np.zeros(count, dtype=np.int64)
    _library().seams_time_nothing(count, took_ns.ctypes.data)
    return took_ns


def watch(sensor: _sensors.Sensor, seconds: float, capacity: int = 1 << 16) -> NDArray[np.int64]:
    """When, read without a pause, the sensor first showed a busy core after none."""
    seen_ns = np.zeros(capacity, dtype=np.int64)
    end_ns = _loop.monotonic_ns() + int(seconds * 1e9)
    count = _library().seams_watch(sensor.seam_address, end_ns, capacity, seen_ns.ctypes.data)
    return seen_ns[: _check(count)]


class Moves:
    """When the calls of an actuator's seam returned; made before a loop takes over the seam."""

    def __init__(self, actuator: _actuators.Actuator, capacity: int = 1 << 16) -> None:
        self._words = np.zeros(_MOVES_HEADER + 2 * capacity, dtype=np.int64)
        _library().seams_note_moves(actuator.seam_address, capacity, self._words.ctypes.data)

    def table(self) -> NDArray[np.int64]:
        """One call a row: when it returned, and how many cores it was to lend."""
        count = int(self._words[_MOVES_HEADER - 1])
        return self._words[_MOVES_HEADER : _MOVES_HEADER + 2 * count].reshape(-1, 2)


def _check(result: int) -> int:
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result
