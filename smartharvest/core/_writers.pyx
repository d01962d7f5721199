# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the program that notes who else writes our groups (csrc/sensors/writers.h).

It converts and owns memory; it decides nothing.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

from libc.stdint cimport uint32_t, uint64_t

from smartharvest.core._c cimport writers

MAX_GROUPS = writers.SH_WRITERS_GROUPS


class Writer(NamedTuple):
    """One write by another process; ``group`` is the inode of the group's directory."""

    at_ns: int
    group: int
    file: str
    pid: int
    name: str
    parent: int
    parent_name: str


cdef class WriterLog:
    """Notes who writes the files of chosen groups, but for this process.

    Raises OSError, with what failed as its text, where the kernel or the rights do not allow it.
    """

    cdef writers.sh_writers c
    cdef bint opened

    def __cinit__(self) -> None:
        cdef const char *reason = NULL
        cdef int err
        with nogil:
            err = writers.sh_writers_open(&self.c, &reason)
        if err:
            what = (<bytes> reason).decode() if reason is not NULL else "a BPF program"
            raise OSError(-err, f"{what}: {os.strerror(-err)}")
        self.opened = True

    def __dealloc__(self) -> None:
        self.close()

    def close(self) -> None:
        """Detaches the programs."""
        if self.opened:
            self.opened = False
            writers.sh_writers_close(&self.c)

    def watch(self, groups: Sequence[int]) -> None:
        """Notes writes to these groups, inodes of their directories, and to no others."""
        cdef uint64_t numbers[writers.SH_WRITERS_GROUPS]
        cdef uint32_t count = min(len(groups), writers.SH_WRITERS_GROUPS)
        self._check_open()
        for i in range(count):
            numbers[i] = groups[i]
        writers.sh_writers_watch(&self.c, numbers, count)

    def writes(self) -> list[Writer]:
        """The last writes, newest first."""
        cdef writers.sh_writer records[writers.SH_WRITERS_RING]
        self._check_open()
        return [
            Writer(
                records[i].at_ns,
                records[i].group,
                (<bytes> records[i].file).decode(errors="replace"),
                records[i].pid,
                (<bytes> records[i].name).decode(errors="replace"),
                records[i].parent,
                (<bytes> records[i].parent_name).decode(errors="replace"),
            )
            for i in range(writers.sh_writers_read(&self.c, records))
        ]

    def _check_open(self) -> None:
        if not self.opened:
            raise ValueError("the log of writers is closed")
