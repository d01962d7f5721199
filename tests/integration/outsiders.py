"""What somebody with rights can do to the descriptors of another process, without its help."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

_PIDFD_GETFD = 438  # asm-generic/unistd.h, the same on all machines that have it
_BPF = 321  # x86-64
_LINK_GET_FD_BY_ID, _LINK_DETACH = 30, 34  # linux/bpf.h
_PERF_DISABLE = 0x2401  # linux/perf_event.h
_libc = ctypes.CDLL(None, use_errno=True)


def disable_perf_events(pid: int) -> int:
    """Switches all perf events of a process off, as tracing tools may; how many it has."""
    count = 0
    for number in _descriptors(pid, "anon_inode:[perf_event]"):
        with _taken(pid, number) as fd:
            fcntl.ioctl(fd, _PERF_DISABLE, 0)
            count += 1
    return count


def detach_links(pid: int) -> set[str]:
    """Tries BPF_LINK_DETACH on every link of a process, found by its id; what came of it."""
    outcomes = set()
    for number in _descriptors(pid, "anon_inode:bpf_link"):
        text = Path(f"/proc/{pid}/fdinfo/{number}").read_text()
        found = re.search(r"^link_id:\s*(\d+)", text, re.MULTILINE)
        assert found is not None
        link = _bpf(_LINK_GET_FD_BY_ID, struct.pack("=I12x", int(found[1])))
        try:
            _bpf(_LINK_DETACH, struct.pack("=I12x", link))
            outcomes.add("detached")
        except OSError as error:
            outcomes.add(errno.errorcode[error.errno or 0])
        finally:
            os.close(link)
    return outcomes


def _descriptors(pid: int, target: str) -> Iterator[int]:
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{name}") == target:
                yield int(name)


@contextlib.contextmanager
def _taken(pid: int, number: int) -> Iterator[int]:
    pidfd = os.pidfd_open(pid)
    fd = _libc.syscall(_PIDFD_GETFD, pidfd, number, 0)
    os.close(pidfd)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    try:
        yield fd
    finally:
        os.close(fd)


def _bpf(command: int, attributes: bytes) -> int:
    result = int(_libc.syscall(_BPF, command, attributes, len(attributes)))
    if result < 0:
        raise OSError(ctypes.get_errno(), "bpf")
    return result
