"""Processes that a bench starts and ends: ``MODULE PARENT_PID PAGE_FD ARGUMENT…``.

Parent and child share a page of memory, in which the child says that it has started, and what else
there is to say without a system call.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import time
from collections.abc import Sequence
from typing import Self

from bench.subject import NotMeasurableError
from smartharvest.host.process.parent import die_with
from smartharvest.host.process.start import start_python

START_TIMEOUT_S = 20.0


class Ending:
    """A process that is killed and waited for at the exit; subclasses set ``process``."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


class Child(Ending):
    """Runs ``module`` with ``arguments``; it ends with this process, too.

    ``page`` is ``page_bytes`` of memory that both have, zeroes at first. Entering returns when the
    child ``has_started``; NotMeasurableError if it does not.
    """

    def __init__(
        self, module: str, page_bytes: int, *arguments: int, pass_fds: Sequence[int] = ()
    ) -> None:
        page_fd = os.memfd_create(module)
        numbers = (os.getpid(), page_fd, *arguments)
        try:
            os.truncate(page_fd, page_bytes)
            self.page = mmap.mmap(page_fd, page_bytes)
            self.process = start_python(
                module,
                *map(str, numbers),
                pass_fds=(page_fd, *pass_fds),
                process_group=0,  # ctrl-C is for the parent, which then ends its children
            )
        finally:
            os.close(page_fd)
        self._module = module

    def has_started(self) -> bool:
        """Whether the child has written into the page's first word."""
        return any(self.page[:8])

    def __enter__(self) -> Self:
        ends_s = time.monotonic() + START_TIMEOUT_S
        while not self.has_started():
            if self.process.poll() is not None or time.monotonic() > ends_s:
                self.__exit__()
                raise NotMeasurableError(f"{self._module}: its process did not start")
            time.sleep(0.001)
        return self


def join(parent_pid: int, page_fd: int) -> mmap.mmap:
    """In the child: the page; from now on it ends with its parent."""
    die_with(parent_pid)
    return mmap.mmap(page_fd, 0)


def address(page: mmap.mmap) -> int:
    """Of the page in this process; good for as long as ``page`` is kept."""
    return ctypes.addressof(ctypes.c_uint8.from_buffer(page))
