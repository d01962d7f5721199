"""Instructions that the tasks of a control group retire, by perf_event_open(2)."""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import struct
from collections.abc import Callable, Sequence

from smartharvest.host.cgroup.tree import Group

_log = logging.getLogger(__name__)

MOST_CPUS = 64
"""Each group has a counter for each CPU, and reading one interrupts its CPU: no more than these."""
_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}
_HARDWARE, _INSTRUCTIONS = 0, 1
_TIMES = 3
"""PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING: several counters may share one of the hardware."""
_OF_GROUP, _CLOSE_ON_EXEC = 1 << 2, 1 << 3
_ATTRIBUTE_BYTES = 112
_READING = struct.Struct("=3Q")

Open = Callable[[int, int], int]
"""From the descriptor of a group's directory and a CPU to that of a counter. Raises OSError."""


def _open(directory: int, cpu: int) -> int:
    number = _SYSTEM_CALL.get(os.uname().machine)
    if number is None:
        raise OSError(errno.ENOSYS, "this machine's kind is not known to perf_event_open(2)")
    head = struct.pack("=IIQQQQ", _HARDWARE, _ATTRIBUTE_BYTES, _INSTRUCTIONS, 0, 0, _TIMES)
    attributes = ctypes.create_string_buffer(head, _ATTRIBUTE_BYTES)
    libc = ctypes.CDLL(None, use_errno=True)
    flags = _OF_GROUP | _CLOSE_ON_EXEC
    descriptor = int(libc.syscall(number, attributes, directory, cpu, -1, ctypes.c_ulong(flags)))
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return descriptor


class Counter:
    """Of one group, with a counter for each of ``cpus``. Raises OSError where there are none."""

    def __init__(self, path: str, cpus: Sequence[int], open_one: Open = _open) -> None:
        self._descriptors: list[int] = []
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for cpu in cpus:
                self._descriptors.append(open_one(directory, cpu))
        except BaseException:
            self.close()
            raise
        finally:
            os.close(directory)

    def read(self) -> float:
        """So far; estimated where the hardware had to be shared. Raises OSError."""
        total = 0.0
        for descriptor in self._descriptors:
            data = os.read(descriptor, _READING.size)
            if len(data) < _READING.size:
                raise OSError(errno.EIO, "a counter gave less than a reading")
            count, enabled, running = _READING.unpack(data)
            total += count * enabled / running if running else 0.0
        return total

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []


def open_counter(group: Group) -> Counter | None:
    """Counts what ``group`` retires; None where this machine or its kernel does not."""
    directory = group.directory("perf_event") or (group.path if group.tree.version == 2 else None)
    cpus = sorted(group.tree.online_cpus())
    if directory is None or not group.tree.runs_tasks or len(cpus) > MOST_CPUS:
        return None
    try:
        return Counter(directory, cpus)
    except OSError as error:
        _log.debug("%s: no counters of instructions: %s", group, error.strerror)
        return None
